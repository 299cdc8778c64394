//! Reception statistics of one synchronisation source (RFC 3550 § 6.4.1 and appendices A.3, A.8).

use crate::payload::ReportBlock;
use units::{Bytes, Duration, Time};

/// Counts received and lost packets, and measures the jitter.
pub struct Reception {
    ssrc: u32,
    /// RTP timestamp units per second.
    clock_rate: u64,
    base: Option<u64>,
    highest: u64,
    /// Received packets, including duplicates.
    pub received: u64,
    /// The payload of the received packets.
    pub payload: Bytes,
    /// The headers of the received packets.
    pub headers: Bytes,
    expected_prior: u64,
    received_prior: u64,
    /// Interarrival jitter in timestamp units, scaled by 16 (RFC 3550 A.8).
    jitter: i64,
    transit: Option<i64>,
    /// (time stamp, arrival time) of the last sender report.
    sender_report: Option<(Time, Time)>,
}

impl Reception {
    /// Statistics of the source `ssrc`, whose RTP clock rate is `clock_rate` in Hz.
    #[must_use]
    pub fn new(ssrc: u32, clock_rate: u64) -> Self {
        Self {
            ssrc,
            clock_rate,
            base: None,
            highest: 0,
            received: 0,
            payload: Bytes::ZERO,
            headers: Bytes::ZERO,
            expected_prior: 0,
            received_prior: 0,
            jitter: 0,
            transit: None,
            sender_report: None,
        }
    }

    /// A packet arrived; `sequence` and `rtp_timestamp` are unwrapped.
    pub fn on_packet(
        &mut self,
        now: Time,
        sequence: u64,
        rtp_timestamp: u64,
        payload: Bytes,
        header: Bytes,
    ) {
        self.base.get_or_insert(sequence);
        self.highest = self.highest.max(sequence);
        self.received += 1;
        self.payload += payload;
        self.headers += header;
        let arrival =
            (u128::from(now.as_nanos()) * u128::from(self.clock_rate) / 1_000_000_000) as i64;
        let transit = arrival - rtp_timestamp.cast_signed();
        if let Some(last) = self.transit.replace(transit) {
            let difference = (transit - last).abs();
            self.jitter += difference - ((self.jitter + 8) >> 4);
        }
    }

    /// A sender report with the NTP time stamp `stamp` arrived.
    pub fn on_sender_report(&mut self, now: Time, stamp: Time) {
        self.sender_report = Some((stamp, now));
    }

    fn expected(&self) -> u64 {
        self.base.map_or(0, |base| self.highest - base + 1)
    }

    /// Packets lost since the start; negative if there were more duplicates than losses.
    #[must_use]
    pub fn lost(&self) -> i64 {
        self.expected().cast_signed() - self.received.cast_signed()
    }

    /// Jitter in seconds.
    #[must_use]
    pub fn jitter_secs(&self) -> f64 {
        (self.jitter >> 4) as f64 / self.clock_rate as f64
    }

    /// The report block for a report at `now`; starts a new reporting interval. `None` before the
    /// first packet.
    pub fn report(&mut self, now: Time) -> Option<ReportBlock> {
        self.base?;
        let (expected, received) = (self.expected(), self.received);
        let expected_interval = expected - self.expected_prior;
        let lost = expected_interval.saturating_sub(received - self.received_prior);
        (self.expected_prior, self.received_prior) = (expected, received);
        let fraction = (lost << 8).checked_div(expected_interval).unwrap_or(0);
        Some(ReportBlock {
            ssrc: self.ssrc,
            fraction_lost: u8::try_from(fraction).unwrap_or(u8::MAX),
            cumulative_lost: self.lost(),
            highest_sequence: self.highest,
            jitter: (self.jitter >> 4).unsigned_abs(),
            last_sender_report: self.sender_report.map(|(stamp, _)| stamp),
            delay_since_last: self
                .sender_report
                .map_or(Duration::ZERO, |(_, arrived)| now.saturating_since(arrived)),
            expected: expected_interval,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_counts_its_own_interval() {
        let mut reception = Reception::new(1, 90_000);
        for sequence in [0, 1, 2, 4, 5, 6, 7, 9] {
            let now = Time::from_millis(10 * sequence);
            reception.on_packet(now, sequence, sequence * 900, Bytes::new(1000), Bytes::new(24));
        }
        let first = reception.report(Time::from_millis(100)).unwrap();
        assert_eq!((first.expected, first.cumulative_lost, first.fraction_lost), (10, 2, 51));
        assert_eq!(first.jitter, 0, "packets arrived with their sending intervals");
        let second = reception.report(Time::from_millis(200)).unwrap();
        assert_eq!((second.expected, second.cumulative_lost, second.fraction_lost), (0, 2, 0));
    }

    #[test]
    fn jitter_follows_the_example_of_the_rfc() {
        let mut reception = Reception::new(1, 1000);
        reception.on_packet(Time::from_millis(0), 0, 0, Bytes::ZERO, Bytes::ZERO);
        reception.on_packet(Time::from_millis(36), 1, 20, Bytes::ZERO, Bytes::ZERO);
        assert_eq!(reception.jitter >> 4, 1, "a sixteenth of a difference of 16 ms");
    }
}
