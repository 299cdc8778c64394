use crate::{Bytes, Duration, ParseError, parse};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

/// A rate in whole bit/s, printed and parsed with decimal prefixes: `64kbit/s`, `1.5Mbit/s`. Zero
/// means *never*: functions that divide by a rate return an `Option`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bitrate(u64);

impl Bitrate {
    /// No transmission at all.
    pub const ZERO: Self = Self(0);
    /// The largest rate.
    pub const MAX: Self = Self(u64::MAX);

    /// A rate of `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `kbps` kbit/s.
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps.saturating_mul(1_000))
    }

    /// A rate of `mbps` Mbit/s.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps.saturating_mul(1_000_000))
    }

    /// From a real number of bit/s, rounded. Negative numbers and NaN become zero.
    pub fn from_bps_f64(bps: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates"
        )]
        Self((bps + 0.5) as u64)
    }

    /// The rate in bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The rate in bit/s as a real number.
    pub fn as_bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// The rate times a real factor, rounded.
    pub fn scale(self, factor: f64) -> Self {
        Self::from_bps_f64(self.as_bps_f64() * factor)
    }

    /// How long it takes to send `size` at this rate, rounded up to a nanosecond; `None` if the
    /// rate is zero.
    pub const fn time_to_send(self, size: Bytes) -> Option<Duration> {
        if self.0 == 0 {
            return None;
        }
        let bits = size.get() as u128 * 8;
        let nanos = (bits * 1_000_000_000).div_ceil(self.0 as u128);
        Some(Duration::from_nanos(if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }))
    }

    /// How many whole bytes can be sent in `span` at this rate.
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        let bytes = self.0 as u128 * span.as_nanos() as u128 / 8_000_000_000;
        Bytes::new(if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 })
    }

    /// The rate minus `other`, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Bitrate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bitrate {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bitrate {
    type Output = Self;
    /// Saturates at zero; a debug build panics.
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "{self} − {other}: rates are never negative");
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Bitrate {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Sum for Bitrate {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for Bitrate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::quantity(text, "a rate such as 500kbit/s or 1.5Mbit/s", |unit| {
            let prefix = unit
                .strip_suffix("bit/s")
                .or_else(|| unit.strip_suffix("bit"))
                .or_else(|| unit.strip_suffix("bps"))?;
            Some(match prefix {
                "" => 1,
                "k" | "K" => 1_000,
                "M" | "m" => 1_000_000,
                "G" | "g" => 1_000_000_000,
                _ => return None,
            })
        })
        .map(Self)
    }
}

impl fmt::Display for Bitrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units =
            [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")];
        parse::print(f, self.0, &units)
    }
}
