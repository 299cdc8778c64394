//! Media rate control (§ 4.1.3): the target rate of the encoder.

use super::config::ScreamV1Config;
use super::queue_delay_trend::QueueDelayTrend;
use super::rates::Rates;
use crate::scream_v2::ntp;

/// In bit/s.
pub(super) struct MediaRate {
    config: ScreamV1Config,
    interval: u64,
    min: f64,
    max: f64,
    pub(super) target: f64,
    /// `target_bitrate_last_max`.
    pub(super) last_max: f64,
    adjusted: u64,
}

impl MediaRate {
    /// `rates`: least, first and greatest rate.
    pub(super) fn new(config: &ScreamV1Config, [min, target, max]: [f64; 3]) -> Self {
        Self {
            config: config.clone(),
            interval: ntp::span(config.adjust_interval),
            min,
            max,
            target,
            last_max: 1.0,
            adjusted: 0,
        }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.adjusted = now;
    }

    /// Congestion was detected: the rate at which it was is remembered.
    pub(super) fn on_congestion(&mut self) {
        self.last_max = self.target.max(1.0);
    }

    pub(super) fn on_loss(&mut self) {
        self.scale(self.config.beta_r);
    }

    pub(super) fn on_mark(&mut self) {
        self.scale(self.config.beta_ecn);
    }

    fn scale(&mut self, factor: f64) {
        self.on_congestion();
        self.target = (factor * self.target).max(self.min);
    }

    /// Adjusts the target once per interval. `queued` is the sender's queue in bits.
    pub(super) fn adjust(
        &mut self,
        now: u64,
        fast: bool,
        rates: &Rates,
        trend: &QueueDelayTrend,
        queued: f64,
    ) {
        if now.saturating_sub(self.adjusted) < self.interval {
            return;
        }
        self.adjusted = now;
        let interval = self.config.adjust_interval.as_secs_f64();
        let ramp = self.config.ramp_up_speed.as_bps_f64().min(self.target / 2.0) * interval;
        let distance = 4.0 * (self.target - self.last_max) / self.last_max;
        let scale = (distance * distance).clamp(0.2, 1.0);
        let current = rates.current();
        if fast {
            self.target += ramp * scale;
        } else {
            let guarded = current * (1.0 - self.config.guard * trend.trend);
            let change = guarded - self.config.queue_factor * queued;
            self.target += if change > 0.0 { (change * scale).min(ramp) } else { change };
            let threshold = self.config.rtp_threshold.as_secs_f64();
            if current > 0.0 && queued / current > threshold {
                self.target *= self.config.rtp_scale;
            }
        }
        let measured = current.max(rates.media).max(rates.median);
        if measured > 0.0 {
            self.target = self.target.min(measured * (2.0 - trend.memory));
        }
        self.target = self.target.clamp(self.min, self.max);
    }

    /// The greatest rate of the media changed.
    pub(super) fn set_max(&mut self, max: f64) {
        self.max = max.max(self.min);
        self.target = self.target.min(self.max);
    }

    pub(super) fn bounds(&self) -> (f64, f64) {
        (self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_ramps_up_and_falls_with_losses_and_with_the_senders_queue() {
        let config = ScreamV1Config::published();
        let mut rate = MediaRate::new(&config, [50e3, 500e3, 2e6]);
        let (mut rates, trend) = (Rates::new(), QueueDelayTrend::new(0.1));
        rates.on_sent(12_500);
        rates.update(13_107);
        assert!((rates.current() - 500e3).abs() < 100.0);
        rate.adjust(13_107, true, &rates, &trend, 0.0);
        assert!((rate.target - 540e3).abs() < 1.0, "200 kbit/s per second: {}", rate.target);
        rate.on_loss();
        assert!((rate.target - 486e3).abs() < 1.0 && rate.last_max == 540e3);
        rate.adjust(26_214, false, &rates, &trend, 20_000.0);
        // The increase is limited to the ramp-up; 20 kbit wait 42 ms at the current rate.
        let expected = (486e3 + 40e3) * 0.95;
        assert!((rate.target - expected).abs() < 500.0, "{}", rate.target);
    }
}
