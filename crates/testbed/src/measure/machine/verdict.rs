use super::STREAM;
use sim::recording::{StreamKind, StreamRecord};

/// The share of all cores in use, with stolen time, from which the machine counts as busy in an
/// interval. Above it, threads that become ready wait for others. Two cores of which a browser
/// saturates one are at 0.5. Our choice.
const BUSY: f64 = 0.9;
/// The share of slow intervals from which a run counts as limited. A browser's start or one key
/// frame stays below it; a tenth of the samples would change a 95th percentile. Our choice.
const MIN_BAD_SHARE: f64 = 0.1;
/// The share of busy intervals from which a run counts as limited even if all frames were sent: the
/// delay estimate and RTCP suffer from late threads first. Our choice.
const MIN_BUSY_SHARE: f64 = 0.5;
/// The share of the wanted frames below which the machine does not keep up. An encoder at its
/// bandwidth limit drops frames too, so this counts only while the machine is busy. Our choice.
const KEEPS_UP: f64 = 0.8;
/// The fewest samples that are judged.
const MIN_SAMPLES: usize = 5;

/// Why a run was limited by the processor; `None` if it was not, or if the data does not show it.
///
/// `streams` are those of the run: of the machine and of the statistics objects of the browsers.
/// `frame_rate` is what the senders were asked for, frames/s.
#[must_use]
pub fn verdict(streams: &[StreamRecord], frame_rate: f64) -> Option<String> {
    let objects = |kind: &'static str| {
        streams
            .iter()
            .filter(move |stream| stream.kind == StreamKind::Stats && stream.name.contains(kind))
    };
    let load = load(streams);
    let coders = objects(".outbound-rtp.video")
        .map(|stream| (stream, "encoding", "totalEncodeTime", "framesEncoded"));
    let coders = coders.chain(
        objects(".inbound-rtp.video")
            .map(|stream| (stream, "decoding", "totalDecodeTime", "framesDecoded")),
    );
    slow_coder(coders, frame_rate)
        .or_else(|| frames_lost(objects(".outbound-rtp.video"), &load, frame_rate))
        .or_else(|| mostly_busy(&load))
}

/// The share of all cores in use, by sample; empty if it was not sampled.
fn load(streams: &[StreamRecord]) -> Vec<f64> {
    let Some(machine) = streams.iter().find(|stream| stream.name == STREAM) else {
        return Vec::new();
    };
    let column = |name| machine.column(name).unwrap_or_default();
    let stolen = column("steal").iter().map(|steal| if steal.is_nan() { 0.0 } else { *steal });
    column("cpu")
        .iter()
        .zip(stolen.chain(std::iter::repeat(0.0)))
        .map(|(cpu, steal)| cpu + steal)
        .collect()
}

/// A coder that takes longer for a frame than the frame interval cannot keep up, whatever the
/// machine's load.
fn slow_coder<'a>(
    coders: impl Iterator<Item = (&'a StreamRecord, &'static str, &'static str, &'static str)>,
    frame_rate: f64,
) -> Option<String> {
    for (stream, doing, time, frames) in coders {
        let (Some(time), Some(frames)) = (stream.column(time), stream.column(frames)) else {
            continue;
        };
        let costs: Vec<f64> = steps(time)
            .iter()
            .zip(steps(frames))
            .map(|(time, frames)| time / frames)
            .filter(|cost| cost.is_finite())
            .collect();
        let slow = costs.iter().filter(|cost| **cost > 1.0 / frame_rate).count();
        if often(slow, costs.len(), MIN_BAD_SHARE) {
            let (share, name) = (percent(slow, costs.len()), &stream.name);
            return Some(format!(
                "{doing} a frame took longer than the frame interval in {share} % of the samples of {name}"
            ));
        }
    }
    None
}

/// Frames that were not sent while the machine was busy.
fn frames_lost<'a>(
    senders: impl Iterator<Item = &'a StreamRecord>,
    load: &[f64],
    frame_rate: f64,
) -> Option<String> {
    for stream in senders {
        let Some(rates) = stream.column("framesPerSecond") else { continue };
        // After the first frames, browsers report a rate of zero by leaving out the member.
        let begun = rates.iter().position(|rate| !rate.is_nan()).unwrap_or(rates.len());
        let rates = rates.iter().map(|rate| if rate.is_nan() { 0.0 } else { *rate });
        let judged: Vec<(f64, f64)> = rates
            .zip(load.iter().copied())
            .skip(begun)
            .filter(|(_, load)| !load.is_nan())
            .collect();
        let lost = judged
            .iter()
            .filter(|(rate, load)| *load >= BUSY && *rate < KEEPS_UP * frame_rate)
            .count();
        if often(lost, judged.len(), MIN_BAD_SHARE) {
            let (share, name) = (percent(lost, judged.len()), &stream.name);
            return Some(format!(
                "the machine was busy and sent less than {:.0} % of {frame_rate} frames/s in {share} % of the samples of {name}",
                KEEPS_UP * 100.0
            ));
        }
    }
    None
}

