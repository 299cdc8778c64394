//! The trend of the delay: the slope of a least-squares line (libwebrtc
//! `goog_cc/trendline_estimator.cc`).

use super::super::groups::Delta;
use super::config::SendSideConfig;
use std::collections::VecDeque;

/// The number of deltas is not counted further (`trendline_estimator.cc`: 1000).
const MAX_DELTAS: u32 = 1000;

/// Estimates the slope of the delay against arrival time.
pub(super) struct Trend {
    window: usize,
    smoothing: f64,
    deltas: u32,
    first: Option<i64>,
    accumulated: f64,
    smoothed: f64,
    /// Arrival time since the first group, and smoothed delay, ms.
    points: VecDeque<(f64, f64)>,
    slope: f64,
}

impl Trend {
    pub(super) fn new(config: &SendSideConfig) -> Self {
        Self {
            window: config.trend_window,
            smoothing: config.trend_smoothing,
            deltas: 0,
            first: None,
            accumulated: 0.0,
            smoothed: 0.0,
            points: VecDeque::with_capacity(config.trend_window + 1),
            slope: 0.0,
        }
    }

    /// Forgets all groups.
    pub(super) fn reset(&mut self) {
        (self.deltas, self.first, self.slope) = (0, None, 0.0);
        (self.accumulated, self.smoothed) = (0.0, 0.0);
        self.points.clear();
    }

    /// Processes the delta of a group; `arrival` is the arrival of the packet that completed the
    /// group, ms.
    pub(super) fn update(&mut self, delta: &Delta, arrival: i64) {
        self.deltas = (self.deltas + 1).min(MAX_DELTAS);
        let first = *self.first.get_or_insert(arrival);
        self.accumulated += delta.arrival as f64 - delta.sent;
        self.smoothed = self.smoothing * self.smoothed + (1.0 - self.smoothing) * self.accumulated;
        self.points.push_back(((arrival - first) as f64, self.smoothed));
        if self.points.len() > self.window {
            self.points.pop_front();
        }
        if self.points.len() == self.window {
            self.slope = fitted(&self.points).unwrap_or(self.slope);
        }
    }

    /// The slope, ms per ms.
    pub(super) fn slope(&self) -> f64 {
        self.slope
    }

    /// The number of deltas, at most 1000.
    pub(super) fn deltas(&self) -> u32 {
        self.deltas
    }

    /// The accumulated delay and the smoothed delay, ms.
    pub(super) fn delay(&self) -> (f64, f64) {
        (self.accumulated, self.smoothed)
    }
}

/// The slope of the least-squares line; `None` if all points have the same time.
fn fitted(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), (x, y)| {
        (above + (x - mean_x) * (y - mean_y), below + (x - mean_x) * (x - mean_x))
    });
    (below != 0.0).then(|| above / below)
}
