//! Boxes with whiskers over the grid.

use super::grouped::GroupedValues;
use super::kind::{FigureKind, NamedAxis, Runs};
use crate::runner::Job;
use document::{Fault, Reader};
use metrics::{MetricError, mean};
use report::BoxStats;
use sim::Recording;

/// What a box is: of one run, and of several.
const NOTE: [&str; 2] = [
    "Box: 25th to 75th percentile; line: median; whiskers: 5th and 95th percentile. Each box: one run.",
    "Box: 25th to 75th percentile; line: median; whiskers: 5th and 95th percentile. Each is the mean of",
];
/// The percentiles of a box, in the order of [`BoxStats`].
const PERCENTILES: [&str; 5] = ["p5", "p25", "median", "p75", "p95"];

/// Grouped boxes: means of percentiles over the runs.
#[derive(Debug)]
pub(super) struct Boxes(GroupedValues);

impl FigureKind for Boxes {
    /// The percentiles of each value.
    type Extract = Vec<[f64; 5]>;

    fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        GroupedValues::read(table, &PERCENTILES, "queuing_delay").map(Self)
    }

    fn extract(
        &self,
        _: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<[f64; 5]>>, MetricError> {
        let percentiles = |numbers: Vec<f64>| numbers.try_into().unwrap_or([f64::NAN; 5]);
        let values = self.0.compute(recording, streams)?;
        Ok(Some(values.into_iter().map(percentiles).collect()))
    }

    fn assemble(&self, runs: &Runs<'_, Vec<[f64; 5]>>) -> Vec<report::Figure> {
        vec![runs.figure(report::Boxes(self.0.assemble(runs, stats, NOTE)))]
    }

    fn axes(&self) -> Vec<NamedAxis<'_>> {
        self.0.axes()
    }
}

/// The mean of each percentile of a value over the runs of a cell.
fn stats(extracts: &[&Vec<[f64; 5]>], index: usize, published: Option<f64>) -> BoxStats {
    let boxes: Vec<&[f64; 5]> = extracts.iter().filter_map(|boxes| boxes.get(index)).collect();
    let [p5, p25, p50, p75, p95] = std::array::from_fn(|percentile| {
        mean(&boxes.iter().map(|stats| stats[percentile]).collect::<Vec<_>>())
    });
    BoxStats { p5, p25, p50, p75, p95, published }
}
