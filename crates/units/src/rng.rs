//! Seeded random streams. Each element has its own stream, derived from (run seed, element name),
//! so that a new random element changes no draw of another element.

use std::fmt;
use std::str::FromStr;

/// The seed of a run. It is printed with every result and can be given back to repeat the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Seed(pub u64);

impl Seed {
    /// The random stream of the element called `name`. The same seed and name give the same draws.
    pub fn stream(self, name: &str) -> Stream {
        // FNV-1a, 64 bit (IETF draft-eastlake-fnv, section 6.1.3: offset basis and prime), then
        // SplitMix64 over both.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut state = self.0.rotate_left(32) ^ hash;
        Stream { state: std::array::from_fn(|_| split_mix(&mut state)) }
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): spreads the bits of a weak seed over the whole state.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A random stream: xoshiro256++ (Blackman, Vigna 2019).
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Uniform in 0…bound−1 (Lemire's multiplication; the bias is below 2⁻³² for bounds below 2³²).
    /// Returns 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Standard normal: mean 0, deviation 1 (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -ln(1.0 - self.uniform())
    }

    /// Laplace with mean 0 and scale 1 (deviation √2), as RFC 8593 § 5.2 draws frame-size noise.
    pub fn laplace(&mut self) -> f64 {
        let sign = if self.chance(0.5) { 1.0 } else { -1.0 };
        sign * self.exponential()
    }
}

/// The natural logarithm of a normal number in (0, 1], computed from the series of the inverse
/// hyperbolic tangent. It uses basic arithmetic only, so it gives the same bits on every machine;
/// the platform's `ln` does not.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | (1023 << 52));
    let (mantissa, exponent) = if mantissa > std::f64::consts::SQRT_2 {
        (mantissa / 2.0, exponent + 1)
    } else {
        (mantissa, exponent)
    };
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..12).rev().fold(0.0, |sum, k| sum * s * s + 1.0 / f64::from(2 * k + 1));
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * s * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_agrees_with_the_platform() {
        let mut stream = Seed(1).stream("ln");
        for _ in 0..10_000 {
            let x = stream.uniform().max(f64::MIN_POSITIVE);
            #[expect(clippy::disallowed_methods, reason = "the reference to compare with")]
            let expected = x.ln();
            assert!((ln(x) - expected).abs() <= 1e-14 * expected.abs().max(1.0), "ln {x}");
        }
    }

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let draws = |seed: u64, name: &str| {
            let mut stream = Seed(seed).stream(name);
            [stream.next_u64(), stream.next_u64()]
        };
        assert_eq!(draws(7, "alice.up"), draws(7, "alice.up"));
        assert_ne!(draws(7, "alice.up"), draws(8, "alice.up"));
        assert_ne!(draws(7, "alice.up"), draws(7, "alice.down"));
    }

    #[test]
    fn chance_is_unbiased_from_the_first_draw() {
        let hits = (0..200).map(|seed| {
            let mut stream = Seed(seed).stream("loss");
            (0..5_000).filter(|_| stream.chance(0.03)).count()
        });
        let share = hits.sum::<usize>() as f64 / (200.0 * 5_000.0);
        assert!((share - 0.03).abs() < 0.001, "{share}");
    }

    #[test]
    fn normal_has_unit_deviation() {
        let mut stream = Seed(3).stream("normal");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e5;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "mean {mean}, variance {variance}"
        );
    }
}
