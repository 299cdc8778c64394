//! Reads packet fields that wrap around, or that `rtc` leaves as bytes.

use rtc::interceptor::StreamInfo;
use rtc::sdp::extmap::ABS_SEND_TIME_URI;
use sim::wire::ABS_SEND_TIME_SECOND;
use units::Time;

/// The period of the absolute send time, in its units of 2⁻¹⁸ s: 64 s.
const ABS_SEND_TIME_PERIOD: u64 = 1 << 24;

/// The cumulative number of packets lost of a report block, a signed field of 24 bits (RFC 3550 §
/// 6.4.1). Both stacks return it as unsigned.
pub(crate) fn cumulative_lost(field: u32) -> i64 {
    i64::from((field << 8).cast_signed() >> 8)
}

/// Unwraps a field that wraps around.
#[derive(Debug)]
pub(crate) struct Unwrapper {
    period: u64,
    last: Option<u64>,
}

impl Unwrapper {
    pub(crate) const fn new(period: u64) -> Self {
        Self { period, last: None }
    }

    /// The number that is nearest to the last one and equals `value` modulo the period. The first
    /// number is one period above `value`, so that a value just before it is not negative.
    pub(crate) fn next(&mut self, value: u64) -> u64 {
        let value = value % self.period;
        let last = self.last.unwrap_or(value + self.period);
        let ahead = (value + self.period - last % self.period) % self.period;
        let next = if ahead <= self.period / 2 {
            last + ahead
        } else {
            (last + ahead).saturating_sub(self.period)
        };
        self.last = Some(next);
        next
    }
}

/// Reads the absolute send time of a header extension, unwrapped.
pub(crate) fn abs_send_time(unwrapped: &mut Unwrapper, extension: &[u8]) -> Option<Time> {
    let &[high, middle, low] = extension else { return None };
    let ticks = unwrapped.next(u64::from(u32::from_be_bytes([0, high, middle, low])));
    let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(ABS_SEND_TIME_SECOND);
    u64::try_from(nanos).ok().map(Time::from_nanos)
}

/// An unwrapper of absolute send times.
pub(crate) const fn abs_send_time_unwrapper() -> Unwrapper {
    Unwrapper::new(ABS_SEND_TIME_PERIOD)
}

/// Whether a stream is video.
pub(crate) fn is_video(stream: &StreamInfo) -> bool {
    stream.mime_type.get(..6).is_some_and(|kind| kind.eq_ignore_ascii_case("video/"))
}

/// The identifier of the header extension for the absolute send time, if it was negotiated.
pub(crate) fn abs_send_time_id(stream: &StreamInfo) -> Option<u8> {
    let extension =
        stream.rtp_header_extensions.iter().find(|extension| extension.uri == ABS_SEND_TIME_URI)?;
    u8::try_from(extension.id).ok().filter(|id| *id > 0)
}

/// The size of the RTP header with its extensions (RFC 3550 §§ 5.1 and 5.3.1), bytes.
pub(crate) fn header_size(packet: &[u8]) -> usize {
    let Some(first) = packet.first() else { return 0 };
    let fixed = 12 + 4 * usize::from(first & 0x0f);
    let words = packet
        .get(fixed + 2..fixed + 4)
        .and_then(<[u8]>::first_chunk)
        .filter(|_| first & 0x10 != 0);
    fixed + words.map_or(0, |words| 4 + 4 * usize::from(u16::from_be_bytes(*words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cumulative_loss_may_be_negative() {
        assert_eq!([0, 7, 0x00ff_ffff, 0x0080_0000].map(cumulative_lost), [0, 7, -1, -8_388_608]);
    }

    #[test]
    fn the_header_size_includes_extensions() {
        let packet = |first: u8, words: u8| {
            [&[first, 96][..], &[0; 10], &[0xbe, 0xde, 0, words], &[7; 40]].concat()
        };
        assert_eq!(header_size(&packet(0x80, 2)), 12);
        assert_eq!(header_size(&packet(0x90, 2)), 12 + 4 + 8);
        assert_eq!(header_size(&[]), 0);
    }

    #[test]
    fn a_field_unwraps_in_both_directions() {
        let mut sequence = Unwrapper::new(1 << 16);
        let numbers = [65_534, 65_535, 1, 0, 65_535, 2].map(|value| sequence.next(value));
        assert_eq!(numbers, [131_070, 131_071, 131_073, 131_072, 131_071, 131_074]);
    }

    #[test]
    fn the_absolute_send_time_is_accurate_to_4_us() {
        let mut times = abs_send_time_unwrapper();
        let spans =
            [Time::from_millis(63_990), Time::from_millis(64_010), Time::from_millis(95_999)];
        let read =
            spans.map(|time| abs_send_time(&mut times, &sim::wire::abs_send_time(time)).unwrap());
        for (a, b) in [(0, 1), (1, 2)] {
            let difference = (read[b] - read[a]).as_nanos() - (spans[b] - spans[a]).as_nanos();
            assert!(difference.abs() <= 4_000, "{difference} ns");
        }
    }
}
