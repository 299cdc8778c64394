//! Round-trip time and retransmission time-out (RFC 6298), with Linux's minimum.

use units::{Duration, Time};

/// The time-out before the first measurement (RFC 6298 § 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// Minimum of 4 · RTTVAR in the time-out (Linux `TCP_RTO_MIN`). RFC 6298 § 2.4 sets a minimum for
/// the whole time-out instead.
const MIN_4_RTTVAR: Duration = Duration::from_millis(200);
/// The maximum time-out (Linux `TCP_RTO_MAX`; RFC 6298 § 2.5 allows 60 s or more).
const MAX_RTO: Duration = Duration::from_secs(120);
/// Window of the minimum filter (Linux `net.ipv4.tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// Estimates of the round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttEstimator {
    srtt: Option<Duration>,
    rttvar: Duration,
    latest: Option<Duration>,
    min_rtt: Option<(Time, Duration)>,
    /// How often the time-out was doubled since the last new acknowledgement (RFC 6298 § 5.5).
    backoff: u32,
}

impl RttEstimator {
    /// Updates the minimum with the round-trip time of the newest segment, which contains no wait
    /// for a delayed acknowledgement.
    pub(super) fn update_min(&mut self, now: Time, rtt: Duration) {
        let stale = |(at, min_rtt)| rtt <= min_rtt || now.saturating_since(at) > MIN_RTT_WINDOW;
        if self.min_rtt.is_none_or(stale) {
            self.min_rtt = Some((now, rtt));
        }
    }

    /// Updates SRTT and RTTVAR with the round-trip time of the oldest acknowledged segment. The
    /// segment must have been sent once or be identified by its time stamp (RFC 6298 § 3).
    pub(super) fn update(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        match self.srtt {
            // RFC 6298 § 2.2.
            None => (self.srtt, self.rttvar) = (Some(rtt), rtt / 2),
            // RFC 6298 § 2.3: α = 1/8, β = 1/4.
            Some(srtt) => {
                let error = srtt.saturating_sub(rtt) + rtt.saturating_sub(srtt);
                self.rttvar = (self.rttvar * 3 + error) / 4;
                self.srtt = Some((srtt * 7 + rtt) / 8);
            }
        }
    }

    /// The retransmission timer expired: doubles the time-out.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// New data was acknowledged: ends the backoff.
    pub(super) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// How often the retransmission timer has expired since the last new acknowledgement.
    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The smoothed round-trip time.
    pub(super) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// The latest measurement.
    pub(super) fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The minimum of the last five minutes.
    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.map(|(_, rtt)| rtt)
    }

    /// The retransmission time-out without backoff.
    pub(super) fn base_rto(&self) -> Duration {
        let base = self.srtt.map(|srtt| srtt + (self.rttvar * 4).max(MIN_4_RTTVAR));
        base.unwrap_or(INITIAL_RTO).min(MAX_RTO)
    }

    /// The retransmission time-out.
    pub(super) fn rto(&self) -> Duration {
        let doubled = self.base_rto() * (1u64 << self.backoff.min(32));
        doubled.min(MAX_RTO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_time_out_follows_rfc_6298_with_linux_minimum() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.update(ms(100));
        rtt.update_min(Time::ZERO, ms(100));
        assert_eq!(rtt.rto(), ms(300), "100 + 4 × 50");
        for _ in 0..100 {
            rtt.update(ms(100));
        }
        assert_eq!(rtt.rto(), ms(300), "100 + the minimum of 200, not max(100, 200)");
        rtt.update(ms(900));
        rtt.update_min(Time::from_secs(1), ms(900));
        assert_eq!(rtt.srtt(), Some(ms(200)));
        assert_eq!(rtt.rto().as_millis(), 1_000, "200 + 4 × 200");
        rtt.back_off();
        assert_eq!(rtt.rto().as_millis(), 2_000);
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), MAX_RTO);
        rtt.reset_backoff();
        assert_eq!(rtt.rto().as_millis(), 1_000);
        assert_eq!(rtt.min_rtt(), Some(ms(100)));
    }
}
