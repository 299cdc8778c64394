//! The rows of the long table.

use crate::RunMeta;
use sim::Recording;
use sim::recording::StreamRecord;
use units::{Duration, Time};

/// A row of the long table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The name of the stream.
    pub stream: &'a str,
    /// `sample`, `point` or `event`.
    pub record: &'static str,
    /// The time of the value since the start of the run.
    pub time: Time,
    /// The quantity or event.
    pub name: &'a str,
    /// The value; never not-a-number, except of an event.
    pub value: f64,
}

/// All rows of a run: the samples and points of each stream, by quantity and time; then the events.
/// With an interval only the last value of each quantity in each interval, and all events.
pub fn rows(recording: &Recording, interval: Option<Duration>) -> impl Iterator<Item = Row<'_>> {
    let mut rows = every_row(recording).peekable();
    std::iter::from_fn(move || {
        let mut row = rows.next()?;
        if let Some(interval) = interval {
            while let Some(next) = rows.next_if(|next| row.is_followed_by(next, interval)) {
                row = next;
            }
        }
        Some(row)
    })
}

impl Row<'_> {
    /// Whether the next row is of the same quantity and interval. A sample at the end of an
    /// interval belongs to it.
    fn is_followed_by(&self, next: &Self, interval: Duration) -> bool {
        let place = |time: Time| time.as_nanos().div_ceil(interval.as_nanos().max(1));
        self.record != "event"
            && (self.stream, self.record, self.name) == (next.stream, next.record, next.name)
            && place(self.time) == place(next.time)
    }
}

fn every_row(recording: &Recording) -> impl Iterator<Item = Row<'_>> {
    let values = recording
        .streams
        .iter()
        .flat_map(|stream| samples(recording, stream).chain(points(stream)));
    let events = recording.events.iter().map(|event| Row {
        stream: &event.stream,
        record: "event",
        time: event.at,
        name: event.what,
        value: event.value,
    });
    values.filter(|row| !row.value.is_nan()).chain(events)
}

fn samples<'a>(
    recording: &'a Recording,
    stream: &'a StreamRecord,
) -> impl Iterator<Item = Row<'a>> {
    stream.columns.iter().flat_map(move |column| {
        column.values.iter().enumerate().map(move |(index, value)| Row {
            stream: &stream.name,
            record: "sample",
            time: recording.sample_time(index),
            name: column.name,
            value: *value,
        })
    })
}

fn points(stream: &StreamRecord) -> impl Iterator<Item = Row<'_>> {
    stream.points.iter().flat_map(move |points| {
        points.values.iter().map(move |(time, value)| Row {
            stream: &stream.name,
            record: "point",
            time: *time,
            name: points.name,
            value: *value,
        })
    })
}

/// The grid parameters of the runs, each once, in the order of their first occurrence: the
/// `cell.KEY` columns of a table of these runs.
pub fn parameters<'a>(runs: impl IntoIterator<Item = &'a RunMeta>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (key, _) in runs.into_iter().flat_map(|run| &run.cell) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}

/// The value of a grid parameter of a run.
pub(super) fn parameter<'a>(run: &'a RunMeta, key: &str) -> Option<&'a str> {
    run.cell.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}
