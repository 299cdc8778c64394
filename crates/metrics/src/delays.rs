use super::MetricError;
use super::input::{Input, column};

pub(super) fn rtt(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    input.points("roundTripTime")
}

/// RTT minus the minimum RTT of the whole run, not of the window.
pub(super) fn queuing(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    let mut all = Vec::new();
    for stream in &input.streams {
        let least =
            stream.points("roundTripTime").unwrap_or_default().iter().map(|(_, value)| *value);
        let least = least.fold(f64::INFINITY, f64::min);
        all.extend(
            input.points_of(stream, "roundTripTime")?.into_iter().map(|value| value - least),
        );
    }
    Ok(all)
}

pub(super) fn true_queue(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    let values = column(input.line()?, "queueDelay")?;
    Ok(input
        .samples()
        .filter_map(|index| values.get(index).copied())
        .filter(|value| !value.is_nan())
        .collect())
}

/// For audio, each packet counts as a frame.
pub(super) fn frames(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    input.points("frameDelay")
}
