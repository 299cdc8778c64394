//! Panels over time, of one run of a cell: the papers' rate, fraction lost, RTT and delay
//! variation.

use super::spec::{marks, unit};
use super::unit::Unit;
use document::{Fault, Node, Reader};
use metrics::{MetricError, rate_series};
use report::{Line, LineStyle, Mark, Panel, Role};
use sim::Recording;
use sim::recording::StreamRecord;

/// The panels, and which run is shown.
#[derive(Clone, Debug)]
pub(super) struct TimePlot {
    pub(super) run: u32,
    /// The axis whose values are superposed in one figure; each cell has its own figure otherwise.
    pub(super) series: Option<String>,
    /// The value of that axis with which the others are compared.
    pub(super) reference: Option<String>,
    pub(super) panels: Vec<PanelSpec>,
}

/// One panel.
#[derive(Clone, Debug)]
pub(super) struct PanelSpec {
    pub(super) label: String,
    pub(super) unit: Unit,
    pub(super) log: bool,
    pub(super) lines: Vec<LineSpec>,
    pub(super) marks: Vec<Mark>,
}

/// One series: a column, a list of points, or a rate.
#[derive(Clone, Debug)]
pub(super) struct LineSpec {
    pub(super) stream: String,
    pub(super) value: String,
    pub(super) name: String,
    pub(super) reference: bool,
    pub(super) dots: bool,
}

impl TimePlot {
    pub(super) fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let (run, series) = (table.or("run", 0)?, table.optional("series")?);
        let reference = table.optional("reference")?;
        let path = table.path("panels");
        let panels = table.items("panels")?.unwrap_or_default();
        if panels.is_empty() {
            let suggestion =
                "write panels = [{ label = \"rate\", unit = \"kbit/s\", lines = [ … ] }]";
            return Err(table.fault("panels", "there are none", suggestion));
        }
        Ok(Self {
            run,
            series,
            reference,
            panels: panels.iter().map(|node| panel(node, &path)).collect::<Result<_, _>>()?,
        })
    }

    /// `known`: the streams of the experiment; a line of one that this run lacks is left out.
    pub(super) fn panels(
        &self,
        recording: &Recording,
        known: &[String],
    ) -> Result<Vec<Panel>, MetricError> {
        self.panels.iter().map(|panel| panel.draw(recording, known)).collect()
    }
}

fn panel(node: &Node, path: &str) -> Result<PanelSpec, Fault> {
    let mut table = Reader::new(node, path)?;
    let (label, unit, log) = (table.required("label")?, unit(&mut table)?, table.or("log", false)?);
    let marks = marks(&mut table)?;
    let inner = table.path("lines");
    let lines = table.items("lines")?.unwrap_or_default().iter();
    let lines = lines.map(|node| line(node, &inner)).collect::<Result<_, _>>()?;
    table.finish()?;
    Ok(PanelSpec { label, unit, log, lines, marks })
}

fn line(node: &Node, path: &str) -> Result<LineSpec, Fault> {
    let mut table = Reader::new(node, path)?;
    let (stream, value): (String, String) = (table.required("stream")?, table.required("value")?);
    let name = table.or("name", format!("{stream} {value}"))?;
    let (reference, dots) = (table.or("reference", false)?, table.or("dots", false)?);
    table.finish()?;
    Ok(LineSpec { stream, value, name, reference, dots })
}

impl PanelSpec {
    fn draw(&self, recording: &Recording, known: &[String]) -> Result<Panel, MetricError> {
        let mut lines = Vec::new();
        let absent = |spec: &&LineSpec| {
            recording.stream(&spec.stream).is_none() && known.contains(&spec.stream)
        };
        for spec in self.lines.iter().filter(|spec| !absent(spec)) {
            // References have no colour of their own.
            let place = lines.iter().filter(|line: &&Line| line.role != Role::Reference).count();
            lines.push(spec.draw(recording, self.unit, place)?);
        }
        Ok(Panel {
            title: String::new(),
            y_label: self.unit.label(&self.label),
            lines,
            marks: self.marks.clone(),
            y_range: None,
            log_y: self.log,
        })
    }
}

impl LineSpec {
    fn draw(&self, recording: &Recording, unit: Unit, place: usize) -> Result<Line, MetricError> {
        let stream = recording.stream(&self.stream).ok_or_else(|| MetricError::UnknownStream {
            name: self.stream.clone(),
            known: Vec::new(),
        })?;
        let mut points = self.points(recording, stream)?;
        // A line begins and ends with its stream.
        points.truncate(
            points.iter().rposition(|(_, value)| value.is_finite()).map_or(0, |last| last + 1),
        );
        let style = match (self.dots, self.reference) {
            (true, _) => LineStyle::Dots,
            // The capacity changes in steps.
            (false, true) => LineStyle::Step,
            (false, false) => LineStyle::Line,
        };
        Ok(Line {
            name: self.name.clone(),
            points: points.into_iter().map(|(time, value)| (time, value * unit.scale)).collect(),
            style,
            role: if self.reference { Role::Reference } else { Role::Series(place) },
        })
    }

    /// A rate if it is called so, else points of this name, else a column.
    fn points(
        &self,
        recording: &Recording,
        stream: &StreamRecord,
    ) -> Result<Vec<(f64, f64)>, MetricError> {
        let sampled = |values: &[f64]| {
            let time = |index| recording.sample_time(index).as_secs_f64();
            values.iter().enumerate().map(|(index, value)| (time(index), *value)).collect()
        };
        match self.value.as_str() {
            "sent_rate" => Ok(sampled(&rate_series(recording, stream, true)?)),
            "received_rate" => Ok(sampled(&rate_series(recording, stream, false)?)),
            name => match stream.points(name) {
                Some(points) => {
                    Ok(points.iter().map(|(at, value)| (at.as_secs_f64(), *value)).collect())
                }
                None => Ok(sampled(metrics::column(stream, name)?)),
            },
        }
    }
}
