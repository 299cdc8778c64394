//! Radio quantities: power, distance, speed and frequency.

use crate::{ParseError, parse};
use std::fmt;
use std::ops::{Add, Neg, Sub};
use std::str::FromStr;

/// A ratio of powers in decibels, stored in thousandths; may be negative. Parses `3dB` and
/// `-1.5dB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decibels(i32);

/// A power in decibels relative to one milliwatt, stored in thousandths. Parses `-61dBm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dbm(i32);

/// A distance, stored in millimetres. Parses `12m`, `1.5km`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Metres(u32);

/// A speed, stored in metres per hour. Parses `30km/h`, `1.5m/s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Speed(u32);

/// A frequency or a bandwidth, stored in hertz. Parses `2GHz`, `1.4MHz`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Frequency(u64);

/// The largest magnitude, in thousandths of a decibel: far beyond any radio power, and far from an
/// overflow.
const LIMIT: i32 = 1_000_000;

/// Parses a signed number of `unit` into thousandths.
fn signed(text: &str, unit: &'static str, expected: &'static str) -> Result<i32, ParseError> {
    let (sign, magnitude) = text.trim().strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let scale = |found: &str| (found == unit).then_some(1_000);
    let error = || ParseError::new(text, expected);
    let thousandths = parse::quantity(magnitude, expected, scale).map_err(|_| error())?;
    match i32::try_from(thousandths) {
        Ok(thousandths) if thousandths <= LIMIT => Ok(sign * thousandths),
        _ => Err(error()),
    }
}

fn print(f: &mut fmt::Formatter<'_>, thousandths: i32, unit: &str) -> fmt::Result {
    let sign = if thousandths < 0 { "-" } else { "" };
    let (whole, fraction) = (thousandths.abs() / 1_000, thousandths.abs() % 1_000);
    let number = format!("{whole}.{fraction:03}");
    f.pad(&format!("{sign}{}{unit}", number.trim_end_matches('0').trim_end_matches('.')))
}

/// Converts a real number to thousandths, clamped to ±`LIMIT`. NaN becomes zero.
fn thousandths(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped before")]
    let rounded = (value * 1_000.0).clamp(-f64::from(LIMIT), f64::from(LIMIT)).round() as i32;
    rounded
}

impl Decibels {
    /// 0 dB: equal powers.
    pub const ZERO: Self = Self(0);

    /// From whole decibels.
    pub const fn new(decibels: i16) -> Self {
        Self(decibels as i32 * 1_000)
    }

    /// From a real number of decibels, clamped to ±1000. NaN becomes zero.
    pub fn from_f64(decibels: f64) -> Self {
        Self(thousandths(decibels))
    }

    /// The ratio in decibels.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl Dbm {
    /// From whole dBm.
    pub const fn new(dbm: i16) -> Self {
        Self(dbm as i32 * 1_000)
    }

    /// From a real number of dBm, clamped to ±1000. NaN becomes zero.
    pub fn from_f64(dbm: f64) -> Self {
        Self(thousandths(dbm))
    }

    /// The power in dBm.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl Metres {
    /// From whole metres.
    pub const fn new(metres: u16) -> Self {
        Self(metres as u32 * 1_000)
    }

    /// The distance in metres.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl Speed {
    /// 0 km/h.
    pub const ZERO: Self = Self(0);

    /// From whole kilometres per hour.
    pub const fn from_kmh(kmh: u16) -> Self {
        Self(kmh as u32 * 1_000)
    }

    /// The speed in metres per second.
    pub fn as_metres_per_second(self) -> f64 {
        f64::from(self.0) / 3_600.0
    }
}

impl Frequency {
    /// From whole megahertz.
    pub const fn from_mhz(mhz: u32) -> Self {
        Self(mhz as u64 * 1_000_000)
    }

    /// From whole kilohertz.
    pub const fn from_khz(khz: u32) -> Self {
        Self(khz as u64 * 1_000)
    }

    /// The frequency in hertz.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Decibels {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Neg for Decibels {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Add<Decibels> for Dbm {
    type Output = Self;
    fn add(self, gain: Decibels) -> Self {
        Self(self.0.saturating_add(gain.0))
    }
}

impl Sub<Decibels> for Dbm {
    type Output = Self;
    fn sub(self, loss: Decibels) -> Self {
        Self(self.0.saturating_sub(loss.0))
    }
}

/// The ratio of two powers.
impl Sub for Dbm {
    type Output = Decibels;
    fn sub(self, other: Self) -> Decibels {
        Decibels(self.0.saturating_sub(other.0))
    }
}

impl FromStr for Decibels {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        signed(text, "dB", "a ratio of powers such as 3dB or -1.5dB").map(Self)
    }
}

impl FromStr for Dbm {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        signed(text, "dBm", "a power such as -61dBm or 20dBm").map(Self)
    }
}

impl FromStr for Metres {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: &str = "a distance such as 12m or 1.5km, at most 4000km";
        let millimetres = parse::quantity(text, EXPECTED, |unit| match unit {
            "mm" => Some(1),
            "m" => Some(1_000),
            "km" => Some(1_000_000),
            _ => None,
        })?;
        u32::try_from(millimetres).map(Self).map_err(|_| ParseError::new(text, EXPECTED))
    }
}

impl FromStr for Speed {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: &str = "a speed such as 30km/h or 1.5m/s, at most 4000000km/h";
        let speed = parse::quantity(text, EXPECTED, |unit| match unit {
            "m/h" => Some(1),
            "km/h" => Some(1_000),
            "m/s" => Some(3_600),
            _ => None,
        })?;
        u32::try_from(speed).map(Self).map_err(|_| ParseError::new(text, EXPECTED))
    }
}

impl FromStr for Frequency {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::quantity(text, "a frequency such as 2GHz or 1.4MHz", |unit| match unit {
            "Hz" => Some(1),
            "kHz" => Some(1_000),
            "MHz" => Some(1_000_000),
            "GHz" => Some(1_000_000_000),
            _ => None,
        })
        .map(Self)
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, "dB")
    }
}

impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, "dBm")
    }
}

impl fmt::Display for Metres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(f, u64::from(self.0), &[(1_000_000, "km"), (1_000, "m"), (1, "mm")])
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(f, u64::from(self.0), &[(1_000, "km/h"), (1, "m/h")])
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(
            f,
            self.0,
            &[(1_000_000_000, "GHz"), (1_000_000, "MHz"), (1_000, "kHz"), (1, "Hz")],
        )
    }
}
