//! The constants of a named profile: first the profile's, then those of its improvements, then the
//! settings of the experiment.

use super::chromium::{ChromiumConfig, SendSideConfig};
use super::config::GccConfig;
use super::improvements::{self, Improvement};
use super::libwebrtc::{self, LibwebrtcConfig};
use crate::profile::ImprovementError;
use crate::profile::{BuildError, ControllerConfig};
use crate::{Setting, SettingError};

/// The constants of a profile with its improvements.
#[derive(Clone, PartialEq)]
pub(super) enum Constants {
    Published(Box<GccConfig>),
    AsRun(Box<ChromiumConfig>),
    SendSide(Box<SendSideConfig>),
    Libwebrtc(Box<LibwebrtcConfig>),
}

impl Constants {
    /// The constants of `draft-02` or `draft-02+short-hold`.
    pub(super) fn of(rest: &str) -> Result<Self, BuildError> {
        let mut parts = rest.split('+');
        let name = parts.next().unwrap_or_default();
        let published = GccConfig::PROFILES.iter().find(|published| published.name == name);
        let as_run = ChromiumConfig::PROFILES.iter().find(|version| version.name == name);
        let mut constants = match (published, as_run) {
            (Some(published), _) => Self::Published(Box::new((published.config)())),
            (None, Some(version)) => Self::AsRun(Box::new((version.config)())),
            (None, None) if name == "chrome-72" => Self::SendSide(Box::default()),
            (None, None) if libwebrtc::is_named(name) => Self::Libwebrtc(Box::default()),
            (None, None) => return Err(crate::profile::unknown(&format!("gcc:{name}"))),
        };
        let names: Vec<&str> = parts.collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(BuildError::Invalid(format!(
                    "controller 'gcc:{rest}': improvement '{name}' is listed twice; list it once"
                )));
            }
            constants.improve(improvements::named(name)?)?;
        }
        Ok(constants)
    }

    /// Applies the settings of an improvement.
    fn improve(&mut self, improvement: &Improvement) -> Result<(), ImprovementError> {
        let (form, changes) = match self {
            Self::Published(_) => ("the published forms", improvement.published),
            Self::AsRun(_) | Self::SendSide(_) => ("the profiles as run", improvement.as_run),
            Self::Libwebrtc(_) => ("gcc:libwebrtc", improvement.libwebrtc),
        };
        let refused = |reason: &dyn std::fmt::Display| {
            ImprovementError::NotFor(format!(
                "improvement '{}' does not apply to {form}: {reason}",
                improvement.name
            ))
        };
        for (name, value) in changes.map_err(|reason| refused(&reason))? {
            self.set(name, value).map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        match self {
            Self::Published(config) => config.set(name, text),
            Self::AsRun(config) => config.set(name, text),
            Self::SendSide(config) => config.set(name, text),
            Self::Libwebrtc(config) => config.set(name, text),
        }
    }

    /// Applies the settings of an experiment, which override all others, and checks the result.
    pub(super) fn with(mut self, settings: &[(String, String)]) -> Result<Self, BuildError> {
        settings.iter().try_for_each(|(name, text)| self.set(name, text))?;
        match &self {
            Self::Published(config) => config.check()?,
            Self::AsRun(config) => config.check()?,
            Self::SendSide(config) => config.check()?,
            Self::Libwebrtc(config) => config.check()?,
        }
        Ok(self)
    }

    fn settings(&self) -> Vec<Setting> {
        match self {
            Self::Published(config) => config.settings(),
            Self::AsRun(config) => config.settings(),
            Self::SendSide(config) => config.settings(),
            Self::Libwebrtc(config) => config.settings(),
        }
    }
}

/// Checks whether an improvement applies to the profile named `rest` and changes a setting of it.
pub(crate) fn improve(rest: &str, name: &str) -> Result<(), ImprovementError> {
    let improvement = improvements::named(name)?;
    if rest.split('+').skip(1).any(|other| other == name) {
        return Err(ImprovementError::Already(format!("gcc:{rest} already lists {name}")));
    }
    let before =
        Constants::of(rest).map_err(|error| ImprovementError::NotFor(error.to_string()))?;
    let mut after = before.clone();
    after.improve(improvement)?;
    if after == before {
        let reason = format!(
            "gcc:{rest} already has {name}: the settings of the improvement equal those of the \
             profile"
        );
        return Err(ImprovementError::Already(reason));
    }
    Ok(())
}

/// Every setting of the profile named `rest` with its value in `config`.
pub(crate) fn settings(rest: &str, config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(Constants::of(rest)?.with(&config.settings)?.settings())
}
