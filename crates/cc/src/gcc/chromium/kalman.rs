//! Second stage: the Kalman filter of the delay gradient (libwebrtc
//! `remote_bitrate_estimator/overuse_estimator.cc`).

use super::config::ChromiumConfig;
use super::detector::Usage;
use super::groups::Delta;

/// Initial slope, ms per byte (`common_types.h`, OverUseDetectorOptions: 8/512).
const INITIAL_SLOPE: f64 = 8.0 / 512.0;
/// Initial covariance (`common_types.h`: 100 and 0.1).
const INITIAL_ERROR: [[f64; 2]; 2] = [[100.0, 0.0], [0.0, 0.1]];
/// Initial noise variance, ms² (`common_types.h`: 50).
const INITIAL_NOISE: f64 = 50.0;
/// The number of deltas is not counted further (`overuse_estimator.cc`: 1000).
const MAX_DELTAS: u32 = 1000;
/// Number of intervals of which the shortest counts (`overuse_estimator.h`: 60).
const INTERVALS: usize = 60;
/// Residuals count at most this many standard deviations (`overuse_estimator.cc`: 3).
const OUTLIER: f64 = 3.0;
/// Weight of a residual in the noise, at first and after [`EARLY_DELTAS`] (`overuse_estimator.cc`:
/// 0.01, then 0.002 after 10 × 30 deltas).
const WEIGHTS: (f64, f64) = (0.01, 0.002);
const EARLY_DELTAS: u32 = 300;
/// The weights hold for this many groups per second (`overuse_estimator.cc`: 30).
const GROUPS_PER_SECOND: f64 = 30.0;
/// Additional process noise of the offset, as a multiple of the process noise, while the offset
/// moves back from over-use or under-use (`overuse_estimator.cc`: 10).
const RETURN_BOOST: f64 = 10.0;

/// The filter's state.
pub(super) struct Kalman {
    process_noise: [f64; 2],
    min_noise: f64,
    deltas: u32,
    slope: f64,
    offset: f64,
    previous_offset: f64,
    error: [[f64; 2]; 2],
    mean: f64,
    noise: f64,
    intervals: [f64; INTERVALS],
    next: usize,
}

impl Kalman {
    pub(super) fn new(config: &ChromiumConfig) -> Self {
        Self {
            process_noise: [config.q_slope, config.q_offset],
            min_noise: config.min_noise,
            deltas: 0,
            slope: INITIAL_SLOPE,
            offset: 0.0,
            previous_offset: 0.0,
            error: INITIAL_ERROR,
            mean: 0.0,
            noise: INITIAL_NOISE,
            intervals: [f64::INFINITY; INTERVALS],
            next: 0,
        }
    }

    /// Processes a delta. `usage` is the detector's state before this delta.
    pub(super) fn update(&mut self, delta: &Delta, usage: Usage) {
        let interval = self.shortest_interval(delta.sent);
        self.deltas = (self.deltas + 1).min(MAX_DELTAS);
        self.predict(usage);
        let h = [delta.size as f64, 1.0];
        let [[a, b], [c, d]] = self.error;
        let eh = [a * h[0] + b * h[1], c * h[0] + d * h[1]];
        let residual = delta.arrival as f64 - delta.sent - self.slope * h[0] - self.offset;
        if usage == Usage::Normal {
            let most = OUTLIER * self.noise.sqrt();
            self.update_noise(residual.clamp(-most, most), interval);
        }
        let total = self.noise + h[0] * eh[0] + h[1] * eh[1];
        let gain = [eh[0] / total, eh[1] / total];
        for (row, gain) in self.error.iter_mut().zip(gain) {
            // (I − K H) E, row by row.
            let [from_slope, from_offset] = [a * h[0] + c * h[1], b * h[0] + d * h[1]];
            row[0] -= gain * from_slope;
            row[1] -= gain * from_offset;
        }
        self.slope += gain[0] * residual;
        self.previous_offset = self.offset;
        self.offset += gain[1] * residual;
    }

    /// Adds the process noise; more to the offset while the offset returns to normal.
    fn predict(&mut self, usage: Usage) {
        self.error[0][0] += self.process_noise[0];
        self.error[1][1] += self.process_noise[1];
        let returns = match usage {
            Usage::Overuse => self.offset < self.previous_offset,
            Usage::Underuse => self.offset > self.previous_offset,
            Usage::Normal => false,
        };
        if returns {
            self.error[1][1] += RETURN_BOOST * self.process_noise[1];
        }
    }

    /// The shortest of the last intervals between groups, ms.
    fn shortest_interval(&mut self, newest: f64) -> f64 {
        self.intervals[self.next] = newest;
        self.next = (self.next + 1) % INTERVALS;
        self.intervals.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The noise variance about its mean.
    fn update_noise(&mut self, residual: f64, interval: f64) {
        let weight = if self.deltas > EARLY_DELTAS { WEIGHTS.1 } else { WEIGHTS.0 };
        let past = libm::pow(1.0 - weight, interval * GROUPS_PER_SECOND / 1000.0);
        self.mean = past * self.mean + (1.0 - past) * residual;
        let error = self.mean - residual;
        self.noise = (past * self.noise + (1.0 - past) * error * error).max(self.min_noise);
    }

    /// The offset, which is m, ms per group.
    pub(super) fn offset(&self) -> f64 {
        self.offset
    }

    /// The number of deltas, at most 1000.
    pub(super) fn deltas(&self) -> u32 {
        self.deltas
    }

    /// The slope, which is 1/C, ms per byte.
    pub(super) fn slope(&self) -> f64 {
        self.slope
    }

    /// The noise variance, ms².
    pub(super) fn noise(&self) -> f64 {
        self.noise
    }
}
