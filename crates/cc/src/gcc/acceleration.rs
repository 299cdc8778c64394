//! A multiplicative increase that accelerates while it lasts (Guerrero Viveros 2019 § 7.1 asks for
//! a faster multiplicative mode and gives no rule; this rule is Weir's).

use units::Time;

/// Maximum factor per second. Weir's choice: the probes of libwebrtc, its fastest increase, use the
/// same factor.
const MAX_FACTOR: f64 = 2.0;

/// Computes the exponent of the factor per second.
pub(crate) struct Acceleration {
    /// Growth of the exponent per second.
    per_second: f64,
    /// The exponent at which the factor is [`MAX_FACTOR`].
    max_exponent: f64,
    since: Option<Time>,
}

impl Acceleration {
    /// For an increase by `factor` per second. A factor of [`MAX_FACTOR`] or more is not
    /// accelerated.
    pub(crate) fn new(per_second: f64, factor: f64) -> Self {
        let max_exponent =
            if factor > 1.0 { (libm::log(MAX_FACTOR) / libm::log(factor)).max(1.0) } else { 1.0 };
        Self { per_second, max_exponent, since: None }
    }

    /// 1 + acceleration × seconds since the increase began, at most the exponent of [`MAX_FACTOR`].
    pub(crate) fn exponent(&mut self, now: Time) -> f64 {
        let lasted = now.saturating_since(*self.since.get_or_insert(now));
        (1.0 + self.per_second * lasted.as_secs_f64()).min(self.max_exponent)
    }

    /// The increase has ended or is no longer multiplicative.
    pub(crate) fn interrupt(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_grows_until_the_rate_doubles_in_a_second() {
        let mut fast = Acceleration::new(1.0, 1.08);
        assert_eq!(fast.exponent(Time::from_secs(7)), 1.0);
        assert_eq!(fast.exponent(Time::from_secs(9)), 3.0);
        let max = fast.exponent(Time::from_secs(60));
        assert!((libm::pow(1.08, max) - 2.0).abs() < 1e-12, "{max}");
        fast.interrupt();
        assert_eq!(fast.exponent(Time::from_secs(61)), 1.0);
    }

    #[test]
    fn without_acceleration_or_at_a_high_factor_the_exponent_is_one() {
        for (per_second, factor) in [(0.0, 1.08), (1.0, 1.0), (1.0, 0.5), (1.0, 3.0)] {
            let mut same = Acceleration::new(per_second, factor);
            assert_eq!(same.exponent(Time::ZERO), 1.0);
            assert_eq!(same.exponent(Time::from_secs(60)), 1.0, "{per_second} {factor}");
        }
    }
}
