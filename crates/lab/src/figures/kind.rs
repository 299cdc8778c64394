//! What a kind of figure implements.

use super::spec::CellFilter;
use crate::runner::Job;
use document::{Fault, Reader};
use experiment::{Cell, Experiment};
use metrics::MetricError;
use sim::Recording;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// The greatest number of cells in one plot with a line per cell: four per colour. Our choice.
pub(super) const MAX_LINES: usize = 24;

/// A kind of figure.
pub(super) trait FigureKind: Debug + Send + Sync + Sized + 'static {
    /// What the figure keeps of one run.
    type Extract: Debug + Send + Sync + 'static;

    /// Reads the keys of this kind from a `[[figure]]` table.
    ///
    /// # Errors
    /// When a key is missing or has a wrong value.
    fn read(table: &mut Reader<'_>) -> Result<Self, Fault>;

    /// What the figure keeps of one run; `None` if the run is not shown. `streams`: the names of
    /// all streams of the experiment, some of which may be missing in this run.
    ///
    /// # Errors
    /// When a metric cannot be computed from the recording.
    fn extract(
        &self,
        job: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Self::Extract>, MetricError>;

    /// The figures, assembled from what was kept of the runs.
    fn assemble(&self, runs: &Runs<'_, Self::Extract>) -> Vec<report::Figure>;

    /// Whether the figure may show this run; `false` only if [`extract`](Self::extract) would
    /// return `None`.
    fn may_show(&self, job: Job) -> bool {
        let _ = job;
        true
    }

    /// The axes of the grid that the figure names, each with its key in the file.
    fn axes(&self) -> Vec<NamedAxis<'_>> {
        Vec::new()
    }

    /// The value with which the figure compares others; `None` if it compares nothing.
    fn reference(&self) -> Option<Reference<'_>> {
        None
    }
}

/// An axis that a figure names.
pub(super) struct NamedAxis<'a> {
    /// The key in the file: `group`.
    pub(super) key: &'static str,
    /// The name of the axis; `None` if the key is missing.
    pub(super) axis: Option<&'a str>,
}

/// A value of an axis with which a figure compares the other values.
pub(super) struct Reference<'a> {
    /// The key in the file: `reference`.
    pub(super) key: &'static str,
    /// The value.
    pub(super) value: &'a str,
    /// The key that names the axis: `group`.
    pub(super) axis_key: &'static str,
}

/// What a figure is assembled from: its heading, and what was kept of the runs.
pub(super) struct Runs<'a, E> {
    pub(super) heading: Heading<'a>,
    /// The extracts by cell of the experiment, then by run.
    pub(super) by_cell: Vec<Vec<&'a E>>,
}

/// Whose figure it is, and how it is headed.
#[derive(Clone)]
pub(super) struct Heading<'a> {
    pub(super) experiment: &'a Experiment,
    /// The cells that the figure shows.
    pub(super) cells: &'a CellFilter,
    pub(super) id: String,
    pub(super) title: &'a str,
    pub(super) caption: &'a str,
}

