//! The figures of an experiment: which figures its file describes, and how they are assembled from
//! the runs.
//!
//! `[[figure]] ─▶ FigureKind ─▶ an extract per run (in the thread of the run) ─▶ report::Figure`
//!
//! An extract is small: a plot over time keeps the series of one run, bars keep one number per run.
//! An experiment without figures gets the usual plots. `docs/guides/experiments.md` describes the
//! format.
//!
//! A new kind of figure is one file that implements `FigureKind` (`kind.rs`), and one line
//! in `KINDS`. How the figures of several sources are merged is in its
//! [`report::Drawable`].

mod axis_label;
mod bars;
mod boxes;
mod cdf;
mod cell_names;
mod extracts;
mod grouped;
mod kind;
mod marks;
mod rows;
mod scatter;
mod section;
mod shown_metric;
mod spec;
mod spread;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod unit;
mod usual;

pub use extracts::RunExtracts;
pub use section::{SectionBuilder, section_builders};
pub use spec::{Figure, Figures};
pub use usual::{MAX_FLOWS, UsualPanel, mean_panels, series_of, usual_panels};

use kind::{ReadKind, read};

/// The kinds of figures by the name that `kind` has in a file.
const KINDS: &[(&str, ReadKind)] = &[
    ("time", read::<time::TimePlot>),
    ("bars", read::<bars::Bars>),
    ("rows", read::<rows::Rows>),
    ("boxes", read::<boxes::Boxes>),
    ("cdf", read::<cdf::Cdf>),
    ("table", read::<table::Table>),
    ("scatter", read::<scatter::Scatter>),
];
