//! Remedies of the papers for a call, and their costs for the other traffic, tested in the user's
//! network.
//!
//! ```text
//! Experiment ─▶ Situation (a cell: the judged call, and the lines, Wi-Fi cells and LTE networks that may be changed)
//!                   └─▶ Remedy ─▶ an edit of the experiment, or why it cannot be applied
//!                                     └─▶ runs ─▶ Judgement ─▶ Standing (scores over seeds and situations) ─▶ ranks
//! ```
//!
//! A remedy is an entry of `catalogue`, in the file of its kind. It only edits the experiment, so
//! that the result can be run, stored and changed like any other experiment.

mod advice;
mod catalogue;
mod judge;
mod line;
mod page;
mod rank;
mod score;
mod situation;
#[cfg(test)]
mod tests;

pub use advice::{Advice, Group, NotSituation};
pub use catalogue::{Remedy, RemedyKind, Settled, Unfit, remedies, selected};
pub use judge::{Judgement, Others};
pub use line::{CallLine, RemedyLine};
pub use page::AS_IT_STANDS;
pub use rank::{Agreement, Rank};
pub use score::{Standing, change, delay_factor};
pub use situation::{Beside, Measure, Situation};
