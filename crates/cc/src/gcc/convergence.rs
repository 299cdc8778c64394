//! Whether the rate is near convergence: compares R with its average at decreases
//! (draft-ietf-rmcat-gcc-02 § 5.5; Guerrero Viveros 2019 § 2.2.2).

/// Weight of the newest received rate in the average at decreases (draft-02 § 5.5: 0.95 for the
/// past).
const DECREASE_WEIGHT: f64 = 0.05;
/// R is near convergence if it is within this many standard deviations of the average (draft-02 §
/// 5.5: 3).
const NEAR: f64 = 3.0;
/// Bounds of the normalised variance, which is the variance divided by the average, in kbit/s
/// (libwebrtc `link_capacity_estimator.cc`: 0.4 to 2.5).
const NORMALISED_VARIANCE: (f64, f64) = (0.4, 2.5);

/// Average received rate at decreases, in bit/s, and its normalised variance.
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

/// Estimates whether the rate is near the capacity.
#[derive(Default)]
pub(crate) struct Convergence(Option<Average>);

impl Convergence {
    /// The rate was decreased at the received rate `received`, in bit/s.
    pub(crate) fn on_decrease(&mut self, received: f64) {
        let average =
            self.0.get_or_insert(Average { rate: received, variance: NORMALISED_VARIANCE.0 });
        let error = received - average.rate;
        average.rate += DECREASE_WEIGHT * error;
        let normalised = error * error / (average.rate.max(1.0) * 1000.0);
        let variance = (1.0 - DECREASE_WEIGHT) * average.variance + DECREASE_WEIGHT * normalised;
        average.variance = variance.clamp(NORMALISED_VARIANCE.0, NORMALISED_VARIANCE.1);
    }

    /// Whether R is within three standard deviations of its average at decreases. If R is above,
    /// the capacity has changed and the average is reset.
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
