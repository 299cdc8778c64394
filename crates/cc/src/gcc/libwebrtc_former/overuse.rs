//! Third stage: compares the trend with a threshold that follows the trend (libwebrtc
//! `goog_cc/trendline_estimator.cc`).
//!
//! The threshold follows Carlucci 2017, eq. 11, as in `gcc::overuse_detector`, but its step is not
//! bounded: with k_down = 0.039 per ms, a step of 26 ms brings the threshold down to the trend, and
//! a longer step overshoots. Over-use, once signalled, lasts until the trend is below the
//! threshold.

use super::super::dynamic_alpha::excess;
use super::super::overuse_detector::Signal;
use super::config::LibwebrtcConfig;
use super::inter_arrival::Delta;
use super::trendline::Trend;
use units::{Duration, Time};

/// Compares the trend with the threshold, gives the signal, and adapts the threshold.
pub(super) struct OveruseDetector {
    gains: (f64, f64),
    skip: f64,
    bounds: (f64, f64),
    max_step: f64,
    overuse_time: f64,
    initial: f64,
    threshold: f64,
    updated: Option<Time>,
    /// Time for which the trend has been above the threshold, in ms, and the number of groups.
    over: Option<f64>,
    over_groups: u32,
    last_slope: f64,
    state: Signal,
    overuses: u64,
}

