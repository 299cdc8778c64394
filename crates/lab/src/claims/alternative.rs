//! Claims put to the test under other controllers than their experiments'.

use super::{Claim, Plan};
use document::Problem;
use experiment::Experiment;
use experiment::controllers;
use std::fmt;
use std::str::FromStr;

/// What the calls are under instead, as `--with` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// Every call under this controller: `gcc:libwebrtc`.
    Controller(String),
    /// Every call under its own controller with this improvement, or these: `+short-hold`,
    /// `+short-hold+aqm-loss`.
    Improvement(String),
}

impl FromStr for Other {
    type Err = Problem;

    /// Fails if there is no such controller or improvement.
    fn from_str(text: &str) -> Result<Self, Problem> {
        if let Some(names) = text.strip_prefix('+') {
            names.split('+').try_for_each(controllers::check_improvement)?;
            return Ok(Self::Improvement(names.to_owned()));
        }
        controllers::check(text)?;
        Ok(Self::Controller(text.to_owned()))
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller(profile) => f.write_str(profile),
            Self::Improvement(names) => write!(f, "+{names}"),
        }
    }
}

impl<'c> Plan<'c> {
    /// The plan with every call under the other, of the claims for which that makes a difference.
    #[must_use]
    pub fn under(&self, other: &Other) -> Self {
        let differs = |claim: &&Claim| {
            self.own(claim).is_some_and(|own| match other {
                Other::Controller(profile) => own.controllers().any(|own| own != profile),
                Other::Improvement(names) => own.why_not_improved(names).is_none(),
            })
        };
        let claims = self.claims.iter().copied().filter(differs).collect();
        Self::of(claims, |name| match self.experiments.iter().find(|own| own.name == name) {
            None => crate::open(name),
            Some(own) => match other {
                Other::Controller(profile) => own.with_controller(profile),
                Other::Improvement(names) => own.with_improvement(names),
            },
        })
    }

    /// The claims that an improvement leaves as they are, by the reason: that none of their
    /// controllers can have it, or need it.
    #[must_use]
    pub fn not_improved(&self, other: &Other) -> Vec<(String, Vec<&'c str>)> {
        let Other::Improvement(names) = other else { return Vec::new() };
        let mut by_reason: Vec<(String, Vec<&str>)> = Vec::new();
        for claim in &self.claims {
            let Some(reason) = self.own(claim).and_then(|own| own.why_not_improved(names)) else {
                continue;
            };
            let reason = reason.to_string();
            match by_reason.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, ids)) => ids.push(&claim.id),
                None => by_reason.push((reason, vec![&claim.id])),
            }
        }
        by_reason
    }

    fn own(&self, claim: &Claim) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == claim.experiment)
    }
}
