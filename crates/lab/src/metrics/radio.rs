//! What one way of a Wi-Fi station shows.

use super::MetricError;
use super::input::{Input, column};
use sim::recording::StreamRecord;

/// What a Wi-Fi station shows and a wired line does not: seconds on the air.
const AIRTIME: &str = "airtime";

/// Whether it is one way of a Wi-Fi station. Its `rate` is that of its newest transmission, no capacity.
pub(super) fn is_wifi(line: &StreamRecord) -> bool {
    line.column(AIRTIME).is_some()
}

pub(super) fn airtime(input: &Input<'_>) -> Result<f64, MetricError> {
    Ok(input.growth(station(input)?, AIRTIME)? / input.seconds())
}

pub(super) fn signal_strength(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    samples(input, "signalStrength")
}

pub(super) fn phy_rate(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    // It is zero before the first transmission.
    Ok(samples(input, "rate")?.into_iter().filter(|rate| *rate > 0.0).collect())
}

/// The line that the metric needs, of a station.
fn station<'a>(input: &Input<'a>) -> Result<&'a StreamRecord, MetricError> {
    let line = input.line()?;
    if is_wifi(line) {
        return Ok(line);
    }
    Err(MetricError(format!("{} is wired; name one way of a Wi-Fi station", line.name)))
}

/// The samples of a column in the window.
fn samples(input: &Input<'_>, name: &str) -> Result<Vec<f64>, MetricError> {
    let values = column(station(input)?, name)?;
    let within = input.samples().filter_map(|index| values.get(index).copied());
    Ok(within.filter(|value| value.is_finite()).collect())
}
