//! The usual plots, for an experiment without figures: what the streams sent and received, and what
//! the network did with them.

use super::cell_names::CellNames;
use super::kind::{FigureKind, Runs, with_remark};
use super::shown_metric::estimate;
use super::spread;
use super::time::{MAX_FIGURES, ended, figures_per_cell, points, sampled};
use crate::runner::Job;
use document::{Fault, Reader};
use metrics::{Better, MetricError, Radio, Request, Unit};
use report::{Cell, Cells, Column, Dash, Panel, Role, Row, Scale, Series, SeriesStyle};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};

/// The greatest number of flows that are drawn: two per colour. Our choice.
pub const MAX_FLOWS: usize = 12;
/// The greatest number of lines of the network that are drawn. Our choice.
const MAX_LINES: usize = 4;
/// A line is a bottleneck if it carried at least this share of its rate in some interval. Our
/// choice: the capacity of a line that is hardly used would squeeze the rates into the bottom of
/// the plot.
const USED: f64 = 0.25;
/// More values per sampling interval than this are shown as their mean. Our choice: a round-trip
/// time per window of TCP is shown, the delay of each packet of audio is not.
const DENSE: usize = 8;
/// The time over which losses are counted, in seconds: a share of fewer packets is mostly chance.
/// Our choice.
const LOSS_WINDOW: f64 = 2.0;

/// Rates, queues, round-trip times, losses and audio of the first streams, per cell; with several
/// cells also a table of all.
#[derive(Debug)]
pub(super) struct UsualPlots;

/// What is kept of one run.
#[derive(Debug)]
pub(super) struct Extract {
    /// In the units of the recording; empty for a cell that is only in the table.
    panels: Vec<UsualPanel>,
    /// The number of flows of the run.
    flows: usize,
    values: Vec<TableValue>,
}

/// A panel of the usual plots, in the units of the recording.
#[derive(Clone, Debug)]
pub struct UsualPanel {
    /// What the panel shows, such as `queuing delay`.
    pub label: &'static str,
    /// The unit of the values.
    pub unit: Unit,
    /// The series; times are in seconds.
    pub series: Vec<Series>,
}

/// A value of the table of all cells.
#[derive(Debug)]
struct TableValue {
    name: String,
    unit: Unit,
    better: Better,
    value: f64,
}

impl FigureKind for UsualPlots {
    type Extract = Extract;

    fn read(_: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn extract(
        &self,
        job: Job,
        recording: &Recording,
        _: &[String],
    ) -> Result<Option<Extract>, MetricError> {
        let mut panels =
            if job.cell < MAX_FIGURES { usual_panels(recording, &[]) } else { Vec::new() };
        if job.run > 0 {
            // Several runs are shown as a mean, which needs no more values than this.
            let end = recording.duration.as_secs_f64();
            for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
                if series.role != Role::Reference && series.points.len() > spread::STEPS {
                    series.points = spread::steps(&series.points, end, spread::STEPS);
                }
            }
        }
        let flows = recording.streams.iter().filter(|stream| stream.kind.is_flow()).count();
        Ok(Some(Extract { panels, flows, values: table_values(recording) }))
    }

    fn assemble(&self, runs: &Runs<'_, Extract>) -> Vec<report::Figure> {
        let mut figures: Vec<report::Figure> = table(runs).into_iter().collect();
        let scales = scales(runs);
        let shown = |extract: &&Extract| shown(&extract.panels, &scales);
        let by_cell: Vec<Vec<Vec<Panel>>> =
            runs.by_cell.iter().map(|extracts| extracts.iter().map(shown).collect()).collect();
        let heading = runs.heading.clone();
        let panels =
            Runs { heading, by_cell: by_cell.iter().map(|cell| cell.iter().collect()).collect() };
        let mut plots = figures_per_cell(&panels, spread::note);
        if let Some(remark) = left_out_flows(runs)
            && let Some(first) = plots.first_mut()
        {
            first.caption = with_remark(&first.caption, Some(remark));
        }
        figures.append(&mut plots);
        figures
    }
}

/// The streams that the plots leave out; `None` if they show all.
fn left_out_flows(runs: &Runs<'_, Extract>) -> Option<String> {
    let flows = runs.by_cell.iter().flatten().map(|extract| extract.flows).max()?;
    (flows > MAX_FLOWS).then(|| {
        format!(
            "Drawn: the first {MAX_FLOWS} of {flows} streams. A [[figure]] of kind 'cdf' with 'of = \
             \"streams\"' in the experiment file shows all."
        )
    })
}

