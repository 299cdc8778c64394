//! Shadowing and fading: a gain that varies around its mean.

use super::Fading;
use units::{Duration, Seed, Time};

/// The number of values per coherence time.
const STEPS: u64 = 16;

/// The shortest step.
const SHORTEST: Duration = Duration::from_millis(1);

/// The steps per block. After so many steps the correlation of a value is at most e⁻¹⁶, 1.1 × 10⁻⁷.
const BLOCK: u64 = 16 * STEPS;

/// A Gauss–Markov process in decibels with the autocorrelation of Gudmundson 1991 (Electronics
/// Letters 27(23), equation 2) over time: x_k = ρ x_{k−1} + √(1 − ρ²) σ n_k, ρ = e^(−step /
/// coherence). Constant between the steps of a grid that starts with the run.
///
/// A value depends only on its position on the grid, not on when values were requested before. The
/// normal draws come in blocks, each with its own stream. The recursion for a block starts from
/// zero at the start of the block before, so that a long pause costs two blocks of draws; a value
/// differs from that of the infinite recursion by a factor of e⁻¹⁶.
pub(super) struct Fade {
    /// The seed of the streams of the blocks.
    seed: Seed,
    step: Duration,
    /// ρ.
    correlation: f64,
    /// √(1 − ρ²) σ.
    innovation: f64,
    /// The current position on the grid, shifted by a block, so that there is a block before the
    /// first.
    position: u64,
    /// The value at the position.
    value: f64,
    /// The value of the recursion that started from zero with this block; the next block continues
    /// it.
    next: f64,
    /// The draws of this block.
    random: units::Stream,
}

impl Fade {
    /// `name` is the name of its random stream. `None` if the deviation is zero.
    pub(super) fn new(fading: Fading, seed: Seed, name: &str) -> Option<Self> {
        let deviation = fading.deviation.as_f64();
        if deviation == 0.0 {
            return None;
        }
        let step = (fading.coherence / STEPS).max(SHORTEST);
        // With a coherence time of zero, e^−∞: successive values are independent.
        let correlation = libm::exp(-step.as_secs_f64() / fading.coherence.as_secs_f64());
        let innovation = deviation * (1.0 - correlation * correlation).sqrt();
        let seed = Seed(seed.stream(name).next_u64());
        let random = block(seed, 0);
        Some(Self {
            seed,
            step,
            correlation,
            innovation,
            position: 0,
            value: 0.0,
            next: 0.0,
            random,
        })
    }

    /// The value at `now`, in decibels. `now` must not decrease between calls.
    pub(super) fn at(&mut self, now: Time) -> f64 {
        let position = now.as_nanos() / self.step.as_nanos() + BLOCK;
        debug_assert!(position >= self.position, "time does not go back");
        if position / BLOCK > self.position / BLOCK + 1 {
            self.position = (position / BLOCK - 1) * BLOCK;
            self.random = block(self.seed, self.position / BLOCK);
            self.next = 0.0;
        }
        while self.position < position {
            self.advance();
        }
        self.value
    }

    fn advance(&mut self) {
        let draw = self.innovation * self.random.normal();
        self.position += 1;
        self.value = self.correlation * self.value + draw;
        self.next = self.correlation * self.next + draw;
        if self.position.is_multiple_of(BLOCK) {
            self.value = self.next;
            self.next = 0.0;
            self.random = block(self.seed, self.position / BLOCK);
        }
    }
}

/// The draws of a block.
fn block(seed: Seed, number: u64) -> units::Stream {
    Seed(seed.0.wrapping_add(number)).stream("block")
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Decibels;

    const COHERENCE: Duration = Duration::from_millis(160);

    fn fade(seed: u64) -> Fade {
        Fade::new(Fading { deviation: Decibels::new(4), coherence: COHERENCE }, Seed(seed), "fade")
            .unwrap()
    }

    fn at_millis(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn without_a_deviation_there_is_no_fading() {
        assert!(Fade::new(Fading::NONE, Seed(1), "fade").is_none());
    }

    #[test]
    fn mean_deviation_and_correlation_are_as_configured() {
        // 200 000 values, one per coherence time.
        let mut fade = fade(1);
        let values: Vec<f64> = (0..200_000).map(|k| fade.at(at_millis(160 * k))).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance =
            values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64;
        let lagged = |lag: usize| {
            let products = values.iter().zip(&values[lag..]).map(|(a, b)| (a - mean) * (b - mean));
            products.sum::<f64>() / (values.len() - lag) as f64 / variance
        };
        assert!(mean.abs() < 0.05, "{mean}");
        assert!((variance.sqrt() - 4.0).abs() < 0.04, "{}", variance.sqrt());
        assert!((lagged(1) - 0.368).abs() < 0.01, "{}", lagged(1));
        assert!((lagged(2) - 0.135).abs() < 0.01, "{}", lagged(2));
        assert!(lagged(40).abs() < 0.01, "{}", lagged(40));
    }

    #[test]
    fn first_values_differ_between_seeds_and_have_the_deviation() {
        let first: Vec<f64> = (0..2_000).map(|seed| fade(seed).at(Time::ZERO)).collect();
        let deviation = (first.iter().map(|x| x * x).sum::<f64>() / 2_000.0).sqrt();
        assert!((deviation - 4.0).abs() < 0.25, "{deviation}");
    }

    #[test]
    fn a_value_does_not_depend_on_earlier_requests() {
        let mut often = fade(7);
        let all: Vec<f64> = (0..60_000).map(|millis| often.at(at_millis(millis))).collect();
        // Each interval crosses the blocks of 2560 ms differently.
        for every in [1, 9, 10, 11, 777, 2_559, 2_560, 2_561, 5_119, 5_121, 7_000, 59_999] {
            let mut seldom = fade(7);
            for millis in (0..60_000).step_by(every) {
                assert_eq!(
                    seldom.at(at_millis(millis as u64)).to_bits(),
                    all[millis].to_bits(),
                    "{every}"
                );
            }
        }
    }

    #[test]
    fn values_are_constant_for_a_step_and_continuous_between_blocks() {
        let mut fade = fade(3);
        let all: Vec<f64> = (0..60_000).map(|millis| fade.at(at_millis(millis))).collect();
        assert!(all.chunks(10).all(|step| step.iter().all(|value| *value == step[0])));
        // The deviation of a step at ρ = e^(−1/16) is 1.4 dB, also between blocks.
        let steps: Vec<f64> =
            all.windows(11).skip(2_549).step_by(2_560).map(|w| w[10] - w[0]).collect();
        assert_eq!(steps.len(), 23);
        assert!(steps.iter().all(|step| step.abs() < 4.5), "{steps:?}");
    }

    #[test]
    fn a_day_without_requests_is_skipped() {
        let fading = Fading { deviation: Decibels::new(4), coherence: Duration::ZERO };
        let mut fade = Fade::new(fading, Seed(1), "fade").unwrap();
        let (a, b) = (fade.at(Time::from_secs(86_400)), fade.at(Time::from_secs(10 * 86_400)));
        assert!(a.is_finite() && b.is_finite() && a != b);
    }
}
