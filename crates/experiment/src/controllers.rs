//! The controllers that an experiment may name.

use cc::{BuildError, ImprovementError};
use document::did_you_mean;

pub use cc::gcc::Changes;
pub use cc::{Improvement, Profile, Setting, improvements, profiles};

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
        Err(BuildError::UnknownProfile(name, known)) => {
            let (reason, suggestion) = unknown(&name, &known);
            Err(format!("{reason}; {suggestion}"))
        }
        Err(BuildError::Improvement(error)) => Err(said(&error)),
        Err(error) => Err(error.to_string()),
    }
}

/// What to say of a name that is none, and the suggestion.
pub fn unknown(name: &str, known: &[String]) -> (String, String) {
    let suggestion = did_you_mean(name, known.iter().map(String::as_str), "there are");
    (format!("there is no controller '{name}'"), suggestion)
}

/// Sees whether there is an improvement of this name.
///
/// # Errors
/// That there is none, and which there are.
pub fn check_improvement(name: &str) -> Result<(), String> {
    // Of what has no improvements, every one that there is is refused for that.
    match cc::improve("fixed:1Mbit/s", name) {
        Err(error @ ImprovementError::Unknown(..)) => Err(said(&error)),
        _ => Ok(()),
    }
}

/// A profile with these improvements, `short-hold+aqm-loss`, those of them that change something in
/// it.
///
/// # Errors
/// Why it cannot have them, or has them already.
pub fn improved(profile: &str, names: &str) -> Result<String, String> {
    let (mut improved, mut reasons) = (profile.to_owned(), Vec::new());
    for name in names.split('+') {
        match cc::improve(&improved, name) {
            Ok(better) => improved = better,
            Err(error) => reasons.push(said(&error)),
        }
    }
    if improved == profile { Err(reasons.join("; ")) } else { Ok(improved) }
}

/// What to say of an improvement that a controller cannot have, and the suggestion.
pub fn refused(error: &ImprovementError) -> (String, String) {
    match error {
        ImprovementError::Unknown(name, known) => {
            let suggestion = did_you_mean(name, known.iter().copied(), "there are");
            (format!("there is no improvement '{name}'"), suggestion)
        }
        other => (other.to_string(), String::new()),
    }
}

fn said(error: &ImprovementError) -> String {
    let (reason, suggestion) = refused(error);
    if suggestion.is_empty() { reason } else { format!("{reason}; {suggestion}") }
}
