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
//! in `KINDS`; of sweeps, `SweepKind` (`sweep_kind.rs`) and `SWEEP_KINDS`. How the figures of several sources are merged is in its
//! [`report::Drawable`].

mod axis_label;
mod axis_line;
mod bars;
mod boxes;
mod cdf;
mod cell_names;
mod extracts;
mod grouped;
mod kind;
mod marks;
mod plane;
mod rows;
mod scatter;
mod section;
mod shown_metric;
mod spec;
mod spread;
mod sweep_figures;
mod sweep_kind;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod unit;
mod usual;

pub use extracts::RunExtracts;
pub use section::{SectionBuilder, section_builders};
pub use spec::{Figure, Figures};
pub use sweep_figures::SweepFigures;
pub use usual::{MAX_FLOWS, UsualPanel, mean_panels, series_of, usual_panels};

use kind::{ReadKind, read};
use sweep_kind::{ReadSweepKind, read_sweep};

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

/// The same for figures of sweeps.
const SWEEP_KINDS: &[(&str, ReadSweepKind)] = &[
    ("contour", read_sweep::<plane::Contour>),
    ("heatmap", read_sweep::<plane::Heatmap>),
    ("axis-line", read_sweep::<axis_line::AxisLine>),
];
