//! The factor α of the decrease at over-use: fixed, or dependent on how far the threshold was
//! exceeded (Jansen 2016 § 6.3, its reference 49; Jansen gives no formula, this one is Weir's).

/// Bounds of the decrease as multiples of the fixed decrease: with α = 0.85, from 5 % to 30 %. An
/// excess just above zero is over-use too; a large excess is often a single late group.
const BOUNDS: (f64, f64) = (1.0 / 3.0, 2.0);

/// α, and whether α depends on the excess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alpha {
    /// α₀: α at an excess of 1.
    pub(crate) fixed: f64,
    pub(crate) dynamic: bool,
}

impl Alpha {
    /// α = 1 − (1 − α₀) · excess, with the excess clamped to [`BOUNDS`]; never below 0.
    pub(crate) fn at(self, excess: f64) -> f64 {
        if !self.dynamic {
            return self.fixed;
        }
        (1.0 - (1.0 - self.fixed) * excess.clamp(BOUNDS.0, BOUNDS.1)).max(0.0)
    }
}

/// (|m| − γ) / γ: the relative excess of `value` over the threshold.
pub(crate) fn excess(value: f64, threshold: f64) -> f64 {
    (value - threshold) / threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decrease_follows_the_excess_within_bounds() {
        let alpha = |excess| Alpha { fixed: 0.85, dynamic: true }.at(excess);
        for (excess, expected) in [
            (0.0, 0.95),
            (1.0 / 3.0, 0.95),
            (0.5, 0.925),
            (1.0, 0.85),
            (2.0, 0.7),
            (9.0, 0.7),
            (f64::INFINITY, 0.7),
        ] {
            assert!((alpha(excess) - expected).abs() < 1e-12, "{excess}: {}", alpha(excess));
        }
        assert_eq!(Alpha { fixed: 0.85, dynamic: false }.at(9.0), 0.85);
        assert_eq!(Alpha { fixed: 0.2, dynamic: true }.at(9.0), 0.0);
    }

    #[test]
    fn twice_the_threshold_is_an_excess_of_one() {
        assert_eq!([excess(25.0, 12.5), excess(15.0, 12.0)], [1.0, 0.25]);
        assert_eq!(excess(1.0, 0.0), f64::INFINITY);
    }
}
