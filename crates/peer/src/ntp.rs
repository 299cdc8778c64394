//! NTP time stamps as RTCP has them. The zero of an end's clock is put at the epoch of Unix: stacks
//! that keep time stamps as `SystemTime` know none before.

use crate::clock::span;
use std::time::{SystemTime, UNIX_EPOCH};
use units::{Duration, Time};

/// From the epoch of NTP to that of Unix, s (RFC 5905 § 6, figure 4).
const UNIX: u64 = 2_208_988_800;

/// Seconds, and 2⁻³² seconds (RFC 5905 § 6).
pub(crate) fn stamp(at: Time) -> u64 {
    let (seconds, nanos) = (at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000);
    ((seconds + UNIX) << 32) | ((nanos << 32) / 1_000_000_000)
}

/// The middle 32 bits (RFC 3550 § 4), of which the remainder is meant.
pub(crate) fn middle(stamp: u64) -> u32 {
    (stamp >> 16) as u32
}

/// Of a time of the machine's.
pub(crate) fn middle_of(at: SystemTime) -> u32 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    middle(stamp(Time::ZERO + span(since)))
}

/// A span in 2⁻¹⁶ seconds (RFC 3550 § 6.4.1), of which the remainder of 18 hours is meant.
pub(crate) fn short(span: Duration) -> u32 {
    ((u128::from(span.as_nanos()) << 16) / 1_000_000_000) as u32
}

/// The round-trip time of a report that came at `now`, answers one that was stamped `last`, and was
/// held for `delay` (RFC 3550 § 6.4.1). What clocks make negative is zero.
pub(crate) fn round_trip(now: u64, last: u32, delay: u32) -> Duration {
    let ticks = middle(now).wrapping_sub(last).wrapping_sub(delay).cast_signed().max(0);
    Duration::from_nanos((u64::from(ticks.unsigned_abs()) * 1_000_000_000) >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_what_was_not_held() {
        let [left, back] =
            [Time::from_millis(65_535_900), Time::from_millis(65_536_300)].map(stamp);
        let rtt = round_trip(back, middle(left), short(Duration::from_millis(150)));
        assert!(rtt.as_nanos().abs_diff(250_000_000) < 50_000, "{rtt}");
        assert_eq!(round_trip(left, middle(back), 0), Duration::ZERO);
    }
}
