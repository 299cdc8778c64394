//! A point per cell: one metric over another.

use super::axis_label::axis_label;
use super::cell_names::{CellNames, NamedCell};
use super::kind::{FigureKind, NamedAxis, Reference, Runs};
use super::marks::read_marks;
use super::shown_metric::{ShownMetric, compute, estimate};
use crate::runner::Job;
use document::{Fault, Reader};
use metrics::{Estimate, MetricError, Unit};
use report::{Dimension, Mark, Point, Scale};
use sim::Recording;

/// A point per cell.
#[derive(Debug)]
pub(super) struct Scatter {
    x: Axis,
    y: Axis,
    names: CellNames,
    marks: Vec<Mark>,
}

/// A metric and how its axis is drawn.
#[derive(Debug)]
struct Axis {
    metric: ShownMetric,
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
            Self { metric: ShownMetric::read(&mut inner, "label")?, log: inner.or("log", false)? };
        inner.finish()?;
        Ok(axis)
    }

    /// The axis of the plot. With a reference, values are ratios to the reference's value and have
    /// no unit.
    fn dimension(&self, reference: Option<&str>) -> Dimension {
        let ShownMetric { name, request, scale } = &self.metric;
        let (label, unit, scale) = match reference {
            Some(reference) => {
                (format!("{name}, relative to {reference}"), Unit::Count, Some(Scale::NONE))
            }
            None => (name.clone(), request.unit(), *scale),
        };
        Dimension { label, unit, scale, better: request.better(), log: self.log }
    }
}

impl FigureKind for Scatter {
    /// The values of both metrics.
    type Extract = Vec<f64>;

    fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let scatter = Self {
            x: Axis::read(table, "x")?,
            y: Axis::read(table, "y")?,
            names: CellNames::read(table, "relative")?,
            marks: read_marks(table)?,
        };
        let level = |axis: &Axis| matches!(axis.metric.request.unit(), Unit::Dbm | Unit::Decibels);
        if scatter.names.reference.is_some() && (level(&scatter.x) || level(&scatter.y)) {
            let reason = "there is no ratio of levels in decibels";
            return Err(table.fault("relative", reason, "remove relative"));
        }
        Ok(scatter)
    }

    fn extract(
        &self,
        _: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<f64>>, MetricError> {
        compute([&self.x.metric, &self.y.metric].into_iter(), recording, streams).map(Some)
    }

    fn assemble(&self, runs: &Runs<'_, Vec<f64>>) -> Vec<report::Figure> {
        let cells = self.names.cells(runs.heading.experiment, runs.heading.cells);
        let reference = self.names.reference.as_deref();
        let axes = self.names.axis_names(runs.heading.experiment, runs.heading.cells);
        let names: Vec<String> = axes.iter().map(|axis| axis_label(axis)).collect();
        vec![runs.figure(report::Scatter {
            x: self.x.dimension(reference),
            y: self.y.dimension(reference),
            points: cells.iter().map(|cell| self.point(cell, &cells, runs)).collect(),
            marks: self.marks.clone(),
            legend: match names.split_first() {
                Some((_, rest)) => rest.join(", "),
                None => String::new(),
            },
            note: self.note(names.first(), runs),
        })]
    }

    fn axes(&self) -> Vec<NamedAxis<'_>> {
        self.names.axes()
    }

    fn reference(&self) -> Option<Reference<'_>> {
        self.names.reference()
    }
}

impl Scatter {
    /// What a point is.
    fn note(&self, group: Option<&String>, runs: &Runs<'_, Vec<f64>>) -> String {
        let what = group.map_or_else(|| "one cell".to_owned(), |group| format!("one {group}"));
        let of = runs.run_count();
        if runs.has_several_runs() {
            format!(
                "Each point: {what}, mean of {of}; bars: 95 % confidence interval of the mean \
                 (Student's t)."
            )
        } else {
            format!("Each point: {what}, {of}.")
        }
    }

    fn point(
        &self,
        named: &NamedCell<'_>,
        all: &[NamedCell<'_>],
        runs: &Runs<'_, Vec<f64>>,
    ) -> Point {
        let of =
            |cell: &NamedCell<'_>| [0, 1].map(|index| estimate(&runs.by_cell[cell.index], index));
        let [x, y] = of(named);
        let (x, y) = match &self.names.reference {
            None => (x, y),
            Some(reference) => {
                let whole = all.iter().find(|other| other.is_of(reference, named)).map(of);
                let [whole_x, whole_y] =
                    whole.map_or([f64::NAN; 2], |whole| whole.map(|estimate| estimate.mean));
                (ratio(x, whole_x), ratio(y, whole_y))
            }
        };
        Point { label: named.group.to_owned(), series: named.rest.join(", "), x, y }
    }
}

/// A ratio to `whole`; not a number if `whole` is zero or not finite.
fn ratio(estimate: Estimate, whole: f64) -> Estimate {
    let whole = if whole != 0.0 && whole.is_finite() { whole } else { f64::NAN };
    estimate.relative_to(whole)
}
