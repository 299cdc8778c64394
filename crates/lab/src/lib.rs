//! The laboratory: experiment files, the runner, metrics, claims, figures, the store, exports, reports, and the
//! fit of the codec model.

pub mod broker;
pub mod claims;
pub mod comparison;
mod document;
pub mod emulate;
pub mod experiment;
pub mod export;
pub mod figures;
pub mod fit;
pub mod measure;
pub mod metrics;
pub mod remedies;
pub mod report;
pub mod runner;
mod secret;
pub mod signalling;
pub mod store;
pub mod upload;

pub use document::FileError;
pub use secret::Secret;

/// The controllers that an experiment may name.
pub mod controllers {
    pub use cc::{Profile, Setting, profiles};

    /// Sees whether there is a controller of this name.
    ///
    /// # Errors
    /// That there is none, and which there are.
    pub fn check(name: &str) -> Result<(), String> {
        let rate = units::Bitrate::from_mbps(1);
        let profile = name.to_owned();
        let config = cc::ControllerConfig {
            profile,
            settings: Vec::new(),
            start_rate: rate,
            min_rate: rate,
            max_rate: rate,
        };
        match cc::build(&config) {
            Ok(_) => Ok(()),
            Err(cc::BuildError::UnknownProfile(name, known)) => {
                let (reason, mend) = unknown(&name, &known);
                Err(format!("{reason}; {mend}"))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// What to say of a name that is none, and the mend.
    pub(crate) fn unknown(name: &str, known: &[String]) -> (String, String) {
        let mend = crate::document::did_you_mean(name, known.iter().map(String::as_str), "there are");
        (format!("there is no controller '{name}'"), mend)
    }
}
pub use sim::Recording;
pub use units::{Bytes, Duration, Seed};
