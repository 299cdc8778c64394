//! The congestion window in whole bytes (`updateCwnd`).

use super::config::ScreamV1CodeConfig;
use crate::scream_v2::ntp;

/// Least window segments when the MSS is measured again (`isOkToTransmit`, `kMinCwndMss`).
const MIN_SEGMENTS_AGAIN: u64 = 3;
/// Rate up to which the window grows by two segments, in bit/s (`updateCwnd`).
const LOW_RATE: f64 = 1e5;
/// Bytes in flight from which they limit the window (`updateCwnd`).
const LIMITS_FROM: f64 = 5000.0;

pub(super) struct Window {
    config: ScreamV1CodeConfig,
    resume: u64,
    post: f64,
    window: u64,
    pub(super) least: u64,
    pub(super) mss: u64,
    pub(super) fast_increase: bool,
    /// When congestion was last seen, in ticks; 0: never.
    congested: u64,
    /// 0 after congestion, rising to 1.
    pub(super) post_congestion: f64,
    pub(super) limit: f64,
    updated: Option<u64>,
}

/// What an update of the window knows.
pub(super) struct Situation {
    pub(super) now: u64,
    /// Newly acknowledged bytes, and those in flight.
    pub(super) acked: u64,
    pub(super) in_flight: u64,
    /// (target − delay) ÷ target.
    pub(super) off_target: f64,
    pub(super) trend: f64,
    /// The measured rate in bit/s.
    pub(super) rate: f64,
}

/// A sign of congestion.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sign {
    None,
    Loss,
    /// A mark, answered by ECT(0).
    Classic,
    /// A mark, answered by ECT(1) with this fraction of marked bytes.
    L4s(f64),
}

impl Window {
    pub(super) fn new(config: &ScreamV1CodeConfig) -> Self {
        let mss = config.mss.get();
        Self {
            resume: ntp::nearest(config.resume),
            post: ntp::seconds(1 << 32) * config.post_congestion.as_secs_f64(),
            window: config.min_segments * mss,
            least: config.min_segments * mss,
            mss,
            fast_increase: true,
            congested: 0,
            post_congestion: 1.0,
            limit: 0.0,
            updated: None,
            config: config.clone(),
        }
    }

    /// cwnd in bytes.
    pub(super) fn get(&self) -> u64 {
        self.window
    }

    /// A packet of this size leaves or is the next to leave.
    pub(super) fn on_packet(&mut self, size: u64) {
        self.mss = self.mss.max(size);
        self.least = self.config.min_segments * self.mss;
        self.window = self.window.max(self.least);
    }

    /// The MSS is measured again.
    pub(super) fn measure_again(&mut self) {
        self.mss = self.config.mss.get();
        self.least = MIN_SEGMENTS_AGAIN * self.mss;
        self.window = self.window.max(self.least);
    }

    /// Whether an update is due without congestion, `interval` ticks after the last.
    pub(super) fn is_due(&mut self, now: u64, interval: u64) -> bool {
        now.saturating_sub(*self.updated.get_or_insert(now)) > interval
    }

    /// When the window was last updated.
    pub(super) fn updated(&self) -> Option<u64> {
        self.updated
    }

    /// The bytes in flight that limit the window changed.
    pub(super) fn set_limit(&mut self, mixed: f64) {
        self.limit = mixed * self.config.head_room;
    }

    /// Updates the window. Returns the factor that it asks for the target rate at a low rate.
    pub(super) fn update(&mut self, sign: Sign, situation: &Situation) -> f64 {
        let now = situation.now;
        let span = ntp::seconds(now.saturating_sub(self.updated.unwrap_or(now)));
        self.updated = Some(now);
        let factor = match sign {
            Sign::None => self.follow(situation, span),
            Sign::Loss => self.reduce(now, self.config.beta_loss * self.window as f64, 0),
            Sign::Classic => self.reduce(now, self.config.beta_ecn * self.window as f64, 0),
            Sign::L4s(alpha) => {
                let kept = 1.0 - alpha / (2.0 * self.config.pacing_head_room);
                self.reduce(now, kept * self.window as f64, self.mss)
            }
        };
        if self.limit > LIMITS_FROM && self.congested > 0 {
            self.window = self.window.min(self.limit as u64);
        }
        self.window = self.window.max(self.least);
        if situation.trend > self.config.trend_threshold {
            self.congested = now;
        } else if now.saturating_sub(self.congested) > self.resume && !self.fast_increase {
            self.fast_increase = true;
            self.congested = now;
        }
        factor
    }

