//! Published claims as data, and their verification.
//!
//! `claims/*.toml ─▶ Claim ─▶ the experiments they need ─▶ runs ─▶ metrics ─▶ mean over seeds by
//! cell ─▶ CEL ─▶ verdict`
//!
//! The format is described in `docs/guides/claims.md`.

mod alternative;
mod baseline;
mod catalogue;
mod evaluate;
mod factor;
mod printed;
mod read;
mod runs;
mod sweep;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod untested;
mod verify;

pub use alternative::Alternative;
pub use baseline::{Baseline, BaselineError, Regression};
pub use catalogue::{Catalogue, UnknownClaim};
pub use evaluate::{Beside, Measured, Printed, Status, Verdict, schedule};
pub use factor::Factor;
pub(crate) use runs::Computed;
pub use sweep::Swept;
pub use table::markdown;
pub use verify::Plan;

use crate::expression::Expression;
use metrics::Request;
use template::Template;

/// The variable of every expression of a claim: the list of the grid cells.
const CELLS: &str = "cells";

/// A published claim and the check that tests it.
#[derive(Debug)]
pub struct Claim {
    /// The id: `C-5`.
    pub id: String,
    /// The short name of the paper: `carlucci-2017`.
    pub paper: String,
    /// The place in the paper: `Fig. 11`.
    pub location: String,
    /// The setting of the experiment.
    pub setting: String,
    /// The published result.
    pub published: String,
    /// The check as text.
    pub check: String,
    /// The name of the experiment or sweep that tests it.
    pub experiment: String,
    /// Whether a sweep tests it.
    pub is_sweep: bool,
    /// The cells that the check sees, as (axis, value); all if empty.
    pub cells: Vec<(String, String)>,
    /// The known reason for a difference from the published result; empty if none is known.
    pub note: String,
    /// The known reason for a difference of the experiment as printed; empty if none is known.
    pub note_as_printed: String,
    /// The metrics that are computed from every run, by name.
    pub values: Vec<(String, Request)>,
    measured: Vec<(String, Expression)>,
    holds: Expression,
    show: Option<Template>,
}
