//! What can be done for a call, and what it costs whom: the papers' remedies, put to the test where
//! they are needed.
//!
//! ```text
//! Experiment ─▶ Situation (a cell: whose call, which lines, cells and networks are one's own)
//!                   └─▶ Remedy ─▶ an edit of the experiment, or why it cannot be applied
//!                                     └─▶ runs ─▶ Judgement ─▶ Standing (scores over seeds and situations) ─▶ ranks
//! ```
//!
//! A remedy is an entry of [`catalogue`], in the file of its kind. It only edits the experiment, so
//! what was judged can be run, kept and changed like any other.

mod advice;
mod catalogue;
mod judge;
mod page;
mod rank;
mod score;
mod situation;
#[cfg(test)]
mod tests;

pub use advice::{Advice, Group, NotSituation};
pub use catalogue::{Kind, Remedy, Settled, Unfit, remedies};
pub use judge::{Judgement, Others};
pub use page::AS_IT_STANDS;
pub use rank::{Agreement, Rank};
pub use score::{Standing, change, delay_factor};
pub use situation::{Beside, Measure, Situation};
