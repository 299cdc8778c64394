//! Effects of a disturbance on a call: whether the call ends, and how long it takes to recover.

use super::input::Input;
use super::{MetricError, mean, rates};
use sim::recording::{StreamKind, StreamRecord};
use units::Time;

/// A call has recovered when its rate is above this share of its rate before the disturbance,
const RECOVERED: f64 = 0.8;
/// for this many seconds.
const HELD_FOR: f64 = 5.0;
/// Rates are means over this many seconds, the interval at which the paper read `getStats`
/// (Janczukowicz 2017 § 6.2.2).
const READ_EVERY: f64 = 2.0;

pub(super) fn disconnections(input: &Input<'_>) -> Result<f64, MetricError> {
    // A call ends with all of its streams, so the events of any of them count.
    let call = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let of_stream =
        |name: &str| input.streams.iter().any(|stream| call(&stream.name) == call(name));
    let ends = input.recording.events.iter().filter(|event| {
        ["mediaTimeout", "circuitBreaker", "connectionFailed"].contains(&event.what)
            && of_stream(&event.stream)
            && event.at > input.from
            && event.at <= input.to
    });
    Ok(ends.count() as f64)
}

/// Not-a-number if the transfer is not complete in the window or there is no rate before it;
/// infinite if the rate does not recover in the window.
pub(super) fn recovery_time(input: &Input<'_>) -> Result<f64, MetricError> {
    let (call, flow) = match input.streams[..] {
        [call, flow] if flow.kind == StreamKind::Tcp && call.kind != StreamKind::Tcp => {
            (call, flow)
        }
        _ => return Err(MetricError::CallAndFlowMissing),
    };
    let Some(end) = end_of(input, flow) else { return Ok(f64::NAN) };
    let before = Input { streams: vec![call], to: flow.active.0, ..*input };
    let level = mean(&rates::received_samples(&before)?);
    if end >= input.to || level.is_nan() {
        return Ok(f64::NAN);
    }
    let after = Input { streams: vec![call], from: end, ..*input };
    let step = input.recording.interval.as_secs_f64();
    let rates = smooth(&rates::received_samples(&after)?, samples(READ_EVERY, step));
    let held = rates
        .windows(samples(HELD_FOR, step))
        .position(|window| window.iter().all(|&rate| rate >= RECOVERED * level));
    Ok(held.map_or(f64::INFINITY, |index| index as f64 * step))
}

/// The time at which a flow completed or was stopped; `None` if it did neither.
fn end_of(input: &Input<'_>, flow: &StreamRecord) -> Option<Time> {
    let mut events = input.recording.events.iter().filter(|event| event.stream == flow.name);
    let done = events.find(|event| event.what == "completed").map(|event| event.at);
    done.or_else(|| {
        (flow.active.1 < Time::ZERO + input.recording.duration).then_some(flow.active.1)
    })
}

/// The number of samples that cover this many seconds.
fn samples(seconds: f64, step: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few samples")]
    let count = (seconds / step).ceil().max(1.0) as usize;
    count
}

/// The mean of each sample and the `count - 1` after it.
fn smooth(rates: &[f64], count: usize) -> Vec<f64> {
    rates.windows(count).map(mean).collect()
}
