//! Reading runs. Any content of the file gives a run or an error, never a panic.

use super::blob::{SeriesError, unpack};
use super::error::{Damage, Fault};
use super::names::intern;
use super::{Filter, Metric, RunMeta, StoredRun};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sim::Recording;
use sim::recording::{Column, Event, Points, StreamKind, StreamRecord};
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

/// The runs that match the filter, in the order in which they were stored.
pub(super) fn runs(connection: &Connection, filter: &Filter) -> Result<Vec<StoredRun>, Fault> {
    // One transaction, so that all statements read the same state.
    let connection = connection.unchecked_transaction()?;
    let mut statement = connection.prepare(
        "SELECT run.id, experiment, seed, run_index, mode, version, file.text, duration_ns
           FROM run JOIN file ON file.id = run.file
          WHERE (?1 IS NULL OR run.id = ?1)
            AND (?2 IS NULL OR experiment = ?2 OR substr(experiment, 1, length(?2) + 1) = ?2 || '/')
            AND (?3 IS NULL OR seed = ?3) AND (?4 IS NULL OR mode = ?4) AND (?5 IS NULL OR version = ?5)
          ORDER BY run.id",
    )?;
    let Filter { id, experiment, seed, mode, version, cell } = filter;
    let seed = seed.map(|seed| seed.to_string());
    let mut rows =
        statement.query(params![id, experiment, seed, mode.map(super::Mode::as_str), version])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let run = run(&connection, row)?;
        if cell.iter().all(|wanted| run.meta.cell.contains(wanted)) {
            all.push(run);
        }
    }
    Ok(all)
}

fn run(connection: &Connection, row: &Row<'_>) -> Result<StoredRun, Fault> {
    let id = row.get(0)?;
    let seed: String = row.get(2)?;
    let mode: String = row.get(4)?;
    let meta = RunMeta {
        experiment: row.get(1)?,
        cell: pairs(connection, "parameter", id)?,
        seed: seed.parse().map_err(|_| Damage::Seed(id))?,
        index: row.get(3)?,
        mode: mode.parse().map_err(|_| Damage::Mode(id))?,
        version: row.get(5)?,
        file: row.get(6)?,
        notes: pairs(connection, "note", id)?,
    };
    Ok(StoredRun { id, meta, duration: duration(row.get(7)?) })
}

/// The (name, value) pairs of a run in the table `parameter` or `note`.
pub(super) fn pairs(
    connection: &Connection,
    table: &str,
    run: i64,
) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection
        .prepare(&format!("SELECT name, value FROM {table} WHERE run = ?1 ORDER BY position"))?;
    statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The records of a run.
pub(super) fn recording(connection: &Connection, run: i64) -> Result<Recording, Fault> {
    let connection = connection.unchecked_transaction()?;
    let times = "SELECT interval_ns, duration_ns FROM run WHERE id = ?1";
    let times =
        connection.query_row(times, [run], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (interval, length): (i64, i64) = times.ok_or(Fault::NoSuchRun(run))?;
    if interval <= 0 || length < 0 {
        return Err(Damage::Duration(run).into());
    }
    let streams = streams(&connection, run)?;
    let events = events(&connection, run)?;
    Ok(Recording { interval: duration(interval), duration: duration(length), streams, events })
}

fn streams(connection: &Connection, run: i64) -> Result<Vec<StreamRecord>, Fault> {
    let mut statement = connection.prepare(
        "SELECT id, name, kind, began_ns, ended_ns FROM stream WHERE run = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([run])?;
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
        series(connection, row.get(0)?, &mut stream)?;
        all.push(stream);
    }
    Ok(all)
}

/// Reads the series of one stream into `stream`.
fn series(connection: &Connection, id: i64, stream: &mut StreamRecord) -> Result<(), Fault> {
    let mut statement = connection.prepare(
        "SELECT shape, name, count, times, data FROM series WHERE stream = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let shape: String = row.get(0)?;
        let name = intern(&row.get::<_, String>(1)?)?;
        let count = usize::try_from(row.get::<_, i64>(2)?).map_err(|_| Damage::Count)?;
        let damage = |error| Damage::Series { series: name, stream: stream.name.clone(), error };
        let values = unpack(&row.get::<_, Vec<u8>>(4)?, count).map_err(damage)?;
        let values = values.into_iter().map(f64::from_le_bytes);
        match (shape.as_str(), row.get::<_, Option<Vec<u8>>>(3)?) {
            ("column", None) => stream.columns.push(Column { name, values: values.collect() }),
            ("points", Some(times)) => {
                let times = unpack(&times, count).map_err(damage)?;
                let times =
                    times.into_iter().map(|word| Time::from_nanos(u64::from_le_bytes(word)));
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
