//! The queue delay, measured as in LEDBAT (RFC 6817 § 3.4.2), and its averages.

use super::config::ScreamV2Config;
use super::ntp;
use units::Duration;

/// Interval of the slow minimum in round-trip times (the code, `kQueueDelayMinSlowAvgUpdateRtts`).
const SLOW_RTTS: u64 = 100;
/// Gain of the slow minimum upwards (the code, `kQueueDelayMinSlowAvgAlpha`).
const SLOW_GAIN: f64 = 1.0 / 8.0;
/// Decay of the filtered maximum and minimum (the code, `kQueueDelayMinMaxAlpha`).
const EXTREMES_GAIN: f64 = 1.0 / 16.0;
/// Gain of the difference of maximum and minimum (the code, `kLatencyDiffAlpha`).
const VARIATION_GAIN: f64 = 1.0 / 32.0;
/// A minimum before the first sample, in s.
const NONE_YET: f64 = 1000.0;

/// The least one-way delay of a long window, in ticks.
pub(crate) struct BaseDelay {
    step: u64,
    current: i64,
    history: Vec<i64>,
    next: usize,
    least: i64,
    since: Option<u64>,
}

impl BaseDelay {
    /// A history of `entries` minima, each of a `step`.
    pub(crate) fn new(step: Duration, entries: usize) -> Self {
        Self {
            step: ntp::span(step),
            current: i64::MAX,
            history: vec![i64::MAX; entries],
            next: 0,
            least: i64::MAX,
            since: None,
        }
    }

    /// The first event of the sender.
    pub(crate) fn start(&mut self, now: u64) {
        self.since = Some(now);
    }

    /// The queue delay of a packet, in s.
    pub(crate) fn queued(&mut self, now: u64, sent: u64, arrival: u64) -> f64 {
        let delay = (i128::from(arrival) - i128::from(sent)) as i64;
        let queued = delay.saturating_sub(self.update(now, delay)).max(0);
        ntp::seconds(queued.unsigned_abs())
    }

    /// A one-way delay; returns the base delay.
    fn update(&mut self, now: u64, delay: i64) -> i64 {
        let since = *self.since.get_or_insert(now);
        self.current = self.current.min(delay);
        if now.saturating_sub(since) >= self.step {
            self.next = (self.next + 1) % self.history.len();
            self.history[self.next] = self.current;
            self.since = Some(now);
            self.current = i64::MAX;
            self.least = self.history.iter().copied().min().unwrap_or(i64::MAX);
        }
        self.current.min(self.least)
    }

    /// Forgets all delays.
    pub(crate) fn reset(&mut self) {
        self.current = i64::MAX;
        self.history.fill(i64::MAX);
        self.least = i64::MAX;
    }
}

/// The newest queue delay and its averages, in s.
pub(super) struct QueueDelay {
    base: BaseDelay,
    gain: f64,
    less_minimum: bool,
    threshold: f64,
    pub(super) newest: f64,
    pub(super) average: f64,
    pub(super) slow_minimum: f64,
    minimum: f64,
    filtered_min: f64,
    filtered_max: f64,
    pub(super) variation: f64,
    averaged: u64,
    slowly_averaged: u64,
}

impl QueueDelay {
    pub(super) fn new(config: &ScreamV2Config) -> Self {
        Self {
            base: BaseDelay::new(config.base_step, config.base_entries),
            gain: config.average_gain,
            less_minimum: config.less_minimum,
            threshold: config.variation.as_secs_f64(),
            newest: 0.0,
            average: 0.0,
            slow_minimum: 0.0,
            minimum: NONE_YET,
            filtered_min: NONE_YET,
            filtered_max: 0.0,
            variation: 0.0,
            averaged: 0,
            slowly_averaged: 0,
        }
    }

    /// The first event of the sender.
    pub(super) fn start(&mut self, now: u64) {
        self.base.start(now);
        (self.averaged, self.slowly_averaged) = (now, now);
    }

    /// A packet was acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: u64, sent: u64, arrival: u64, target: f64) {
        self.newest = self.base.queued(now, sent, arrival);
        self.filtered_min = self.filtered_min.min(self.newest);
        self.filtered_max = target.min(self.filtered_max.max(self.newest));
    }

    /// Updates the averages once per `interval`.
    pub(super) fn update(&mut self, now: u64, interval: u64, rtt: u64) {
        if now.saturating_sub(self.averaged) <= interval {
            return;
        }
        if now.saturating_sub(self.slowly_averaged) > SLOW_RTTS * rtt {
            let up = SLOW_GAIN * self.minimum + (1.0 - SLOW_GAIN) * self.slow_minimum;
            self.slow_minimum = if self.minimum < self.slow_minimum { self.minimum } else { up };
            self.minimum = NONE_YET;
            self.slowly_averaged = now;
        }
        let less = if self.less_minimum { self.slow_minimum } else { 0.0 };
        let delay = self.newest - less;
        let up = self.gain * delay + (1.0 - self.gain) * self.average;
        self.average = if delay < self.average { delay } else { up };
        let difference = (self.filtered_max - self.filtered_min).clamp(0.0, 2.0 * self.threshold);
        self.variation += VARIATION_GAIN * (difference - self.variation);
        self.filtered_max *= 1.0 - EXTREMES_GAIN;
        self.filtered_min += EXTREMES_GAIN * (self.filtered_max - self.filtered_min);
        self.averaged = now;
    }

    /// The reference window is updated.
    pub(super) fn note_minimum(&mut self) {
        self.minimum = self.minimum.min(self.newest);
    }

    /// 1 while the delay is steady, 0 when its variation is at the threshold.
    pub(super) fn steadiness(&self) -> f64 {
        if self.threshold == 0.0 {
            return 1.0;
        }
        (1.0 - self.variation / self.threshold).clamp(0.0, 1.0)
    }

    /// Forgets the base delay.
    pub(super) fn reset(&mut self) {
        self.base.reset();
        (self.slow_minimum, self.newest) = (0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_rises_slowly_and_falls_at_once() {
        let mut delay = QueueDelay::new(&ScreamV2Config::draft());
        let mut after = |tick: u64, queued: u64| {
            delay.on_acknowledged(tick, tick, tick + 1000 + queued, 0.06);
            delay.update(tick, 10, 100);
            (delay.newest, delay.average)
        };
        assert_eq!(after(100, 0), (0.0, 0.0));
        assert_eq!(after(200, 65_536), (1.0, 0.25));
        assert_eq!(after(300, 65_536), (1.0, 0.4375));
        assert_eq!(after(400, 0), (0.0, 0.0));
    }

    #[test]
    fn a_base_delay_expires_with_its_entry() {
        let mut delay = QueueDelay::new(&ScreamV2Config::draft());
        let step = 60 * 65_536;
        delay.on_acknowledged(0, 0, 1000, 0.06);
        for entry in 1..=10 {
            delay.on_acknowledged(entry * step, 0, 1500, 0.06);
            assert!(delay.newest > 0.0);
        }
        delay.on_acknowledged(12 * step, 0, 1500, 0.06);
        assert_eq!(delay.newest, 0.0);
    }
}
