//! Reading runs. Any content of the file gives a run or an error, never a panic.

use super::blob::{SeriesError, Unpacker};
use super::error::{Damage, Fault, MAX_TEXT};
use super::names::intern;
use super::{Filter, Metric, RunMeta, StoredRun};
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};
use sim::Recording;
use sim::recording::{Column, Event, MAX_SAMPLES, MAX_VALUES, Points, StreamKind, StreamRecord};
use std::collections::HashMap;
use std::sync::Arc;
use units::{Duration, Time};

fn time(nanos: i64) -> Time {
    Time::from_nanos(nanos.cast_unsigned())
}

fn duration(nanos: i64) -> Duration {
    Duration::from_nanos(nanos.cast_unsigned())
}

/// A floating-point number. SQLite stores not-a-number as NULL.
fn real(row: &Row<'_>, column: usize) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

/// The columns of a run, in the order in which [`RunReader::run`] reads them.
const RUN: &str =
    "SELECT id, experiment, seed, run_index, mode, version, file, duration_ns FROM run";

/// The runs that match the filter, in the order in which they were stored.
pub(super) fn runs(connection: &Connection, filter: &Filter) -> Result<Vec<StoredRun>, Fault> {
    // One transaction, so that all statements read the same state.
    let connection = connection.unchecked_transaction()?;
    let mut statement = connection.prepare(&format!(
        "{RUN} WHERE (?1 IS NULL OR id = ?1)
            AND (?2 IS NULL OR experiment = ?2 OR substr(experiment, 1, length(?2) + 1) = ?2 || '/')
            AND (?3 IS NULL OR seed = ?3) AND (?4 IS NULL OR mode = ?4) AND (?5 IS NULL OR version = ?5)
          ORDER BY id",
    ))?;
    let Filter { id, experiment, seed, mode, version, cell } = filter;
    let seed = seed.map(|seed| seed.to_string());
    let mut rows =
        statement.query(params![id, experiment, seed, mode.map(super::Mode::as_str), version])?;
    let mut reader = RunReader::new(&connection)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let run = reader.run(row)?;
        if cell.iter().all(|wanted| run.meta.cell.contains(wanted)) {
            all.push(run);
        }
    }
    Ok(all)
}

/// The run with this number; `None` if there is none.
pub(super) fn run(connection: &Connection, id: i64) -> Result<Option<StoredRun>, Fault> {
    let mut statement = connection.prepare(&format!("{RUN} WHERE id = ?1"))?;
    let mut rows = statement.query([id])?;
    let mut reader = RunReader::new(connection)?;
    rows.next()?.map(|row| reader.run(row)).transpose()
}

/// Reads runs with statements that are prepared once.
struct RunReader<'c> {
    parameters: Statement<'c>,
    notes: Statement<'c>,
    text: Statement<'c>,
    /// The experiment files that were read already, by their number.
    texts: HashMap<i64, Arc<str>>,
}

impl<'c> RunReader<'c> {
    fn new(connection: &'c Connection) -> Result<Self, Fault> {
        let pairs = |table: &str| {
            connection.prepare(&format!(
                "SELECT name, value FROM {table} WHERE run = ?1 ORDER BY position"
            ))
        };
        Ok(Self {
            parameters: pairs("parameter")?,
            notes: pairs("note")?,
            text: connection.prepare("SELECT text FROM file WHERE id = ?1")?,
            texts: HashMap::new(),
        })
    }

    fn run(&mut self, row: &Row<'_>) -> Result<StoredRun, Fault> {
        let id = row.get(0)?;
        let seed: String = row.get(2)?;
        let mode: String = row.get(4)?;
        let meta = RunMeta {
            experiment: row.get(1)?,
            cell: pairs(&mut self.parameters, id)?,
            seed: seed.parse().map_err(|_| Damage::Seed(id))?,
            index: row.get(3)?,
            mode: mode.parse().map_err(|_| Damage::Mode(id))?,
            version: row.get(5)?,
            file: self.text(row.get(6)?)?,
            notes: pairs(&mut self.notes, id)?,
        };
        let cell = meta.cell.iter().flat_map(|(name, value)| [name, value]);
        let length: usize = cell.chain([&meta.experiment, &meta.version]).map(String::len).sum();
        if length > MAX_TEXT {
            return Err(Damage::Text(id).into());
        }
        Ok(StoredRun { id, meta, duration: duration(row.get(7)?) })
    }

    /// The text of an experiment file.
    fn text(&mut self, id: i64) -> Result<Arc<str>, Fault> {
        if let Some(text) = self.texts.get(&id) {
            return Ok(Arc::clone(text));
        }
        let text: Option<Arc<str>> = self.text.query_row([id], |row| row.get(0)).optional()?;
        let text = text.ok_or_else(|| Damage::Reference("run".to_owned()))?;
        self.texts.insert(id, Arc::clone(&text));
        Ok(text)
    }
}

