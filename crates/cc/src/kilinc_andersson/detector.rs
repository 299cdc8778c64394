//! The bandwidth usage state detector (§ 3.2C, Fig. 3). It has two states; GCC's state "normal" is
//! omitted.

use super::config::{KilincAnderssonConfig, Unconfirmed};

/// Compares the estimate m with the threshold.
pub(crate) struct StateDetector {
    threshold: f64,
    detections: u32,
    unconfirmed: Unconfirmed,
    overusing: bool,
    /// Number of consecutive estimates above the threshold.
    above: u32,
    last: f64,
}

impl StateDetector {
    pub(crate) fn new(config: &KilincAnderssonConfig) -> Self {
        let KilincAnderssonConfig { threshold, detections, unconfirmed, .. } = *config;
        // A call begins under-using (§ 3.3B).
        Self { threshold, detections, unconfirmed, overusing: false, above: 0, last: 0.0 }
    }

    /// Processes the estimate m after a frame, in ms.
    pub(crate) fn update(&mut self, m: f64) {
        if m > self.threshold {
            self.above = self.above.saturating_add(1);
            let confirmed = self.above >= self.detections && m >= self.last;
            self.overusing = confirmed || self.overusing && self.unconfirmed == Unconfirmed::Held;
        } else {
            self.above = 0;
            self.overusing = false;
        }
        self.last = m;
    }

    /// Whether the state is over-using; otherwise it is under-using.
    pub(crate) fn is_overusing(&self) -> bool {
        self.overusing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(unconfirmed: Unconfirmed, estimates: &[f64]) -> Vec<bool> {
        let config = KilincAnderssonConfig {
            threshold: 1.0,
            unconfirmed,
            ..KilincAnderssonConfig::published()
        };
        let mut detector = StateDetector::new(&config);
        let states = estimates.iter().map(|&m| {
            detector.update(m);
            detector.is_overusing()
        });
        states.collect()
    }

    #[test]
    fn over_use_must_be_detected_twice_in_a_row() {
        assert_eq!(states(Unconfirmed::Held, &[1.1, 0.9, 1.1, 1.2]), [false, false, false, true]);
    }

    #[test]
    fn a_decreasing_estimate_confirms_nothing() {
        assert_eq!(states(Unconfirmed::Held, &[3.0, 2.0, 1.5, 1.5]), [false, false, false, true]);
    }

    #[test]
    fn above_the_threshold_the_state_is_held_unless_configured_otherwise() {
        let estimates = [2.0, 3.0, 2.5, 2.0, 1.0, 0.5];
        assert_eq!(states(Unconfirmed::Held, &estimates), [false, true, true, true, false, false]);
        assert_eq!(
            states(Unconfirmed::UnderUsing, &estimates),
            [false, true, false, false, false, false]
        );
    }
}
