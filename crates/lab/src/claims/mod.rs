//! Published claims as data, and their verification.
//!
//! `claims/*.toml ─▶ Claim ─▶ the experiments they need ─▶ runs ─▶ metrics ─▶ mean over seeds by
//! cell ─▶ CEL ─▶ verdict`
//!
//! The format is described in `docs/guides/claims.md`.

mod baseline;
mod catalogue;
mod evaluate;
mod expression;
mod other;
mod read;
mod runs;
mod template;
#[cfg(test)]
mod tests;
mod verify;

pub use baseline::{Baseline, BaselineError, Regression};
pub use catalogue::{Catalogue, UnknownClaim};
pub use evaluate::{Beside, Measured, Status, Verdict, schedule};
pub use other::Other;
pub(crate) use runs::Computed;
pub use verify::Plan;

use expression::Expression;
use metrics::Request;
use template::Template;

/// One published claim and how it is put to the test.
#[derive(Debug)]
pub struct Claim {
    /// Its name: `C-5`.
    pub id: String,
    /// The paper's short name: `carlucci-2017`.
    pub paper: String,
    /// Where in the paper.
    pub location: String,
    /// In which setting.
    pub setting: String,
    /// What was published.
    pub published: String,
    /// The check, for people.
    pub check: String,
    /// The experiment that tests it.
    pub experiment: String,
    /// What explains a difference, where that is known; empty otherwise.
    pub note: String,
    /// What is computed of every run.
    pub values: Vec<(String, Request)>,
    measured: Vec<(String, Expression)>,
    holds: Expression,
    show: Option<Template>,
}