/// The units of the panels, the same in all cells, so that they can be compared.
fn scales(runs: &Runs<'_, Extract>) -> Vec<(&'static str, Scale)> {
    let panels = || runs.by_cell.iter().flatten().flat_map(|extract| &extract.panels);
    let mut scales: Vec<(&'static str, Scale)> = Vec::new();
    for panel in panels() {
        if scales.iter().any(|(label, _)| *label == panel.label) {
            continue;
        }
        let same = panels().filter(|other| other.label == panel.label);
        let values = same
            .flat_map(|panel| panel.series.iter().flat_map(|series| series.points.iter()))
            .map(|(_, value)| *value);
        scales.push((panel.label, Scale::of(panel.unit, values)));
    }
    scales
}

/// The panels in their units.
fn shown(panels: &[UsualPanel], scales: &[(&'static str, Scale)]) -> Vec<Panel> {
    let panel = |panel: &UsualPanel| {
        let scale = scales.iter().find(|(label, _)| *label == panel.label);
        let scale = scale.map_or(Scale::NONE, |(_, scale)| *scale);
        let series = panel.series.iter().map(|series| Series {
            points: series
                .points
                .iter()
                .map(|(time, value)| (*time, value * scale.factor))
                .collect(),
            ..series.clone()
        });
        Panel { y_label: scale.label(panel.label), series: series.collect(), ..Panel::default() }
    };
    panels.iter().map(panel).collect()
}

/// The panels of one run, without those that would be empty. They show the flows with these names;
/// if there are no names, the first 12 flows.
#[must_use]
pub fn usual_panels(recording: &Recording, names: &[String]) -> Vec<UsualPanel> {
    let flows = recording.streams.iter().filter(|stream| stream.kind.is_flow());
    let flows: Vec<&StreamRecord> = if names.is_empty() {
        flows.take(MAX_FLOWS).collect()
    } else {
        flows.filter(|stream| names.contains(&stream.name)).collect()
    };
    let of = |kinds: &[StreamKind]| -> Vec<&StreamRecord> {
        flows.iter().copied().filter(|stream| kinds.contains(&stream.kind)).collect()
    };
    let (media, audio) = (of(&[StreamKind::Video, StreamKind::Tcp]), of(&[StreamKind::Audio]));
    let lines = bottlenecks(recording);
    let all = Recorded(recording);
    let capacities = lines.iter().filter_map(|line| all.capacity(line));
    let rates = capacities.chain(media.iter().flat_map(|stream| all.rates(stream)));
    // Without flows, for example with programs only, the lines show what was carried.
    let carried: Vec<Series> = if flows.is_empty() {
        lines.iter().filter_map(|line| all.carried(line)).collect()
    } else {
        Vec::new()
    };
    let dropped: Vec<Series> = if flows.is_empty() {
        lines.iter().filter_map(|line| all.dropped(line)).collect()
    } else {
        Vec::new()
    };
    let panel = |label, unit, series: Vec<Series>| UsualPanel { label, unit, series };
    let each = |streams: &[&StreamRecord], value: &str| -> Vec<Series> {
        streams.iter().filter_map(|stream| all.values(stream, value)).collect()
    };
    let window = of(&[StreamKind::Tcp]);
    let all_panels = [
        panel("rate", Unit::BitsPerSecond, rates.chain(carried).collect()),
        panel("queuing delay", Unit::Seconds, each(&lines, "queueDelay")),
        panel("RTT", Unit::Seconds, each(&flows, "roundTripTime")),
        panel(
            "packets lost",
            Unit::Share,
            flows.iter().filter_map(|stream| all.loss(stream)).chain(dropped).collect(),
        ),
        panel(
            "audio rate",
            Unit::BitsPerSecond,
            audio.iter().flat_map(|stream| all.rates(stream)).collect(),
        ),
        panel("audio delay", Unit::Seconds, each(&audio, "frameDelay")),
        panel("congestion window", Unit::Bytes, each(&window, "congestionWindow")),
    ];
    all_panels.into_iter().filter(|panel| !panel.series.is_empty()).collect()
}

/// The values of a stream under this name over time: its points, else its column, else `sent_rate`
/// or `received_rate`. Of more than 8 values per sampling interval, the mean in each interval.
/// `None` if there are none.
#[must_use]
pub fn series_of(recording: &Recording, stream: &StreamRecord, name: &str) -> Option<Series> {
    Recorded(recording).values(stream, name)
}

/// The panels of several runs as one: each series is the mean over the runs in at most 240 steps,
/// with its 95 % confidence interval. The panels of a single run are not changed.
#[must_use]
pub fn mean_panels(runs: &[Vec<UsualPanel>]) -> Vec<UsualPanel> {
    let plain = |panel: &UsualPanel| Panel {
        y_label: panel.label.to_owned(),
        series: panel.series.clone(),
        ..Panel::default()
    };
    let panels: Vec<Vec<Panel>> =
        runs.iter().map(|panels| panels.iter().map(plain).collect()).collect();
    let means = spread::over_runs(&panels.iter().collect::<Vec<_>>());
    let with_unit = |mean: Panel| {
        let known = runs.iter().flatten().find(|panel| panel.label == mean.y_label)?;
        Some(UsualPanel { series: mean.series, ..known.clone() })
    };
    means.into_iter().filter_map(with_unit).collect()
}

/// The lines at which packets wait: those that are used most; with radio those with a queue. If
/// there are none, all lines that carried packets.
fn bottlenecks(recording: &Recording) -> Vec<&StreamRecord> {
    let all = Recorded(recording);
    let lines = || recording.streams.iter().filter(|stream| stream.kind == StreamKind::Line);
    let is_used = |line: &&StreamRecord| {
        if Radio::of(line).is_some() {
            let delays = line.column("queueDelay").unwrap_or_default();
            return delays.iter().any(|delay| *delay > 0.0);
        }
        let (Some(rates), Some(carried)) = (line.column("rate"), all.growth(line, "bytesOut", 8.0))
        else {
            return false;
        };
        rates.iter().zip(carried).any(|(rate, carried)| carried >= USED * rate)
    };
    let carries = |line: &&StreamRecord| {
        line.column("packetsIn").is_some_and(|packets| packets.iter().any(|count| *count > 0.0))
    };
    let used: Vec<_> = lines().filter(is_used).take(MAX_LINES).collect();
    if used.is_empty() { lines().filter(carries).take(MAX_LINES).collect() } else { used }
}

/// Series of a recording, `None` for values that were not recorded.
struct Recorded<'r>(&'r Recording);

impl Recorded<'_> {
    fn series(stream: &StreamRecord, points: Vec<(f64, f64)>) -> Option<Series> {
        let points = ended(points);
        (!points.is_empty()).then(|| Series {
            name: stream.name.clone(),
            points,
            stream: stream.name.clone(),
            ..Series::default()
        })
    }

    fn values(&self, stream: &StreamRecord, value: &str) -> Option<Series> {
        let points = points(self.0, stream, value).ok()?;
        let (interval, duration) = (self.0.interval.as_secs_f64(), self.0.duration.as_secs_f64());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let samples = (duration / interval).round().max(1.0) as usize;
        // Of values of each packet, the mean in each sampling interval is shown.
        let is_dense = points.len() > DENSE * samples;
        Self::series(
            stream,
            if is_dense { spread::steps(&points, duration, samples) } else { points },
        )
    }

    /// What the controller aims at, what is sent and what is received. A dump of one end has only
    /// one of the latter.
    fn rates(&self, stream: &StreamRecord) -> Vec<Series> {
        let target = ["availableOutgoingBitrate", "targetBitrate"];
        let target = target.iter().find_map(|column| self.values(stream, column));
        let received = self.values(stream, "received_rate");
        // What TCP sends is what it receives, but for losses.
        let is_enough = stream.kind == StreamKind::Tcp && received.is_some();
        let sent = if is_enough { None } else { self.values(stream, "sent_rate") };
        let rates = [
            ("target", Dash::Dotted, target),
            ("sent", Dash::Dashed, sent),
            ("received", Dash::Solid, received),
        ];
        let named = |(word, dash, series): (&str, Dash, Option<Series>)| {
            let series = series?;
            Some(Series { name: format!("{} {word}", stream.name), dash: Some(dash), ..series })
        };
        rates.into_iter().filter_map(named).collect()
    }

    /// The capacity of a line; `None` if it is not limited, and for radio, whose rate is that of a
    /// transmission.
    fn capacity(&self, line: &StreamRecord) -> Option<Series> {
        if Radio::of(line).is_some() {
            return None;
        }
        let series = self.values(line, "rate")?;
        Some(Series {
            name: format!("{} capacity", line.name),
            role: Role::Reference,
            style: SeriesStyle::Step,
            ..series
        })
    }

    /// The rate that a line carried, with IP headers.
    fn carried(&self, line: &StreamRecord) -> Option<Series> {
        let rates = self.growth(line, "bytesOut", 8.0)?;
        let series = Self::series(line, sampled(self.0, &rates))?;
        Some(Series { name: format!("{} carried", line.name), ..series })
    }

    /// The share of packets that a line dropped.
    fn dropped(&self, line: &StreamRecord) -> Option<Series> {
        self.share(line, "packetsDropped", "packetsIn", |dropped, arrived| dropped / arrived)
    }

    /// The share of packets lost: from the receiver's reports, else from its counters.
    fn loss(&self, stream: &StreamRecord) -> Option<Series> {
        if stream.kind == StreamKind::Tcp {
            return None;
        }
        self.values(stream, "fractionLost").or_else(|| {
            self.share(stream, "packetsLost", "packetsReceived", |lost, received| {
                lost / (lost + received)
            })
        })
    }

    /// A share of two counters over [`LOSS_WINDOW`]; zero if neither grew.
    fn share(
        &self,
        stream: &StreamRecord,
        part: &str,
        other: &str,
        share: fn(f64, f64) -> f64,
    ) -> Option<Series> {
        let (parts, others) = (stream.column(part)?, stream.column(other)?);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few samples"
        )]
        let window = (LOSS_WINDOW / self.0.interval.as_secs_f64()).ceil().max(1.0) as usize;
        let before = |values: &[f64], index: usize| {
            let before = index.checked_sub(window).map_or(0.0, |index| values[index]);
            values[index] - if before.is_nan() { 0.0 } else { before }
        };
        let at = |index: usize| {
            let (part, other) = (before(parts, index).max(0.0), before(others, index));
            if part == 0.0 && other.is_finite() { 0.0 } else { share(part, other) }
        };
        let shares: Vec<f64> = (0..parts.len().min(others.len())).map(at).collect();
        Self::series(stream, sampled(self.0, &shares))
    }

    /// How much a counter grew per second in each sampling interval, times `factor`; `None` if it
    /// was not recorded.
    fn growth(&self, stream: &StreamRecord, counter: &str, factor: f64) -> Option<Vec<f64>> {
        let values = stream.column(counter)?;
        let seconds = self.0.interval.as_secs_f64();
        let first = values.first().copied().into_iter();
        let steps = first.chain(values.windows(2).map(|pair| pair[1] - pair[0]));
        Some(steps.map(|step| step * factor / seconds).collect())
    }
}

