//! Charts of runs: panels over one time axis, as columns of numbers.
//!
//! A chart is sent as a head in JSON ([`ChartHead`]) and columns of doubles, see [`columns`].
//! Values have the units of the records (bit/s, s, B), so that the page chooses how it shows them.

pub(crate) mod columns;
mod signals;

use crate::messages::{ChartHead, ColumnName, Mark, PanelHead, SeriesHead};
use columns::Columns;
use lab::figures::{UsualPanel, mean_panels, series_of, usual_panels};
use metrics::Unit;
use report::{Dash, Role, Series, SeriesStyle};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};
use std::sync::Arc;

/// A run to be drawn.
pub(crate) struct Source {
    /// The name of the run in the legend.
    pub(crate) name: String,
    pub(crate) recording: Arc<Recording>,
    /// The controller of each call: (call, profile).
    pub(crate) controllers: Vec<(String, String)>,
}

/// What a chart shows.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// The streams whose rates and delays are shown; the first ones if there are none.
    pub(crate) streams: Vec<String>,
    /// Further columns, as (stream, column), each in a panel of its own.
    pub(crate) columns: Vec<(String, String)>,
    /// Whether the runs are shown as their mean with its interval.
    pub(crate) mean: bool,
}

/// The chart of these runs as bytes.
pub(crate) fn chart(sources: &[Source], wanted: &Wanted) -> Vec<u8> {
    let each: Vec<Vec<UsualPanel>> = sources.iter().map(|source| panels(source, wanted)).collect();
    let is_mean = wanted.mean && sources.len() > 1;
    let shown = if is_mean { vec![mean_panels(&each)] } else { each };
    let mut columns = Columns::default();
    let mut streams: Vec<String> = Vec::new();
    let mut heads: Vec<PanelHead> = Vec::new();
    for (run, panels) in shown.iter().enumerate() {
        for panel in panels {
            let index = heads.iter().position(|head| head.label == panel.label);
            let index = index.unwrap_or_else(|| {
                let (label, unit) = (panel.label.to_owned(), unit(panel.unit).to_owned());
                heads.push(PanelHead { label, unit, series: Vec::new() });
                heads.len() - 1
            });
            for series in &panel.series {
                let series = head(series, (run, shown.len()), &mut streams, &mut columns);
                heads[index].series.push(series);
            }
        }
    }
    let runs = if is_mean {
        vec![format!("mean of {} runs", sources.len())]
    } else {
        sources.iter().map(|source| source.name.clone()).collect()
    };
    let ends = sources.iter().map(|source| source.recording.duration.as_secs_f64());
    let head = ChartHead {
        runs,
        duration: ends.fold(0.0, f64::max),
        panels: heads,
        bands: sources.iter().enumerate().flat_map(|(run, one)| signals::bands(run, one)).collect(),
        events: sources.iter().enumerate().flat_map(|(run, source)| marks(run, source)).collect(),
        columns: names(sources),
        lengths: columns.lengths(),
        notes: notes(sources, wanted, is_mean),
    };
    columns.encode(&head)
}

/// The usual panels, and those of the pages: frames, the controller's signals, and what was asked
/// for.
fn panels(source: &Source, wanted: &Wanted) -> Vec<UsualPanel> {
    let recording = &*source.recording;
    let mut panels = usual_panels(recording, &wanted.streams);
    let video: Vec<&StreamRecord> = recording
        .streams
        .iter()
        .filter(|stream| stream.kind == StreamKind::Video)
        .filter(|stream| wanted.streams.is_empty() || wanted.streams.contains(&stream.name))
        .take(MAX_VIDEOS)
        .collect();
    let mut add = |label: &'static str, unit: Unit, series: Vec<Series>| {
        if !series.is_empty() {
            panels.push(UsualPanel { label, unit, series });
        }
    };
    let of = |column: &str| -> Vec<Series> {
        video.iter().filter_map(|stream| series_of(recording, stream, column)).collect()
    };
    add("frame rate", Unit::FramesPerSecond, of("framesPerSecond"));
    add("frame delay", Unit::Seconds, of("frameDelay"));
    for (label, series) in signals::panels(recording, &video) {
        add(label, Unit::Count, series);
    }
    for (stream, column) in &wanted.columns {
        let Some(stream) = recording.stream(stream) else { continue };
        let Some(label) = columns_name(stream, column) else { continue };
        let series = series_of(recording, stream, column);
        add(label, Unit::Count, series.into_iter().collect());
    }
    panels
}

/// The greatest number of calls whose frames and signals are shown. Our choice.
const MAX_VIDEOS: usize = 6;

