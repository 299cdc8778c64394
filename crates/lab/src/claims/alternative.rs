//! Verification of claims under other controllers than those of their experiments.

use super::{Claim, Plan};
use document::Problem;
use experiment::Experiment;
use experiment::controllers;
use std::fmt;
use std::str::FromStr;

/// A controller or improvement for the calls of an experiment, as named by `--with`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alternative {
    /// Every call uses this controller: `gcc:libwebrtc`.
    Controller(String),
    /// Every call uses its own controller with these improvements: `+short-hold`,
    /// `+short-hold+aqm-loss`.
    Improvement(String),
}

impl FromStr for Alternative {
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

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller(profile) => f.write_str(profile),
            Self::Improvement(names) => write!(f, "+{names}"),
        }
    }
}

impl<'c> Plan<'c> {
    /// The plan with the alternative in every call, for the claims whose experiments it changes.
    #[must_use]
    pub fn under(&self, alternative: &Alternative) -> Self {
        let differs = |claim: &&Claim| {
            self.own(claim).is_some_and(|own| match alternative {
                Alternative::Controller(profile) => own.controllers().any(|own| own != profile),
                Alternative::Improvement(names) => own.why_not_improved(names).is_none(),
            })
        };
        let claims = self.claims.iter().copied().filter(differs).collect();
        Self::of(claims, |name| match self.experiments.iter().find(|own| own.name == name) {
            None => crate::open(name),
            Some(own) => match alternative {
                Alternative::Controller(profile) => own.with_controller(profile),
                Alternative::Improvement(names) => own.with_improvement(names),
            },
        })
    }

    /// The claims that an improvement does not change, by reason: no controller of the experiment
    /// supports it, or each has it already.
    #[must_use]
    pub fn not_improved(&self, alternative: &Alternative) -> Vec<(String, Vec<&'c str>)> {
        let Alternative::Improvement(names) = alternative else { return Vec::new() };
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

    pub(super) fn own(&self, claim: &Claim) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == claim.experiment)
    }
}
