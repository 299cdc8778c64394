//! Cumulative distributions of a quantity's samples, or of a metric's values for each stream, over
//! all runs, a line a cell.

use super::Piece;
use super::spec::{CellFilter, marks, unit};
use super::unit::Unit;
use document::{Fault, Reader};
use experiment::Experiment;
use metrics::{MetricError, Request};
use report::{Body, Line, Mark, Role};
use sim::Recording;

/// Which quantity, and how it is labelled.
#[derive(Clone, Debug)]
pub(super) struct Cdf {
    label: String,
    unit: Unit,
    log: bool,
    request: Request,
    of: Of,
    marks: Vec<Mark>,
}

/// What is distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    /// The samples of a quantity, of all streams together.
    Samples,
    /// One value a stream.
    Streams,
}

impl Cdf {
    pub(super) fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let (label, unit, log) = (table.required("label")?, unit(table)?, table.or("log", false)?);
        let marks = marks(table)?;
        let of = match table.or("of", "samples".to_owned())?.as_str() {
            "samples" => Of::Samples,
            "streams" => Of::Streams,
            other => {
                return Err(table.fault(
                    "of",
                    format!("no distribution of '{other}'"),
                    "write samples or streams",
                ));
            }
        };
        let Some(node) = table.node("value") else {
            let suggestion = "write value = { metric = \"rtt\", stream = \"main.video\" }";
            return Err(table.fault("value", "it is missing", suggestion));
        };
        let mut inner = Reader::new(node, &table.path("value"))?;
        // Of samples it does not matter which statistic.
        let statistic = if of == Of::Samples { "mean" } else { "" };
        let request = Request::read_table(&mut inner, statistic)?;
        inner.finish()?;
        Ok(Self { label, unit, log, request, of, marks })
    }

    pub(super) fn piece(
        &self,
        recording: &Recording,
        known: &[String],
    ) -> Result<Piece, MetricError> {
        if self.request.is_absent(recording, known) {
            return Ok(Piece::None);
        }
        let samples = match self.of {
            Of::Samples => self.request.samples(recording)?,
            Of::Streams => self.request.of_streams(recording)?,
        };
        Ok(Piece::Samples(samples.into_iter().map(|value| value * self.unit.scale).collect()))
    }

    pub(super) fn draw(
        &self,
        experiment: &Experiment,
        filter: &CellFilter,
        runs: &[Vec<&Piece>],
    ) -> Body {
        let shown = experiment.cells().iter().zip(runs).filter(|(cell, _)| filter.fits(cell));
        let lines = shown.enumerate().map(|(place, (cell, pieces))| {
            let samples = pieces.iter().filter_map(|piece| match piece {
                Piece::Samples(samples) => Some(samples.as_slice()),
                _ => None,
            });
            let name =
                cell.params.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
            Line::cdf(&name, Role::Series(place), &samples.collect::<Vec<_>>().concat())
        });
        Body::Cdf {
            lines: lines.collect(),
            marks: self.marks.clone(),
            x_label: self.unit.label(&self.label),
            log_x: self.log,
        }
    }
}
