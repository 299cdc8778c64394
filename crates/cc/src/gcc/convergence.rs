//! Near convergence or far from it: R against its average at decrease (draft-ietf-rmcat-gcc-02 §
//! 5.5; Guerrero Viveros 2019 § 2.2.2).

/// Weight of the newest received rate in the average at decrease (draft-02 § 5.5: 0.95 for the
/// past).
const DECREASE_WEIGHT: f64 = 0.05;
/// Near convergence is within this many deviations of that average (draft-02 § 5.5: 3).
const NEAR: f64 = 3.0;
/// The deviation's bounds as a share of the average: libwebrtc `link_capacity_estimator.cc` keeps
/// the variance, normalised by the average in kbit/s, within 0.4…2.5.
const NORMALISED_VARIANCE: (f64, f64) = (0.4, 2.5);

/// The average received rate when the rate was last decreased, bit/s, and its normalised variance.
struct Average {
    rate: f64,
    variance: f64,
}

impl Average {
    fn deviation(&self) -> f64 {
        // The variance is normalised by the average in kbit/s.
        (self.variance * self.rate * 1000.0).sqrt()
    }
}

/// Knows whether the rate is near the capacity.
#[derive(Default)]
pub(crate) struct Convergence(Option<Average>);

impl Convergence {
    /// The rate was lowered while this much arrived, bit/s.
    pub(crate) fn on_decrease(&mut self, received: f64) {
        let average =
            self.0.get_or_insert(Average { rate: received, variance: NORMALISED_VARIANCE.0 });
        let error = received - average.rate;
        average.rate += DECREASE_WEIGHT * error;
        let normalised = error * error / (average.rate.max(1.0) * 1000.0);
        let variance = (1.0 - DECREASE_WEIGHT) * average.variance + DECREASE_WEIGHT * normalised;
        average.variance = variance.clamp(NORMALISED_VARIANCE.0, NORMALISED_VARIANCE.1);
    }

    /// Near convergence: R within three deviations of its average at decrease. R above that means
    /// that the capacity has changed: the average is forgotten.
    pub(crate) fn is_near(&mut self, received: Option<f64>) -> bool {
        let (Some(received), Some(average)) = (received, &self.0) else { return false };
        let margin = NEAR * average.deviation();
        if received > average.rate + margin {
            self.0 = None;
            return false;
        }
        received >= average.rate - margin
    }
}
