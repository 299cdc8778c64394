//! Random delay on top of the propagation delay.

use units::{Duration, Stream};

/// Jitter of a line. Packets are never reordered: none arrives before its predecessor.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum JitterConfig {
    /// None.
    #[default]
    None,
    /// Uniform between zero and this.
    Uniform(Duration),
    /// The absolute value of a normal distribution (RFC 8868 § 4.5.3, where `most` is three times
    /// the deviation of 5 ms).
    HalfNormal {
        /// The standard deviation of the normal distribution.
        deviation: Duration,
        /// The greatest jitter; longer draws count as this. [`Duration::MAX`]: no limit.
        most: Duration,
    },
    /// Exponential with this mean.
    Exponential(Duration),
}

/// Draws the delay of each packet.
pub(crate) struct Jitter {
    config: JitterConfig,
    random: Stream,
}

impl Jitter {
    pub(crate) fn new(config: &JitterConfig, random: Stream) -> Self {
        Self { config: config.clone(), random }
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.config == JitterConfig::None
    }

    pub(crate) fn draw(&mut self) -> Duration {
        let scaled =
            |span: Duration, factor: f64| Duration::from_secs_f64(span.as_secs_f64() * factor);
        match self.config {
            JitterConfig::None => Duration::ZERO,
            JitterConfig::Uniform(most) => scaled(most, self.random.uniform()),
            JitterConfig::HalfNormal { deviation, most } => {
                scaled(deviation, self.random.normal().abs()).min(most)
            }
            JitterConfig::Exponential(mean) => scaled(mean, self.random.exponential()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn means_are_those_of_the_distributions() {
        let ten = Duration::from_millis(10);
        for (config, mean) in [
            (JitterConfig::Uniform(ten), 5.0),
            (JitterConfig::HalfNormal { deviation: ten, most: Duration::MAX }, 7.979),
            // The integral of min(|z|, 1) over the standard normal distribution: 0.6313.
            (JitterConfig::HalfNormal { deviation: ten, most: ten }, 6.313),
            (JitterConfig::Exponential(ten), 10.0),
        ] {
            let mut jitter = Jitter::new(&config, Seed(2).stream("jitter"));
            let sum: f64 = (0..100_000).map(|_| jitter.draw().as_millis_f64()).sum();
            assert!((sum / 1e5 - mean).abs() < 0.02 * mean, "{config:?}: {}", sum / 1e5);
        }
    }
}
