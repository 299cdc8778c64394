//! A controller outside Weir: a program, `external:COMMAND`, or a shared library, `library:PATH`.
//! This crate starts no programs: it only reads the configuration. The laboratory starts the program
//! and passes its halves to the simulation.

use crate::profile::BuildError;
use crate::setting::settings;
use crate::{ControllerConfig, Setting};
use units::Duration;

/// Where the code of an external controller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code<'a> {
    /// The command that starts a program: `external:COMMAND`.
    Command(&'a str),
    /// The path of a shared library: `library:PATH`.
    Library(&'a str),
}

settings! {
    /// The settings of an external controller.
    pub struct ExternalConfig {
        /// The longest real time that the program may take for one answer. Our choice: far longer
        /// than any controller computes, and short enough that a hung program does not stop a
        /// suite.
        "answer_limit" => answer_limit: Duration,
    }
}

impl Default for ExternalConfig {
    fn default() -> Self {
        Self { answer_limit: Duration::from_secs(10) }
    }
}

/// Where the code of an external controller is; `None` for another profile.
#[must_use]
pub fn code(profile: &str) -> Option<Code<'_>> {
    match profile.split_once(':')? {
        ("external", command) => Some(Code::Command(command.trim())),
        ("library", path) => Some(Code::Library(path.trim())),
        _ => None,
    }
}

/// The settings of an external controller.
///
/// # Errors
/// If the command or path is empty, or a setting is unknown or wrong.
pub fn config(config: &ControllerConfig) -> Result<ExternalConfig, BuildError> {
    let reason = match code(&config.profile) {
        None | Some(Code::Command("")) => {
            "'external:' needs a command, such as 'external:python3 controller.py'"
        }
        Some(Code::Library("")) => "'library:' needs a path, such as 'library:./controller.so'",
        Some(_) => "",
    };
    if !reason.is_empty() {
        return Err(BuildError::Invalid(reason.to_owned()));
    }
    let mut read = ExternalConfig::default();
    for (name, value) in &config.settings {
        read.set(name, value)?;
    }
    if read.answer_limit < Duration::from_millis(1) {
        let reason = format!("answer_limit: {} is below 1ms", read.answer_limit);
        return Err(BuildError::Invalid(reason));
    }
    Ok(read)
}

pub(crate) fn settings_of(from: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(config(from)?.settings())
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bitrate;

    fn external(profile: &str, settings: &[(&str, &str)]) -> ControllerConfig {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        ControllerConfig {
            profile: profile.to_owned(),
            settings: settings.iter().map(owned).collect(),
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(5),
            max_rate: Bitrate::from_mbps(1),
        }
    }

    #[test]
    fn a_command_may_have_any_characters() {
        let with = external("external:./g++ a:b@c --x=1", &[("answer_limit", "250ms")]);
        assert_eq!(code(&with.profile), Some(Code::Command("./g++ a:b@c --x=1")));
        assert_eq!(code("library: ./a:b.so"), Some(Code::Library("./a:b.so")));
        assert_eq!(code("gcc:libwebrtc"), None);
        assert_eq!(config(&with).unwrap().answer_limit, Duration::from_millis(250));
        assert!(crate::check(&with).is_ok());
        assert_eq!(crate::settings_of(&with).unwrap()[0].value, "250ms");
    }

    #[test]
    fn wrong_configurations_are_refused() {
        for (profile, settings) in [
            ("external:", &[][..]),
            ("external: ", &[]),
            ("library:", &[]),
            ("external:x", &[("answer_limit", "0s")]),
            ("external:x", &[("answer_limit", "soon")]),
            ("external:x", &[("limit", "1s")]),
        ] {
            assert!(crate::check(&external(profile, settings)).is_err(), "{profile} {settings:?}");
        }
    }

    #[test]
    fn without_a_laboratory_there_is_no_program() {
        let error = crate::build(&external("external:x", &[])).err().unwrap();
        assert!(error.to_string().contains("only simulations"), "{error}");
    }
}
