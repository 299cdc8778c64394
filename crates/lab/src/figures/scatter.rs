//! A point a cell: one metric over another.

use super::Piece;
use super::measured::{self, Measured};
use super::naming::{Named, Naming};
use super::spec::{CellFilter, marks};
use document::{Fault, Reader};
use experiment::Experiment;
use metrics::{Estimate, MetricError, Unit};
use report::{self, Body, Dimension, Mark, Point, Scale};
use sim::Recording;

/// What is drawn over what.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    x: Axis,
    y: Axis,
    pub(super) naming: Naming,
    marks: Vec<Mark>,
}

/// A metric and how its axis is drawn.
#[derive(Clone, Debug)]
struct Axis {
    measured: Measured,
    log: bool,
}

impl Axis {
    fn read(table: &mut Reader<'_>, key: &'static str) -> Result<Self, Fault> {
        let Some(node) = table.node(key) else {
            let suggestion = format!(
                "write {key} = {{ metric = \"rtt_p95\", stream = \"main.video\", label = \"RTT\" }}"
            );
            return Err(table.fault(key, "it is missing", suggestion));
        };
        let mut inner = Reader::new(node, &table.path(key))?;
        let axis =
            Self { measured: Measured::read(&mut inner, "label")?, log: inner.or("log", false)? };
        inner.finish()?;
        Ok(axis)
    }

    /// With a reference the values are shares of its own, without a unit.
    fn dimension(&self, reference: Option<&str>) -> Dimension {
        let Measured { name, request, scale } = &self.measured;
        let (label, unit, scale) = match reference {
            Some(reference) => (
                format!("{name}, relative to {reference}"),
                Unit::Count,
                Some(Scale { name: "", factor: 1.0 }),
            ),
            None => (name.clone(), request.unit(), *scale),
        };
        Dimension { label, unit, scale, better: request.better(), log: self.log }
    }
}

impl Scatter {
    pub(super) fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let scatter = Self {
            x: Axis::read(table, "x")?,
            y: Axis::read(table, "y")?,
            naming: Naming::read(table, "relative")?,
            marks: marks(table)?,
        };
        let level =
            |axis: &Axis| matches!(axis.measured.request.unit(), Unit::Dbm | Unit::Decibels);
        if scatter.naming.reference.is_some() && (level(&scatter.x) || level(&scatter.y)) {
            let reason = "decibels have no shares";
            return Err(table.fault("relative", reason, "leave it out"));
        }
        Ok(scatter)
    }

    pub(super) fn piece(
        &self,
        recording: &Recording,
        known: &[String],
    ) -> Result<Piece, MetricError> {
        measured::piece([&self.x, &self.y].into_iter().map(|axis| &axis.measured), recording, known)
    }

    /// Draws what the runs of each cell gave.
    pub(super) fn draw(
        &self,
        experiment: &Experiment,
        filter: &CellFilter,
        runs: &[Vec<&Piece>],
    ) -> Body {
        let named = self.naming.names(experiment, filter);
        let reference = self.naming.reference.as_deref();
        Body::Scatter(report::Scatter {
            x: self.x.dimension(reference),
            y: self.y.dimension(reference),
            points: named.iter().map(|point| self.point(point, &named, runs)).collect(),
            marks: self.marks.clone(),
        })
    }

    fn point(&self, named: &Named<'_>, all: &[Named<'_>], runs: &[Vec<&Piece>]) -> Point {
        let of =
            |point: &Named<'_>| [0, 1].map(|place| measured::estimate(&runs[point.index], place));
        let own = of(named);
        let [x, y] = match &self.naming.reference {
            None => own,
            Some(reference) => {
                let whole = all.iter().find(|other| other.is_of(reference, named)).map(of);
                let whole =
                    whole.map_or([f64::NAN; 2], |whole| whole.map(|estimate| estimate.mean));
                [share(own[0], whole[0]), share(own[1], whole[1])]
            }
        };
        Point { label: named.group.to_owned(), series: named.rest.join(", "), x, y }
    }
}

/// A share of nothing, or of what never came, is none.
fn share(estimate: Estimate, whole: f64) -> Estimate {
    let whole = if whole != 0.0 && whole.is_finite() { whole } else { f64::NAN };
    estimate.relative_to(whole)
}
