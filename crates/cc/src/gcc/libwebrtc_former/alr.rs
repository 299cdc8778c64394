//! Detects application-limited regions (ALR): a budget fills at a fraction of the estimate, and
//! every sent packet takes its size from the budget (libwebrtc `goog_cc/alr_detector.cc`,
//! `pacing/interval_budget.cc`).

use super::config::LibwebrtcConfig;
use crate::SentPacket;
use units::{Bitrate, Duration, Time};

/// Detects application-limited regions.
pub(super) struct AlrDetector {
    usage: f64,
    levels: (f64, f64),
    window: Duration,
    /// Rate at which the budget fills, in bytes per second.
    fill: f64,
    /// Maximum of the budget, in bytes; its minimum is the negative of this.
    max_budget: f64,
    /// Unused bytes; negative if more was sent than filled.
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
            max_budget: 0.0,
            budget: 0.0,
            sent: None,
            since: None,
        };
        detector.set_estimate(start);
        detector
    }

    /// Sets a new estimate.
    pub(super) fn set_estimate(&mut self, estimate: Bitrate) {
        self.fill = estimate.as_bps_f64() * self.usage / 8.0;
        self.max_budget = self.fill * self.window.as_secs_f64();
        self.budget = self.budget.clamp(-self.max_budget, self.max_budget);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let Some(before) = self.sent.replace(packet.sent) else { return };
        let elapsed = packet.sent.saturating_since(before).as_secs_f64();
        self.budget = (self.budget - packet.size.get() as f64).max(-self.max_budget);
        self.budget = (self.budget + self.fill * elapsed).min(self.max_budget);
        let level = if self.max_budget > 0.0 { self.budget / self.max_budget } else { 0.0 };
        if level > self.levels.0 && self.since.is_none() {
            self.since = Some(packet.sent);
        } else if level < self.levels.1 {
            self.since = None;
        }
    }

    /// When the current region began; `None` outside a region.
    pub(super) fn since(&self) -> Option<Time> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    /// Sends a packet every 10 ms at `kbps` kbit/s from `from` ms to `to` ms.
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
    fn sending_at_two_thirds_of_the_estimate_is_no_region() {
        let mut detector = detector();
        send(&mut detector, 660, 0, 60_000);
        assert_eq!(detector.since(), None);
    }

    #[test]
    fn a_region_begins_when_four_fifths_of_the_budget_are_unused() {
        let mut detector = detector();
        // 650 − 250 kbit/s fill 0.8 × 40,625 B in 650 ms.
        send(&mut detector, 250, 0, 640);
        assert_eq!(detector.since(), None);
        send(&mut detector, 250, 640, 680);
        let since = detector.since().unwrap();
        assert!((650..680).contains(&since.as_millis()), "{since}");
    }

    #[test]
    fn a_region_ends_when_half_of_the_budget_is_used() {
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
