//! Second stage: the trend of the one-way delay, which is the slope of a least-squares line through
//! the smoothed delay of the last groups (libwebrtc `goog_cc/trendline_estimator.cc`).

use super::config::LibwebrtcConfig;
use super::inter_arrival::Delta;
use units::Time;

/// The newest trend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trend {
    /// The slope: ms of delay per ms of arrival.
    pub(super) slope: f64,
    /// The modified trend, which is compared with the threshold: slope × number of groups × gain,
    /// in ms.
    pub(super) modified: f64,
    /// Number of groups so far, at most `trend.most_deltas`.
    pub(super) deltas: u32,
}

/// Fits the line.
pub(super) struct Trendline {
    smoothing: f64,
    gain: f64,
    most_deltas: u32,
    first_arrival: Option<Time>,
    accumulated: f64,
    smoothed: f64,
    /// Ring buffer of the last groups: arrival and smoothed delay, both in ms.
    window: Vec<(f64, f64)>,
    length: usize,
    next: usize,
    trend: Trend,
}

impl Trendline {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            smoothing: config.trend_smoothing,
            gain: config.trend_gain,
            most_deltas: config.most_deltas,
            first_arrival: None,
            accumulated: 0.0,
            smoothed: 0.0,
            window: Vec::with_capacity(config.trend_window),
            length: config.trend_window,
            next: 0,
            trend: Trend::default(),
        }
    }

    /// Resets the trendline without allocating.
    pub(super) fn restart(&mut self) {
        (self.first_arrival, self.accumulated, self.smoothed, self.next) = (None, 0.0, 0.0, 0);
        self.window.clear();
        self.trend = Trend::default();
    }

    /// Processes the time between two groups. `arrival` is the arrival of the packet that completed
    /// the newer group.
    pub(super) fn update(&mut self, delta: &Delta, arrival: Time) -> Trend {
        let first = *self.first_arrival.get_or_insert(arrival);
        self.accumulated += delta.arrival.as_millis_f64() - delta.sent.as_millis_f64();
        self.smoothed = self.smoothing * self.smoothed + (1.0 - self.smoothing) * self.accumulated;
        self.remember(((arrival - first).as_millis_f64(), self.smoothed));
        let slope = if self.window.len() == self.length { self.slope() } else { None };
        let slope = slope.unwrap_or(self.trend.slope);
        // libwebrtc counts up to 1,000; only the first `most_deltas` matter.
        let deltas = (self.trend.deltas + 1).min(self.most_deltas);
        self.trend = Trend { slope, modified: f64::from(deltas) * slope * self.gain, deltas };
        self.trend
    }

    fn remember(&mut self, point: (f64, f64)) {
        if self.window.len() < self.length {
            self.window.push(point);
        } else {
            self.window[self.next] = point;
            self.next = (self.next + 1) % self.length;
        }
    }

    /// Σ(x − x̄)(y − ȳ) / Σ(x − x̄)²; `None` if all groups arrived at the same time.
    fn slope(&self) -> Option<f64> {
        let count = self.window.len() as f64;
        let (sum_x, sum_y) =
            self.window.iter().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x, sy + y));
        let (mean_x, mean_y) = (sum_x / count, sum_y / count);
        let (numerator, denominator) =
            self.window.iter().fold((0.0, 0.0), |(top, bottom), (x, y)| {
                (top + (x - mean_x) * (y - mean_y), bottom + (x - mean_x) * (x - mean_x))
            });
        (denominator > 0.0).then(|| numerator / denominator)
    }

    pub(super) fn trend(&self) -> Trend {
        self.trend
    }

    /// The modified trend; `None` before the second group, which is the first that is compared.
    #[cfg(test)]
    pub(super) fn compared(&self) -> Option<f64> {
        (self.trend.deltas >= 2).then_some(self.trend.modified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::TimeDelta;

    /// Feeds groups sent every 10 ms, each delayed by `step` ms more than the previous group.
    fn fed(config: &LibwebrtcConfig, step: f64, groups: u32) -> Vec<Trend> {
        let mut line = Trendline::new(config);
        let mut arrival = 0.0;
        let ms = |ms: f64| TimeDelta::from_nanos((ms * 1e6) as i64);
        (0..groups)
            .map(|_| {
                arrival += 10.0 + step;
                let delta = Delta { sent: ms(10.0), arrival: ms(10.0 + step) };
                line.update(&delta, Time::from_secs_f64(arrival / 1e3))
            })
            .collect()
    }

    #[test]
    fn there_is_no_trend_before_the_window_is_full() {
        let trends = fed(&LibwebrtcConfig::default(), 1.0, 21);
        assert!(trends[..19].iter().all(|trend| trend.modified == 0.0));
        assert!(trends[19].slope > 0.0);
    }

    #[test]
    fn without_smoothing_the_slope_is_the_delay_growth() {
        let config = LibwebrtcConfig { trend_smoothing: 0.0, ..LibwebrtcConfig::default() };
        let trends = fed(&config, 1.0, 70);
        // 1 ms more delay every 11 ms of arrival; 20 groups × 4, later 60 × 4.
        for (index, deltas) in [(19, 20), (59, 60), (69, 60)] {
            let trend = trends[index];
            assert!((trend.slope - 1.0 / 11.0).abs() < 1e-9, "{trend:?}");
            assert_eq!(trend.deltas, deltas);
            assert!((trend.modified - f64::from(deltas) * 4.0 / 11.0).abs() < 1e-6, "{trend:?}");
        }
    }

    #[test]
    fn the_smoothed_delay_lags_and_then_follows() {
        let trends = fed(&LibwebrtcConfig::default(), 1.0, 200);
        // y_n = 0.9 y_{n−1} + 0.1 n has slope 1 in the limit; at first it is less.
        assert!(trends[19].slope < 0.8 / 11.0, "{:?}", trends[19]);
        assert!((trends[199].slope - 1.0 / 11.0).abs() < 1e-6, "{:?}", trends[199]);
        let falling = fed(&LibwebrtcConfig::default(), -1.0, 200)[199];
        assert!((falling.slope + 1.0 / 9.0).abs() < 1e-6, "{falling:?}");
    }

    #[test]
    fn two_points_by_hand() {
        let config =
            LibwebrtcConfig { trend_window: 2, trend_smoothing: 0.5, ..LibwebrtcConfig::default() };
        // Accumulated 2, 4; smoothed 1, 2.5; arrivals 12 ms apart: slope 1.5/12; modified 2 × 4 ×
        // 0.125.
        let trend = fed(&config, 2.0, 2)[1];
        assert!(
            (trend.slope - 0.125).abs() < 1e-9 && (trend.modified - 1.0).abs() < 1e-9,
            "{trend:?}"
        );
    }
}
