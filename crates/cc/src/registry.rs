//! The controllers by name. A new controller is a folder and an entry in `FAMILIES`.

use crate::gcc::{Improvement, ImprovementError};
use crate::{Receiver, Sender, Setting, SettingError};
use std::fmt;
use units::Bitrate;

/// A controller as data: a profile and the settings that differ from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// `family:profile`, for example `gcc:carlucci-2017` or `fixed:500kbit/s`, followed by the
    /// names of [`improvements`], each after a `+`: `gcc:draft-02+short-hold`.
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

/// Checks whether a profile can have an improvement: (part after the colon, improvement).
type Improve = fn(&str, &str) -> Result<(), ImprovementError>;

/// A family of controllers. The functions take the part of the profile name after the colon.
struct Family {
    name: &'static str,
    build: fn(&str, &ControllerConfig) -> Result<Controllers, BuildError>,
    profiles: fn() -> Vec<Profile>,
    /// Every setting with its value in a configuration.
    settings: fn(&str, &ControllerConfig) -> Result<Vec<Setting>, BuildError>,
    /// Checks whether an improvement applies to a profile and changes a setting of it. `None` if
    /// the family has no improvements.
    improve: Option<Improve>,
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

/// One entry per family.
const FAMILIES: &[Family] = &[
    Family {
        name: "gcc",
        build: crate::gcc::build,
        profiles: crate::gcc::profiles,
        settings: crate::gcc::settings,
        improve: Some(crate::gcc::improve),
    },
    Family {
        name: "kilinc-andersson",
        build: crate::kilinc_andersson::build,
        profiles: crate::kilinc_andersson::profiles,
        settings: crate::kilinc_andersson::settings,
        improve: None,
    },
    Family {
        name: "fixed",
        build: crate::fixed::build,
        profiles: crate::fixed::profiles,
        settings: |_, _| Ok(Vec::new()),
        improve: None,
    },
];

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
        let (min, start, max) = (config.min_rate, config.start_rate, config.max_rate);
        return Err(BuildError::Rates { min, start, max });
    }
    let (family, rest) = find(&config.profile)?;
    if let (None, Some((name, improvement))) = (family.improve, config.profile.split_once('+')) {
        return Err(not_improvable(name, improvement).into());
    }
    (family.build)(rest, config)
}

/// Every setting with its value in this configuration. A value comes from the configuration itself,
/// else from an improvement, else from the profile.
///
/// # Errors
/// As [`build`], except that the rates are not checked.
pub fn settings_of(config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    let (family, rest) = find(&config.profile)?;
    (family.settings)(rest, config)
}

/// All improvements.
#[must_use]
pub fn improvements() -> &'static [Improvement] {
    crate::gcc::IMPROVEMENTS
}

/// The name of a profile with an improvement appended: `gcc:draft-02` and `short-hold` give
/// `gcc:draft-02+short-hold`.
///
/// # Errors
/// When there is no such improvement, it does not apply to the profile, or it changes nothing
/// there.
pub fn improve(profile: &str, improvement: &str) -> Result<String, ImprovementError> {
    crate::gcc::improvement(improvement)?;
    let (family, rest) =
        find(profile).map_err(|error| ImprovementError::NotFor(error.to_string()))?;
    let improve = family.improve.ok_or_else(|| not_improvable(profile, improvement))?;
    improve(rest, improvement)?;
    Ok(format!("{profile}+{improvement}"))
}

/// The family of a profile, and the part of the name after the colon.
fn find(profile: &str) -> Result<(&'static Family, &str), BuildError> {
    let (family, rest) = profile.split_once(':').unwrap_or((profile, ""));
    let family = family.split('+').next().unwrap_or_default();
    let found = FAMILIES.iter().find(|candidate| candidate.name == family);
    found.map(|family| (family, rest)).ok_or_else(|| unknown(profile))
}

fn not_improvable(profile: &str, improvement: &str) -> ImprovementError {
    ImprovementError::NotFor(format!(
        "improvement '{improvement}' does not apply to {profile}: only gcc profiles have \
         improvements"
    ))
}

/// The error for an unknown profile. Improvements are cut off the name.
pub(crate) fn unknown(profile: &str) -> BuildError {
    let known = profiles().into_iter().map(|profile| profile.name).collect();
    let name = profile.split('+').next().unwrap_or_default();
    BuildError::UnknownProfile(name.to_owned(), known)
}