/// The (name, value) pairs of a run.
fn pairs(statement: &mut Statement<'_>, run: i64) -> rusqlite::Result<Vec<(String, String)>> {
    statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The records of a run.
pub(super) fn recording(connection: &Connection, run: i64) -> Result<Recording, Fault> {
    let connection = connection.unchecked_transaction()?;
    let times = "SELECT interval_ns, duration_ns FROM run WHERE id = ?1";
    let times =
        connection.query_row(times, [run], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (interval, length): (i64, i64) = times.ok_or(Fault::NoSuchRun(run))?;
    let samples = length.checked_div(interval).and_then(|samples| u64::try_from(samples).ok());
    if interval <= 0 || length < 0 || samples.is_none_or(|samples| samples > MAX_SAMPLES) {
        return Err(Damage::Duration(run).into());
    }
    check_values(&connection, run)?;
    let streams = streams(&connection, run)?;
    let events = events(&connection, run)?;
    Ok(Recording { interval: duration(interval), duration: duration(length), streams, events })
}

/// Refuses a run that declares more values than a recording may have, before any is read: a few
/// bytes of Zstandard can stand for gigabytes.
fn check_values(connection: &Connection, run: i64) -> Result<(), Fault> {
    let declared: f64 = connection.query_row(
        "SELECT total(CASE WHEN times IS NULL THEN 1.0 ELSE 2.0 END * abs(count))
           FROM series JOIN stream ON stream.id = series.stream WHERE stream.run = ?1",
        [run],
        |row| row.get(0),
    )?;
    if declared > MAX_VALUES as f64 { Err(Damage::Values(run).into()) } else { Ok(()) }
}

fn streams(connection: &Connection, run: i64) -> Result<Vec<StreamRecord>, Fault> {
    let mut statement = connection.prepare(
        "SELECT id, name, kind, began_ns, ended_ns FROM stream WHERE run = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([run])?;
    // A blob that is longer than Zstandard makes `count` values (at most 8 + 1/32 bytes per value,
    // and 64) is not read.
    let mut of_stream = connection.prepare(
        "SELECT shape, name, count,
                CASE WHEN length(times) <= 9 * count + 512 THEN times END, times IS NOT NULL,
                CASE WHEN length(data) <= 9 * count + 512 THEN data END
           FROM series WHERE stream = ?1 ORDER BY position",
    )?;
    let mut unpacker = Unpacker::new().map_err(|error| Fault::System(error.to_string()))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let word: String = row.get(2)?;
        let kind = StreamKind::ALL.into_iter().find(|kind| kind.as_str() == word);
        let mut stream = StreamRecord {
            name: row.get(1)?,
            kind: kind.ok_or(Damage::StreamKind(word))?,
            active: (time(row.get(3)?), time(row.get(4)?)),
            columns: Vec::new(),
            points: Vec::new(),
        };
        series(&mut of_stream, row.get(0)?, &mut unpacker, &mut stream)?;
        all.push(stream);
    }
    Ok(all)
}

/// Reads the series of one stream into `stream`.
fn series(
    statement: &mut Statement<'_>,
    id: i64,
    unpacker: &mut Unpacker,
    stream: &mut StreamRecord,
) -> Result<(), Fault> {
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let shape: String = row.get(0)?;
        let name = intern(&row.get::<_, String>(1)?)?;
        let count = usize::try_from(row.get::<_, i64>(2)?).map_err(|_| Damage::Count)?;
        let damage = |error| Damage::Series { series: name, stream: stream.name.clone(), error };
        let mut unpack = |blob: Option<Vec<u8>>| {
            unpacker.unpack(&blob.ok_or(SeriesError::Values(count))?, count)
        };
        let values = unpack(row.get(5)?).map_err(damage)?.into_iter().map(f64::from_bits);
        match (shape.as_str(), row.get(4)?) {
            ("column", false) => stream.columns.push(Column { name, values: values.collect() }),
            ("points", true) => {
                let times = unpack(row.get(3)?).map_err(damage)?.into_iter().map(Time::from_nanos);
                stream.points.push(Points { name, values: times.zip(values).collect() });
            }
            _ => return Err(damage(SeriesError::Shape(shape)).into()),
        }
    }
    Ok(())
}

fn events(connection: &Connection, run: i64) -> Result<Vec<Event>, Fault> {
    let mut statement = connection
        .prepare("SELECT at_ns, stream, name, value FROM event WHERE run = ?1 ORDER BY position")?;
    let mut rows = statement.query([run])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let what = intern(&row.get::<_, String>(2)?)?;
        all.push(Event { at: time(row.get(0)?), stream: row.get(1)?, what, value: real(row, 3)? });
    }
    Ok(all)
}

/// The metrics of a run.
pub(super) fn metrics(connection: &Connection, run: i64) -> Result<Vec<Metric>, Fault> {
    let connection = connection.unchecked_transaction()?;
    let there = "SELECT count(*) FROM run WHERE id = ?1";
    if connection.query_row(there, [run], |row| row.get::<_, i64>(0))? == 0 {
        return Err(Fault::NoSuchRun(run));
    }
    let mut statement = connection
        .prepare("SELECT stream, name, value FROM metric WHERE run = ?1 ORDER BY position")?;
    let metric =
        |row: &Row<'_>| Ok(Metric { stream: row.get(0)?, name: row.get(1)?, value: real(row, 2)? });
    Ok(statement.query_map([run], metric)?.collect::<Result<_, _>>()?)
}

/// SQLite's integrity checks.
pub(super) fn check(connection: &Connection) -> Result<(), Fault> {
    let word: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if word != "ok" {
        return Err(Damage::Sqlite(word).into());
    }
    let broken = connection
        .query_row("PRAGMA foreign_key_check", [], |row| row.get::<_, String>(0))
        .optional()?;
    broken.map_or(Ok(()), |table| Err(Damage::Reference(table).into()))
}
