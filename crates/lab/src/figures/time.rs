//! Panels over time, of one run per cell or of the mean over its runs: the papers' plots of rate, fraction lost, RTT and delay
//! variation.

use super::axis_label::axis_label;
use super::kind::{FigureKind, MAX_LINES, NamedAxis, Reference, Runs, with_remark};
use super::marks::{read_marks, read_unit};
use super::spread;
use crate::runner::Job;
use document::{Fault, Node, Reader, Value};
use experiment::Cell;
use metrics::{MetricError, rate_series};
use report::{Dash, Mark, Panel, Role, Scale, Series, SeriesStyle};
use sim::Recording;
use sim::recording::StreamRecord;

/// The greatest number of figures of one `[[figure]]`: plots take most of the time in which a page
/// opens. No experiment of the papers has more. Our choice.
pub(super) const MAX_FIGURES: usize = 50;

/// Panels over time.
#[derive(Debug)]
pub(super) struct TimePlot {
    /// Index of the run that is shown; `None` shows the mean of all.
    pub(super) run: Option<u32>,
    /// The axis whose cells share one figure; `None`: one figure per cell.
    pub(super) series_axis: Option<String>,
    /// The value of that axis with which the others are compared.
    pub(super) reference: Option<String>,
    pub(super) panels: Vec<PanelSpec>,
}

/// One panel.
#[derive(Debug)]
pub(super) struct PanelSpec {
    pub(super) label: String,
    pub(super) unit: Scale,
    pub(super) log: bool,
    pub(super) series: Vec<SeriesSpec>,
    pub(super) marks: Vec<Mark>,
}

/// One series: a rate, a list of points, or a column of the recording.
#[derive(Debug)]
pub(super) struct SeriesSpec {
    pub(super) stream: String,
    pub(super) value: String,
    pub(super) name: String,
    pub(super) reference: bool,
    pub(super) dots: bool,
}

impl FigureKind for TimePlot {
    /// The panels of the run.
    type Extract = Vec<Panel>;

    fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let (run, series_axis) = (read_run(table)?, table.optional("series")?);
        let reference = table.optional("reference")?;
        let path = table.path("panels");
        let panels = table.items("panels")?.unwrap_or_default();
        if panels.is_empty() {
            let suggestion =
                "write panels = [{ label = \"rate\", unit = \"kbit/s\", lines = [ … ] }]";
            return Err(table.fault("panels", "there must be at least one panel", suggestion));
        }
        Ok(Self {
            run,
            series_axis,
            reference,
            panels: panels.iter().map(|node| panel(node, &path)).collect::<Result<_, _>>()?,
        })
    }

    fn extract(
        &self,
        job: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<Panel>>, MetricError> {
        if self.may_show(job) { self.panels(recording, streams).map(Some) } else { Ok(None) }
    }

    fn assemble(&self, runs: &Runs<'_, Vec<Panel>>) -> Vec<report::Figure> {
        let Some(axis) = &self.series_axis else {
            return figures_per_cell(runs, |runs, has_runs| self.note(runs, has_runs));
        };
        let (cells, remark) = runs.first_cells(MAX_LINES);
        let has_runs = cells.len() <= spread::MAX_CELLS_WITH_RUNS;
        let most = cells.iter().map(|(_, panels)| panels.len()).max().unwrap_or(0);
        let cells = cells.into_iter().map(|(cell, panels)| {
            let value = cell.params.iter().find(|(name, _)| name == axis);
            (value.map_or("", |(_, value)| value.as_str()), shown(panels, has_runs))
        });
        let panels = overlay(cells, axis, self.reference.as_deref());
        if panels.is_empty() {
            return Vec::new();
        }
        let mut figure = runs.figure(over_time(panels, self.note(most, has_runs)));
        figure.caption = with_remark(&figure.caption, remark);
        vec![figure]
    }

    fn may_show(&self, job: Job) -> bool {
        self.run.is_none_or(|run| run == job.run)
    }

    fn axes(&self) -> Vec<NamedAxis<'_>> {
        vec![NamedAxis { key: "series", axis: self.series_axis.as_deref() }]
    }

    fn reference(&self) -> Option<Reference<'_>> {
        let value = self.reference.as_deref()?;
        Some(Reference { key: "reference", value, axis_key: "series" })
    }
}

