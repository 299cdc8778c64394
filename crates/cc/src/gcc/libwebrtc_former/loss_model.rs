//! The likelihood of the observed losses under a hypothesis about the path. A hypothesis is a
//! bandwidth, above which the path loses the excess, and an inherent loss (libwebrtc
//! `goog_cc/loss_based_bwe_v2.cc`).

use super::config::LibwebrtcConfig;
use super::loss_observations::Observations;

/// Bounds of loss probabilities (libwebrtc `goog_cc/loss_based_bwe_v2.cc`: 1e-6 from 0 and 1).
const PROBABILITY: (f64, f64) = (1e-6, 1.0 - 1e-6);

/// A hypothesis about the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Channel {
    /// The rate above which the path loses the excess, in bit/s.
    pub(super) bandwidth: f64,
    /// The fraction that the path loses at any rate.
    pub(super) inherent_loss: f64,
}

impl Channel {
    /// The probability of loss at the sending rate `rate`, in bit/s.
    fn loss_probability(&self, rate: f64) -> f64 {
        let mut probability = self.inherent_loss.clamp(0.0, 1.0);
        if rate > self.bandwidth {
            probability += (1.0 - probability) * (rate - self.bandwidth) / rate;
        }
        probability.clamp(PROBABILITY.0, PROBABILITY.1)
    }
}

/// Evaluates hypotheses.
pub(super) struct LossModel {
    step: f64,
    inherent_min: f64,
    inherent_offset: f64,
    inherent_balance: f64,
    biases: (f64, f64),
    bias_threshold: f64,
    /// Factor of `bias_threshold`.
    sensitivity: f64,
    bias_smoothing: f64,
}

impl LossModel {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            step: config.newton_step,
            inherent_min: config.inherent_min,
            inherent_offset: config.inherent_offset,
            inherent_balance: config.inherent_balance.as_bps_f64(),
            biases: (config.bias, config.log_bias),
            bias_threshold: config.bias_threshold,
            sensitivity: 1.0,
            bias_smoothing: config.bias_smoothing,
        }
    }

    /// Sets the factor of the loss above which lower rates are preferred.
    pub(super) fn set_sensitivity(&mut self, sensitivity: f64) {
        self.sensitivity = sensitivity;
    }

    /// The hypothesis with its inherent loss clamped to the range that its bandwidth allows: the
    /// higher the bandwidth, the lower the maximum.
    pub(super) fn feasible(&self, channel: Channel) -> Channel {
        let max =
            (self.inherent_offset + self.inherent_balance / channel.bandwidth.max(1.0)).min(1.0);
        Channel { inherent_loss: channel.inherent_loss.max(self.inherent_min).min(max), ..channel }
    }

    /// One Newton step of the inherent loss towards the maximum likelihood.
    pub(super) fn fitted(&self, channel: Channel, observations: &Observations) -> Channel {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in observations.iter() {
            let lost_at = channel.loss_probability(observation.rate);
            let received_at = 1.0 - lost_at;
            let received = observation.size - observation.lost;
            first += weight * (observation.lost / lost_at - received / received_at);
            second -= weight
                * (observation.lost / (lost_at * lost_at) + received / (received_at * received_at));
        }
        if second >= 0.0 {
            return channel;
        }
        let inherent_loss = channel.inherent_loss - self.step * first / second;
        self.feasible(Channel { inherent_loss, ..channel })
    }

    /// The log-likelihood of the observations plus the preference for higher rates.
    pub(super) fn objective(&self, channel: Channel, observations: &Observations) -> f64 {
        let bias = self.bias(channel.bandwidth / 1e3, observations.average_loss());
        let mut objective = 0.0;
        for (weight, observation) in observations.iter() {
            let lost_at = channel.loss_probability(observation.rate);
            let received = observation.size - observation.lost;
            let mut likelihood = received * libm::log(1.0 - lost_at);
            if observation.lost > 0.0 {
                likelihood += observation.lost * libm::log(lost_at);
            }
            objective += weight * (likelihood + bias * observation.size);
        }
        objective
    }

    /// The preference for higher rates, per kB. It changes its sign at a high loss.
    fn bias(&self, kbps: f64, average_loss: f64) -> f64 {
        let below = self.sensitivity * self.bias_threshold - average_loss;
        let turn = below / (self.bias_smoothing + below.abs());
        turn * (self.biases.0 * kbps + self.biases.1 * libm::log(1.0 + kbps))
    }
}

