//! The link capacity: average and variance of the throughput at over-use (libwebrtc
//! `goog_cc/link_capacity_estimator.cc`).

use super::config::LibwebrtcConfig;
use super::rounding::whole_kbps;
use units::Bitrate;

/// Averages the throughput at over-use, in whole kbit/s.
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
    pub(super) fn on_overuse(&mut self, throughput: Bitrate) {
        let sample = whole_kbps(throughput) as f64;
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
    pub(super) fn is_below(&self, throughput: Bitrate) -> bool {
        self.estimate.is_some_and(|estimate| throughput > rate(estimate + self.margin(estimate)))
    }

    /// Whether the capacity is above `throughput` by more than the margin.
    pub(super) fn is_above(&self, throughput: Bitrate) -> bool {
        self.estimate.is_some_and(|estimate| throughput < rate(estimate - self.margin(estimate)))
    }

    pub(super) fn estimate(&self) -> Option<Bitrate> {
        self.estimate.map(rate)
    }
}

/// Whole bit/s of a rate in kbit/s, rounded down.
fn rate(kbps: f64) -> Bitrate {
    Bitrate::from_bps_f64((kbps * 1e3).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(bps: u64) -> Bitrate {
        Bitrate::from_bps(bps)
    }

    #[test]
    fn the_average_moves_by_one_twentieth_of_the_difference() {
        let mut capacity = LinkCapacity::new(&LibwebrtcConfig::default());
        assert_eq!(capacity.estimate(), None);
        capacity.on_overuse(bps(1_000_000));
        capacity.on_overuse(bps(1_100_000));
        assert_eq!(capacity.estimate(), Some(bps(1_005_000)));
        // 0.95 × 0.4 + 0.05 × 95²/1005 = 0.8290.
        assert!((capacity.variance - 0.829_005).abs() < 1e-5, "{}", capacity.variance);
    }

    #[test]
    fn throughput_beyond_three_deviations_means_another_capacity() {
        let mut capacity = LinkCapacity::new(&LibwebrtcConfig::default());
        assert!(
            !capacity.is_below(bps(1_000_000_000)) && !capacity.is_above(Bitrate::ZERO),
            "the capacity is unknown"
        );
        capacity.on_overuse(bps(1_000_000));
        // √(0.4 × 1000) = 20 kbit/s.
        assert!(!capacity.is_below(bps(1_059_000)) && capacity.is_below(bps(1_061_000)));
        assert!(!capacity.is_above(bps(941_000)) && capacity.is_above(bps(939_000)));
        capacity.reset();
        assert!(!capacity.is_below(bps(1_000_000_000)));
    }

    #[test]
    fn the_variance_is_bounded() {
        let mut capacity = LinkCapacity::new(&LibwebrtcConfig::default());
        capacity.on_overuse(bps(1_000_000));
        capacity.on_overuse(bps(9_000_000));
        assert_eq!(capacity.variance, 2.5);
        for _ in 0..500 {
            capacity.on_overuse(bps(1_000_000));
        }
        assert_eq!(capacity.variance, 0.4);
    }
}
