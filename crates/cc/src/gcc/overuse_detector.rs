//! Third stage: compares m with the threshold γ, which follows |m| (Carlucci 2017, eqs. 11–12, Fig.
//! 3; draft-ietf-rmcat-gcc-02 § 5.4).

use super::config::{Compare, GccConfig, Threshold};
use super::dynamic_alpha::excess;
use units::{Duration, Time};

/// Maximum elapsed time in an update of γ (libwebrtc `overuse_detector.cc`: 100 ms), so that γ
/// never overshoots |m|.
const MAX_STEP: Duration = Duration::from_millis(100);
/// Maximum factor of scaled m (libwebrtc `overuse_estimator.cc`: 60).
const MAX_DELTAS: u32 = 60;

/// The output of the detector: the estimated state of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Signal {
    /// Over-use, with the relative excess over the threshold.
    Overuse {
        excess: f64,
    },
    Underuse,
    Normal,
}

/// Compares m with γ, gives the signal, and adapts γ.
pub(crate) struct OveruseDetector {
    threshold: Threshold,
    gains: (f64, f64),
    skip: f64,
    bounds: (f64, f64),
    compare: Compare,
    overuse_time: Duration,
    rising: bool,
    gamma: f64,
    deltas: u32,
    last: f64,
    over_since: Option<Time>,
    overuses: u64,
}

impl OveruseDetector {
    pub(crate) fn new(config: &GccConfig) -> Self {
        Self {
            threshold: config.threshold,
            gains: (config.k_up, config.k_down),
            skip: config.skip,
            bounds: (config.min_threshold, config.max_threshold.max(config.min_threshold)),
            compare: config.compare,
            overuse_time: config.overuse_time,
            rising: config.overuse_rising,
            gamma: config.initial_threshold,
            deltas: 0,
            last: 0.0,
            over_since: None,
            overuses: 0,
        }
    }

    /// Processes m of the group that was complete at `now`, `interval` after the previous group.
    pub(crate) fn detect(&mut self, now: Time, interval: Duration, m: f64) -> Signal {
        self.deltas = (self.deltas + 1).min(MAX_DELTAS);
        let value = match self.compare {
            Compare::Gradient => m,
            Compare::Scaled => f64::from(self.deltas) * m,
        };
        let signal = self.signal(now, value);
        self.adapt(interval, value);
        self.last = value;
        signal
    }

    fn signal(&mut self, now: Time, value: f64) -> Signal {
        if value <= self.gamma {
            self.over_since = None;
            return if value < -self.gamma { Signal::Underuse } else { Signal::Normal };
        }
        let since = *self.over_since.get_or_insert(now);
        let lasting = now.saturating_since(since) >= self.overuse_time;
        if lasting && (!self.rising || value >= self.last) {
            self.overuses += 1;
            return Signal::Overuse { excess: excess(value, self.gamma) };
        }
        Signal::Normal
    }

    /// γ(t_i) = γ(t_{i−1}) + ΔT·k·(|m| − γ(t_{i−1})) (eq. 11).
    fn adapt(&mut self, interval: Duration, value: f64) {
        let excess = value.abs() - self.gamma;
        if self.threshold == Threshold::Static || excess > self.skip {
            return;
        }
        let gain = if excess < 0.0 { self.gains.1 } else { self.gains.0 };
        let step = (interval.min(MAX_STEP).as_millis_f64() * gain).min(1.0);
        self.gamma = (self.gamma + step * excess).clamp(self.bounds.0, self.bounds.1);
    }

    /// γ, ms.
    pub(crate) fn threshold(&self) -> f64 {
        self.gamma
    }

    /// Number of groups at which over-use was signalled so far.
    pub(crate) fn overuses(&self) -> u64 {
        self.overuses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over-use with any excess.
    const OVERUSE: Signal = Signal::Overuse { excess: 0.0 };
    const FRAME: Duration = Duration::from_millis(33);

    fn detected(config: &GccConfig, values: &[f64]) -> (Vec<Signal>, f64) {
        let mut detector = OveruseDetector::new(config);
        let mut now = Time::from_secs(1);
        let signals = values.iter().map(|&m| {
            now += FRAME;
            match detector.detect(now, FRAME, m) {
                Signal::Overuse { .. } => OVERUSE,
                other => other,
            }
        });
        let signals = signals.collect();
        (signals, detector.threshold())
    }

    fn config(overuse_ms: u64, rising: bool) -> GccConfig {
        let overuse_time = Duration::from_millis(overuse_ms);
        GccConfig {
            overuse_time,
            overuse_rising: rising,
            initial_threshold: 2.0,
            ..GccConfig::carlucci_2017()
        }
    }

    #[test]
    fn signals_compare_m_with_the_threshold_on_both_sides() {
        use Signal::{Normal, Underuse};
        let fixed = GccConfig { threshold: Threshold::Static, ..config(0, false) };
        assert_eq!(
            detected(&fixed, &[2.0, 2.1, -2.0, -2.1, 0.0]).0,
            [Normal, OVERUSE, Normal, Underuse, Normal]
        );
    }

    #[test]
    fn overuse_must_last_and_rise() {
        use Signal::Normal;
        let fixed = |ms, rising| GccConfig { threshold: Threshold::Static, ..config(ms, rising) };
        let values = [3.0, 3.1, 3.2, 3.1, 3.3];
        assert_eq!(
            detected(&fixed(99, false), &values).0,
            [Normal, Normal, Normal, OVERUSE, OVERUSE]
        );
        assert_eq!(
            detected(&fixed(10, true), &values).0,
            [Normal, OVERUSE, OVERUSE, Normal, OVERUSE]
        );
    }

    #[test]
    fn over_use_carries_the_excess_of_the_compared_quantity() {
        let still = GccConfig { threshold: Threshold::Static, ..config(0, false) };
        let mut detector = OveruseDetector::new(&still);
        assert_eq!(detector.detect(Time::ZERO, FRAME, 5.0), Signal::Overuse { excess: 1.5 });
        let mut scaled = OveruseDetector::new(&GccConfig { compare: Compare::Scaled, ..still });
        scaled.detect(Time::ZERO, FRAME, 0.0);
        assert_eq!(
            scaled.detect(Time::ZERO, FRAME, 2.0),
            Signal::Overuse { excess: 1.0 },
            "2 × 2 against 2"
        );
    }

    #[test]
    fn the_threshold_moves_by_equation_11() {
        let (_, up) = detected(&config(0, false), &[3.0]);
        assert!((up - (2.0 + 33.0 * 0.01 * 1.0)).abs() < 1e-12, "{up}");
        let (_, down) = detected(&config(0, false), &[1.0]);
        assert!((down - (2.0 - 33.0 * 0.00018 * 1.0)).abs() < 1e-12, "{down}");
        let (_, skipped) = detected(&config(0, false), &[17.1]);
        assert_eq!(skipped, 2.0, "an excess of more than 15 is ignored");
    }

    #[test]
    fn scaled_m_is_compared_within_bounds() {
        let scaled = GccConfig {
            compare: Compare::Scaled,
            initial_threshold: 12.5,
            min_threshold: 6.0,
            ..config(0, false)
        };
        let (signals, _) = detected(&scaled, &[0.3; 60]);
        assert_eq!(signals[0], Signal::Normal);
        assert_eq!(signals[59], OVERUSE, "60 × 0.3 = 18 is above the adapted γ");
        let (_, min) = detected(&scaled, &[0.0; 20_000]);
        assert_eq!(min, 6.0);
    }
}
