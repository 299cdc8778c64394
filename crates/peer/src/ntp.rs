//! NTP timestamps of RTCP. Time zero of an endpoint is mapped to the Unix epoch, because stacks
//! that store timestamps as `SystemTime` cannot represent earlier times.

use crate::clock::span;
use std::time::{SystemTime, UNIX_EPOCH};
use units::{Duration, Time};

/// The time from the NTP epoch to the Unix epoch, s (RFC 5905 § 6, figure 4).
const UNIX: u64 = 2_208_988_800;

/// The 64-bit NTP timestamp: seconds and fractions of 2⁻³² s (RFC 5905 § 6).
pub(crate) fn stamp(at: Time) -> u64 {
    let (seconds, nanos) = (at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000);
    ((seconds + UNIX) << 32) | ((nanos << 32) / 1_000_000_000)
}

/// The middle 32 bits of an NTP timestamp (RFC 3550 § 4).
pub(crate) fn middle(stamp: u64) -> u32 {
    (stamp >> 16) as u32
}

/// The middle 32 bits of the NTP timestamp of a `SystemTime`.
pub(crate) fn middle_of(at: SystemTime) -> u32 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    middle(stamp(Time::ZERO + span(since)))
}

/// A duration in units of 2⁻¹⁶ s (RFC 3550 § 6.4.1). It wraps after 18 hours.
pub(crate) fn short(span: Duration) -> u32 {
    ((u128::from(span.as_nanos()) << 16) / 1_000_000_000) as u32
}

/// The round-trip time of a report that arrived at `now` (an NTP timestamp). It answers a report
/// with the middle timestamp `last`, after a delay of `delay` in units of 2⁻¹⁶ s (RFC 3550 §
/// 6.4.1). Zero if the clocks give a negative result.
pub(crate) fn round_trip(now: u64, last: u32, delay: u32) -> Duration {
    let ticks = middle(now).wrapping_sub(last).wrapping_sub(delay).cast_signed().max(0);
    Duration::from_nanos((u64::from(ticks.unsigned_abs()) * 1_000_000_000) >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_trip_excludes_the_delay_at_the_receiver() {
        let [left, back] =
            [Time::from_millis(65_535_900), Time::from_millis(65_536_300)].map(stamp);
        let rtt = round_trip(back, middle(left), short(Duration::from_millis(150)));
        assert!(rtt.as_nanos().abs_diff(250_000_000) < 50_000, "{rtt}");
        assert_eq!(round_trip(left, middle(back), 0), Duration::ZERO);
    }
}