/// A cell with the extracts of its runs.
pub(super) type CellRuns<'a, 'r, E> = (&'a Cell, &'r [&'a E]);

/// The caption with a remark.
pub(super) fn with_remark(caption: &str, remark: Option<String>) -> String {
    let parts = [Some(caption.to_owned()), remark];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

impl<'a, E> Runs<'a, E> {
    /// The figure with this content.
    pub(super) fn figure(&self, body: impl report::Drawable) -> report::Figure {
        report::Figure {
            id: self.heading.id.clone(),
            title: self.heading.title.to_owned(),
            caption: self.heading.caption.to_owned(),
            body: Box::new(body),
        }
    }

    /// The first `most` cells that the figure shows, each with the extracts of its runs; and a
    /// remark for the caption that names the cells that this leaves out.
    pub(super) fn first_cells(&self, most: usize) -> (Vec<CellRuns<'a, '_, E>>, Option<String>) {
        let mut cells: Vec<_> = self.cells().filter(|(_, extracts)| !extracts.is_empty()).collect();
        let left_out: Vec<&Cell> = cells.iter().skip(most).map(|(cell, _)| *cell).collect();
        let remark = left_out_remark(cells.len(), most, &left_out);
        cells.truncate(most);
        (cells, remark)
    }

    /// The runs behind the cells that are shown: `10 runs`, `8 to 10 runs`, `one run`.
    pub(super) fn run_count(&self) -> String {
        let counts = || self.cells().map(|(_, extracts)| extracts.len()).filter(|count| *count > 0);
        match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
            (_, 0) => "no run".to_owned(),
            (1, 1) => "one run".to_owned(),
            (least, most) if least == most => format!("{most} runs"),
            (least, most) => format!("{least} to {most} runs"),
        }
    }

    /// Whether a cell that is shown has several runs.
    pub(super) fn has_several_runs(&self) -> bool {
        self.cells().any(|(_, extracts)| extracts.len() > 1)
    }

    /// The cells that the figure shows, each with the extracts of its runs.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&'a Cell, &[&'a E])> {
        let cells = self.heading.experiment.cells().iter().zip(&self.by_cell);
        cells
            .filter(|(cell, _)| self.heading.cells.matches(cell))
            .map(|(cell, extracts)| (cell, extracts.as_slice()))
    }
}

/// The greatest number of cells that a remark names.
const NAMED: usize = 3;

/// What a figure of the first `shown` of `all` cells leaves out, and how to see it; `None` if
/// nothing is left out.
pub(super) fn left_out_remark(all: usize, shown: usize, left_out: &[&Cell]) -> Option<String> {
    let first = left_out.first()?;
    let names: Vec<String> = left_out.iter().take(NAMED).map(|cell| cell.label()).collect();
    let more = match left_out.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let set: Vec<String> =
        first.params.iter().map(|(axis, value)| format!("--set '{axis}={value}'")).collect();
    Some(format!(
        "Shown: the first {shown} of {all} cells. Left out: {}{more}. To see one: 'weir report' with \
         {}; or a [[figure]] with 'cell' in the experiment file.",
        names.join("; "),
        set.join(" ")
    ))
}

/// Any value that can be printed.
pub(super) trait AnyDebug: Any + Debug + Send + Sync {}

impl<T: Any + Debug + Send + Sync> AnyDebug for T {}

/// [`FigureKind`] with its type of extract erased, so that figures of all kinds are in one list.
pub(super) trait AnyKind: Debug + Send + Sync {
    fn extract(
        &self,
        job: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Arc<dyn AnyDebug>>, MetricError>;
    fn assemble(
        &self,
        heading: Heading<'_>,
        by_cell: Vec<Vec<&dyn AnyDebug>>,
    ) -> Vec<report::Figure>;
    fn may_show(&self, job: Job) -> bool;
    fn axes(&self) -> Vec<NamedAxis<'_>>;
    fn reference(&self) -> Option<Reference<'_>>;
}

/// The extracts as this type; extracts of another type are left out.
fn typed<E: 'static>(extracts: Vec<&dyn AnyDebug>) -> Vec<&E> {
    extracts.into_iter().filter_map(|extract| (extract as &dyn Any).downcast_ref()).collect()
}

impl<K: FigureKind> AnyKind for K {
    fn extract(
        &self,
        job: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Arc<dyn AnyDebug>>, MetricError> {
        let extract = FigureKind::extract(self, job, recording, streams)?;
        Ok(extract.map(|extract| Arc::new(extract) as Arc<dyn AnyDebug>))
    }

    fn assemble(
        &self,
        heading: Heading<'_>,
        by_cell: Vec<Vec<&dyn AnyDebug>>,
    ) -> Vec<report::Figure> {
        let by_cell = by_cell.into_iter().map(typed).collect();
        FigureKind::assemble(self, &Runs { heading, by_cell })
    }

    fn may_show(&self, job: Job) -> bool {
        FigureKind::may_show(self, job)
    }

    fn axes(&self) -> Vec<NamedAxis<'_>> {
        FigureKind::axes(self)
    }

    fn reference(&self) -> Option<Reference<'_>> {
        FigureKind::reference(self)
    }
}

/// Reads a figure of one kind.
pub(super) type ReadKind = fn(&mut Reader<'_>) -> Result<Arc<dyn AnyKind>, Fault>;

/// [`FigureKind::read`] for the registry.
pub(super) fn read<K: FigureKind>(table: &mut Reader<'_>) -> Result<Arc<dyn AnyKind>, Fault> {
    Ok(Arc::new(K::read(table)?))
}
