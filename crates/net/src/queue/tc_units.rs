//! Quantities in the units of tc, and in those of experiment files.
//!
//! In a tc script `125kb` are 128,000 bytes and `30kbps` are 240 kbit/s (tc(8), PARAMETERS). In an
//! experiment file `125kB` are 125,000 bytes. What [`Printed`] prints means the same in both.

use std::fmt;
use units::{Bitrate, Bytes, Duration, quantity};

/// The system of units that a word is read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitSystem {
    /// The units of experiment files.
    Weir,
    /// tc(8): sizes in powers of 1024, rates in bits or bytes per second.
    Tc,
}

pub(super) fn time(word: &str, units: UnitSystem) -> Option<Duration> {
    match units {
        UnitSystem::Weir => word.parse().ok(),
        // A bare number is microseconds.
        UnitSystem::Tc => tc(word, |unit| {
            Some(match unit {
                "s" | "sec" | "secs" => 1_000_000_000,
                "ms" | "msec" | "msecs" => 1_000_000,
                "" | "us" | "usec" | "usecs" => 1_000,
                _ => return None,
            })
        })
        .map(Duration::from_nanos),
    }
}

/// Both systems know `1Mbit`; only experiment files know `1Mbit/s`.
pub(super) fn rate(word: &str, units: UnitSystem) -> Option<Bitrate> {
    if units == UnitSystem::Weir
        && let Ok(rate) = word.parse()
    {
        return Some(rate);
    }
    // In eighths of a bit per second, since bytes per second have eight times the scale.
    let eighths = tc(word, |unit| {
        let (prefix, scale) = match unit.strip_suffix("bps") {
            Some(prefix) => (prefix, 64),
            None if unit.is_empty() => (unit, 8),
            None => (unit.strip_suffix("bit")?, 8),
        };
        let (prefix, base) =
            prefix.strip_suffix('i').map_or((prefix, 1_000u64), |prefix| (prefix, 1_024));
        Some(scale * base.pow(power(prefix)?))
    })?;
    Some(Bitrate::from_bps(eighths / 8))
}

pub(super) fn size(word: &str, units: UnitSystem) -> Option<Bytes> {
    if units == UnitSystem::Weir {
        return word.parse().map(Bytes::new).or_else(|_| word.parse()).ok();
    }
    // In thousandths of a bit: sizes may be in bits, and tc truncates decimals.
    let thousandths = tc(word, |unit| {
        let (prefix, scale) = match unit.strip_suffix("bit") {
            Some(prefix) => (prefix, 1),
            None => (unit.strip_suffix('b').unwrap_or(unit), 8),
        };
        (scale * 1_000_u64).checked_mul(1_024u64.pow(power(prefix)?))
    })?;
    Some(Bytes::new(thousandths / 8_000))
}

/// tc ignores case.
fn tc(word: &str, scale: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    quantity(&word.to_ascii_lowercase(), "", scale).ok()
}

fn power(prefix: &str) -> Option<u32> {
    ["", "k", "m", "g", "t"]
        .iter()
        .position(|&known| known == prefix)
        .and_then(|at| u32::try_from(at).ok())
}

/// Prints a quantity so that tc and experiment files read the same value.
pub(super) struct Printed<T>(pub(super) T);

impl fmt::Display for Printed<Bytes> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.get().fmt(f)
    }
}

impl fmt::Display for Printed<Bitrate> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_string().trim_end_matches("/s"))
    }
}

impl fmt::Display for Printed<Duration> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, name) = [(1_000_000_000, "s"), (1_000_000, "ms")]
            .into_iter()
            .find(|(unit, _)| nanos.is_multiple_of(*unit))
            .unwrap_or((1_000, "us"));
        let (whole, rest) = (nanos / unit, nanos % unit);
        if rest == 0 { write!(f, "{whole}{name}") } else { write!(f, "{whole}.{rest:03}{name}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tc_counts_sizes_by_1024_and_rates_by_1000() {
        let rate = |word| rate(word, UnitSystem::Tc).map(Bitrate::as_bps);
        assert_eq!(
            ["100kbps", "1mbit", "8bit", "12Kibit", "500", "1.5Mbit"].map(rate).map(Option::unwrap),
            [800_000, 1_000_000, 8, 12_288, 500, 1_500_000]
        );
        assert_eq!([rate("1Mbit/s"), rate("fast"), rate("1xbit")], [None; 3]);
        let size = |word| size(word, UnitSystem::Tc).map(Bytes::get);
        assert_eq!(
            ["1600", "125kb", "15k", "1mbit", "10b", "3.3kb"].map(size).map(Option::unwrap),
            [1_600, 128_000, 15_360, 131_072, 10, 3_379]
        );
        let time = |word| time(word, UnitSystem::Tc).map(Duration::as_nanos);
        assert_eq!(
            ["5ms", "100", "1.5s", "30usec"].map(time).map(Option::unwrap),
            [5_000_000, 100_000, 1_500_000_000, 30_000]
        );
    }

    #[test]
    fn printed_quantities_mean_the_same_in_both_systems() {
        for nanos in [1, 999, 1_000, 1_001, 5_000_000, 1_500_000, 90_000_000_000] {
            let time_ = Duration::from_nanos(nanos);
            for units in [UnitSystem::Weir, UnitSystem::Tc] {
                assert_eq!(
                    time(&Printed(time_).to_string(), units),
                    Some(time_),
                    "{}",
                    Printed(time_)
                );
            }
        }
        for bps in [1, 999, 1_001, 1_500_000, 8_000_000_000] {
            let rate_ = Bitrate::from_bps(bps);
            for units in [UnitSystem::Weir, UnitSystem::Tc] {
                assert_eq!(rate(&Printed(rate_).to_string(), units), Some(rate_));
            }
        }
    }
}
