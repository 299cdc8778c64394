//! Times in ticks of 1/65536 s: the middle 32 bits of an NTP timestamp (RFC 3550 § 4), the
//! resolution of the report times of RFC 8888 § 3.1 and of the authors' code. Spans between a
//! sender's and a receiver's clock are signed.

use units::{Duration, Time};

/// Ticks per second.
const PER_SECOND: f64 = 65_536.0;
const NANOS: u128 = 1_000_000_000;

/// The tick nearest to a time.
pub(super) fn ticks(time: Time) -> u64 {
    let ticks = ((u128::from(time.as_nanos()) << 16) + NANOS / 2) / NANOS;
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

/// The whole ticks of a span.
pub(super) fn span(span: Duration) -> u64 {
    u64::try_from((u128::from(span.as_nanos()) << 16) / NANOS).unwrap_or(u64::MAX)
}

/// A span in ticks, in seconds.
pub(super) fn seconds(ticks: u64) -> f64 {
    ticks as f64 / PER_SECOND
}

/// The time of a tick.
pub(super) fn time(ticks: u64) -> Time {
    let nanos = (u128::from(ticks) * NANOS).div_ceil(1 << 16);
    Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_read_back() {
        for tick in [0, 1, 64, 3_277, 6_553_600, 1 << 40] {
            assert_eq!(ticks(time(tick)), tick);
        }
        assert_eq!(span(Duration::from_millis(30)), 1_966, "whole ticks");
        assert_eq!(seconds(32_768), 0.5);
    }
}
