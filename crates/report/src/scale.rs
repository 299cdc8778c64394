//! Units in which values are shown, and numbers with three digits.

use metrics::{Estimate, Unit};

/// From this rate on (bit/s), rates are shown in Mbit/s: three digits of kbit/s are not enough.
const MIN_MEGABIT: f64 = 999_500.0;
/// From this size on (bytes), sizes are shown in kB.
const MIN_KILOBYTE: f64 = 9_999.5;
/// From this time on (seconds), times are shown in seconds.
const MIN_SECOND: f64 = 1.0;

/// The greatest number of decimals.
const MAX_DECIMALS: usize = 3;

/// A unit in which values are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Name of the unit; empty for none.
    pub name: &'static str,
    /// Factor from the metric's unit to this one: 1000 for ms, because metrics are in seconds.
    pub factor: f64,
}

impl Scale {
    /// No unit.
    pub const NONE: Self = Self { name: "", factor: 1.0 };

    /// One unit for all of these values of a metric, chosen for the greatest of them.
    #[must_use]
    pub fn of(unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        let greatest = values.filter(|value| value.is_finite()).map(f64::abs).fold(0.0, f64::max);
        let (name, factor) = match unit {
            Unit::BitsPerSecond if greatest >= MIN_MEGABIT => ("Mbit/s", 1e-6),
            Unit::BitsPerSecond => ("kbit/s", 1e-3),
            Unit::Seconds if greatest >= MIN_SECOND => ("s", 1.0),
            Unit::Seconds => ("ms", 1e3),
            Unit::Share => ("%", 100.0),
            Unit::Count => ("", 1.0),
            Unit::Bytes if greatest >= MIN_KILOBYTE => ("kB", 1e-3),
            Unit::Bytes => ("B", 1.0),
            Unit::Pixels => ("px", 1.0),
            Unit::FramesPerSecond => ("fps", 1.0),
            Unit::Dbm => ("dBm", 1.0),
            Unit::Decibels => ("dB", 1.0),
        };
        Self { name, factor }
    }

    /// A label followed by the unit in parentheses.
    #[must_use]
    pub fn label(self, text: &str) -> String {
        if self.name.is_empty() { text.to_owned() } else { format!("{text} ({})", self.name) }
    }

    /// A value of the metric in this unit, with three digits; `never` if it is infinite, `–` if it
    /// is not a number.
    #[must_use]
    pub fn number(self, value: f64) -> String {
        if value.is_nan() {
            return "–".to_owned();
        }
        if value.is_infinite() {
            return "never".to_owned();
        }
        let shown = value * self.factor;
        fixed(shown, decimals(shown))
    }

    /// A mean and half the width of its confidence interval (`None` if there is no interval). Both
    /// have the decimals that two digits of the half width need, at most three digits of the mean.
    #[must_use]
    pub fn estimate(self, estimate: &Estimate) -> (String, Option<String>) {
        let mean = estimate.mean * self.factor;
        let Some(half) =
            estimate.half_width.map(|half| half * self.factor).filter(|_| mean.is_finite())
        else {
            return (self.number(estimate.mean), None);
        };
        let decimals_of = |digits: &[f64; MAX_DECIMALS]| {
            digits.iter().position(|least| half >= *least).unwrap_or(MAX_DECIMALS)
        };
        let shared =
            if half > 0.0 { decimals(mean).min(decimals_of(&TWO_DIGITS)) } else { decimals(mean) };
        (fixed(mean, shared), Some(fixed(half, shared.max(decimals_of(&ONE_DIGIT)))))
    }

    /// A difference of two values with its sign and unit.
    #[must_use]
    pub fn difference(self, difference: f64) -> String {
        let text = signed(difference * self.factor);
        if self.name.is_empty() { text } else { format!("{text} {}", self.name) }
    }
}

/// The least half widths that are written with one digit in 0, 1 and 2 decimals.
const ONE_DIGIT: [f64; MAX_DECIMALS] = [0.5, 0.05, 0.005];
/// The least half widths that are written with two digits in 0, 1 and 2 decimals.
const TWO_DIGITS: [f64; MAX_DECIMALS] = [9.5, 0.95, 0.095];

/// The number of decimals with which a number has three digits.
fn decimals(value: f64) -> usize {
    match value.abs() {
        size if size == 0.0 || size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => MAX_DECIMALS,
    }
}

/// A number with its sign and at most three digits: `+3.2`, `−120`, `0`.
pub(crate) fn signed(value: f64) -> String {
    let text = fixed(value, decimals(value).min(2));
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

/// A number with these decimals, with a minus sign instead of a hyphen; zero has no decimals.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.')) {
        return "0".to_owned();
    }
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::{Scale, signed};
    use metrics::{Estimate, Unit};

    #[test]
    fn all_values_have_the_same_unit() {
        let of = |unit, values: &[f64]| Scale::of(unit, values.iter().copied());
        assert_eq!(of(Unit::BitsPerSecond, &[64e3, 2.5e6]).number(64e3), "0.064");
        assert_eq!(of(Unit::BitsPerSecond, &[64e3, 250e3]).label("rate"), "rate (kbit/s)");
        assert_eq!(of(Unit::Seconds, &[0.25, f64::INFINITY, f64::NAN]).number(0.25), "250");
        assert_eq!(of(Unit::Count, &[]).label("freezes"), "freezes");
    }

    #[test]
    fn numbers_have_three_digits_and_are_never_nan() {
        let percent = Scale::of(Unit::Share, [].into_iter());
        let texts = [0.0, 0.0312, 0.999_96, 12.3456, -0.5, f64::NAN, f64::INFINITY, 1e-9]
            .map(|v| percent.number(v));
        assert_eq!(texts, ["0", "3.12", "100", "1235", "−50.0", "–", "never", "0"]);
        let both = |mean, half| {
            let estimate = Estimate { mean, half_width: Some(half), ..Estimate::default() };
            let (mean, half) = Scale::NONE.estimate(&estimate);
            half.map_or(mean.clone(), |half| format!("{mean} ± {half}"))
        };
        let texts = [
            both(12.3, 1.24),
            both(1234.0, 0.31),
            both(1.0, 0.0),
            both(0.942, 0.129),
            both(75.8, 15.6),
        ];
        assert_eq!(texts, ["12.3 ± 1.2", "1234 ± 0.3", "1.00 ± 0", "0.94 ± 0.13", "76 ± 16"]);
        assert_eq!([both(0.0, 0.3), both(f64::INFINITY, 1.0)], ["0 ± 0.3", "never"]);
        assert_eq!(
            [signed(3.21), signed(-120.4), signed(0.001), signed(-0.0)],
            ["+3.21", "−120", "0", "0"]
        );
    }
}
