//! The controllers by name. Adding one: its folder, and a line in `FAMILIES`.

use crate::gcc::{Improvement, ImprovementError};
use crate::{Receiver, Sender, Setting, SettingError};
use std::fmt;
use units::Bitrate;

/// Which controller, as data: a profile and what differs from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// `family:profile`, for example `gcc:carlucci-2017` or `fixed:500kbit/s`, with the names of
    /// [`improvements`] behind it, each after a `+`: `gcc:draft-02+short-hold`.
    pub profile: String,
    /// Constants that differ from the profile and its improvements: (name, value).
    pub settings: Vec<(String, String)>,
    /// The rate before any feedback.
    pub start_rate: Bitrate,
    /// The target never falls below this.
    pub min_rate: Bitrate,
    /// The target never exceeds this.
    pub max_rate: Bitrate,
}

/// A controller's halves. Without a receiver half, the receiving endpoint sends transport-wide
/// feedback.
pub struct Controllers {
    /// The half at the sender.
    pub sender: Box<dyn Sender>,
    /// The half at the receiver, where the profile has one.
    pub receiver: Option<Box<dyn Receiver>>,
    /// Whether the receiver sends transport-wide feedback, per packet.
    pub transport_feedback: bool,
}

/// Sees whether a profile can have an improvement.
type Improve = fn(&str, &str) -> Result<(), ImprovementError>;

/// A family of controllers: what builds one from the part after the colon.
struct Family {
    name: &'static str,
    build: fn(&str, &ControllerConfig) -> Result<Controllers, BuildError>,
    profiles: fn() -> Vec<Profile>,
    /// Every setting with its value under a configuration.
    settings: fn(&str, &ControllerConfig) -> Result<Vec<Setting>, BuildError>,
    /// Whether a profile can have an improvement that changes something in it; none, if the family
    /// has no improvements.
    improve: Option<Improve>,
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
    /// There is no such profile; the names that there are.
    UnknownProfile(String, Vec<String>),
    /// A setting was refused.
    Setting(SettingError),
    /// The profile cannot have an improvement, or there is none of that name.
    Improvement(ImprovementError),
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
            Self::Improvement(error) => error.fmt(f),
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
        let ControllerConfig { min_rate, start_rate, max_rate, .. } = config;
        return Err(BuildError::Invalid(format!(
            "the rates must be min ≤ start ≤ max, but are {min_rate}, {start_rate}, {max_rate}"
        )));
    }
    let (family, rest) = find(&config.profile)?;
    if let (None, Some((name, improvement))) = (family.improve, config.profile.split_once('+')) {
        return Err(not_improvable(name, improvement).into());
    }
    (family.build)(rest, config)
}

/// Every setting with the value that it has under this configuration: the profile's, an
/// improvement's, or the configuration's own.
///
/// # Errors
/// As [`build`], but for the rates.
pub fn settings_of(config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    let (family, rest) = find(&config.profile)?;
    (family.settings)(rest, config)
}

/// The improvements by name.
#[must_use]
pub fn improvements() -> &'static [Improvement] {
    crate::gcc::IMPROVEMENTS
}

/// The name of a profile with an improvement appended: `gcc:draft-02` and `short-hold` give
/// `gcc:draft-02+short-hold`.
///
/// # Errors
/// When there is no such improvement, the profile cannot have it, or it changes nothing in the
/// profile.
pub fn improve(profile: &str, improvement: &str) -> Result<String, ImprovementError> {
    crate::gcc::improvement(improvement)?;
    let (family, rest) =
        find(profile).map_err(|error| ImprovementError::NotFor(error.to_string()))?;
    let improve = family.improve.ok_or_else(|| not_improvable(profile, improvement))?;
    improve(rest, improvement)?;
    Ok(format!("{profile}+{improvement}"))
}

/// The family of a profile, and what follows the colon.
fn find(profile: &str) -> Result<(&'static Family, &str), BuildError> {
    let (family, rest) = profile.split_once(':').unwrap_or((profile, ""));
    let family = family.split('+').next().unwrap_or_default();
    let found = FAMILIES.iter().find(|candidate| candidate.name == family);
    found.map(|family| (family, rest)).ok_or_else(|| unknown(profile))
}

fn not_improvable(profile: &str, improvement: &str) -> ImprovementError {
    ImprovementError::NotFor(format!(
        "{improvement} is not for {profile}: improvements are of gcc alone"
    ))
}

/// The error for a profile that there is not; what it is improved by is not in question.
pub(crate) fn unknown(profile: &str) -> BuildError {
    let known = profiles().into_iter().map(|profile| profile.name).collect();
    let name = profile.split('+').next().unwrap_or_default();
    BuildError::UnknownProfile(name.to_owned(), known)
}
