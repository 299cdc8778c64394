//! Times in ticks of 1/65536 s: the middle 32 bits of an NTP timestamp (RFC 3550 § 4), the
//! resolution of the report times of RFC 8888 § 3.1 and of the authors' code. Spans between a
//! sender's and a receiver's clock are signed.

use units::{Duration, Time};

/// Ticks per second.
const PER_SECOND: f64 = 65_536.0;
/// Nanoseconds per second.
const NANOS: u64 = 1_000_000_000;

/// The tick nearest to a time.
pub(crate) fn ticks(time: Time) -> u64 {
    let (seconds, nanos) = (time.as_nanos() / NANOS, time.as_nanos() % NANOS);
    (seconds << 16) + ((nanos << 16) + NANOS / 2) / NANOS
}

/// The whole ticks of a span.
pub(crate) fn span(span: Duration) -> u64 {
    let (seconds, nanos) = (span.as_nanos() / NANOS, span.as_nanos() % NANOS);
    (seconds << 16) + (nanos << 16) / NANOS
}

/// The ticks nearest to a span.
pub(crate) fn nearest(span: Duration) -> u64 {
    ticks(Time::ZERO + span)
}

/// A span in ticks, in seconds.
pub(crate) fn seconds(ticks: u64) -> f64 {
    ticks as f64 / PER_SECOND
}

/// The time of a tick.
pub(crate) fn time(ticks: u64) -> Time {
    let (seconds, rest) = (ticks >> 16, ticks & 0xffff);
    Time::from_nanos(seconds.saturating_mul(NANOS).saturating_add((rest * NANOS).div_ceil(1 << 16)))
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
        assert_eq!(nearest(Duration::from_millis(20)), 1_311, "the nearest tick");
        assert_eq!(seconds(32_768), 0.5);
    }
}
