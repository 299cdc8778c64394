//! Cumulative distributions over all runs: of the samples of a quantity, or of one value per
//! stream. One line per cell.

use super::axis_label::axis_label;
use super::kind::{FigureKind, MAX_LINES, Runs, with_remark};
use super::marks::{read_marks, read_unit};
use crate::runner::Job;
use document::{Fault, Reader};
use experiment::Cell;
use metrics::{MetricError, Request};
use report::{Mark, Role, Scale, Series};
use sim::Recording;

/// A cumulative distribution.
#[derive(Debug)]
pub(super) struct Cdf {
    label: String,
    unit: Scale,
    log: bool,
    request: Request,
    values: DistributedValues,
    marks: Vec<Mark>,
}

/// What is distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DistributedValues {
    /// The samples of a quantity, of all streams together.
    Samples,
    /// One value per stream.
    Streams,
}

impl FigureKind for Cdf {
    /// The values of a run, in the figure's unit.
    type Extract = Vec<f64>;

    fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let (label, unit) = (table.required("label")?, read_unit(table)?);
        let (log, marks) = (table.or("log", false)?, read_marks(table)?);
        let values = match table.or("of", "samples".to_owned())?.as_str() {
            "samples" => DistributedValues::Samples,
            "streams" => DistributedValues::Streams,
            other => {
                return Err(table.fault(
                    "of",
                    format!("'{other}' is not a distribution"),
                    "use samples or streams",
                ));
            }
        };
        let Some(node) = table.node("value") else {
            let suggestion = "write value = { metric = \"rtt\", stream = \"main.video\" }";
            return Err(table.fault("value", "it is missing", suggestion));
        };
        let mut inner = Reader::new(node, &table.path("value"))?;
        // A distribution of samples uses no statistic, but a request needs one.
        let statistic = if values == DistributedValues::Samples { "mean" } else { "" };
        let request = Request::read_table(&mut inner, statistic)?;
        inner.finish()?;
        Ok(Self { label, unit, log, request, values, marks })
    }

    fn extract(
        &self,
        _: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<f64>>, MetricError> {
        if self.request.is_absent(recording, streams) {
            return Ok(None);
        }
        let values = match self.values {
            DistributedValues::Samples => self.request.samples(recording)?,
            DistributedValues::Streams => self.request.of_streams(recording)?,
        };
        Ok(Some(values.into_iter().map(|value| value * self.unit.factor).collect()))
    }

    fn assemble(&self, runs: &Runs<'_, Vec<f64>>) -> Vec<report::Figure> {
        let series = |(index, (cell, extracts)): (usize, (&Cell, &[&Vec<f64>]))| {
            let params: Vec<&str> = cell.params.iter().map(|(_, value)| value.as_str()).collect();
            let values: Vec<f64> = extracts.iter().copied().flatten().copied().collect();
            Series::cdf(&params.join(", "), Role::Series(index), &values)
        };
        let (cells, remark) = runs.first_cells(MAX_LINES);
        let axes = runs.heading.experiment.axes().iter();
        let axes: Vec<String> = axes.map(|axis| axis_label(&axis.name)).collect();
        let values = match self.values {
            DistributedValues::Samples => "all samples",
            DistributedValues::Streams => "one value per stream",
        };
        let mut figure = runs.figure(report::Cdf {
            series: cells.into_iter().enumerate().map(series).collect(),
            marks: self.marks.clone(),
            x_label: self.unit.label(&self.label),
            log_x: self.log,
            legend: axes.join(", "),
            note: format!("Each line: {values} of {}.", runs.run_count()),
        });
        figure.caption = with_remark(&figure.caption, remark);
        vec![figure]
    }
}
