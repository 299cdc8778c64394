//! Range checks of the settings.

use super::config::LibwebrtcConfig;
use crate::profile::BuildError;
use units::{Bitrate, Duration};

impl LibwebrtcConfig {
    /// Refuses values with which the estimator would divide by zero, grow without bound or allocate
    /// much memory.
    pub(in super::super) fn check(&self) -> Result<(), BuildError> {
        self.check_shares()?;
        self.check_factors()?;
        self.check_positive()?;
        for (name, value, range) in [
            ("trend.window", self.trend_window, 2..=200),
            ("loss.window", self.loss_window, 2..=1000),
            ("throughput.packets", self.throughput_packets, 1..=10_000),
            ("throughput.max_packets", self.throughput_max_packets, 1..=10_000),
            ("throughput.required", self.throughput_required, 2..=10_000),
        ] {
            if !range.contains(&value) {
                let (min, max) = (range.start(), range.end());
                return refuse(name, value, &format!("must be between {min} and {max}"));
            }
        }
        if self.min_threshold > self.max_threshold {
            return refuse(
                "threshold.min",
                self.min_threshold,
                "must not be greater than threshold.max",
            );
        }
        if self.min_variance > self.max_variance {
            return refuse(
                "capacity.min_variance",
                self.min_variance,
                "must not be greater than capacity.max_variance",
            );
        }
        Ok(())
    }

    fn check_shares(&self) -> Result<(), BuildError> {
        for (name, value) in [
            ("trend.smoothing", self.trend_smoothing),
            ("capacity.weight", self.capacity_weight),
            ("aimd.decrease", self.decrease),
            ("hold.increase", self.hold_increase),
            ("loss.candidate_down", self.candidate_down),
            ("loss.temporal_weight", self.temporal_weight),
            ("loss.inherent_initial", self.inherent_initial),
            ("loss.inherent_min", self.inherent_min),
            ("loss.inherent_offset", self.inherent_offset),
            ("loss.bias_threshold", self.bias_threshold),
            ("loss.instant_offset", self.instant_offset),
            ("probe.further_threshold", self.further_threshold),
            ("probe.drop", self.large_drop),
            ("probe.after_drop", self.after_drop),
            ("probe.uncertainty", self.probe_uncertainty),
            ("probe.received", self.probe_received),
            ("probe.unsaturated", self.unsaturated),
            ("probe.utilisation", self.utilisation),
            ("probe.fall", self.probe_fall),
            ("backoff.factor", self.backoff_factor),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return refuse(name, value, "must be between 0 and 1");
            }
        }
        for (name, value) in [("alr.start", self.alr_start), ("alr.end", self.alr_end)] {
            if !(-1.0..=1.0).contains(&value) {
                return refuse(name, value, "must be between -1 and 1");
            }
        }
        Ok(())
    }

    fn check_factors(&self) -> Result<(), BuildError> {
        for (name, value, min) in [
            ("trend.gain", self.trend_gain, 0.0),
            ("threshold.initial", self.initial_threshold, 0.0),
            ("threshold.min", self.min_threshold, 0.0),
            ("threshold.max", self.max_threshold, 0.0),
            ("threshold.k_up", self.k_up, 0.0),
            ("threshold.k_down", self.k_down, 0.0),
            ("threshold.skip", self.threshold_skip, 0.0),
            ("acknowledged.uncertainty", self.uncertainty, 0.0),
            ("acknowledged.initial_variance", self.initial_variance, 0.0),
            ("acknowledged.variance_step", self.variance_step, 0.0),
            ("acknowledged.variance_after_alr", self.variance_after_alr, 0.0),
            ("capacity.deviations", self.capacity_deviations, 0.0),
            ("capacity.min_variance", self.min_variance, 0.0),
            ("capacity.max_variance", self.max_variance, 0.0),
            ("aimd.increase", self.increase, 1.0),
            ("increase.acceleration", self.acceleration, 0.0),
            ("aimd.limit", self.increase_limit, 1.0),
            ("loss.candidate_up", self.candidate_up, 1.0),
            ("loss.newton_step", self.newton_step, 0.0),
            ("loss.bias", self.bias, 0.0),
            ("loss.log_bias", self.log_bias, 0.0),
            ("loss.median_factor", self.median_factor, 0.0),
            ("loss.max_increase", self.max_increase, 1.0),
            ("loss.rampup", self.rampup, 1.0),
            ("loss.rampup_in_hold", self.rampup_in_hold, 1.0),
            ("loss.hold_threshold", self.hold_threshold, 0.0),
            ("loss.hold_factor", self.hold_factor, 0.0),
            ("probe.first", self.probe_first, 0.0),
            ("probe.second", self.probe_second, 0.0),
            ("probe.further", self.probe_further, 0.0),
            ("probe.alr", self.probe_alr, 0.0),
            ("probe.loss_limited", self.loss_limited, 0.0),
            ("probe.max_ratio", self.max_ratio, 0.0),
            ("alr.usage", self.alr_usage, 0.0),
            ("probe.allocated", self.probe_allocated, 0.0),
            ("probe.allocation_first", self.allocation_first, 0.0),
            ("probe.allocation_second", self.allocation_second, 0.0),
            ("probe.allocation_limit", self.allocation_limit, 0.0),
            ("pacing.first_factor", self.first_pacing_factor, 1.0),
            ("pacing.factor", self.pacing_factor, 1.0),
        ] {
            if !value.is_finite() || value < min {
                return refuse(name, value, &format!("must be a number of at least {min}"));
            }
        }
        Ok(())
    }

    fn check_positive(&self) -> Result<(), BuildError> {
        for (name, zero) in [
            ("acknowledged.first_window", self.first_window == Duration::ZERO),
            ("acknowledged.window", self.acknowledged_window == Duration::ZERO),
            ("acknowledged.variance_step", self.variance_step <= 0.0),
            ("hint.short", self.hint_short == Duration::ZERO),
            ("loss.observation", self.observation == Duration::ZERO),
            ("loss.temporal_weight", self.temporal_weight <= 0.0),
            ("loss.bias_smoothing", self.bias_smoothing <= 0.0 || !self.bias_smoothing.is_finite()),
            ("loss.inherent_balance", self.inherent_balance == Bitrate::ZERO),
            ("min_rate", self.min_rate == Bitrate::ZERO),
            ("pacing.burst", self.pacing_burst == Duration::ZERO),
            ("alr.window", self.alr_window == Duration::ZERO),
        ] {
            if zero {
                return refuse(name, "0 or not a number", "must be greater than 0");
            }
        }
        Ok(())
    }
}

fn refuse<T>(name: &str, value: impl std::fmt::Display, reason: &str) -> Result<T, BuildError> {
    Err(BuildError::Invalid(format!("setting {name} = {value}: {reason}")))
}
