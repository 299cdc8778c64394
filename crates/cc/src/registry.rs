//! The controllers by name. A new controller is a folder and an entry in `FAMILIES`.

use crate::Setting;
use crate::external;
use crate::gcc::Improvement;
use crate::profile::{
    BuildError, ControllerConfig, Controllers, ImprovementError, Profile, unknown,
};

/// Checks whether a profile can have an improvement: (part after the colon, improvement).
type Improve = fn(&str, &str) -> Result<(), ImprovementError>;

/// A family of controllers. The functions take the part of the profile name after the colon, or
/// from the `@` on.
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
        name: "nada",
        build: crate::nada::build,
        profiles: crate::nada::profiles,
        settings: crate::nada::settings,
        improve: None,
    },
    Family {
        name: "scream-v1",
        build: crate::scream_v1::build,
        profiles: crate::scream_v1::profiles,
        settings: crate::scream_v1::settings,
        improve: None,
    },
    Family {
        name: "scream-v2",
        build: crate::scream_v2::build,
        profiles: crate::scream_v2::profiles,
        settings: crate::scream_v2::settings,
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

/// Every profile of every family.
#[must_use]
pub fn profiles() -> Vec<Profile> {
    FAMILIES.iter().flat_map(|family| (family.profiles)()).collect()
}

/// Checks a configuration: [`build`] succeeds, or the controller is a program
/// ([`external`](crate::external)), which `build` cannot start.
///
/// # Errors
/// As [`build`].
pub fn check(config: &ControllerConfig) -> Result<(), BuildError> {
    if external::code(&config.profile).is_none() {
        return build(config).map(drop);
    }
    check_rates(config)?;
    external::config(config).map(drop).map_err(with_names)
}

fn check_rates(config: &ControllerConfig) -> Result<(), BuildError> {
    if config.min_rate > config.start_rate || config.start_rate > config.max_rate {
        let (min, start, max) = (config.min_rate, config.start_rate, config.max_rate);
        return Err(BuildError::Rates { min, start, max });
    }
    Ok(())
}

/// Builds a controller from its configuration.
///
/// # Errors
/// When there is no such profile or setting, a value is out of its range, or the controller is a
/// program ([`external`](crate::external)).
pub fn build(config: &ControllerConfig) -> Result<Controllers, BuildError> {
    check_rates(config)?;
    if external::code(&config.profile).is_some() {
        external::config(config)?;
        let name = &config.profile;
        let reason = format!("controller '{name}' is a program, which only simulations can start");
        return Err(BuildError::Invalid(reason));
    }
    let (family, rest) = find(&config.profile)?;
    if let (None, Some((name, improvement))) = (family.improve, config.profile.split_once('+')) {
        return Err(not_improvable(name, improvement).into());
    }
    (family.build)(rest, config).map_err(with_names)
}

/// Every setting with its value in this configuration. A value comes from the configuration itself,
/// else from an improvement, else from the profile.
///
/// # Errors
/// As [`build`], except that the rates are not checked.
pub fn settings_of(config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    if external::code(&config.profile).is_some() {
        return external::settings_of(config);
    }
    let (family, rest) = find(&config.profile)?;
    (family.settings)(rest, config).map_err(with_names)
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
    let base = profile.split(['+', '@']).next().unwrap_or_default();
    if family.improve.is_some() && !(family.profiles)().iter().any(|known| known.name == base) {
        return Err(ImprovementError::NotFor(with_names(unknown(profile)).to_string()));
    }
    let improve = family.improve.ok_or_else(|| not_improvable(profile, improvement))?;
    improve(rest, improvement)?;
    Ok(format!("{profile}+{improvement}"))
}

/// The family of a profile, and the part of the name after the colon, or from the `@` on.
fn find(profile: &str) -> Result<(&'static Family, &str), BuildError> {
    let end = profile.find([':', '@', '+']).unwrap_or(profile.len());
    let (family, rest) = profile.split_at(end);
    let rest = match rest.strip_prefix(':') {
        Some(rest) => rest,
        None if rest.starts_with('@') => rest,
        None => "",
    };
    let found = FAMILIES.iter().find(|candidate| candidate.name == family);
    found.map(|family| (family, rest)).ok_or_else(|| with_names(unknown(profile)))
}

fn not_improvable(profile: &str, improvement: &str) -> ImprovementError {
    ImprovementError::NotFor(format!(
        "improvement '{improvement}' does not apply to {profile}: only gcc profiles have \
         improvements"
    ))
}

/// Adds the names that exist to the error for an unknown profile.
fn with_names(error: BuildError) -> BuildError {
    match error {
        BuildError::UnknownProfile(name, _) => {
            let known = profiles().into_iter().map(|profile| profile.name).collect();
            BuildError::UnknownProfile(name, known)
        }
        other => other,
    }
}
