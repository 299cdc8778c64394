use super::input::{Input, column};
use super::radio::Radio;
use super::{MetricError, mean};
use sim::Recording;
use sim::recording::StreamRecord;

const SENT: [&str; 2] = ["bytesSent", "headerBytesSent"];
const RECEIVED: [&str; 2] = ["bytesReceived", "headerBytesReceived"];
/// A rate has settled when it is within this share of its final mean,
const SETTLED_WITHIN: f64 = 0.1;
/// and its mean over this many seconds is too.
const SETTLED_FOR: f64 = 5.0;
/// A rise counts for the time constant if it lasts at least this many seconds.
const MIN_RISE: f64 = 3.0;

pub(super) fn sent(input: &Input<'_>) -> Result<f64, MetricError> {
    rate(input, &SENT)
}

pub(super) fn received(input: &Input<'_>) -> Result<f64, MetricError> {
    rate(input, &RECEIVED)
}

pub(super) fn payload_received(input: &Input<'_>) -> Result<f64, MetricError> {
    rate(input, &RECEIVED[..1])
}

pub(super) fn goodput(input: &Input<'_>) -> Result<f64, MetricError> {
    let parity: f64 =
        input.streams.iter().map(|stream| input.growth_or_zero(stream, "fecBytesReceived")).sum();
    Ok(payload_received(input)? - parity * 8.0 / input.seconds())
}

pub(super) fn sent_samples(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    total(input, &SENT)
}

pub(super) fn received_samples(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    total(input, &RECEIVED)
}

pub(super) fn target(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    input.values("availableOutgoingBitrate")
}

/// The growth of the counters in the window in bit/s, summed over the streams.
fn rate(input: &Input<'_>, names: &[&str]) -> Result<f64, MetricError> {
    let mut bytes = 0.0;
    for stream in &input.streams {
        bytes += input.growth(stream, names[0])?;
        bytes += names[1..].iter().map(|name| input.growth_or_zero(stream, name)).sum::<f64>();
    }
    Ok(bytes * 8.0 / input.seconds())
}

/// The rate of a stream in each sampling interval, in bit/s; not-a-number while it is not active.
pub(super) fn series(
    input: &Input<'_>,
    stream: &StreamRecord,
    sent: bool,
) -> Result<Vec<f64>, MetricError> {
    let seconds = input.recording.interval.as_secs_f64();
    let steps = input.steps(stream, if sent { &SENT } else { &RECEIVED })?;
    Ok(steps.into_iter().map(|bytes| bytes * 8.0 / seconds).collect())
}

/// The rate of a stream in each sampling interval of the whole run, in bit/s.
///
/// # Errors
/// If the stream has no counter of bytes.
pub fn whole(
    recording: &Recording,
    stream: &StreamRecord,
    sent: bool,
) -> Result<Vec<f64>, MetricError> {
    series(&Input::whole(recording, stream), stream, sent)
}

/// The sum of the streams' rates in each sampling interval in which a stream is active.
fn total(input: &Input<'_>, names: &[&str; 2]) -> Result<Vec<f64>, MetricError> {
    let each: Vec<Vec<f64>> = input
        .streams
        .iter()
        .map(|stream| series(input, stream, names == &SENT))
        .collect::<Result<_, _>>()?;
    let sum = |index: usize| {
        let active: Vec<f64> =
            each.iter().map(|rates| rates[index]).filter(|rate| !rate.is_nan()).collect();
        (!active.is_empty()).then(|| active.iter().sum())
    };
    Ok(input.samples().enumerate().filter_map(|(index, _)| sum(index)).collect())
}

pub(super) fn utilization(input: &Input<'_>) -> Result<f64, MetricError> {
    let capacity = capacity(input)?;
    if capacity.is_infinite() {
        return Err(MetricError::Unlimited(input.line()?.name.clone()));
    }
    Ok(received(input)? / capacity)
}

