//! Whether the application sends less than it may: a budget that fills with a share of the estimate
//! and that every packet empties (libwebrtc `goog_cc/alr_detector.cc`,
//! `pacing/interval_budget.cc`).

use super::config::LibwebrtcConfig;
use crate::SentPacket;
use units::{Bitrate, Duration, Time};

/// Finds application-limited regions.
pub(super) struct AlrDetector {
    usage: f64,
    levels: (f64, f64),
    window: Duration,
    /// Bytes a second that fill the budget, what it holds, and what is in it, which may be a debt.
    fill: f64,
    most: f64,
    budget: f64,
    sent: Option<Time>,
    since: Option<Time>,
}

impl AlrDetector {
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate) -> Self {
        let mut detector = Self {
            usage: config.alr_usage,
            levels: (config.alr_start, config.alr_end),
            window: config.alr_window,
            fill: 0.0,
            most: 0.0,
            budget: 0.0,
            sent: None,
            since: None,
        };
        detector.set_estimate(start);
        detector
    }

    /// The estimate has changed.
    pub(super) fn set_estimate(&mut self, estimate: Bitrate) {
        self.fill = estimate.as_bps_f64() * self.usage / 8.0;
        self.most = self.fill * self.window.as_secs_f64();
        self.budget = self.budget.clamp(-self.most, self.most);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let Some(before) = self.sent.replace(packet.sent) else { return };
        let elapsed = packet.sent.saturating_since(before).as_secs_f64();
        self.budget = (self.budget - packet.size.get() as f64).max(-self.most);
        self.budget = (self.budget + self.fill * elapsed).min(self.most);
        let level = if self.most > 0.0 { self.budget / self.most } else { 0.0 };
        if level > self.levels.0 && self.since.is_none() {
            self.since = Some(packet.sent);
        } else if level < self.levels.1 {
            self.since = None;
        }
    }

    /// When the region began, if the application is in one.
    pub(super) fn since(&self) -> Option<Time> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    /// Sends a packet every 10 ms at `kbps` from `from` ms to `to`.
    fn send(detector: &mut AlrDetector, kbps: u64, from: u64, to: u64) {
        for ms in (from..to).step_by(10) {
            let size = Bytes::new(kbps * 10 / 8);
            let sent = Time::from_millis(ms);
            detector.on_sent(&SentPacket { sequence: 0, sent, size, probe: None });
        }
    }

    fn detector() -> AlrDetector {
        AlrDetector::new(&LibwebrtcConfig::default(), Bitrate::from_mbps(1))
    }

    #[test]
    fn sending_at_two_thirds_of_the_estimate_is_no_such_region() {
        let mut detector = detector();
        send(&mut detector, 660, 0, 60_000);
        assert_eq!(detector.since(), None);
    }

    #[test]
    fn it_begins_when_four_fifths_of_the_budget_are_unused() {
        let mut detector = detector();
        // 650 − 250 kbit/s fill 0.8 × 40,625 B in 650 ms.
        send(&mut detector, 250, 0, 640);
        assert_eq!(detector.since(), None);
        send(&mut detector, 250, 640, 680);
        let since = detector.since().unwrap();
        assert!((650..680).contains(&since.as_millis()), "{since}");
    }

    #[test]
    fn it_ends_when_half_of_the_budget_is_used() {
        let mut detector = detector();
        send(&mut detector, 100, 0, 5_000);
        assert!(detector.since().is_some());
        // The budget is full; 1000 − 650 kbit/s take half of 40,625 B in 464 ms.
        send(&mut detector, 1000, 5_000, 5_440);
        assert!(detector.since().is_some());
        send(&mut detector, 1000, 5_440, 5_500);
        assert_eq!(detector.since(), None);
    }
}
