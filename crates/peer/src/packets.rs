//! What fields of packets mean that wrap, or that `rtc` leaves as bytes.

use rtc::interceptor::StreamInfo;
use rtc::sdp::extmap::ABS_SEND_TIME_URI;
use units::Time;

/// A second of the absolute send time: 6.18 bit fixed point
/// (<https://webrtc.googlesource.com/src/+/main/docs/native-code/rtp-hdrext/abs-send-time>).
const ABS_SEND_TIME_SECOND: u128 = 1 << 18;

/// The value at which the absolute send time starts anew: 64 s.
const ABS_SEND_TIME_PERIOD: u64 = 1 << 24;

/// Counts on where a field wraps.
#[derive(Debug)]
pub(crate) struct Unwrapped {
    period: u64,
    last: Option<u64>,
}

impl Unwrapped {
    pub(crate) const fn new(period: u64) -> Self {
        Self { period, last: None }
    }

    /// The number nearest to the last that is `value` when wrapped. The first lies one period on, so that one before it is none below zero.
    pub(crate) fn next(&mut self, value: u64) -> u64 {
        let value = value % self.period;
        let last = self.last.unwrap_or(value + self.period);
        let ahead = (value + self.period - last % self.period) % self.period;
        let next =
            if ahead <= self.period / 2 { last + ahead } else { (last + ahead).saturating_sub(self.period) };
        self.last = Some(next);
        next
    }
}

/// The absolute send time of a packet that leaves at `sent`.
pub(crate) fn abs_send_time(sent: Time) -> [u8; 3] {
    let ticks = u128::from(sent.as_nanos()) * ABS_SEND_TIME_SECOND / 1_000_000_000;
    let [.., high, middle, low] = ticks.to_be_bytes();
    [high, middle, low]
}

/// The sender's time that the extension says, on from the last.
pub(crate) fn sent(unwrapped: &mut Unwrapped, extension: &[u8]) -> Option<Time> {
    let &[high, middle, low] = extension else { return None };
    let ticks = unwrapped.next(u64::from(u32::from_be_bytes([0, high, middle, low])));
    let nanos = u128::from(ticks) * 1_000_000_000 / ABS_SEND_TIME_SECOND;
    u64::try_from(nanos).ok().map(Time::from_nanos)
}

/// Of absolute send times.
pub(crate) const fn send_times() -> Unwrapped {
    Unwrapped::new(ABS_SEND_TIME_PERIOD)
}

/// The identifier under which a stream's packets carry the absolute send time, if that was negotiated.
pub(crate) fn abs_send_time_id(stream: &StreamInfo) -> Option<u8> {
    let extension =
        stream.rtp_header_extensions.iter().find(|extension| extension.uri == ABS_SEND_TIME_URI)?;
    u8::try_from(extension.id).ok().filter(|id| *id > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_counts_on_in_both_directions() {
        let mut sequence = Unwrapped::new(1 << 16);
        let numbers = [65_534, 65_535, 1, 0, 65_535, 2].map(|value| sequence.next(value));
        assert_eq!(numbers, [131_070, 131_071, 131_073, 131_072, 131_071, 131_074]);
    }

    #[test]
    fn the_absolute_send_time_comes_back_within_four_microseconds() {
        let mut times = send_times();
        let spans = [Time::from_millis(63_990), Time::from_millis(64_010), Time::from_millis(95_999)];
        let read = spans.map(|time| sent(&mut times, &abs_send_time(time)).unwrap());
        for (a, b) in [(0, 1), (1, 2)] {
            let difference = (read[b] - read[a]).as_nanos() - (spans[b] - spans[a]).as_nanos();
            assert!(difference.abs() <= 4_000, "{difference} ns");
        }
    }
}
