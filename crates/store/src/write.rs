//! Writing and deleting runs.

use super::blob::Packer;
use super::error::Fault;
use super::read::pairs;
use super::{DIGEST, RunMeta};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use sim::Recording;
use sim::recording::{Event, StreamRecord};
use units::Time;

/// A time as SQLite's signed integer. Beyond 292 years the number is negative, with the same
/// bits.
fn nanos(time: Time) -> i64 {
    time.as_nanos().cast_signed()
}

fn integer(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn unstorable(error: &std::io::Error) -> Fault {
    Fault::Unstorable(error.to_string())
}

/// Stores one run in one transaction and returns its number.
pub(super) fn insert(
    connection: &mut Connection,
    meta: &RunMeta,
    recording: &Recording,
    metrics: &[(String, String, f64)],
) -> Result<i64, Fault> {
    // Compression is slow and is done before the file is locked.
    let streams = recording.streams.iter().map(pack).collect::<Result<Vec<_>, _>>()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let Some(id) = find_equal(&transaction, meta)? {
        return Ok(id);
    }
    let run = insert_run(&transaction, meta, recording)?;
    for (position, (stream, series)) in recording.streams.iter().zip(&streams).enumerate() {
        insert_stream(&transaction, run, position, stream, series)?;
    }
    insert_events(&transaction, run, &recording.events)?;
    insert_metrics(&transaction, run, metrics)?;
    transaction.commit()?;
    Ok(run)
}

/// The number of an equal simulated run, which another process may have stored in the meantime.
fn find_equal(transaction: &Transaction<'_>, meta: &RunMeta) -> Result<Option<i64>, Fault> {
    if meta.note(DIGEST).is_none() {
        return Ok(None);
    }
    let mut statement = transaction.prepare(
        "SELECT run.id FROM run JOIN file ON file.id = run.file
          WHERE file.text = ?1 AND experiment = ?2 AND seed = ?3 AND run_index = ?4 AND mode = ?5",
    )?;
    let key =
        params![meta.file, meta.experiment, meta.seed.to_string(), meta.index, meta.mode.as_str()];
    let ids =
        statement.query_map(key, |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    for id in ids {
        if pairs(transaction, "parameter", id)? == meta.cell
            && pairs(transaction, "note", id)? == meta.notes
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// A compressed series.
struct Series {
    shape: &'static str,
    name: &'static str,
    count: usize,
    times: Option<Vec<u8>>,
    data: Vec<u8>,
}

/// Compresses the columns, then the points of a stream.
fn pack(stream: &StreamRecord) -> Result<Vec<Series>, Fault> {
    let mut packer = Packer::new().map_err(|error| unstorable(&error))?;
    let mut all = Vec::with_capacity(stream.columns.len() + stream.points.len());
    for column in &stream.columns {
        let data = packer.pack(column.values.iter().map(|value| value.to_le_bytes()));
        let data = data.map_err(|error| unstorable(&error))?;
        all.push(Series {
            shape: "column",
            name: column.name,
            count: column.values.len(),
            times: None,
            data,
        });
    }
    for points in &stream.points {
        let times = packer.pack(points.values.iter().map(|(at, _)| at.as_nanos().to_le_bytes()));
        let times = Some(times.map_err(|error| unstorable(&error))?);
        let data = packer.pack(points.values.iter().map(|(_, value)| value.to_le_bytes()));
        let data = data.map_err(|error| unstorable(&error))?;
        all.push(Series {
            shape: "points",
            name: points.name,
            count: points.values.len(),
            times,
            data,
        });
    }
    Ok(all)
}

fn insert_run(
    transaction: &Transaction<'_>,
    meta: &RunMeta,
    recording: &Recording,
) -> Result<i64, Fault> {
    transaction.execute("INSERT OR IGNORE INTO file (text) VALUES (?1)", [&meta.file])?;
    transaction.execute(
        "INSERT INTO run (experiment, seed, run_index, mode, version, file, interval_ns, duration_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM file WHERE text = ?6), ?7, ?8)",
        params![
            meta.experiment,
            meta.seed.to_string(),
            meta.index,
            meta.mode.as_str(),
            meta.version,
            meta.file,
            recording.interval.as_nanos().cast_signed(),
            recording.duration.as_nanos().cast_signed(),
        ],
    )?;
    let run = transaction.last_insert_rowid();
    insert_pairs(transaction, "parameter", run, &meta.cell)?;
    insert_pairs(transaction, "note", run, &meta.notes)?;
    Ok(run)
}

/// Inserts (name, value) pairs of a run into the table `parameter` or `note`.
fn insert_pairs(
    transaction: &Transaction<'_>,
    table: &str,
    run: i64,
    pairs: &[(String, String)],
) -> Result<(), Fault> {
    let mut statement =
        transaction.prepare(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3, ?4)"))?;
    for (position, (name, value)) in pairs.iter().enumerate() {
        statement.execute(params![run, integer(position), name, value])?;
    }
    Ok(())
}

fn insert_stream(
    transaction: &Transaction<'_>,
    run: i64,
    position: usize,
    stream: &StreamRecord,
    series: &[Series],
) -> Result<(), Fault> {
    transaction.execute(
        "INSERT INTO stream (run, position, name, kind, began_ns, ended_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            run,
            integer(position),
            stream.name,
            stream.kind.as_str(),
            nanos(stream.active.0),
            nanos(stream.active.1)
        ],
    )?;
    let id = transaction.last_insert_rowid();
    let mut statement =
        transaction.prepare("INSERT INTO series VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for (position, series) in series.iter().enumerate() {
        let Series { shape, name, count, times, data } = series;
        statement.execute(params![
            id,
            integer(position),
            shape,
            name,
            integer(*count),
            times,
            data
        ])?;
    }
    Ok(())
}

fn insert_events(transaction: &Transaction<'_>, run: i64, events: &[Event]) -> Result<(), Fault> {
    let mut statement = transaction.prepare("INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (position, event) in events.iter().enumerate() {
        let Event { at, stream, what, value } = event;
        statement.execute(params![run, integer(position), nanos(*at), stream, what, value])?;
    }
    Ok(())
}

fn insert_metrics(
    transaction: &Transaction<'_>,
    run: i64,
    metrics: &[(String, String, f64)],
) -> Result<(), Fault> {
    let mut statement = transaction.prepare("INSERT INTO metric VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (position, (stream, name, value)) in metrics.iter().enumerate() {
        statement.execute(params![run, integer(position), stream, name, value])?;
    }
    Ok(())
}

/// Deletes a run with all its rows, and its experiment file if no other run uses it.
pub(super) fn delete(connection: &mut Connection, id: i64) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if transaction.execute("DELETE FROM run WHERE id = ?1", [id])? == 0 {
        return Err(Fault::NoSuchRun(id));
    }
    transaction.execute("DELETE FROM file WHERE id NOT IN (SELECT file FROM run)", [])?;
    Ok(transaction.commit()?)
}
