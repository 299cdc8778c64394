use std::convert::Infallible;
use units::ParseError;

/// Why a value cannot be read as a type, although it has the right kind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValueError {
    /// The text is not a quantity of the wanted unit.
    #[error(transparent)]
    Quantity(#[from] ParseError),
    /// The text is neither of two quantities; the example is one of the second.
    #[error("{0}, or {1}")]
    Neither(Box<ValueError>, &'static str),
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
