//! The controllers by name. Adding one: its folder, and a line in `FAMILIES`.

use crate::{Receiver, Sender, Setting, SettingError};
use std::fmt;
use units::Bitrate;

/// Which controller, as data: a profile and what differs from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// `family:profile`, for example `gcc:carlucci-2017` or `fixed:500kbit/s`.
    pub profile: String,
    /// Constants that differ from the profile: (name, value).
    pub settings: Vec<(String, String)>,
    /// The rate before any feedback.
    pub start_rate: Bitrate,
    /// The target never falls below this.
    pub min_rate: Bitrate,
    /// The target never exceeds this.
    pub max_rate: Bitrate,
}

/// A controller's halves. Without a receiver half, the receiving endpoint sends transport-wide feedback.
pub struct Controllers {
    /// The half at the sender.
    pub sender: Box<dyn Sender>,
    /// The half at the receiver, where the profile has one.
    pub receiver: Option<Box<dyn Receiver>>,
    /// Whether the receiver sends transport-wide feedback, per packet.
    pub transport_feedback: bool,
}

/// A family of controllers: what builds one from the part after the colon.
struct Family {
    name: &'static str,
    build: fn(&str, &ControllerConfig) -> Result<Controllers, BuildError>,
    profiles: fn() -> Vec<Profile>,
}

/// A named profile, for listings.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name as in an experiment file.
    pub name: String,
    /// One line: what it is and where it was published.
    pub summary: &'static str,
    /// Every setting with its value in this profile.
    pub settings: Vec<Setting>,
}

/// One line a family.
const FAMILIES: &[Family] = &[
    Family { name: "gcc", build: crate::gcc::build, profiles: crate::gcc::profiles },
    Family {
        name: "kilinc-andersson",
        build: crate::kilinc_andersson::build,
        profiles: crate::kilinc_andersson::profiles,
    },
    Family { name: "fixed", build: crate::fixed::build, profiles: crate::fixed::profiles },
];

/// Why a controller could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// There is no such profile; the names that there are.
    UnknownProfile(String, Vec<String>),
    /// A setting was refused.
    Setting(SettingError),
    /// The rates are not min ≤ start ≤ max, or the part after the colon is wrong: what and why.
    Invalid(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProfile(name, known) => {
                write!(f, "no controller '{name}'; there are {}", known.join(", "))
            }
            Self::Setting(error) => error.fmt(f),
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

/// Every profile of every family.
#[must_use]
pub fn profiles() -> Vec<Profile> {
    FAMILIES.iter().flat_map(|family| (family.profiles)()).collect()
}

/// Builds a controller from its configuration.
///
/// # Errors
/// When there is no such profile or setting, or a value is out of its range.
pub fn build(config: &ControllerConfig) -> Result<Controllers, BuildError> {
    if config.min_rate > config.start_rate || config.start_rate > config.max_rate {
        let ControllerConfig { min_rate, start_rate, max_rate, .. } = config;
        return Err(BuildError::Invalid(format!(
            "the rates must be min ≤ start ≤ max, but are {min_rate}, {start_rate}, {max_rate}"
        )));
    }
    let (family, rest) = config.profile.split_once(':').unwrap_or((&config.profile, ""));
    let family = FAMILIES.iter().find(|candidate| candidate.name == family).ok_or_else(|| unknown(config))?;
    (family.build)(rest, config)
}

/// The error for a profile that there is not.
pub(crate) fn unknown(config: &ControllerConfig) -> BuildError {
    let known = profiles().into_iter().map(|profile| profile.name).collect();
    BuildError::UnknownProfile(config.profile.clone(), known)
}
