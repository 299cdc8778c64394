//! Units of figures, by the names that they have in a file.

use report::Scale;

/// The units. Factors are relative to the unit of the recording: 1000 for ms, because recordings
/// are in seconds.
const UNITS: [Scale; 13] = [
    Scale::NONE,
    Scale { name: "bit/s", factor: 1.0 },
    Scale { name: "kbit/s", factor: 1e-3 },
    Scale { name: "Mbit/s", factor: 1e-6 },
    Scale { name: "s", factor: 1.0 },
    Scale { name: "ms", factor: 1e3 },
    Scale { name: "%", factor: 100.0 },
    Scale { name: "kB", factor: 1e-3 },
    Scale { name: "1/s", factor: 1.0 },
    Scale { name: "fps", factor: 1.0 },
    Scale { name: "px", factor: 1.0 },
    Scale { name: "dBm", factor: 1.0 },
    Scale { name: "dB", factor: 1.0 },
];

/// Why a text is not a unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnitError {
    /// No unit has this name.
    #[error("'{0}' is not a unit: write one of {known}", known = names().join(", "))]
    Unknown(String),
}

/// The unit of this name; the empty name means no unit.
pub(super) fn parse(text: &str) -> Result<Scale, UnitError> {
    let unit = UNITS.into_iter().find(|unit| unit.name == text);
    unit.ok_or_else(|| UnitError::Unknown(text.to_owned()))
}

fn names() -> Vec<&'static str> {
    UNITS[1..].iter().map(|unit| unit.name).collect()
}

/// The names of the units in which a metric of this unit can be shown.
pub(super) const fn fitting(unit: metrics::Unit) -> &'static [&'static str] {
    match unit {
        metrics::Unit::BitsPerSecond => &["bit/s", "kbit/s", "Mbit/s"],
        metrics::Unit::Seconds => &["s", "ms"],
        metrics::Unit::Share => &["%", ""],
        metrics::Unit::Count => &[""],
        metrics::Unit::Bytes => &["kB"],
        metrics::Unit::Pixels => &["px"],
        metrics::Unit::FramesPerSecond => &["fps", "1/s"],
        metrics::Unit::Dbm => &["dBm"],
        metrics::Unit::Decibels => &["dB"],
    }
}