/// The mean capacity of the line in the window, in bit/s. A sample is the capacity from its time
/// on, so each interval has the value of the sample at its beginning.
fn capacity(input: &Input<'_>) -> Result<f64, MetricError> {
    let line = input.line()?;
    if let Some(radio) = Radio::of(line) {
        return Err(MetricError::SharedChannel { line: line.name.clone(), radio });
    }
    let rates = column(line, "rate")?;
    let at = |index: usize| rates.get(index.saturating_sub(1)).copied();
    let values: Vec<f64> = input.samples().filter_map(at).collect();
    Ok(mean(&values))
}

pub(super) fn convergence_time(input: &Input<'_>) -> Result<f64, MetricError> {
    let rates = sent_samples(input)?;
    let step = input.recording.interval.as_secs_f64();
    let settled = mean(&rates[rates.len() / 2..]);
    let near = |rate: f64| (rate - settled).abs() <= SETTLED_WITHIN * settled;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few samples")]
    let next = (SETTLED_FOR / step).ceil().max(1.0) as usize;
    let first = rates.windows(next).position(|window| near(window[0]) && near(mean(window)));
    Ok(first.map_or(f64::NAN, |index| index as f64 * step))
}

/// The watermarks of an oscillation, relative to the mean: a factor of four apart (RFC 8868 § 3,
/// item 9).
const WATERMARKS: [f64; 2] = [0.5, 2.0];

pub(super) fn oscillations(input: &Input<'_>) -> Result<f64, MetricError> {
    let rates = sent_samples(input)?;
    let [low, high] = WATERMARKS.map(|share| share * mean(&rates));
    let sides = rates.iter().filter_map(|rate| match *rate {
        rate if rate <= low => Some(false),
        rate if rate >= high => Some(true),
        _ => None,
    });
    let sides: Vec<bool> = sides.collect();
    Ok(sides.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64)
}

pub(super) fn ramp_time(input: &Input<'_>) -> Result<f64, MetricError> {
    let rates = received_samples(input)?;
    let reference = mean(&rates[rates.len() - rates.len() / 4..]);
    let first = rates.iter().position(|rate| *rate >= input.level * reference);
    Ok(first.map_or(f64::NAN, |index| (index + 1) as f64 * input.recording.interval.as_secs_f64()))
}

pub(super) fn tau(input: &Input<'_>) -> Result<f64, MetricError> {
    let step = input.recording.interval.as_secs_f64();
    let (mut covariance, mut variance) = (0.0, 0.0);
    for stream in &input.streams {
        let values = column(stream, "availableOutgoingBitrate")?;
        let end = input.samples().end.min(values.len());
        for rise in rises(&values[input.samples().start.min(end)..end]) {
            if rise.len() as f64 * step < MIN_RISE {
                continue;
            }
            let logs: Vec<f64> = rise.iter().map(|rate| libm::log(*rate)).collect();
            let (middle, centre) = ((rise.len() - 1) as f64 * step / 2.0, mean(&logs));
            for (index, log) in logs.iter().enumerate() {
                let time = index as f64 * step - middle;
                covariance += time * (log - centre);
                variance += time * time;
            }
        }
    }
    Ok(variance / covariance)
}

/// The stretches in which the values do not fall, each up to its last rise.
fn rises(values: &[f64]) -> Vec<&[f64]> {
    let falls =
        |pair: &[f64]| pair[1] < pair[0] || pair[0].is_nan() || pair[1].is_nan() || pair[0] <= 0.0;
    let mut stretches = Vec::new();
    let mut start = 0;
    for index in 1..=values.len() {
        if index == values.len() || falls(&values[index - 1..=index]) {
            let stretch = &values[start..index];
            let risen = stretch.windows(2).rposition(|pair| pair[1] > pair[0]);
            stretches.extend(risen.map(|last| &stretch[..last + 2]));
            start = index;
        }
    }
    stretches
}
