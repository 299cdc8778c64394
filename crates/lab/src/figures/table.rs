//! A table over the grid: a row a cell, a column a metric, and how each row stands against one of
//! them.

use super::Piece;
use super::measured::{self, Measured};
use super::naming::{Named, Naming};
use super::spec::CellFilter;
use document::{Fault, Reader};
use experiment::Experiment;
use metrics::MetricError;
use report::{self, Body, Cell, Cells, Column, Row};
use sim::Recording;

/// Which rows and which columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    label: Option<String>,
    pub(super) naming: Naming,
    values: Vec<Measured>,
}

impl Table {
    pub(super) fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let path = table.path("values");
        let values = table.items("values")?.unwrap_or_default();
        if values.is_empty() {
            let suggestion =
                "write values = [{ name = \"loss\", metric = \"loss\", stream = \"main.video\" }]";
            return Err(table.fault("values", "there are none", suggestion));
        }
        Ok(Self {
            label: table.optional("label")?,
            naming: Naming::read(table, "reference")?,
            values: values
                .iter()
                .map(|node| Measured::only(node, &path, "name"))
                .collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn piece(
        &self,
        recording: &Recording,
        known: &[String],
    ) -> Result<Piece, MetricError> {
        measured::piece(self.values.iter(), recording, known)
    }

    /// Draws what the runs of each cell gave.
    pub(super) fn draw(
        &self,
        experiment: &Experiment,
        filter: &CellFilter,
        runs: &[Vec<&Piece>],
    ) -> Body {
        let named = self.naming.names(experiment, filter);
        let label = || self.naming.axes(experiment, filter).join(", ");
        Body::Table(report::Table {
            label: self.label.clone().unwrap_or_else(label),
            columns: self.values.iter().map(column).collect(),
            rows: named.iter().map(|row| self.row(row, &named, &runs[row.index])).collect(),
            reference: self.naming.reference.clone().unwrap_or_default(),
        })
    }

    fn row(&self, named: &Named<'_>, all: &[Named<'_>], pieces: &[&Piece]) -> Row {
        let cells =
            (0..self.values.len()).map(|place| Cell::Value(measured::estimate(pieces, place)));
        let of = |reference: &String| all.iter().position(|other| other.is_of(reference, named));
        Row {
            label: std::iter::once(named.group)
                .chain(named.rest.iter().copied())
                .collect::<Vec<_>>()
                .join(", "),
            cells: Cells::Each(cells.collect()),
            reference: self.naming.reference.as_ref().and_then(of),
        }
    }
}

fn column(measured: &Measured) -> Column {
    Column {
        name: measured.name.clone(),
        unit: measured.request.unit(),
        scale: measured.scale,
        better: measured.request.better(),
    }
}
