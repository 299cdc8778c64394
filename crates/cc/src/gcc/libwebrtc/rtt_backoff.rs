//! Reduces the rate when the round-trip time, including the time since the last feedback, becomes
//! extreme (libwebrtc `goog_cc/send_side_bandwidth_estimation.cc`).

use super::config::LibwebrtcConfig;
use units::{Bitrate, Duration, Time};

/// Observes the round-trip time.
pub(super) struct RttBackoff {
    limit: Duration,
    factor: f64,
    interval: Duration,
    floor: Bitrate,
    rtt: Duration,
    reported: Option<Time>,
    sent: Option<Time>,
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
        }
    }

    pub(super) fn on_sent(&mut self, now: Time) {
        self.reported.get_or_insert(now);
        self.sent = Some(now);
    }

    /// Feedback arrived. `rtt` is the minimum round-trip time of its packets, without the waiting
    /// time at the receiver.
    pub(super) fn on_feedback(&mut self, now: Time, rtt: Duration) {
        (self.reported, self.rtt) = (Some(now), rtt);
    }

    /// Whether the round-trip time is above the limit. Time without feedback counts only up to the
    /// last sent packet.
    pub(super) fn is_above(&self) -> bool {
        let silence = match (self.sent, self.reported) {
            (Some(sent), Some(reported)) => sent.saturating_since(reported),
            _ => Duration::ZERO,
        };
        silence + self.rtt > self.limit
    }

    /// The reduced rate, at most once per interval since the last decrease; `None` if the rate is
    /// not to be reduced.
    pub(super) fn reduced(
        &self,
        now: Time,
        last_decrease: Option<Time>,
        rate: Bitrate,
    ) -> Option<Bitrate> {
        let due = last_decrease.is_none_or(|last| now.saturating_since(last) >= self.interval);
        (self.is_above() && due && rate > self.floor)
            .then(|| rate.scale(self.factor).max(self.floor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_seconds_without_feedback_lower_the_rate_once_per_second() {
        let mut backoff = RttBackoff::new(&LibwebrtcConfig::default());
        let rate = Bitrate::from_mbps(1);
        let lower = Some(Bitrate::from_kbps(800));
        let last = Some(Time::from_secs(4));
        backoff.on_sent(Time::ZERO);
        backoff.on_feedback(Time::from_secs(1), Duration::from_millis(50));
        backoff.on_sent(Time::from_millis(3950));
        assert_eq!(backoff.reduced(Time::from_secs(9), None, rate), None, "nothing sent later");
        backoff.on_sent(Time::from_millis(3951));
        assert_eq!(backoff.reduced(Time::from_secs(4), None, rate), lower);
        assert_eq!(backoff.reduced(Time::from_millis(4999), last, rate), None);
        assert_eq!(backoff.reduced(Time::from_secs(5), last, rate), lower);
        assert_eq!(backoff.reduced(Time::from_secs(6), last, Bitrate::from_kbps(5)), None);
        backoff.on_feedback(Time::from_secs(7), Duration::from_millis(50));
        assert!(!backoff.is_above());
    }

    #[test]
    fn a_round_trip_time_above_three_seconds_is_extreme() {
        let mut backoff = RttBackoff::new(&LibwebrtcConfig::default());
        backoff.on_feedback(Time::from_secs(1), Duration::from_secs(3));
        assert!(!backoff.is_above());
        backoff.on_feedback(Time::from_secs(1), Duration::from_millis(3001));
        assert!(backoff.is_above());
    }
}
