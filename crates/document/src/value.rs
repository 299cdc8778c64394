use std::convert::Infallible;
use units::{ParseError, Ratio};

/// Why a value cannot be read as a type, although it has the right kind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValueError {
    /// The text is not a quantity of the wanted unit.
    #[error(transparent)]
    Quantity(#[from] ParseError),
    /// The text is neither of two quantities; the example is one of the second.
    #[error("{0}, or {1}")]
    Neither(Box<ValueError>, &'static str),
    /// The text is a share without a unit, which could mean two shares.
    #[error("\"{text}\" has no unit; write \"{percent}\" or {number}")]
    BareShare {
        /// The text.
        text: String,
        /// The share that is probably meant.
        percent: Ratio,
        /// The same share as a number.
        number: f64,
    },
    /// The number is infinite or not-a-number.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// The number must not be negative.
    #[error("{0} is below zero")]
    Negative(i64),
    /// The number does not fit; the second number is the largest that does.
    #[error("{0} is not between 0 and {1}")]
    OutOfRange(i64, u32),
}

impl From<Infallible> for ValueError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