    fn reduce(&mut self, now: u64, kept: f64, added: u64) -> f64 {
        self.window = (kept as u64 + added).max(self.least);
        self.fast_increase = false;
        self.congested = now;
        self.post_congestion = 0.0;
        1.0
    }

    /// Without congestion the window follows the queue delay.
    fn follow(&mut self, situation: &Situation, span: f64) -> f64 {
        let Situation { now, acked, in_flight, off_target, trend, rate } = *situation;
        self.post_congestion =
            (now.saturating_sub(self.congested) as f64 / self.post).clamp(0.0, 1.0);
        let ratio = self.mss as f64 / self.window as f64;
        let limited = if rate > LOW_RATE {
            (acked as f64).min(self.config.growth * rate * span / 8.0)
        } else {
            2.0 * self.mss as f64
        };
        let used = (in_flight + acked) as f64;
        let whole = self.window as f64;
        if self.fast_increase {
            if trend >= self.config.trend_threshold {
                self.fast_increase = false;
            } else if used * self.config.filled_fast > whole {
                self.window += (self.post_congestion * limited) as u64;
            }
        } else if off_target > 0.0 {
            if used * self.config.filled > whole {
                let increment = self.config.gain * off_target * limited * ratio;
                self.window += (increment + 0.5) as u64;
            }
        } else {
            let delta = -(self.config.gain_down * off_target * acked as f64 * ratio);
            let delta = delta.min(whole / 4.0);
            self.window -= delta as u64;
            self.congested = now;
            if rate < LOW_RATE {
                return 1.0 - delta / self.window.max(1) as f64;
            }
        }
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        let mut window = Window::new(&ScreamV1CodeConfig::published());
        window.on_packet(1000);
        window.is_due(100_000, 0);
        window
    }

    fn situation(now: u64, off_target: f64) -> Situation {
        Situation { now, acked: 2000, in_flight: 4000, off_target, trend: 0.0, rate: 1e6 }
    }

    #[test]
    fn the_window_grows_in_fast_increase_and_falls_at_signs_of_congestion() {
        let mut window = window();
        assert_eq!(window.get(), 2000);
        window.update(Sign::None, &situation(101_000, 0.9));
        assert_eq!(window.get(), 4000, "the acknowledged bytes");
        window.update(Sign::Loss, &situation(102_000, 0.9));
        assert_eq!((window.get(), window.fast_increase), (2800, false));
        window.update(Sign::L4s(0.3), &situation(103_000, 0.9));
        assert_eq!(window.get(), 2520 + 1000);
        window.update(Sign::Classic, &situation(104_000, 0.9));
        assert_eq!(window.get(), 3168);
    }

    #[test]
    fn above_the_target_the_window_shrinks_by_a_quarter_at_most() {
        let mut window = window();
        window.update(Sign::Loss, &situation(101_000, 0.9));
        window.update(Sign::None, &situation(102_000, 0.5));
        assert_eq!(window.get(), 2500, "0.5 · 2000 · 1000 ÷ 2000 more");
        window.update(Sign::None, &situation(103_000, -5.0));
        assert_eq!(window.get(), 2000, "not below two segments");
    }

    #[test]
    fn fast_increase_resumes_after_a_quarter_of_a_second() {
        let mut window = window();
        window.update(Sign::Loss, &situation(101_000, 0.9));
        window.update(Sign::None, &situation(117_384, 0.9));
        assert!(!window.fast_increase);
        window.update(Sign::None, &situation(117_385, 0.9));
        assert!(window.fast_increase);
    }
}
