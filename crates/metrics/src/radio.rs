//! What one way of a Wi-Fi station or of an LTE terminal shows.

use super::MetricError;
use super::input::{Input, column};
use sim::recording::StreamRecord;

/// Seconds on the air, which nothing shows but a Wi-Fi station.
const AIRTIME: &str = "airtime";
/// How many were used, which nothing shows but an LTE terminal.
const RESOURCE_BLOCKS: &str = "resourceBlocks";
/// Subframes of LTE last a millisecond (36.211 § 4.1).
const SUBFRAMES_A_SECOND: f64 = 1_000.0;

/// What a line is one way of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Radio {
    Wifi,
    Lte,
}

impl Radio {
    /// Of what the line is one way; `None`: it is wired. With either its `rate` is that of the
    /// newest transmission, no capacity.
    pub(super) fn of(line: &StreamRecord) -> Option<Self> {
        match (line.column(AIRTIME), line.column(RESOURCE_BLOCKS)) {
            (Some(_), _) => Some(Self::Wifi),
            (None, Some(_)) => Some(Self::Lte),
            (None, None) => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Wifi => "a Wi-Fi station",
            Self::Lte => "an LTE terminal",
        }
    }

    /// The metric that says how much of the channel such a line takes.
    pub(super) const fn usage(self) -> &'static str {
        match self {
            Self::Wifi => "airtime",
            Self::Lte => "resource_blocks",
        }
    }
}

pub(super) fn airtime(input: &Input<'_>) -> Result<f64, MetricError> {
    Ok(input.growth(of(input, Radio::Wifi)?, AIRTIME)? / input.seconds())
}

pub(super) fn resource_blocks(input: &Input<'_>) -> Result<f64, MetricError> {
    let subframes = input.seconds() * SUBFRAMES_A_SECOND;
    Ok(input.growth(of(input, Radio::Lte)?, RESOURCE_BLOCKS)? / subframes)
}

pub(super) fn handovers(input: &Input<'_>) -> Result<f64, MetricError> {
    input.growth(of(input, Radio::Lte)?, "handovers")
}

pub(super) fn signal_strength(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    samples(input, of_either(input)?, "signalStrength")
}

pub(super) fn sinr(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    samples(input, of(input, Radio::Lte)?, "sinr")
}

pub(super) fn cqi(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    samples(input, of(input, Radio::Lte)?, "cqi")
}

pub(super) fn phy_rate(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    // It is zero before the first transmission.
    Ok(samples(input, of_either(input)?, "rate")?.into_iter().filter(|rate| *rate > 0.0).collect())
}

/// The line that the metric needs, which must be one way of that.
fn of<'a>(input: &Input<'a>, wanted: Radio) -> Result<&'a StreamRecord, MetricError> {
    let line = input.line()?;
    match Radio::of(line) {
        Some(radio) if radio == wanted => Ok(line),
        other => Err(wrong(line, other, wanted.name())),
    }
}

/// The line that the metric needs, of a station or a terminal.
fn of_either<'a>(input: &Input<'a>) -> Result<&'a StreamRecord, MetricError> {
    let line = input.line()?;
    match Radio::of(line) {
        Some(_) => Ok(line),
        None => Err(wrong(line, None, "a Wi-Fi station or an LTE terminal")),
    }
}

fn wrong(line: &StreamRecord, radio: Option<Radio>, wanted: &str) -> MetricError {
    let is = radio.map_or("wired".to_owned(), |radio| format!("one way of {}", radio.name()));
    MetricError(format!("{} is {is}; name one way of {wanted}", line.name))
}

/// The samples of a column in the window.
fn samples(input: &Input<'_>, line: &StreamRecord, name: &str) -> Result<Vec<f64>, MetricError> {
    let values = column(line, name)?;
    let within = input.samples().filter_map(|index| values.get(index).copied());
    Ok(within.filter(|value| value.is_finite()).collect())
}
