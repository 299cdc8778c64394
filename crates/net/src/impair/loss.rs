//! Random loss: independent (Bernoulli), or in bursts (Gilbert–Elliott).

use crate::schedule::Schedule;
use units::{Ratio, Stream, Time};

/// Random loss of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossConfig {
    /// None.
    #[default]
    None,
    /// Each packet with this probability, independently.
    Bernoulli(Schedule<Ratio>),
    /// Two states, good and bad, that change at each packet (Elliott 1963), in the words of tc netem:
    /// `loss gemodel p r 1-h 1-k`.
    GilbertElliott {
        /// Probability of leaving the good state.
        p: Ratio,
        /// Probability of leaving the bad state.
        r: Ratio,
        /// Loss in the bad state, 1−h (tc's default: all).
        bad_loss: Ratio,
        /// Loss in the good state, 1−k (tc's default: none).
        good_loss: Ratio,
    },
}

/// Decides for each packet whether it is lost.
pub(crate) struct Loss {
    config: LossConfig,
    random: Stream,
    bad: bool,
}

impl Loss {
    pub(crate) fn new(config: &LossConfig, random: Stream) -> Self {
        Self { config: config.clone(), random, bad: false }
    }

    pub(crate) fn loses(&mut self, now: Time) -> bool {
        match &self.config {
            LossConfig::None => false,
            LossConfig::Bernoulli(rate) => {
                // A draw at every packet, also at a rate of zero, so that a schedule shifts no later draw.
                let draw = self.random.uniform();
                draw < rate.at(now).as_f64()
            }
            LossConfig::GilbertElliott { p, r, bad_loss, good_loss } => {
                let leave = if self.bad { r } else { p };
                self.bad ^= self.random.chance(leave.as_f64());
                let loss = if self.bad { bad_loss } else { good_loss };
                self.random.chance(loss.as_f64())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn losses(config: &LossConfig, packets: usize) -> Vec<bool> {
        let mut loss = Loss::new(config, Seed(1).stream("loss"));
        (0..packets).map(|_| loss.loses(Time::ZERO)).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let config = LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(5)));
        let share = share(&losses(&config, 200_000));
        assert!((share - 0.05).abs() < 0.002, "{share}");
    }

    #[test]
    fn gilbert_elliott_loses_in_bursts_of_mean_length_one_over_r() {
        let (p, r) = (Ratio::from_percent(1), Ratio::from_percent(25));
        let config = LossConfig::GilbertElliott { p, r, bad_loss: Ratio::ONE, good_loss: Ratio::ZERO };
        let losses = losses(&config, 400_000);
        let expected = 0.01 / (0.01 + 0.25);
        assert!((share(&losses) - expected).abs() < 0.002, "{}", share(&losses));
        let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = losses.iter().filter(|&&lost| lost).count() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.15, "{length}");
    }
}
