//! The queue delay, its average and trend, and the slow minimum by which the base delay is forgotten
//! (`markAcked`, `updateCwnd`).

use super::config::ScreamV1CodeConfig;
use crate::scream_v1::queue_delay_trend::QueueDelayTrend;
use crate::scream_v2::ntp;
use crate::scream_v2::queue_delay::BaseDelay;

/// 50 ms in ticks: the interval of the samples (`kQueueDelayFractionHistInterval`).
const SAMPLE: u64 = 3277;
/// The trend is computed from this time on, in ticks: 2 s (`updateCwnd`).
const SETTLED: u64 = 131_072;
/// Gain of the slow minimum upwards, and the share of the target from which the base delay is
/// forgotten (`updateCwnd`).
const SLOW_GAIN: f64 = 0.001;
const STANDING: f64 = 0.25;
/// A minimum before the first sample, in s.
const NONE_YET: f64 = 1000.0;

/// Delays in s.
pub(super) struct Delay {
    base: BaseDelay,
    pub(super) target: f64,
    base_reset: u64,
    reset: u64,
    started: u64,
    sampled: u64,
    pub(super) newest: f64,
    pub(super) trend: QueueDelayTrend,
    minimum: f64,
    slow_minimum: f64,
}

impl Delay {
    pub(super) fn new(config: &ScreamV1CodeConfig) -> Self {
        Self {
            base: BaseDelay::new(config.base_step, config.base_entries),
            target: config.target.as_secs_f64(),
            base_reset: ntp::nearest(config.base_reset),
            reset: 0,
            started: 0,
            sampled: 0,
            newest: 0.0,
            trend: QueueDelayTrend::new(config.weight),
            minimum: NONE_YET,
            slow_minimum: 0.0,
        }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.base.start(now);
        (self.reset, self.started, self.sampled) = (now, now, now);
    }

    /// A packet was acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: u64, sent: u64, arrival: u64) {
        self.newest = self.base.queued(now, sent, arrival);
    }

    /// The window is updated. Returns whether a sample of the trend was taken.
    pub(super) fn update(&mut self, now: u64) -> bool {
        self.minimum = self.minimum.min(self.newest);
        let is_standing = self.slow_minimum > STANDING * self.target;
        if is_standing && now.saturating_sub(self.reset) > self.base_reset {
            self.base.reset();
            (self.slow_minimum, self.newest) = (0.0, 0.0);
            self.reset = now;
        }
        self.trend.on_acknowledged(self.newest / self.target);
        let since = now.saturating_sub(self.sampled);
        if since <= SAMPLE {
            return false;
        }
        let up = self.slow_minimum + SLOW_GAIN * (self.minimum - self.slow_minimum);
        self.slow_minimum = self.minimum.min(up);
        self.minimum = NONE_YET;
        // Sparse feedback adds a sample several times; more than a whole history is not needed.
        (0..(since / SAMPLE).min(64)).for_each(|_| self.trend.push(self.newest / self.target));
        if now.saturating_sub(self.started) > SETTLED {
            self.trend.update();
        }
        self.sampled = now;
        true
    }

    /// (target − delay) ÷ target.
    pub(super) fn off_target(&self) -> f64 {
        (self.target - self.newest) / self.target
    }
}
