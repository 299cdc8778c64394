//! What an experiment's source plots, as data in the experiment file, and how it is drawn.
//!
//! `[[figure]] ─▶ Figure ─▶ a piece a run (in the run's thread) ─▶ drawing ─▶ report::Figure`
//!
//! A piece is small: a plot over time keeps the series of one run, bars a number a run. An
//! experiment without figures gets the usual ones. The format is described in
//! `docs/guides/experiments.md`.

mod bars;
mod cdf;
mod measured;
mod naming;
mod page;
mod scatter;
mod spec;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod unit;

pub use page::{Drawings, drawings, report};
pub use spec::{Figure, Figures};

use crate::runner::Job;
use metrics::MetricError;

/// What a figure needs of one run.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// This run is not shown.
    None,
    /// The panels of the run that is shown.
    Panels(Vec<report::Panel>),
    /// A number a value.
    Numbers(Vec<f64>),
    /// The percentiles of each value.
    Boxes(Vec<[f64; 5]>),
    /// All samples.
    Samples(Vec<f64>),
}

/// What the figures of an experiment need of one run, or why one cannot be drawn.
#[derive(Clone, Debug)]
pub struct Pieces {
    job: Job,
    pieces: Vec<Result<Piece, MetricError>>,
}
