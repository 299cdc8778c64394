//! Horizontal bars over the grid, for groups with long names.

use super::grouped::{BAR_NOTE, GroupedValues, bar};
use super::kind::{FigureKind, NamedAxis, Runs};
use crate::runner::Job;
use document::{Fault, Reader};
use metrics::MetricError;
use sim::Recording;

/// Grouped horizontal bars: means over the runs.
#[derive(Debug)]
pub(super) struct Rows(GroupedValues);

impl FigureKind for Rows {
    /// One number per value.
    type Extract = Vec<f64>;

    fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        GroupedValues::read(table, &[""], "utilization").map(Self)
    }

    fn extract(
        &self,
        _: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<f64>>, MetricError> {
        Ok(Some(self.0.compute(recording, streams)?.concat()))
    }

    fn assemble(&self, runs: &Runs<'_, Vec<f64>>) -> Vec<report::Figure> {
        vec![runs.figure(report::Rows(self.0.assemble(runs, bar, BAR_NOTE)))]
    }

    fn axes(&self) -> Vec<NamedAxis<'_>> {
        self.0.axes()
    }
}