/// The run under `run`: a number from 0, or `"all"`; the first if the key is missing.
fn read_run(table: &mut Reader<'_>) -> Result<Option<u32>, Fault> {
    let is_text = table.node("run").is_some_and(|node| matches!(node.value, Value::Text(_)));
    if !is_text {
        return table.or("run", 0).map(Some);
    }
    match table.required::<String>("run")?.as_str() {
        "all" => Ok(None),
        other => {
            let reason = format!("'{other}' is not a run");
            Err(table.fault("run", reason, "use a number from 0, or \"all\" for the mean"))
        }
    }
}

/// One figure for each cell of which a run is shown, up to [`MAX_FIGURES`]. `note` is the note for
/// a number of runs, and for whether the single runs are drawn.
pub(super) fn figures_per_cell(
    runs: &Runs<'_, Vec<Panel>>,
    note: impl Fn(usize, bool) -> String,
) -> Vec<report::Figure> {
    let (cells, remark) = runs.first_cells(MAX_FIGURES);
    let last = cells.len().saturating_sub(1);
    let has_runs = cells.len() <= spread::MAX_CELLS_WITH_RUNS;
    let figure = |(place, (cell, panels)): (usize, (&Cell, &[&Vec<Panel>]))| {
        let body = over_time(shown(panels, has_runs), note(panels.len(), has_runs));
        let mut figure = runs.figure(body);
        figure.id = format!("{}-{}", figure.id, cell.index + 1);
        if !cell.params.is_empty() {
            figure.title = format!("{}: {}", figure.title, cell.label());
        }
        // Readers see the beginning or the end of a long list.
        let remark = remark.clone().filter(|_| place == 0 || place == last);
        figure.caption = with_remark(&figure.caption, remark);
        figure
    };
    cells.into_iter().enumerate().map(figure).collect()
}

/// The panels of the runs of a cell as one, with or without the single runs.
fn shown(runs: &[&Vec<Panel>], has_runs: bool) -> Vec<Panel> {
    let panels = spread::over_runs(runs);
    if has_runs { panels } else { spread::without_runs(panels) }
}

fn over_time(panels: Vec<Panel>, note: String) -> report::TimePlot {
    report::TimePlot { panels, x_label: "time (s)".to_owned(), note }
}

/// The panels of several cells in one figure. Each cell has its colour, and its series have its
/// name and different dashes.
fn overlay<'a>(
    cells: impl Iterator<Item = (&'a str, Vec<Panel>)>,
    axis: &str,
    reference: Option<&str>,
) -> Vec<Panel> {
    let mut all: Vec<Panel> = Vec::new();
    let mut colour = 0;
    for (name, panels) in cells {
        let is_reference = reference == Some(name);
        for (index, panel) in panels.into_iter().enumerate() {
            let is_alone = panel.series.len() == 1;
            let renamed = panel.series.iter().enumerate().map(|(place, series)| Series {
                name: if is_alone { name.to_owned() } else { format!("{name}, {}", series.name) },
                role: if is_reference { Role::Reference } else { Role::Series(colour) },
                stream: String::new(),
                dash: Some(Dash::nth(place)),
                ..series.clone()
            });
            let renamed: Vec<Series> = renamed.collect();
            match all.get_mut(index) {
                Some(panel) => panel.series.extend(renamed),
                None => all.push(Panel { series: renamed, legend: axis_label(axis), ..panel }),
            }
        }
        colour += usize::from(!is_reference);
    }
    all
}

impl TimePlot {
    /// What the lines are if they show this number of runs.
    fn note(&self, runs: usize, has_runs: bool) -> String {
        match self.run {
            Some(run) => format!("One run per line: run {} of its cell.", run + 1),
            None => spread::note(runs, has_runs),
        }
    }

