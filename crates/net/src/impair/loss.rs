//! The configuration of random loss, and the choice of its model.

use super::bernoulli::Bernoulli;
use super::gilbert_elliott::GilbertElliott;
use crate::schedule::Schedule;
use units::{Ratio, Stream, Time};

/// Random loss of a line.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum LossConfig {
    /// None.
    #[default]
    None,
    /// Each packet is lost with this probability, independently.
    Bernoulli(Schedule<Ratio>),
    /// Two states, good and bad, that may change at each packet (Elliott 1963); the parameters are
    /// those of tc netem, `loss gemodel p r 1-h 1-k`.
    GilbertElliott {
        /// Probability of leaving the good state.
        p: Ratio,
        /// Probability of leaving the bad state.
        r: Ratio,
        /// Loss probability in the bad state, 1−h (tc's default: 1).
        bad_loss: Ratio,
        /// Loss probability in the good state, 1−k (tc's default: 0).
        good_loss: Ratio,
    },
}

/// Decides for each packet whether it is lost.
pub(crate) enum Loss {
    None,
    Bernoulli(Bernoulli),
    GilbertElliott(GilbertElliott),
}

impl Loss {
    pub(crate) fn new(config: &LossConfig, random: Stream) -> Self {
        match config {
            LossConfig::None => Self::None,
            LossConfig::Bernoulli(probability) => {
                Self::Bernoulli(Bernoulli { probability: probability.clone(), random })
            }
            &LossConfig::GilbertElliott { p, r, bad_loss, good_loss } => {
                Self::GilbertElliott(GilbertElliott {
                    p,
                    r,
                    bad_loss,
                    good_loss,
                    bad: false,
                    random,
                })
            }
        }
    }

    #[inline]
    pub(crate) fn loses(&mut self, now: Time) -> bool {
        match self {
            Self::None => false,
            Self::Bernoulli(loss) => loss.loses(now),
            Self::GilbertElliott(loss) => loss.loses(),
        }
    }
}
