//! The link capacity: average and variance of the throughput at over-use (libwebrtc
//! `goog_cc/link_capacity_estimator.cc`).

use super::config::LibwebrtcConfig;

/// Averages the throughput at over-use. Arguments and results are in bit/s.
pub(super) struct LinkCapacity {
    weight: f64,
    deviations: f64,
    bounds: (f64, f64),
    /// The average, in kbit/s.
    estimate: Option<f64>,
    variance: f64,
}

impl LinkCapacity {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            weight: config.capacity_weight,
            deviations: config.capacity_deviations,
            bounds: (config.min_variance, config.max_variance),
            estimate: None,
            variance: config.min_variance,
        }
    }

    /// Over-use was detected at `throughput`.
    pub(super) fn on_overuse(&mut self, throughput: f64) {
        let sample = throughput / 1e3;
        let estimate = self
            .estimate
            .map_or(sample, |estimate| (1.0 - self.weight) * estimate + self.weight * sample);
        let error = estimate - sample;
        let variance =
            (1.0 - self.weight) * self.variance + self.weight * error * error / estimate.max(1.0);
        self.variance = variance.clamp(self.bounds.0, self.bounds.1);
        self.estimate = Some(estimate);
    }

    /// Resets the average; the variance is kept.
    pub(super) fn reset(&mut self) {
        self.estimate = None;
    }

    fn margin(&self, estimate: f64) -> f64 {
        self.deviations * (self.variance * estimate).sqrt()
    }

    /// Whether the capacity is below `throughput` by more than the margin.
    pub(super) fn is_below(&self, throughput: f64) -> bool {
        self.estimate.is_some_and(|estimate| throughput / 1e3 > estimate + self.margin(estimate))
    }

    /// Whether the capacity is above `throughput` by more than the margin.
    pub(super) fn is_above(&self, throughput: f64) -> bool {
        self.estimate.is_some_and(|estimate| throughput / 1e3 < estimate - self.margin(estimate))
    }

    pub(super) fn estimate(&self) -> Option<f64> {
        self.estimate.map(|estimate| estimate * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_moves_by_one_twentieth_of_the_difference() {
        let mut capacity = LinkCapacity::new(&LibwebrtcConfig::default());
        assert_eq!(capacity.estimate(), None);
        capacity.on_overuse(1_000_000.0);
        capacity.on_overuse(1_100_000.0);
        assert!((capacity.estimate().unwrap() - 1_005_000.0).abs() < 1e-6);
        // 0.95 × 0.4 + 0.05 × 95²/1005 = 0.8290.
        assert!((capacity.variance - 0.829_005).abs() < 1e-5, "{}", capacity.variance);
    }

    #[test]
    fn throughput_beyond_three_deviations_means_another_capacity() {
        let mut capacity = LinkCapacity::new(&LibwebrtcConfig::default());
        assert!(!capacity.is_below(1e9) && !capacity.is_above(0.0), "the capacity is unknown");
        capacity.on_overuse(1_000_000.0);
        // √(0.4 × 1000) = 20 kbit/s.
        assert!(!capacity.is_below(1_059_000.0) && capacity.is_below(1_061_000.0));
        assert!(!capacity.is_above(941_000.0) && capacity.is_above(939_000.0));
        capacity.reset();
        assert!(!capacity.is_below(1e9));
    }

    #[test]
    fn the_variance_is_bounded() {
        let mut capacity = LinkCapacity::new(&LibwebrtcConfig::default());
        capacity.on_overuse(1_000_000.0);
        capacity.on_overuse(9_000_000.0);
        assert_eq!(capacity.variance, 2.5);
        for _ in 0..500 {
            capacity.on_overuse(1_000_000.0);
        }
        assert_eq!(capacity.variance, 0.4);
    }
}