    /// The panels of a run. `streams`: the names of all streams of the experiment; a series of a
    /// stream that is missing in this run is left out.
    pub(super) fn panels(
        &self,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Vec<Panel>, MetricError> {
        self.panels.iter().map(|panel| panel.panel(recording, streams)).collect()
    }
}

fn panel(node: &Node, path: &str) -> Result<PanelSpec, Fault> {
    let mut table = Reader::new(node, path)?;
    let (label, unit, log) =
        (table.required("label")?, read_unit(&mut table)?, table.or("log", false)?);
    let marks = read_marks(&mut table)?;
    let inner = table.path("lines");
    let series = table.items("lines")?.unwrap_or_default().iter();
    let series = series.map(|node| series_spec(node, &inner)).collect::<Result<_, _>>()?;
    table.finish()?;
    Ok(PanelSpec { label, unit, log, series, marks })
}

fn series_spec(node: &Node, path: &str) -> Result<SeriesSpec, Fault> {
    let mut table = Reader::new(node, path)?;
    let (stream, value): (String, String) = (table.required("stream")?, table.required("value")?);
    let name = table.or("name", format!("{stream} {value}"))?;
    let (reference, dots) = (table.or("reference", false)?, table.or("dots", false)?);
    table.finish()?;
    Ok(SeriesSpec { stream, value, name, reference, dots })
}

impl PanelSpec {
    fn panel(&self, recording: &Recording, streams: &[String]) -> Result<Panel, MetricError> {
        let mut all = Vec::new();
        let is_absent = |spec: &&SeriesSpec| {
            recording.stream(&spec.stream).is_none() && streams.contains(&spec.stream)
        };
        for spec in self.series.iter().filter(|spec| !is_absent(spec)) {
            all.push(spec.series(recording, self.unit)?);
        }
        Ok(Panel {
            title: String::new(),
            y_label: self.unit.label(&self.label),
            legend: String::new(),
            series: all,
            marks: self.marks.clone(),
            y_range: None,
            log_y: self.log,
        })
    }
}

impl SeriesSpec {
    fn series(&self, recording: &Recording, unit: Scale) -> Result<Series, MetricError> {
        let stream = recording.stream(&self.stream).ok_or_else(|| MetricError::UnknownStream {
            name: self.stream.clone(),
            known: Vec::new(),
        })?;
        let points = ended(points(recording, stream, &self.value)?);
        let style = match (self.dots, self.reference) {
            (true, _) => SeriesStyle::Dots,
            // The capacity changes in steps.
            (false, true) => SeriesStyle::Step,
            (false, false) => SeriesStyle::Line,
        };
        Ok(Series {
            name: self.name.clone(),
            points: points.into_iter().map(|(time, value)| (time, value * unit.factor)).collect(),
            style,
            role: if self.reference { Role::Reference } else { Role::default() },
            stream: self.stream.clone(),
            ..Series::default()
        })
    }
}

/// The points without those at the end that have no value: a line ends with its stream.
pub(super) fn ended(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let last = points.iter().rposition(|(_, value)| value.is_finite());
    points.truncate(last.map_or(0, |last| last + 1));
    points
}

/// The rate `sent_rate` or `received_rate` of a stream, else its points of this name, else its
/// column.
pub(super) fn points(
    recording: &Recording,
    stream: &StreamRecord,
    name: &str,
) -> Result<Vec<(f64, f64)>, MetricError> {
    match name {
        "sent_rate" => Ok(sampled(recording, &rate_series(recording, stream, true)?)),
        "received_rate" => Ok(sampled(recording, &rate_series(recording, stream, false)?)),
        name => match stream.points(name) {
            Some(points) => {
                Ok(points.iter().map(|(at, value)| (at.as_secs_f64(), *value)).collect())
            }
            None => Ok(sampled(recording, metrics::column(stream, name)?)),
        },
    }
}

/// Samples with their times in seconds.
pub(super) fn sampled(recording: &Recording, values: &[f64]) -> Vec<(f64, f64)> {
    let time = |index| recording.sample_time(index).as_secs_f64();
    values.iter().enumerate().map(|(index, value)| (time(index), *value)).collect()
}
