//! A controller as data, and the errors of building one.

use crate::{Receiver, Sender, Setting, SettingError};
use std::fmt;
use units::Bitrate;

/// A controller as data: a profile and the settings that differ from it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ControllerConfig {
    /// `family:profile`, for example `gcc:carlucci-2017` or `fixed:500kbit/s`, followed by the
    /// names of [`improvements`](crate::improvements), each after a `+`: `gcc:draft-02+short-hold`.
    pub profile: String,
    /// Settings that differ from the profile and its improvements: (name, value).
    pub settings: Vec<(String, String)>,
    /// Target rate before any feedback.
    pub start_rate: Bitrate,
    /// Lower bound of the target rate.
    pub min_rate: Bitrate,
    /// Upper bound of the target rate.
    pub max_rate: Bitrate,
}

/// The halves of a controller.
pub struct Controllers {
    /// The half at the sender.
    pub sender: Box<dyn Sender>,
    /// The half at the receiver, if the profile has one.
    pub receiver: Option<Box<dyn Receiver>>,
    /// Whether the receiving endpoint sends transport-wide feedback.
    pub transport_feedback: bool,
}

/// A named profile, for listings.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name in an experiment file.
    pub name: String,
    /// One line: what the profile is and where it was published.
    pub summary: &'static str,
    /// Every setting with its value in this profile.
    pub settings: Vec<Setting>,
}

/// Why a controller could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// There is no such profile: the name, and all names that exist.
    UnknownProfile(String, Vec<String>),
    /// A setting is unknown or its value is invalid.
    Setting(SettingError),
    /// The improvement is unknown or does not apply to the profile.
    Improvement(ImprovementError),
    /// The rates do not satisfy min ≤ start ≤ max.
    Rates {
        /// The lower bound.
        min: Bitrate,
        /// The rate before any feedback.
        start: Bitrate,
        /// The upper bound.
        max: Bitrate,
    },
    /// A value is out of range, or the part after the colon is wrong: the whole message.
    Invalid(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProfile(name, known) => {
                write!(f, "no controller '{name}'; there are {}", known.join(", "))
            }
            Self::Setting(error) => error.fmt(f),
            Self::Improvement(error) => error.fmt(f),
            Self::Rates { min, start, max } => write!(
                f,
                "the rates must satisfy min_rate ≤ start_rate ≤ max_rate, but are {min}, {start}, \
                 {max}"
            ),
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<SettingError> for BuildError {
    fn from(error: SettingError) -> Self {
        Self::Setting(error)
    }
}

impl From<ImprovementError> for BuildError {
    fn from(error: ImprovementError) -> Self {
        Self::Improvement(error)
    }
}

/// Why an improvement is not applied to a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImprovementError {
    /// There is no such improvement: the name, and all names that exist.
    Unknown(String, Vec<&'static str>),
    /// The improvement does not apply to the profile: the whole message.
    NotFor(String),
    /// The profile already has the improvement, by its own constants or by name: the whole message.
    Already(String),
}

impl fmt::Display for ImprovementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, known) => {
                write!(f, "no improvement '{name}'; there are {}", known.join(", "))
            }
            Self::NotFor(reason) | Self::Already(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ImprovementError {}

/// The error for an unknown profile. The registry adds the names that exist.
pub(crate) fn unknown(profile: &str) -> BuildError {
    let name = profile.split('+').next().unwrap_or_default();
    BuildError::UnknownProfile(name.to_owned(), Vec::new())
}