/// The values of one run for the table of all cells.
fn table_values(recording: &Recording) -> Vec<TableValue> {
    let flows = recording.streams.iter().filter(|stream| stream.kind.is_flow()).take(MAX_FLOWS);
    let value = |stream: &StreamRecord, metric: &str, words: &str| {
        let request = Request::new(metric, &[&stream.name], None).ok()?;
        let value = request.compute(recording).ok()?;
        let name = format!("{} {words}", stream.name);
        Some(TableValue { name, unit: request.unit(), better: request.better(), value })
    };
    let values = |stream: &StreamRecord| -> Vec<TableValue> {
        let metrics: &[(&str, &str)] = match stream.kind {
            StreamKind::Video => &[
                ("received_rate", "received"),
                ("loss", "loss"),
                ("rtt_p95", "RTT p95"),
                ("freeze_count", "freezes"),
            ],
            StreamKind::Audio => &[("loss", "loss"), ("frame_delay_p95", "delay p95")],
            StreamKind::Tcp => {
                &[("received_rate", "received"), ("completion_time", "completion time")]
            }
            StreamKind::Line | StreamKind::Stats => &[],
        };
        metrics.iter().filter_map(|(metric, words)| value(stream, metric, words)).collect()
    };
    flows.flat_map(values).collect()
}

