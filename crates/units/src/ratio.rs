use crate::{ParseError, quantity};
use std::fmt;
use std::str::FromStr;

/// A share between 0 and 1, stored in billionths. Parses `5%`. A text without a unit is refused,
/// because `1` could be 1 % or 100 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ratio(u32);

const PARTS: u32 = 1_000_000_000;

impl Ratio {
    /// 0 %.
    pub const ZERO: Self = Self(0);
    /// 100 %.
    pub const ONE: Self = Self(PARTS);

    /// From whole percent; values over 100 become 100.
    pub const fn from_percent(percent: u32) -> Self {
        Self(if percent >= 100 { PARTS } else { percent * (PARTS / 100) })
    }

    /// From a real number, clamped to 0…1. NaN becomes zero.
    pub fn from_f64(value: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0…1 before"
        )]
        Self((value.clamp(0.0, 1.0) * f64::from(PARTS) + 0.5).floor() as u32)
    }

    /// The share as a real number in 0…1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(PARTS)
    }
}

impl FromStr for Ratio {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, "a share such as 5%, at most 100%", "%", PARTS / 100)
    }
}

impl TryFrom<f64> for Ratio {
    type Error = ParseError;
    /// The exact share, such as 0.05; an error outside 0…1 and for fractions of a billionth.
    fn try_from(value: f64) -> Result<Self, ParseError> {
        parse(&value.to_string(), "a share from 0 to 1 such as 0.05", "", PARTS)
    }
}

fn parse(text: &str, expected: &'static str, unit: &str, scale: u32) -> Result<Ratio, ParseError> {
    let scale_of = |found: &str| (found == unit).then_some(u64::from(scale));
    let parts = quantity(text, expected, scale_of)?;
    match u32::try_from(parts) {
        Ok(parts) if parts <= PARTS => Ok(Ratio(parts)),
        _ => Err(ParseError::new(text, expected)),
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = format!("{}.{:07}", self.0 / 10_000_000, self.0 % 10_000_000);
        f.pad(&format!("{}%", percent.trim_end_matches('0').trim_end_matches('.')))
    }
}
