//! Detects application-limited regions (ALR): a budget fills at a fraction of the estimate, and
//! every sent packet takes its size from the budget (libwebrtc `goog_cc/alr_detector.cc`,
//! `pacing/interval_budget.cc`). The budget counts whole
//! milliseconds, kbit/s and bytes.

use super::config::LibwebrtcConfig;
use super::rounding::{millis_of, whole_kbps};
use crate::SentPacket;
use units::{Bitrate, Duration, Time};

/// Detects application-limited regions.
pub(super) struct AlrDetector {
    usage: f64,
    levels: (f64, f64),
    window: Duration,
    /// Rate at which the budget fills, in kbit/s.
    fill: i64,
    /// Maximum of the budget, in bytes; its minimum is the negative of this.
    max_budget: i64,
    /// Unused bytes; negative if more was sent than filled.
    budget: i64,
    sent: Option<Time>,
    since: Option<Time>,
}

impl AlrDetector {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            usage: config.alr_usage,
            levels: (config.alr_start, config.alr_end),
            window: config.alr_window,
            fill: 0,
            max_budget: 0,
            budget: 0,
            sent: None,
            since: None,
        }
    }

    /// Sets a new estimate.
    pub(super) fn set_estimate(&mut self, estimate: Bitrate) {
        self.fill = signed(whole_kbps(estimate.scale(self.usage)));
        self.max_budget = self.fill.saturating_mul(signed(millis_of(self.window))) / 8;
        self.budget = self.budget.clamp(-self.max_budget, self.max_budget);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let Some(before) = self.sent.replace(packet.sent) else { return };
        let elapsed = signed(millis_of(packet.sent.saturating_since(before)));
        let used = self.budget.saturating_sub(signed(packet.size.get())).max(-self.max_budget);
        let filled = self.fill.saturating_mul(elapsed) / 8;
        self.budget = used.saturating_add(filled).min(self.max_budget);
        let level = self.level();
        if level > self.levels.0 && self.since.is_none() {
            self.since = Some(packet.sent);
        } else if level < self.levels.1 {
            self.since = None;
        }
    }

    /// The unused fraction of the budget, -1 to 1.
    pub(super) fn level(&self) -> f64 {
        if self.max_budget > 0 { self.budget as f64 / self.max_budget as f64 } else { 0.0 }
    }

    /// When the current region began; `None` outside a region.
    pub(super) fn since(&self) -> Option<Time> {
        self.since
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
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
        let mut detector = AlrDetector::new(&LibwebrtcConfig::default());
        detector.set_estimate(Bitrate::from_mbps(1));
        detector
    }

    #[test]
    fn sending_at_four_fifths_of_the_estimate_is_no_region() {
        let mut detector = detector();
        send(&mut detector, 808, 0, 60_000);
        assert_eq!(detector.since(), None);
    }

    #[test]
    fn a_region_begins_when_two_fifths_of_the_budget_are_unused() {
        let mut detector = detector();
        // 800 - 400 kbit/s fill 0.4 × 50,000 B in 400 ms.
        send(&mut detector, 400, 0, 410);
        assert_eq!(detector.since(), None);
        send(&mut detector, 400, 410, 430);
        let since = detector.since().unwrap();
        assert!((400..430).contains(&since.as_millis()), "{since}");
    }

    #[test]
    fn a_region_ends_when_the_budget_is_overdrawn_by_three_fifths() {
        let mut detector = detector();
        send(&mut detector, 100, 0, 5_000);
        assert!(detector.since().is_some());
        // The budget is full; 1200 - 800 kbit/s take 1.6 × 50,000 B in 1600 ms.
        send(&mut detector, 1200, 5_000, 6_580);
        assert!(detector.since().is_some());
        send(&mut detector, 1200, 6_580, 6_640);
        assert_eq!(detector.since(), None);
    }
}
