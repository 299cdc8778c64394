//! Round-trip time and the retransmission time-out (RFC 6298), with the minimum as Linux applies
//! it.

use units::{Duration, Time};

/// Before any round trip was measured (RFC 6298 § 2.1).
const INITIAL: Duration = Duration::from_secs(1);
/// The least that is added to the smoothed round-trip time (Linux `TCP_RTO_MIN`: a floor of the
/// variation's part, not of the whole as in RFC 6298 § 2.4).
const MIN_VARIATION: Duration = Duration::from_millis(200);
/// The longest time-out (Linux `TCP_RTO_MAX`; RFC 6298 § 2.5 allows 60 s and more).
const MAX: Duration = Duration::from_secs(120);
/// How long a minimum counts (Linux `net.ipv4.tcp_min_rtt_wlen`).
const MIN_WINDOW: Duration = Duration::from_secs(300);

/// What is known of the round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    smoothed: Option<Duration>,
    variation: Duration,
    newest: Option<Duration>,
    least: Option<(Time, Duration)>,
    /// Doublings of the time-out since something last was acknowledged (RFC 6298 § 5.5).
    backoff: u32,
}

impl RoundTrip {
    /// The round trip of the newest segment, which no acknowledgement waited for.
    pub(super) fn path_measured(&mut self, now: Time, rtt: Duration) {
        let stale = |(at, least)| rtt <= least || now.saturating_since(at) > MIN_WINDOW;
        if self.least.is_none_or(stale) {
            self.least = Some((now, rtt));
        }
    }

    /// A round trip was measured, of the oldest segment, and one that was sent once or is told by
    /// its time stamp (RFC 6298 § 3).
    pub(super) fn measured(&mut self, rtt: Duration) {
        self.newest = Some(rtt);
        match self.smoothed {
            // RFC 6298 § 2.2.
            None => (self.smoothed, self.variation) = (Some(rtt), rtt / 2),
            // RFC 6298 § 2.3: α = 1/8, β = 1/4.
            Some(smoothed) => {
                let error = smoothed.saturating_sub(rtt) + rtt.saturating_sub(smoothed);
                self.variation = (self.variation * 3 + error) / 4;
                self.smoothed = Some((smoothed * 7 + rtt) / 8);
            }
        }
    }

    /// The time-out expired.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Something new was acknowledged.
    pub(super) fn answered(&mut self) {
        self.backoff = 0;
    }

    /// How often the time-out has expired since something last was acknowledged.
    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The smoothed round-trip time.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The newest round trip.
    pub(super) fn newest(&self) -> Option<Duration> {
        self.newest
    }

    /// The least round trip of the last five minutes.
    pub(super) fn least(&self) -> Option<Duration> {
        self.least.map(|(_, rtt)| rtt)
    }

    /// The retransmission time-out without its doublings.
    pub(super) fn base_timeout(&self) -> Duration {
        let base = self.smoothed.map(|smoothed| smoothed + (self.variation * 4).max(MIN_VARIATION));
        base.unwrap_or(INITIAL).min(MAX)
    }

    /// The retransmission time-out.
    pub(super) fn timeout(&self) -> Duration {
        let doubled = self.base_timeout() * (1u64 << self.backoff.min(32));
        doubled.min(MAX)
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
        let mut rtt = RoundTrip::default();
        assert_eq!(rtt.timeout(), Duration::from_secs(1));
        rtt.measured(ms(100));
        rtt.path_measured(Time::ZERO, ms(100));
        assert_eq!(rtt.timeout(), ms(300), "100 + 4 × 50");
        for _ in 0..100 {
            rtt.measured(ms(100));
        }
        assert_eq!(rtt.timeout(), ms(300), "100 + the minimum of 200, not max(100, 200)");
        rtt.measured(ms(900));
        rtt.path_measured(Time::from_secs(1), ms(900));
        assert_eq!(rtt.smoothed(), Some(ms(200)));
        assert_eq!(rtt.timeout().as_millis(), 1_000, "200 + 4 × 200");
        rtt.back_off();
        assert_eq!(rtt.timeout().as_millis(), 2_000);
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), MAX);
        rtt.answered();
        assert_eq!(rtt.timeout().as_millis(), 1_000);
        assert_eq!(rtt.least(), Some(ms(100)));
    }
}
