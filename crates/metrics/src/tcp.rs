use super::MetricError;
use super::input::Input;
use sim::recording::StreamKind;

/// Refuses streams that are not TCP flows.
fn only_tcp(input: &Input<'_>) -> Result<(), MetricError> {
    match input.streams.iter().find(|stream| stream.kind != StreamKind::Tcp) {
        Some(other) => Err(MetricError::NotTcp(other.name.clone())),
        None => Ok(()),
    }
}

pub(super) fn retransmissions(input: &Input<'_>) -> Result<f64, MetricError> {
    only_tcp(input)?;
    let total = |counter: &str| -> Result<f64, MetricError> {
        input.streams.iter().map(|stream| input.growth(stream, counter)).sum()
    };
    Ok(total("retransmittedPacketsSent")? / total("packetsSent")?)
}

pub(super) fn timeouts(input: &Input<'_>) -> Result<f64, MetricError> {
    only_tcp(input)?;
    input.streams.iter().map(|stream| input.growth(stream, "timeouts")).sum()
}

/// The longest of the flows' times; not-a-number if a flow is not complete.
pub(super) fn completion_time(input: &Input<'_>) -> Result<f64, MetricError> {
    only_tcp(input)?;
    let events = &input.recording.events;
    let of = |flow: &str| {
        let done = events.iter().find(|event| event.what == "completed" && event.stream == flow);
        done.map_or(f64::NAN, |event| event.value)
    };
    let longest = |longest: f64, time: f64| {
        if longest.is_nan() || time.is_nan() { f64::NAN } else { longest.max(time) }
    };
    Ok(input.streams.iter().map(|stream| of(&stream.name)).fold(0.0, longest))
}

pub(super) fn congestion_window(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    only_tcp(input)?;
    input.values("congestionWindow")
}

pub(super) fn page_load_time(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    only_tcp(input)?;
    input.points("pageLoadTime")
}
