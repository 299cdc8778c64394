//! Is a controller better, worse or the same as another one? A suite of experiments, a verdict per
//! metric, and a grade per area.
//!
//! ```text
//! Suite ─▶ Suite::with (baseline, candidate) ─▶ measure ─▶ Measured ─▶ Judged: findings, grades
//! ```
//!
//! [`equal()`] compares two implementations message by message, [`equal_recorded()`] with the messages
//! of a recorded call.

mod equal;
mod mutants;
mod own;
mod suite;
mod verdict;

pub use equal::{Divergence, Equality, equal, equal_recorded};
pub use mutants::{ORIGINAL, mutants};
pub use own::{MakeSender, judge_own};
pub use suite::{Candidate, Measured, Suite, measure, measure_by};
pub use verdict::{Finding, Grade, Judged, Verdict};
