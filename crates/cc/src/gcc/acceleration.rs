//! A multiplicative increase that becomes faster the longer it lasts (after Guerrero Viveros 2019 §
//! 7.1, which asks for a faster multiplicative mode and leaves open which: the law is ours).

use units::Time;

/// The rate at most doubles in a second. Chosen here: libwebrtc's probes, its fastest growth, go up
/// by the same factor.
const MOST: f64 = 2.0;

/// The exponent of the factor a second.
pub(crate) struct Acceleration {
    /// By how much the exponent grows in a second.
    per_second: f64,
    /// The exponent at which the factor is [`MOST`].
    most: f64,
    since: Option<Time>,
}

impl Acceleration {
    /// Of an increase by `factor` a second. A factor that is [`MOST`] or above it stays what it is.
    pub(crate) fn new(per_second: f64, factor: f64) -> Self {
        let most = if factor > 1.0 { (libm::log(MOST) / libm::log(factor)).max(1.0) } else { 1.0 };
        Self { per_second, most, since: None }
    }

    /// 1 + acceleration × seconds since the increase began, bounded.
    pub(crate) fn exponent(&mut self, now: Time) -> f64 {
        let lasted = now.saturating_since(*self.since.get_or_insert(now));
        (1.0 + self.per_second * lasted.as_secs_f64()).min(self.most)
    }

    /// The increase is over, or no longer multiplicative.
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
        let most = fast.exponent(Time::from_secs(60));
        assert!((libm::pow(1.08, most) - 2.0).abs() < 1e-12, "{most}");
        fast.interrupt();
        assert_eq!(fast.exponent(Time::from_secs(61)), 1.0);
    }

    #[test]
    fn what_is_not_accelerated_or_not_slow_stays_what_it_is() {
        for (per_second, factor) in [(0.0, 1.08), (1.0, 1.0), (1.0, 0.5), (1.0, 3.0)] {
            let mut same = Acceleration::new(per_second, factor);
            assert_eq!(same.exponent(Time::ZERO), 1.0);
            assert_eq!(same.exponent(Time::from_secs(60)), 1.0, "{per_second} {factor}");
        }
    }
}