fn mostly_busy(load: &[f64]) -> Option<String> {
    let known = load.iter().filter(|load| !load.is_nan()).count();
    let busy = load.iter().filter(|load| **load >= BUSY).count();
    often(busy, known, MIN_BUSY_SHARE).then(|| {
        format!(
            "the machine was more than {:.0} % busy in {} % of the samples",
            BUSY * 100.0,
            percent(busy, known)
        )
    })
}

fn often(count: usize, of: usize, share: f64) -> bool {
    of >= MIN_SAMPLES && count as f64 >= share * of as f64
}

fn percent(count: usize, of: usize) -> usize {
    count * 100 / of.max(1)
}

/// The growth of a counter from the sample before; not-a-number if one of the two is missing.
fn steps(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::recording::Column;
    use units::Time;

    const SAMPLES: usize = 40;

    fn stream(name: &str, columns: &[(&'static str, &dyn Fn(usize) -> f64)]) -> StreamRecord {
        let column = |(name, value): &(&'static str, &dyn Fn(usize) -> f64)| Column {
            name,
            values: (0..SAMPLES).map(value).collect(),
        };
        StreamRecord {
            name: name.into(),
            kind: StreamKind::Stats,
            active: (Time::ZERO, Time::from_secs(SAMPLES as u64)),
            columns: columns.iter().map(column).collect(),
            points: Vec::new(),
        }
    }

    /// A call that sends `rate` frames/s, each of which takes `cost` seconds to encode, on a
    /// machine with this load.
    fn run(cpu: &dyn Fn(usize) -> f64, steal: f64, rate: f64, cost: f64) -> Vec<StreamRecord> {
        let frames = move |index: usize| rate * index as f64;
        vec![
            stream("machine", &[("cpu", cpu), ("steal", &move |_| steal)]),
            stream(
                "main.alice.outbound-rtp.video",
                &[
                    ("framesPerSecond", &move |_| rate),
                    ("framesEncoded", &frames),
                    ("totalEncodeTime", &move |index| cost * frames(index)),
                ],
            ),
        ]
    }

    #[test]
    fn a_machine_with_spare_time_is_no_limit_even_if_the_network_loses_frames() {
        assert_eq!(verdict(&run(&|_| 0.5, 0.0, 30.0, 0.002), 30.0), None);
        assert_eq!(verdict(&run(&|_| 0.6, 0.0, 9.0, 0.004), 30.0), None);
    }

    #[test]
    fn a_busy_start_is_ignored() {
        assert_eq!(
            verdict(&run(&|index| if index < 3 { 1.0 } else { 0.4 }, 0.0, 20.0, 0.004), 30.0),
            None
        );
    }

    #[test]
    fn missing_frames_on_a_busy_machine_are_a_limit() {
        let busy = |index: usize| if index.is_multiple_of(4) { 0.97 } else { 0.7 };
        let why = verdict(&run(&busy, 0.0, 15.0, 0.01), 30.0).unwrap();
        assert!(
            why.contains("busy") && why.contains("in 25 % of the samples of main.alice"),
            "{why}"
        );
        assert_eq!(verdict(&run(&busy, 0.0, 29.0, 0.01), 30.0), None, "it kept up");
    }

    #[test]
    fn a_machine_that_is_busy_or_preempted_throughout_is_a_limit() {
        assert!(verdict(&run(&|_| 0.95, 0.0, 30.0, 0.002), 30.0).unwrap().contains("in 100 %"));
        assert!(verdict(&run(&|_| 0.5, 0.45, 30.0, 0.002), 30.0).unwrap().contains("busy"));
    }

    #[test]
    fn a_slow_coder_is_a_limit_without_samples_of_the_machine() {
        let streams = run(&|_| 0.5, 0.0, 20.0, 0.05);
        assert!(verdict(&streams[1..], 30.0).unwrap().starts_with("encoding a frame took longer"));
        let decoder = stream(
            "main.bob.inbound-rtp.video",
            &[
                ("framesDecoded", &|index| 10.0 * index as f64),
                ("totalDecodeTime", &|index| index as f64),
            ],
        );
        assert!(verdict(&[decoder], 30.0).unwrap().starts_with("decoding"));
    }

    #[test]
    fn missing_data_is_not_judged() {
        assert_eq!(verdict(&[], 30.0), None);
        assert_eq!(verdict(&run(&|_| f64::NAN, f64::NAN, f64::NAN, f64::NAN), 30.0), None);
    }
}
