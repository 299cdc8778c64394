//! Metrics of one direction of a Wi-Fi station or of an LTE terminal.

use super::MetricError;
use super::input::{Input, column};
use sim::recording::StreamRecord;

/// The time that the station held the channel, in seconds. Only Wi-Fi stations have this counter.
const AIRTIME: &str = "airtime";
/// The resource blocks that the terminal used. Only LTE terminals have this counter.
const RESOURCE_BLOCKS: &str = "resourceBlocks";
/// A subframe of LTE lasts a millisecond (36.211 § 4.1).
const SUBFRAMES_PER_SECOND: f64 = 1_000.0;

/// The technology of a radio access. The `rate` of one direction of it is the rate of the newest
/// transmission, not a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radio {
    /// Wi-Fi.
    Wifi,
    /// LTE.
    Lte,
}

impl Radio {
    /// The technology of a line; `None` if it is wired.
    #[must_use]
    pub fn of(line: &StreamRecord) -> Option<Self> {
        match (line.column(AIRTIME), line.column(RESOURCE_BLOCKS)) {
            (Some(_), _) => Some(Self::Wifi),
            (None, Some(_)) => Some(Self::Lte),
            (None, None) => None,
        }
    }

    pub(super) const fn direction_of(self) -> &'static str {
        match self {
            Self::Wifi => "one direction of a Wi-Fi station",
            Self::Lte => "one direction of an LTE terminal",
        }
    }

    /// The metric of how much of the channel such a line uses.
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
    let subframes = input.seconds() * SUBFRAMES_PER_SECOND;
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
    // The rate is zero before the first transmission.
    Ok(samples(input, of_either(input)?, "rate")?.into_iter().filter(|rate| *rate > 0.0).collect())
}

/// The line, which must be of this technology.
fn of<'a>(input: &Input<'a>, wanted: Radio) -> Result<&'a StreamRecord, MetricError> {
    let line = input.line()?;
    match Radio::of(line) {
        Some(radio) if radio == wanted => Ok(line),
        radio => {
            let (line, wanted) = (line.name.clone(), wanted.direction_of());
            Err(MetricError::WrongLine { line, radio, wanted })
        }
    }
}

/// The line, which must be of a Wi-Fi station or an LTE terminal.
fn of_either<'a>(input: &Input<'a>) -> Result<&'a StreamRecord, MetricError> {
    let line = input.line()?;
    match Radio::of(line) {
        Some(_) => Ok(line),
        None => Err(MetricError::WrongLine {
            line: line.name.clone(),
            radio: None,
            wanted: "one direction of a Wi-Fi station or an LTE terminal",
        }),
    }
}

/// The finite samples of a column in the window.
fn samples(input: &Input<'_>, line: &StreamRecord, name: &str) -> Result<Vec<f64>, MetricError> {
    let values = column(line, name)?;
    let within = input.samples().filter_map(|index| values.get(index).copied());
    Ok(within.filter(|value| value.is_finite()).collect())
}