#[cfg(test)]
mod tests {
    use super::super::loss_observations::tests::feedback;
    use super::*;

    fn model() -> LossModel {
        LossModel::new(&LibwebrtcConfig::default())
    }

    fn channel(kbps: f64, inherent_loss: f64) -> Channel {
        Channel { bandwidth: kbps * 1e3, inherent_loss }
    }

    /// Observations at 3.2 Mbit/s with `lost` of 100 packets lost.
    fn observed(lost: u64) -> Observations {
        let mut observations = Observations::new(&LibwebrtcConfig::default());
        observations.push(&feedback(0, 1, 0));
        (1..=10).for_each(|index| assert!(observations.push(&feedback(index, 100, lost))));
        observations
    }

    #[test]
    fn the_excess_is_lost_in_addition_to_the_inherent_loss() {
        assert_eq!(channel(1000.0, 0.02).loss_probability(900e3), 0.02);
        // 0.02 + 0.98 × 250/1250.
        assert!((channel(1000.0, 0.02).loss_probability(1250e3) - 0.216).abs() < 1e-12);
        assert_eq!(channel(1000.0, 0.0).loss_probability(900e3), 1e-6);
    }

    #[test]
    fn inherent_loss_is_bounded_by_the_rate() {
        let bounded = |kbps, loss| model().feasible(channel(kbps, loss)).inherent_loss;
        // 0.05 + 100/1000.
        assert!((bounded(1000.0, 0.3) - 0.15).abs() < 1e-12);
        assert_eq!(bounded(1000.0, 0.0), 0.001);
        assert_eq!(bounded(100.0, 0.3), 0.3);
    }

    #[test]
    fn the_newton_step_goes_three_quarters_of_the_way() {
        // With one observation of loss p, f' = kB (p/x − (1−p)/(1−x)), and f'' is its derivative.
        let observations = observed(4);
        let (p, x): (f64, f64) = (0.04, 0.03);
        let first = p / x - (1.0 - p) / (1.0 - x);
        let second = -(p / (x * x) + (1.0 - p) / ((1.0 - x) * (1.0 - x)));
        let got = model().fitted(channel(9000.0, x), &observations).inherent_loss;
        // The oldest observation has one packet more.
        assert!((got - (x - 0.75 * first / second)).abs() < 1e-4, "{got}");
        assert!(got > x && got < p, "towards the observed loss");
    }

    #[test]
    fn a_bandwidth_below_the_sending_rate_explains_heavy_loss_better() {
        let objective = |lost, kbps| {
            let observations = observed(lost);
            let fitted = (0..20)
                .fold(channel(kbps, 0.01), |fitted, _| model().fitted(fitted, &observations));
            model().objective(fitted, &observations)
        };
        // Sent at 3.2 Mbit/s: with 30 % lost, 2.24 Mbit/s is more likely; with 2 % lost, the higher
        // rate is preferred.
        assert!(objective(30, 2240.0) > objective(30, 3200.0));
        assert!(objective(2, 3200.0) > objective(2, 2240.0));
    }

    #[test]
    fn the_preference_changes_its_sign_at_20_percent_loss() {
        let below = model().bias(1000.0, 0.0);
        // (0.2 / 0.202) × (0.2 + 0.02 × ln 1001).
        assert!((below - 0.2 / 0.202 * (0.2 + 0.02 * 6.908_754_779)).abs() < 1e-9, "{below}");
        assert_eq!(model().bias(1000.0, 0.2), 0.0);
        assert!(model().bias(1000.0, 0.3) < -0.3);
        let mut sensitive = model();
        sensitive.set_sensitivity(0.5);
        assert_eq!(sensitive.bias(1000.0, 0.1), 0.0);
    }
}
