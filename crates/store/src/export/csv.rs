//! Tables as comma-separated values (RFC 4180, with a header; lines end with LF).
//!
//! Names and labels come from files of other people. A text that a spreadsheet would take for a
//! formula begins with `'` ("CSV Injection", OWASP), and control characters, which RFC 4180 does not
//! allow in a field, are written as escapes. Numbers are never changed.

use super::file::{ExportError, ExportFault};
use super::table::{Row, parameter, parameters, rows};
use crate::StoredRun;
use document::shown;
use sim::Recording;
use std::borrow::Cow;
use std::io::Write;
use units::{Duration, Time};

/// The layout of a CSV table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The long table: one row per value.
    Long,
    /// The samples of one stream: `time_s` and one column per quantity, one row per sample. A
    /// missing value is empty.
    Wide {
        /// The stream's name.
        stream: String,
    },
}

/// Writes one run as CSV.
///
/// # Errors
/// If `writer` fails, or the run has no such stream.
pub fn write_csv<W: Write>(
    run: &StoredRun,
    recording: &Recording,
    writer: W,
    layout: &Layout,
) -> Result<(), ExportError> {
    match layout {
        Layout::Long => {
            let mut table = CsvTable::new(writer, parameters([&run.meta]))?;
            table.add(run, recording)?;
            table.finish().map(drop)
        }
        Layout::Wide { stream } => wide(recording, writer, stream),
    }
}

/// Writes the long table of one or several runs.
pub struct CsvTable<W: Write> {
    writer: csv::Writer<W>,
    keys: Vec<String>,
    interval: Option<Duration>,
}

impl<W: Write> CsvTable<W> {
    /// Begins a table with a column for each grid parameter of `keys`, see [`parameters`].
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn new(writer: W, keys: Vec<String>) -> Result<Self, ExportError> {
        let mut writer = csv::Writer::from_writer(writer);
        let cells = keys.iter().map(|key| text(&format!("cell.{key}")).into_owned());
        let head =
            ["run", "experiment", "mode", "cpu_limited"].map(String::from).into_iter().chain(cells);
        let tail = ["seed", "stream", "record", "time_s", "name", "value"].map(String::from);
        writer.write_record(head.chain(tail))?;
        Ok(Self { writer, keys, interval: None })
    }

    /// From now on only the last value of each quantity in each interval, and all events.
    #[must_use]
    pub fn every(self, interval: Option<Duration>) -> Self {
        Self { interval, ..self }
    }

    /// Adds the rows of a run.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn add(&mut self, run: &StoredRun, recording: &Recording) -> Result<(), ExportError> {
        let (id, seed) = (run.id.to_string(), run.meta.seed.to_string());
        let limited = if run.meta.cpu_limited().is_some() { "true" } else { "false" };
        let experiment = text(&run.meta.experiment);
        let cell = self.keys.iter().map(|key| text(parameter(&run.meta, key).unwrap_or_default()));
        let cell: Vec<Cow<'_, str>> = cell.collect();
        let mut same = vec![id.as_str(), &experiment, run.meta.mode.as_str(), limited];
        same.extend(cell.iter().map(AsRef::as_ref));
        same.push(&seed);
        for row in rows(recording, self.interval) {
            let Row { stream, record, time, name, value } = row;
            let (time, value) = (seconds(time), number(value));
            let (stream, name) = (text(stream), text(name));
            let own = [&*stream, record, &time, &name, &value];
            self.writer.write_record(same.iter().copied().chain(own))?;
        }
        Ok(())
    }

    /// Ends the table and returns the writer.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(self) -> Result<W, ExportError> {
        self.writer.into_inner().map_err(|error| error.into_error().into())
    }
}

fn wide<W: Write>(recording: &Recording, writer: W, name: &str) -> Result<(), ExportError> {
    let stream = recording.stream(name).ok_or_else(|| ExportFault::NoStream {
        name: name.to_owned(),
        streams: recording.streams.iter().map(|stream| stream.name.clone()).collect(),
    })?;
    let mut writer = csv::Writer::from_writer(writer);
    let head = stream.columns.iter().map(|column| text(column.name).into_owned());
    writer.write_record(["time_s".to_owned()].into_iter().chain(head))?;
    let samples = stream.columns.iter().map(|column| column.values.len()).max().unwrap_or(0);
    for index in 0..samples {
        let value = |column: &sim::recording::Column| {
            column.values.get(index).copied().map_or_else(String::new, number)
        };
        let time = seconds(recording.sample_time(index));
        writer.write_record([time].into_iter().chain(stream.columns.iter().map(value)))?;
    }
    Ok(writer.flush()?)
}

/// A text as a field: no control characters, and no formula.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    let shown = shown::escaped(text);
    // Also the full-width forms, which some spreadsheets convert.
    let is_formula = shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let is_number = || shown.parse::<f64>().is_ok_and(f64::is_finite);
    if is_formula && !is_number() { Cow::Owned(format!("'{shown}")) } else { shown }
}

/// A time in seconds, with all decimals that are not zero.
fn seconds(time: Time) -> String {
    const NANOS: u64 = 1_000_000_000;
    let (whole, rest) = (time.as_nanos() / NANOS, time.as_nanos() % NANOS);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{}", format!("{rest:09}").trim_end_matches('0'))
}

/// The shortest decimal that reads back as the same double; empty for not-a-number.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        String::new()
    } else if value == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back_to_the_bit(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(number(value).parse::<f64>().unwrap().to_bits(), bits);
            prop_assert!(number(value).len() < 30);
        }

        #[test]
        fn times_read_back_as_the_same_seconds(nanos in 0u64..1 << 53) {
            let time = Time::from_nanos(nanos);
            prop_assert_eq!(seconds(time).parse::<f64>().unwrap(), time.as_secs_f64());
        }
    }

    #[test]
    fn a_text_is_neither_a_formula_nor_a_control_sequence() {
        for plain in ["", "-3.5", "+1", "-1e-3", "main.video", "5dBm", "a-b", "1Mbit/s"] {
            assert_eq!(text(plain), plain);
        }
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-5dBm", "-inf", "@SUM(A1)", "＝1"] {
            assert_eq!(text(formula), format!("'{formula}"));
        }
        assert_eq!(text("\t=1"), "\\t=1");
        assert_eq!(text("\r\n=1\u{1b}[2J\u{202e}"), "\\r\\n=1\\u{1b}[2J\\u{202e}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, -2.5, 62_500.0, 1e16, 1e-9].map(number),
            ["0", "-2.5", "62500", "1e16", "1e-9"]
        );
        assert_eq!(number(f64::NAN), "");
        assert_eq!(
            ["500ms", "12s", "1.000000007s"]
                .map(|text| seconds(Time::ZERO + text.parse().unwrap())),
            ["0.5", "12", "1.000000007"]
        );
    }
}
