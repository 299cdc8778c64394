//! Roundings of libwebrtc's units that show in its results (libwebrtc `rtc_base/units/unit_base.h`,
//! `api/units`): a conversion to a coarser unit rounds half up.

use units::{Bitrate, Bytes, Duration, Time};

const NANOS_PER_MILLI: u64 = 1_000_000;

/// The time in whole milliseconds, rounded half up.
pub(super) const fn whole_millis(time: Time) -> Time {
    Time::from_millis(millis(time.as_nanos()))
}

/// The span in whole milliseconds, rounded half up.
pub(super) const fn millis_of(span: Duration) -> u64 {
    millis(span.as_nanos())
}

const fn millis(nanos: u64) -> u64 {
    nanos.saturating_add(NANOS_PER_MILLI / 2) / NANOS_PER_MILLI
}

/// The rate in whole kbit/s, rounded half up.
pub(super) const fn whole_kbps(rate: Bitrate) -> u64 {
    rate.as_bps().saturating_add(500) / 1000
}

/// The bytes that `rate` sends in `span`, rounded half up.
pub(super) fn bytes_in(rate: Bitrate, span: Duration) -> Bytes {
    let bits = u128::from(rate.as_bps()) * u128::from(span.as_nanos());
    let bytes = (bits + 4_000_000_000) / 8_000_000_000;
    Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_up() {
        assert_eq!(whole_millis(Time::from_micros(1_499)), Time::from_millis(1));
        assert_eq!(whole_millis(Time::from_micros(1_500)), Time::from_millis(2));
        assert_eq!(millis_of(Duration::from_micros(2_643)), 3);
        assert_eq!(whole_kbps(Bitrate::from_bps(651_924)), 652);
        // 551,100 bit/s for 40 ms are 2755.5 bytes.
        let span = Duration::from_millis(40);
        assert_eq!(bytes_in(Bitrate::from_bps(551_100), span), Bytes::new(2756));
    }
}
