//! A table over the grid: one row per cell and one column per metric. Rows can be compared with one
//! of them.

use super::cell_names::{CellNames, NamedCell};
use super::kind::{FigureKind, NamedAxis, Reference, Runs};
use super::shown_metric::{ShownMetric, compute, estimate};
use crate::runner::Job;
use document::{Fault, Reader};
use metrics::MetricError;
use report::{Cell, Cells, Column, Row};
use sim::Recording;

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    label: Option<String>,
    names: CellNames,
    metrics: Vec<ShownMetric>,
}

impl FigureKind for Table {
    /// One number per metric.
    type Extract = Vec<f64>;

    fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let path = table.path("values");
        let values = table.items("values")?.unwrap_or_default();
        if values.is_empty() {
            let suggestion =
                "write values = [{ name = \"loss\", metric = \"loss\", stream = \"main.video\" }]";
            return Err(table.fault("values", "there must be at least one value", suggestion));
        }
        Ok(Self {
            label: table.optional("label")?,
            names: CellNames::read(table, "reference")?,
            metrics: values
                .iter()
                .map(|node| ShownMetric::only(node, &path, "name"))
                .collect::<Result<_, _>>()?,
        })
    }

    fn extract(
        &self,
        _: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<f64>>, MetricError> {
        compute(self.metrics.iter(), recording, streams).map(Some)
    }

    fn assemble(&self, runs: &Runs<'_, Vec<f64>>) -> Vec<report::Figure> {
        let (experiment, filter) = (runs.heading.experiment, runs.heading.cells);
        let cells = self.names.cells(experiment, filter);
        let label = || self.names.axis_names(experiment, filter).join(", ");
        let row = |cell: &NamedCell<'_>| self.row(cell, &cells, &runs.by_cell[cell.index]);
        vec![runs.figure(report::Table {
            label: self.label.clone().unwrap_or_else(label),
            columns: self.metrics.iter().map(column).collect(),
            rows: cells.iter().map(row).collect(),
            reference: self.names.reference.clone().unwrap_or_default(),
        })]
    }

    fn axes(&self) -> Vec<NamedAxis<'_>> {
        self.names.axes()
    }

    fn reference(&self) -> Option<Reference<'_>> {
        self.names.reference()
    }
}

impl Table {
    fn row(&self, named: &NamedCell<'_>, all: &[NamedCell<'_>], extracts: &[&Vec<f64>]) -> Row {
        let cells = (0..self.metrics.len()).map(|index| Cell::Value(estimate(extracts, index)));
        let of = |reference: &String| all.iter().position(|other| other.is_of(reference, named));
        Row {
            label: named.name(),
            cells: Cells::Each(cells.collect()),
            reference: self.names.reference.as_ref().and_then(of),
        }
    }
}

fn column(metric: &ShownMetric) -> Column {
    Column {
        name: metric.name.clone(),
        unit: metric.request.unit(),
        scale: metric.scale,
        better: metric.request.better(),
    }
}
