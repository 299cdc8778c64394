//! How far the rate falls at over-use: by a fixed share, or by one that follows how far the
//! threshold was exceeded (Jansen 2016 § 6.3, its reference [49], of which it gives no formula:
//! this one is ours).

/// The fall is at least this part of the fixed one, and at most that multiple: from 5 % to 30 %
/// with α = 0.85. An excess just above zero is over-use too, and one far above the threshold is
/// often a single late group.
const BOUNDS: (f64, f64) = (1.0 / 3.0, 2.0);

/// α, and whether it follows the excess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alpha {
    /// α at an excess of 1.
    pub(crate) fixed: f64,
    pub(crate) dynamic: bool,
}

impl Alpha {
    /// α = 1 − (1 − α₀) · excess, the excess within bounds; never below 0.
    pub(crate) fn at(self, excess: f64) -> f64 {
        if !self.dynamic {
            return self.fixed;
        }
        (1.0 - (1.0 - self.fixed) * excess.clamp(BOUNDS.0, BOUNDS.1)).max(0.0)
    }
}

/// (|m| − γ) / γ: by what share `value`, which is above the threshold, exceeds it.
pub(crate) fn excess(value: f64, threshold: f64) -> f64 {
    (value - threshold) / threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fall_follows_the_excess_within_bounds() {
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
