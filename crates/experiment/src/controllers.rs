//! The controllers that an experiment may name.

use cc::{BuildError, ImprovementError, SettingError};
use document::{Problem, did_you_mean};

pub use cc::gcc::Changes;
pub use cc::{Improvement, Profile, Setting, improvements, profiles};

/// Why a controller cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// There is no controller of this name.
    #[error("there is no controller '{name}'")]
    UnknownController {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// There is no improvement of this name.
    #[error("there is no improvement '{name}'")]
    UnknownImprovement {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The controller has no setting of this name.
    #[error("{controller} has no setting '{name}'")]
    UnknownSetting {
        /// The controller.
        controller: String,
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The value of a setting is wrong.
    #[error(transparent)]
    Setting(SettingError),
    /// The controller cannot have an improvement.
    #[error(transparent)]
    Improvement(ImprovementError),
    /// None of several improvements is possible, for these reasons.
    #[error("{}", .0.iter().map(|error| Problem::from(error).to_string()).collect::<Vec<_>>().join("; "))]
    NoImprovement(Vec<Self>),
    /// The experiment has no call with a controller.
    #[error("no call has a controller")]
    NoController,
    /// Its rates are not min ≤ start ≤ max.
    #[error(transparent)]
    Rates(BuildError),
    /// Another part of its configuration is wrong.
    #[error(transparent)]
    Invalid(BuildError),
}

impl ControllerError {
    /// The error of building the controller `profile`.
    pub(crate) fn of(profile: &str, error: BuildError) -> Self {
        match error {
            BuildError::UnknownProfile(name, known) => Self::UnknownController { name, known },
            BuildError::Improvement(error) => error.into(),
            BuildError::Setting(SettingError::Unknown(name, known)) => {
                Self::UnknownSetting { controller: profile.to_owned(), name, known }
            }
            BuildError::Setting(error) => Self::Setting(error),
            error @ BuildError::Rates { .. } => Self::Rates(error),
            error @ BuildError::Invalid(_) => Self::Invalid(error),
        }
    }

    /// The key of a call that is wrong.
    pub(crate) const fn key(&self) -> &'static str {
        match self {
            Self::UnknownSetting { .. } | Self::Setting(_) => "settings",
            Self::Rates(_) => "start_rate",
            _ => "controller",
        }
    }

    fn suggestion(&self) -> String {
        const INTRODUCTION: &str = "there are";
        match self {
            Self::UnknownController { name, known } => {
                did_you_mean(name, known.iter().map(String::as_str), INTRODUCTION)
            }
            Self::UnknownImprovement { name, known } | Self::UnknownSetting { name, known, .. } => {
                did_you_mean(name, known.iter().copied(), INTRODUCTION)
            }
            _ => String::new(),
        }
    }
}

impl From<ImprovementError> for ControllerError {
    fn from(error: ImprovementError) -> Self {
        match error {
            ImprovementError::Unknown(name, known) => Self::UnknownImprovement { name, known },
            error => Self::Improvement(error),
        }
    }
}

impl From<&ControllerError> for Problem {
    fn from(error: &ControllerError) -> Self {
        Self::new(error.to_string(), error.suggestion())
    }
}

impl From<ControllerError> for Problem {
    fn from(error: ControllerError) -> Self {
        Self::from(&error)
    }
}

/// The names of all profiles that adapt their rate: all but constant rates.
pub fn adaptive() -> impl Iterator<Item = String> {
    profiles().into_iter().map(|profile| profile.name).filter(|name| !name.starts_with("fixed:"))
}

/// Checks that there is a controller of this name.
///
/// # Errors
/// If there is none, or its improvements are not possible.
pub fn check(name: &str) -> Result<(), ControllerError> {
    cc::check(&plain(name)).map_err(|error| ControllerError::of(name, error))
}

/// The names of the settings of a controller; empty if there is no such controller.
pub(super) fn settings_of(name: &str) -> Vec<&'static str> {
    let settings = cc::settings_of(&plain(name)).unwrap_or_default();
    settings.into_iter().map(|setting| setting.name).collect()
}

/// A controller without settings of its own.
fn plain(name: &str) -> cc::ControllerConfig {
    let rate = units::Bitrate::from_mbps(1);
    cc::ControllerConfig {
        profile: name.to_owned(),
        settings: Vec::new(),
        start_rate: rate,
        min_rate: rate,
        max_rate: rate,
    }
}

/// Checks that there is an improvement of this name.
///
/// # Errors
/// If there is none.
pub fn check_improvement(name: &str) -> Result<(), ControllerError> {
    // A fixed rate refuses every improvement, but an unknown one with another error.
    match cc::improve("fixed:1Mbit/s", name) {
        Err(error @ ImprovementError::Unknown(..)) => Err(error.into()),
        _ => Ok(()),
    }
}

/// The profile with those of the improvements, `short-hold+aqm-loss`, that change it.
///
/// # Errors
/// If none of them changes it.
pub fn improved(profile: &str, names: &str) -> Result<String, ControllerError> {
    let (mut improved, mut errors) = (profile.to_owned(), Vec::new());
    for name in names.split('+') {
        match cc::improve(&improved, name) {
            Ok(better) => improved = better,
            Err(error) => errors.push(error.into()),
        }
    }
    if improved == profile { Err(ControllerError::NoImprovement(errors)) } else { Ok(improved) }
}