/// The name of a column, which lives as long as the program.
fn columns_name(stream: &StreamRecord, name: &str) -> Option<&'static str> {
    let columns = stream.columns.iter().map(|column| column.name);
    columns.chain(stream.points.iter().map(|points| points.name)).find(|known| *known == name)
}

fn head(
    series: &Series,
    (run, runs): (usize, usize),
    streams: &mut Vec<String>,
    columns: &mut Columns,
) -> SeriesHead {
    let stream = streams.iter().position(|known| *known == series.stream).unwrap_or_else(|| {
        streams.push(series.stream.clone());
        streams.len() - 1
    });
    let x = columns.add(series.points.iter().map(|(x, _)| *x).collect());
    let y = columns.add_values(series.points.iter().map(|(_, y)| *y).collect());
    let band = (!series.band.is_empty()).then(|| {
        let low = columns.add_values(series.band.iter().map(|(_, low, _)| *low).collect());
        (low, columns.add_values(series.band.iter().map(|(.., high)| *high).collect()))
    });
    SeriesHead {
        name: series.name.clone(),
        run,
        colour: stream * runs + run,
        dash: match series.dash {
            None | Some(Dash::Solid) => 0,
            Some(Dash::Dashed) => 1,
            Some(Dash::Dotted) => 2,
            Some(Dash::DashDotted) => 3,
        },
        is_step: series.style == SeriesStyle::Step,
        is_reference: series.role == Role::Reference,
        x,
        y,
        band,
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BitsPerSecond => "bit/s",
        Unit::Seconds => "s",
        Unit::Share => "1",
        Unit::Bytes => "B",
        Unit::FramesPerSecond => "1/s",
        Unit::Pixels => "px",
        Unit::Dbm => "dBm",
        Unit::Decibels => "dB",
        Unit::Count => "",
    }
}

fn marks(run: usize, source: &Source) -> Vec<Mark> {
    let mark = |event: &sim::recording::Event| Mark {
        run,
        at: event.at.as_secs_f64(),
        stream: event.stream.clone(),
        what: event.what.to_owned(),
        value: if event.value.is_finite() { event.value } else { 0.0 },
    };
    source.recording.events.iter().take(MAX_EVENTS).map(mark).collect()
}

/// The greatest number of events of a run that are shown. Our choice.
const MAX_EVENTS: usize = 2_000;

/// The recorded columns and points of all runs, each once.
fn names(sources: &[Source]) -> Vec<ColumnName> {
    let mut all: Vec<ColumnName> = Vec::new();
    for stream in sources.iter().flat_map(|source| &source.recording.streams) {
        let columns = stream.columns.iter().map(|column| column.name);
        for name in columns.chain(stream.points.iter().map(|points| points.name)) {
            let is_signal = stream.kind == StreamKind::Video && signals::is_signal(name);
            let same = |known: &ColumnName| known.stream == stream.name && known.name == name;
            if all.len() < MAX_NAMES && !all.iter().any(same) {
                let (stream, name) = (stream.name.clone(), name.to_owned());
                all.push(ColumnName { stream, name, is_signal });
            }
        }
    }
    all
}

/// The greatest number of columns that can be chosen. Our choice: a run of 640 users has 50,000.
const MAX_NAMES: usize = 2_000;

/// What differs from the records.
fn notes(sources: &[Source], wanted: &Wanted, is_mean: bool) -> Vec<String> {
    let flows = |source: &Source| {
        source.recording.streams.iter().filter(|stream| stream.kind.is_flow()).count()
    };
    let most = sources.iter().map(flows).max().unwrap_or_default();
    let shown = lab::figures::MAX_FLOWS;
    let mut notes = Vec::new();
    if wanted.streams.is_empty() && most > shown {
        notes.push(format!("Shown: the first {shown} of {most} streams."));
    }
    if is_mean {
        notes.push(
            "Means over the runs in at most 240 steps, with the 95 % confidence interval of the \
             mean."
                .to_owned(),
        );
    }
    let dense = |source: &Source| {
        source.recording.streams.iter().any(|stream| {
            let samples =
                source.recording.duration.as_secs_f64() / source.recording.interval.as_secs_f64();
            stream.points("frameDelay").is_some_and(|points| points.len() as f64 > 8.0 * samples)
        })
    };
    if sources.iter().any(dense) {
        notes.push("Delays of frames and audio packets are means per sample.".to_owned());
    }
    let events = sources.iter().map(|source| source.recording.events.len()).max().unwrap_or(0);
    if events > MAX_EVENTS {
        notes.push(format!("Marked: the first {MAX_EVENTS} of {events} events."));
    }
    notes
}
