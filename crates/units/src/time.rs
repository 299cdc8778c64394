use crate::{ParseError, parse};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use std::str::FromStr;

const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];

/// An instant: whole nanoseconds since the start of the run, on one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Time(u64);

/// A span of time in whole nanoseconds, never negative. Prints and parses as `150ms`, `1.5s`,
/// `33.333us`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Duration(u64);

/// A signed difference in nanoseconds between two instants, which may be read from two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeDelta(i64);

macro_rules! nanoseconds {
    ($type:ident) => {
        impl $type {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// The largest value: later (or longer) than any other.
            pub const MAX: Self = Self(u64::MAX);

            /// From whole nanoseconds.
            pub const fn from_nanos(nanos: u64) -> Self {
                Self(nanos)
            }

            /// From whole microseconds.
            pub const fn from_micros(micros: u64) -> Self {
                Self(micros.saturating_mul(1_000))
            }

            /// From whole milliseconds.
            pub const fn from_millis(millis: u64) -> Self {
                Self(millis.saturating_mul(1_000_000))
            }

            /// From whole seconds.
            pub const fn from_secs(secs: u64) -> Self {
                Self(secs.saturating_mul(1_000_000_000))
            }

            /// From a real number of seconds, rounded. Negative numbers and NaN become zero.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates"
            )]
            pub fn from_secs_f64(secs: f64) -> Self {
                Self((secs * 1e9 + 0.5).floor() as u64)
            }

            /// Whole nanoseconds.
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// Whole microseconds, rounded down.
            pub const fn as_micros(self) -> u64 {
                self.0 / 1_000
            }

            /// Whole milliseconds, rounded down.
            pub const fn as_millis(self) -> u64 {
                self.0 / 1_000_000
            }

            /// Seconds as a real number.
            pub fn as_secs_f64(self) -> f64 {
                self.0 as f64 / 1e9
            }

            /// Milliseconds as a real number.
            pub fn as_millis_f64(self) -> f64 {
                self.0 as f64 / 1e6
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.0 == 0 { f.pad("0s") } else { parse::print(f, self.0, &UNITS) }
            }
        }

        impl FromStr for $type {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                parse::quantity(text, "a time such as 25ms, 1.5s or 2min", |unit| {
                    Some(match unit {
                        "ns" => 1,
                        "us" | "µs" => 1_000,
                        "ms" => 1_000_000,
                        "s" => 1_000_000_000,
                        "min" => 60_000_000_000,
                        _ => return None,
                    })
                })
                .map(Self)
            }
        }
    };
}

nanoseconds!(Time);
nanoseconds!(Duration);

impl Time {
    /// The span since `earlier` on the same clock, or zero if `earlier` is the later instant.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` earlier, but not before the start of the run.
    pub const fn saturating_sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Duration {
    /// The span minus `other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = TimeDelta;
    fn sub(self, other: Self) -> TimeDelta {
        TimeDelta(self.0.wrapping_sub(other.0).cast_signed())
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    /// Saturates at zero; a debug build panics.
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "{self} − {other}: spans are never negative");
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl TimeDelta {
    /// No difference.
    pub const ZERO: Self = Self(0);

    /// From whole nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Milliseconds as a real number, the unit of the published estimators.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Sub for TimeDelta {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for TimeDelta {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Neg for TimeDelta {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl fmt::Display for TimeDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        f.pad(&format!("{sign}{}", Duration(self.0.unsigned_abs())))
    }
}
