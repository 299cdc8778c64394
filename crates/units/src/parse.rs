//! Parses a quantity: a decimal number and its unit. The conversion is exact and uses no floating
//! point.

use crate::Bytes;
use std::fmt;

/// A longer text is cut in messages, in characters. No quantity is as long.
const MAX_QUOTED: usize = 60;

/// A text is not a quantity of the expected type. The message names the text and gives examples
/// that parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    expected: &'static str,
}

impl ParseError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        let text = match text.char_indices().nth(MAX_QUOTED) {
            Some((end, _)) => format!("{}… ({})", &text[..end], Bytes::new(text.len() as u64)),
            None => text.to_owned(),
        };
        Self { text, expected }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not {}", self.text, self.expected)
    }
}

impl std::error::Error for ParseError {}

/// A number split from its unit: `"1.5Mbit/s"` into 15 × 10⁻¹ and `"Mbit/s"`.
struct Number<'a> {
    digits: u128,
    decimals: u32,
    unit: &'a str,
}

fn split(text: &str) -> Option<Number<'_>> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let too_long = whole.len() + fraction.len() > 25;
    if too_long || fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some(Number { digits, decimals: u32::try_from(fraction.len()).ok()?, unit: unit.trim() })
}

/// Parses `text` as an exact multiple of the base unit. `scale` returns how many base units one of
/// the given unit has, or `None` for an unknown unit; `expected` completes the error message
/// "'text' is not …". A value finer than one base unit is an error; it is not rounded. Public for
/// units that this crate does not define.
///
/// # Errors
/// Fails if `text` is not a number with a unit that `scale` knows, if the value is not a whole
/// number of base units, or if it exceeds `u64::MAX`.
pub fn quantity(
    text: &str,
    expected: &'static str,
    scale: impl Fn(&str) -> Option<u64>,
) -> Result<u64, ParseError> {
    let error = || ParseError::new(text, expected);
    let number = split(text).ok_or_else(error)?;
    let scale = u128::from(scale(number.unit).ok_or_else(error)?);
    let divisor = 10u128.pow(number.decimals);
    let scaled = number.digits.checked_mul(scale).ok_or_else(error)?;
    if scaled % divisor != 0 {
        return Err(error());
    }
    u64::try_from(scaled / divisor).map_err(|_| error())
}

/// Prints `value` in the largest unit that needs at most three decimals, so that it parses back
/// exactly. `units` are sorted from large to small; the last has a scale of 1.
pub(crate) fn print(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let fits =
        |scale: u64| value >= scale && (u128::from(value) * 1000).is_multiple_of(u128::from(scale));
    let base = units[units.len() - 1];
    let (scale, name) = units.iter().copied().find(|&(scale, _)| fits(scale)).unwrap_or(base);
    let thousandths = u128::from(value) * 1000 / u128::from(scale);
    let (whole, fraction) = (thousandths / 1000, thousandths % 1000);
    let text = if fraction == 0 {
        format!("{whole}{name}")
    } else {
        format!("{whole}.{}{name}", format!("{fraction:03}").trim_end_matches('0'))
    };
    f.pad(&text)
}
