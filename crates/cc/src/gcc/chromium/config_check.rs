//! Range checks of the settings of the profiles 'as run'.

use super::config::ChromiumConfig;
use crate::profile::BuildError;
use units::Duration;

impl ChromiumConfig {
    /// Checks the ranges of the values.
    pub(in crate::gcc) fn check(&self) -> Result<(), BuildError> {
        let numbers = [
            ("decrease.near", self.decrease_near),
            ("filter.q_slope", self.q_slope),
            ("filter.q_offset", self.q_offset),
            ("filter.min_noise", self.min_noise),
            ("threshold.initial", self.initial_threshold),
            ("threshold.near", self.near_threshold),
            ("threshold.k_up", self.k_up),
            ("threshold.k_down", self.k_down),
            ("threshold.skip", self.threshold_skip),
            ("threshold.min", self.min_threshold),
            ("threshold.max", self.max_threshold),
            ("increase.factor", self.factor),
            ("rate_cap", self.rate_cap),
            ("reduce.excess", self.reduce_excess),
            ("loss.increase", self.loss_increase),
            ("pacing.factor", self.pacing_factor),
        ];
        for (name, value) in numbers {
            if !value.is_finite() || value < 0.0 {
                return invalid(name, &value, "must be a number of at least 0");
            }
        }
        for (name, value) in
            [("decrease", self.decrease), ("increase.packet_share", self.packet_share)]
        {
            if !(value > 0.0 && value <= 1.0) {
                return invalid(name, &value, "must be above 0 and at most 1");
            }
        }
        for (name, value) in [("loss.low", self.loss_low), ("loss.high", self.loss_high)] {
            if value > 256 {
                return invalid(name, &value, "must be at most 256");
            }
        }
        self.check_times()
    }

    fn check_times(&self) -> Result<(), BuildError> {
        for (name, value) in [
            ("rate.window", self.rate_window),
            ("updates.first_interval", self.first_interval),
            ("loss.timer", self.loss_timer),
        ] {
            if value < Duration::from_millis(1) {
                return invalid(name, &value, "must be at least 1ms");
            }
        }
        Ok(())
    }
}

/// The error for a value out of range.
pub(super) fn invalid(
    name: &str,
    value: &dyn std::fmt::Display,
    reason: &str,
) -> Result<(), BuildError> {
    Err(BuildError::Invalid(format!("setting {name} = {value}: {reason}")))
}
