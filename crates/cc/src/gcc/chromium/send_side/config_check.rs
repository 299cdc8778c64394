//! Range checks of the settings of `gcc:chrome-72`.

use super::super::config_check::invalid;
use super::config::SendSideConfig;
use crate::profile::BuildError;
use units::Duration;

impl SendSideConfig {
    /// Checks the ranges of the values.
    pub(in crate::gcc) fn check(&self) -> Result<(), BuildError> {
        let numbers = [
            ("trend.gain", self.trend_gain),
            ("threshold.initial", self.initial_threshold),
            ("threshold.k_up", self.k_up),
            ("threshold.k_down", self.k_down),
            ("threshold.skip", self.threshold_skip),
            ("threshold.min", self.min_threshold),
            ("threshold.max", self.max_threshold),
            ("increase.factor", self.factor),
            ("rate_cap", self.rate_cap),
            ("reduce.below", self.reduce_below),
            ("probe.allocated", self.probe_allocated),
            ("loss.increase", self.loss_increase),
            ("pacing.factor", self.pacing_factor),
        ];
        for (name, value) in numbers {
            if !value.is_finite() || value < 0.0 {
                return invalid(name, &value, "must be a number of at least 0");
            }
        }
        for (name, value) in [
            ("trend.smoothing", self.trend_smoothing),
            ("decrease", self.decrease),
            ("increase.packet_share", self.packet_share),
        ] {
            if !(value > 0.0 && value <= 1.0) {
                return invalid(name, &value, "must be above 0 and at most 1");
            }
        }
        for (name, value) in [("loss.low", self.loss_low), ("loss.high", self.loss_high)] {
            if value > 256 {
                return invalid(name, &value, "must be at most 256");
            }
        }
        self.check_windows()
    }

    fn check_windows(&self) -> Result<(), BuildError> {
        if !(2..=200).contains(&self.trend_window) {
            return invalid("trend.window", &self.trend_window, "must be between 2 and 200");
        }
        for (name, value) in [
            ("acknowledged.first_window", self.first_window),
            ("acknowledged.window", self.acknowledged_window),
            ("loss.timer", self.loss_timer),
        ] {
            if value < Duration::from_millis(1) {
                return invalid(name, &value, "must be at least 1ms");
            }
        }
        Ok(())
    }
}