impl OveruseDetector {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            gains: (config.k_up, config.k_down),
            skip: config.threshold_skip,
            bounds: (config.min_threshold, config.max_threshold),
            max_step: config.longest_step.as_millis_f64(),
            overuse_time: config.overuse_time.as_millis_f64(),
            initial: config.initial_threshold,
            threshold: config.initial_threshold,
            updated: None,
            over: None,
            over_groups: 0,
            last_slope: 0.0,
            state: Signal::Normal,
            overuses: 0,
        }
    }

    /// Resets the detector, except for the count of over-uses.
    pub(super) fn restart(&mut self) {
        (self.threshold, self.updated, self.over, self.over_groups) = (self.initial, None, None, 0);
        (self.last_slope, self.state) = (0.0, Signal::Normal);
    }

    /// Processes the trend after a group that arrived at `arrival`.
    pub(super) fn detect(&mut self, trend: &Trend, delta: &Delta, arrival: Time) {
        if trend.deltas < 2 {
            self.state = Signal::Normal;
            return;
        }
        if trend.modified > self.threshold {
            self.on_over(trend.slope, delta.sent.as_millis_f64());
        } else {
            (self.over, self.over_groups) = (None, 0);
            let under = trend.modified < -self.threshold;
            self.state = if under { Signal::Underuse } else { Signal::Normal };
        }
        if let Signal::Overuse { excess: last } = &mut self.state {
            *last = excess(trend.modified, self.threshold);
        }
        self.last_slope = trend.slope;
        self.adapt(trend.modified.abs(), arrival);
    }

    /// The first group above the threshold counts half of its duration.
    fn on_over(&mut self, slope: f64, sent: f64) {
        let over = self.over.map_or(sent / 2.0, |over| over + sent);
        self.over = Some(over);
        self.over_groups += 1;
        if over > self.overuse_time && self.over_groups > 1 && slope >= self.last_slope {
            (self.over, self.over_groups) = (Some(0.0), 0);
            if !matches!(self.state, Signal::Overuse { .. }) {
                self.overuses += 1;
            }
            // The caller sets the excess.
            self.state = Signal::Overuse { excess: 0.0 };
        }
    }

    fn adapt(&mut self, value: f64, arrival: Time) {
        let elapsed = self
            .updated
            .replace(arrival)
            .map_or(Duration::ZERO, |updated| arrival.saturating_since(updated));
        if value > self.threshold + self.skip {
            return;
        }
        let gain = if value < self.threshold { self.gains.1 } else { self.gains.0 };
        let step = gain * (value - self.threshold) * elapsed.as_millis_f64().min(self.max_step);
        self.threshold = (self.threshold + step).clamp(self.bounds.0, self.bounds.1);
    }

    /// The threshold, in ms.
    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    pub(super) fn state(&self) -> Signal {
        self.state
    }

    /// How often over-use began.
    pub(super) fn overuses(&self) -> u64 {
        self.overuses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::TimeDelta;

    /// Over-use with any excess.
    const OVERUSE: Signal = Signal::Overuse { excess: 0.0 };

    /// Feeds modified trends (the slope is 1/1000 of them), `gap` ms apart.
    fn detected(config: &LibwebrtcConfig, gap: u64, values: &[f64]) -> (Vec<Signal>, f64) {
        let mut detector = OveruseDetector::new(config);
        let mut now = Time::from_secs(1);
        let delta = TimeDelta::from_nanos(i64::try_from(gap).unwrap() * 1_000_000);
        let signals = values.iter().map(|&modified| {
            now += Duration::from_millis(gap);
            let trend = Trend { slope: modified / 1e3, modified, deltas: 60 };
            detector.detect(&trend, &Delta { sent: delta, arrival: delta }, now);
            match detector.state() {
                Signal::Overuse { .. } => OVERUSE,
                other => other,
            }
        });
        let signals = signals.collect();
        (signals, detector.threshold())
    }

    fn still() -> LibwebrtcConfig {
        LibwebrtcConfig { k_up: 0.0, k_down: 0.0, ..LibwebrtcConfig::default() }
    }

    #[test]
    fn over_use_must_last_longer_than_ten_milliseconds() {
        use Signal::Normal;
        // 5 ms groups: 2.5, 7.5, 12.5 ms.
        assert_eq!(detected(&still(), 5, &[13.0; 4]).0, [Normal, Normal, OVERUSE, OVERUSE]);
        // One group of 33 ms counts 16.5 ms, but a second group is needed.
        assert_eq!(detected(&still(), 33, &[13.0; 2]).0, [Normal, OVERUSE]);
    }

    #[test]
    fn over_use_begins_only_while_the_trend_does_not_decrease_and_then_lasts() {
        use Signal::{Normal, Underuse};
        let values = [14.0, 13.9, 13.8, 13.8, 13.0, 12.5, -12.5, -12.6];
        let expected = [Normal, Normal, Normal, OVERUSE, OVERUSE, Normal, Normal, Underuse];
        assert_eq!(detected(&still(), 33, &values).0, expected);
    }

    #[test]
    fn the_excess_is_that_of_the_newest_group_while_over_use_lasts() {
        let mut detector = OveruseDetector::new(&still());
        let gap = TimeDelta::from_nanos(33_000_000);
        let mut at = |modified: f64| {
            let trend = Trend { slope: modified / 1e3, modified, deltas: 60 };
            detector.detect(&trend, &Delta { sent: gap, arrival: gap }, Time::from_secs(1));
            detector.state()
        };
        assert_eq!([at(20.0), at(25.0)], [Signal::Normal, Signal::Overuse { excess: 1.0 }]);
        assert_eq!(
            at(15.0),
            Signal::Overuse { excess: 0.2 },
            "the trend decreases, and over-use lasts"
        );
    }

    #[test]
    fn the_threshold_rises_and_falls_by_its_gains() {
        let config = LibwebrtcConfig::default();
        // The first update has no elapsed time.
        let (_, up) = detected(&config, 10, &[13.5, 13.5]);
        assert!((up - (12.5 + 0.0087 * 10.0)).abs() < 1e-12, "{up}");
        let (_, down) = detected(&config, 10, &[11.5, 11.5]);
        assert!((down - (12.5 - 0.039 * 10.0)).abs() < 1e-12, "{down}");
        let (_, skipped) = detected(&config, 10, &[27.6, 27.6]);
        assert_eq!(skipped, 12.5, "an excess of more than 15 is ignored");
        let (_, counted) = detected(&config, 10, &[27.4, 27.4]);
        assert!((counted - (12.5 + 0.0087 * 14.9 * 10.0)).abs() < 1e-9, "{counted}");
    }

    #[test]
    fn elapsed_time_counts_up_to_100_ms_and_a_step_may_overshoot() {
        let config = LibwebrtcConfig::default();
        let (_, up) = detected(&config, 500, &[13.5, 13.5]);
        assert!((up - (12.5 + 0.87)).abs() < 1e-12, "{up}");
        // 0.039 × 100 × 1 = 3.9 below a trend that is 1 below.
        let (_, down) = detected(&config, 500, &[11.5, 11.5]);
        assert!((down - 8.6).abs() < 1e-12, "{down}");
        let (_, min) = detected(&config, 100, &[0.0, 0.0]);
        assert_eq!(min, 6.0);
    }
}
