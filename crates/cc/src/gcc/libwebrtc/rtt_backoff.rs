//! Falls back when the round-trip time, or the silence since the last feedback, becomes extreme
//! (libwebrtc `goog_cc/send_side_bandwidth_estimation.cc`).

use super::config::LibwebrtcConfig;
use units::{Bitrate, Duration, Time};

/// Watches the round-trip time.
pub(super) struct RttBackoff {
    limit: Duration,
    factor: f64,
    interval: Duration,
    floor: Bitrate,
    rtt: Duration,
    reported: Option<Time>,
    sent: Option<Time>,
    fell: Option<Time>,
}

impl RttBackoff {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            limit: config.backoff_rtt,
            factor: config.backoff_factor,
            interval: config.backoff_interval,
            floor: config.backoff_floor,
            rtt: Duration::ZERO,
            reported: None,
            sent: None,
            fell: None,
        }
    }

    pub(super) fn on_sent(&mut self, now: Time) {
        self.reported.get_or_insert(now);
        self.sent = Some(now);
    }

    /// Feedback came, with the least round-trip time of its packets, waiting at the receiver left
    /// out.
    pub(super) fn on_feedback(&mut self, now: Time, rtt: Duration) {
        (self.reported, self.rtt) = (Some(now), rtt);
    }

    /// Whether the round-trip time is extreme. While nothing is sent, silence does not count.
    pub(super) fn is_above(&self) -> bool {
        let silence = match (self.sent, self.reported) {
            (Some(sent), Some(reported)) => sent.saturating_since(reported),
            _ => Duration::ZERO,
        };
        silence + self.rtt > self.limit
    }

    /// The rate to fall to, at most once an interval.
    pub(super) fn fall(&mut self, now: Time, rate: Bitrate) -> Option<Bitrate> {
        let due = self.fell.is_none_or(|fell| now.saturating_since(fell) >= self.interval);
        if !self.is_above() || !due || rate <= self.floor {
            return None;
        }
        self.fell = Some(now);
        Some(rate.scale(self.factor).max(self.floor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_of_three_seconds_lowers_the_rate_once_a_second() {
        let mut backoff = RttBackoff::new(&LibwebrtcConfig::default());
        let rate = Bitrate::from_mbps(1);
        backoff.on_sent(Time::ZERO);
        backoff.on_feedback(Time::from_secs(1), Duration::from_millis(50));
        backoff.on_sent(Time::from_millis(3950));
        assert_eq!(backoff.fall(Time::from_secs(9), rate), None, "nothing was sent later");
        backoff.on_sent(Time::from_millis(3951));
        assert_eq!(backoff.fall(Time::from_secs(4), rate), Some(Bitrate::from_kbps(800)));
        assert_eq!(backoff.fall(Time::from_millis(4999), rate), None);
        assert_eq!(backoff.fall(Time::from_secs(5), rate), Some(Bitrate::from_kbps(800)));
        assert_eq!(backoff.fall(Time::from_secs(6), Bitrate::from_kbps(5)), None);
        backoff.on_feedback(Time::from_secs(7), Duration::from_millis(50));
        assert!(!backoff.is_above());
    }

    #[test]
    fn so_does_a_round_trip_time_above_it() {
        let mut backoff = RttBackoff::new(&LibwebrtcConfig::default());
        backoff.on_feedback(Time::from_secs(1), Duration::from_secs(3));
        assert!(!backoff.is_above());
        backoff.on_feedback(Time::from_secs(1), Duration::from_millis(3001));
        assert!(backoff.is_above());
    }
}