/// A table with one row per cell; `None` with one cell.
fn table(runs: &Runs<'_, Extract>) -> Option<report::Figure> {
    let (experiment, filter) = (runs.heading.experiment, runs.heading.cells);
    let names = CellNames::default();
    let cells = names.cells(experiment, filter);
    if cells.len() < 2 {
        return None;
    }
    let mut columns: Vec<Column> = Vec::new();
    for value in runs.by_cell.iter().flatten().flat_map(|extract| &extract.values) {
        if !columns.iter().any(|column| column.name == value.name) {
            columns.push(Column {
                name: value.name.clone(),
                unit: value.unit,
                scale: None,
                better: value.better,
            });
        }
    }
    // Times that a run does not have, such as the end of an endless upload, are no column.
    let finds = |column: &Column| {
        let mut values = runs.by_cell.iter().flatten().flat_map(|extract| &extract.values);
        values.any(|value| value.name == column.name && value.value.is_finite())
    };
    columns.retain(finds);
    let of = |extract: &Extract, column: &Column| {
        let value = extract.values.iter().find(|value| value.name == column.name);
        value.map_or(f64::NAN, |value| value.value)
    };
    let row = |cell: &super::cell_names::NamedCell<'_>| {
        let values: Vec<Vec<f64>> = runs.by_cell[cell.index]
            .iter()
            .map(|extract| columns.iter().map(|column| of(extract, column)).collect())
            .collect();
        let values: Vec<&Vec<f64>> = values.iter().collect();
        let cells = (0..columns.len()).map(|index| Cell::Value(estimate(&values, index)));
        Row { label: cell.name(), cells: Cells::Each(cells.collect()), reference: None }
    };
    let rows: Vec<Row> = cells.iter().map(row).collect();
    let mut figure = runs.figure(report::Table {
        label: names.axis_names(experiment, filter).join(", "),
        columns,
        rows,
        reference: String::new(),
    });
    figure.id = format!("{}-cells", figure.id);
    figure.title = format!("{}: all cells", figure.title);
    Some(figure)
}
