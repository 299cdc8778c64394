//! The laboratory: runs of experiments, the claims of the literature, remedies, figures, and the
//! comparison of stored runs.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod claims;
mod claims_report;
pub mod comparison;
mod deadline;
pub mod explain;
mod expression;
pub mod external;
mod failure;
pub mod figures;
pub mod judge;
mod open;
pub mod remedies;
pub mod runner;
pub mod sweep;

pub use claims_report::claims_report;
pub use open::{StoredExperiments, checked, open, parse};

/// The examples of `docs/adding.md`, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding.md")]
pub struct AddingThings;
