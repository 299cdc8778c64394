use report::Scale;
use std::str::FromStr;

/// The unit in which a figure shows its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    /// Its name; empty for none.
    pub(super) name: &'static str,
    /// How many of it make one of the record's unit: 1000 for ms, as records have seconds.
    pub(super) scale: f64,
}

const UNITS: [Unit; 13] = [
    Unit { name: "", scale: 1.0 },
    Unit { name: "bit/s", scale: 1.0 },
    Unit { name: "kbit/s", scale: 1e-3 },
    Unit { name: "Mbit/s", scale: 1e-6 },
    Unit { name: "s", scale: 1.0 },
    Unit { name: "ms", scale: 1e3 },
    Unit { name: "%", scale: 100.0 },
    Unit { name: "kB", scale: 1e-3 },
    Unit { name: "1/s", scale: 1.0 },
    Unit { name: "fps", scale: 1.0 },
    Unit { name: "px", scale: 1.0 },
    Unit { name: "dBm", scale: 1.0 },
    Unit { name: "dB", scale: 1.0 },
];

impl Default for Unit {
    fn default() -> Self {
        UNITS[0]
    }
}

impl Unit {
    /// The names of those in which a metric of this unit can be shown.
    pub(super) const fn of(unit: metrics::Unit) -> &'static [&'static str] {
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

    /// A label with the unit in it.
    pub(super) fn label(self, text: &str) -> String {
        if self.name.is_empty() { text.to_owned() } else { format!("{text} ({})", self.name) }
    }
}

impl From<Unit> for Scale {
    fn from(unit: Unit) -> Self {
        Self { name: unit.name, factor: unit.scale }
    }
}

impl FromStr for Unit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        UNITS.into_iter().find(|unit| unit.name == text).ok_or_else(|| {
            let names: Vec<&str> = UNITS[1..].iter().map(|unit| unit.name).collect();
            format!("'{text}' is not a unit: write one of {}", names.join(", "))
        })
    }
}
