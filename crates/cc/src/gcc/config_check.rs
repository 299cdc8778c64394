//! Range checks of the settings of the published forms.

use super::arrival_filter::MAX_GROUPS;
use super::config::{GccConfig, Grouping, Side};
use crate::profile::BuildError;
use units::Duration;

impl GccConfig {
    /// Checks the ranges of the values and their combination.
    pub(super) fn check(&self) -> Result<(), BuildError> {
        let finite = [
            ("filter.q_capacity", self.q_capacity),
            ("filter.q_gradient", self.q_gradient),
            ("filter.min_noise", self.min_noise),
            ("filter.outlier", self.outlier),
            ("threshold.initial", self.initial_threshold),
            ("threshold.k_up", self.k_up),
            ("threshold.k_down", self.k_down),
            ("threshold.skip", self.skip),
            ("threshold.min", self.min_threshold),
            ("threshold.max", self.max_threshold),
            ("increase.factor", self.factor),
            ("increase.acceleration", self.acceleration),
            ("rate_cap", self.rate_cap),
            ("loss.increase", self.loss_increase),
            ("pacing.factor", self.pacing_factor),
        ];
        for (name, value) in finite {
            if !value.is_finite() || value < 0.0 {
                return Err(BuildError::Invalid(format!(
                    "setting {name} = {value}: must be a number of at least 0"
                )));
            }
        }
        for (name, value) in [
            ("filter.beta", self.beta),
            ("hold.increase", self.hold_increase),
            ("decrease", self.decrease),
            ("remb.fall", self.remb_fall),
            ("loss.high", self.loss_high),
            ("loss.low", self.loss_low),
            ("loss.decrease", self.loss_decrease),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(BuildError::Invalid(format!(
                    "setting {name} = {value}: must be between 0 and 1"
                )));
            }
        }
        if self.beta_groups > MAX_GROUPS {
            return Err(BuildError::Invalid(format!(
                "setting filter.beta_groups = {}: must be at most {}",
                self.beta_groups, MAX_GROUPS
            )));
        }
        if self.hint_short == Duration::ZERO {
            return Err(BuildError::Invalid(
                "setting hint.short = 0ms: must be greater than 0".to_owned(),
            ));
        }
        if self.rate_window == Duration::ZERO {
            return Err(BuildError::Invalid(
                "setting rate_window = 0ms: must be greater than 0".to_owned(),
            ));
        }
        if self.side == Side::Sender && self.grouping == Grouping::Frame {
            let reason = "setting side = sender: set grouping = burst too; transport-wide feedback \
                          has no frame boundaries";
            return Err(BuildError::Invalid(reason.to_owned()));
        }
        Ok(())
    }
}
