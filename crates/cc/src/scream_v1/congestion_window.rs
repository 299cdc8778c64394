//! The congestion window (§ 4.1.2.1 and § 4.1.2.2): fast increase, then LEDBAT's rule; reduced at
//! losses and marks.

use super::config::ScreamV1Config;
use crate::scream_v2::ntp;

/// How far the bytes in flight must fill the window for an increase (§ 4.1.2.2), in fast increase
/// and outside it.
const FILLED_FAST: f64 = 1.5;
const FILLED: f64 = 1.25;

pub(super) struct CongestionWindow {
    config: ScreamV1Config,
    /// cwnd in bytes.
    window: f64,
    fast_increase: bool,
    /// Since when the trend is low.
    low_since: Option<u64>,
    resume: u64,
}

impl CongestionWindow {
    pub(super) fn new(config: &ScreamV1Config) -> Self {
        Self {
            config: config.clone(),
            window: config.min_cwnd.get() as f64,
            fast_increase: true,
            low_since: None,
            resume: ntp::span(config.resume),
        }
    }

    fn least(&self) -> f64 {
        self.config.min_cwnd.get() as f64
    }

    /// A loss event.
    pub(super) fn on_loss(&mut self) {
        self.reduce(self.config.beta_loss);
    }

    /// A mark.
    pub(super) fn on_mark(&mut self) {
        self.reduce(self.config.beta_ecn);
    }

    fn reduce(&mut self, factor: f64) {
        self.window = (factor * self.window).max(self.least());
        self.fast_increase = false;
        self.low_since = None;
    }

    /// Acknowledgement of `acked` bytes without congestion; `off_target` is (target − delay) ÷
    /// target. Returns whether fast increase ended.
    pub(super) fn on_acknowledged(
        &mut self,
        acked: u64,
        in_flight: u64,
        off_target: f64,
        trend: f64,
        max_in_flight: u64,
    ) -> bool {
        let (acked, in_flight) = (acked as f64, in_flight as f64);
        let mut ended = false;
        if self.fast_increase && trend >= self.config.trend_threshold {
            self.fast_increase = false;
            ended = true;
        }
        if self.fast_increase {
            if FILLED_FAST * in_flight + acked > self.window {
                self.window += acked;
            }
            return false;
        }
        let mss = self.config.mss.get() as f64;
        let delta = self.config.gain * off_target * acked * mss / self.window;
        let is_filled = FILLED * in_flight + acked > self.window;
        if off_target <= 0.0 || is_filled {
            self.window += delta;
        }
        let limit = self.config.head_room * max_in_flight as f64;
        self.window = self.window.min(limit).max(self.least());
        ended
    }

    /// Resumes fast increase after the trend was low for long enough (§ 4.1.2.6).
    pub(super) fn on_trend(&mut self, now: u64, trend: f64) {
        if self.fast_increase || trend >= self.config.trend_low {
            self.low_since = None;
            return;
        }
        let since = *self.low_since.get_or_insert(now);
        self.fast_increase = now.saturating_sub(since) >= self.resume;
    }

    /// cwnd in bytes.
    pub(super) fn get(&self) -> f64 {
        self.window
    }

    pub(super) fn is_fast(&self) -> bool {
        self.fast_increase
    }

    /// The bytes that may be in flight; `relaxed`: the delay is not above its target (§ 4.1.2.4).
    pub(super) fn allowed(&self, relaxed: bool) -> f64 {
        self.window + if relaxed { self.config.mss.get() as f64 } else { 0.0 }
    }

    /// The pacing rate in bit/s (§ 4.1.2.5).
    pub(super) fn pacing(&self, rtt: f64) -> f64 {
        let rate = if rtt > 0.0 { 8.0 * self.window / rtt } else { 0.0 };
        rate.max(self.config.pace_min.as_bps_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_increase_adds_what_is_acknowledged_until_a_trend_ends_it() {
        let mut window = CongestionWindow::new(&ScreamV1Config::published());
        assert!(!window.on_acknowledged(2000, 3000, 0.9, 0.0, 9000));
        assert_eq!(window.get(), 5000.0);
        assert!(!window.on_acknowledged(100, 1000, 0.9, 0.0, 9000));
        assert_eq!(window.get(), 5000.0, "not filled");
        assert!(window.on_acknowledged(1000, 5000, 0.5, 0.3, 9000));
        assert_eq!(window.get(), 5100.0, "0.5 · 1000 · 1000 ÷ 5000");
        window.on_acknowledged(1000, 5000, -0.5, 0.3, 9000);
        assert!(window.get() < 5010.0, "above the target");
        window.on_loss();
        assert!((window.get() - 0.8 * 5001.96).abs() < 1.0, "{}", window.get());
        (0..=5).for_each(|second| window.on_trend(65_536 * second, 0.0));
        assert!(window.is_fast(), "the trend was low for 5 s");
    }
}
