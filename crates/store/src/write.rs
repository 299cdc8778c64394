//! Writing and deleting runs.

use super::blob::Packer;
use super::error::Fault;
use super::{DIGEST, DURABLE, RunMeta, read, schema};
use rusqlite::{Connection, Statement, Transaction, TransactionBehavior, params};
use sim::Recording;
use sim::recording::{Event, MAX_SAMPLES, MAX_VALUES, StreamKind, StreamRecord};
use std::collections::HashMap;
use units::{Duration, Time};

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

/// A run that is ready to be stored: its series are compressed. Compression takes longer than
/// writing and needs no store, so that several threads can prepare runs for one store.
#[derive(Clone, Debug)]
pub struct PackedRun {
    meta: RunMeta,
    interval: Duration,
    duration: Duration,
    streams: Vec<PackedStream>,
    events: Vec<Event>,
    metrics: Vec<(String, String, f64)>,
}

impl PackedRun {
    /// Compresses a run. `metrics` are as for [`Store::insert`](crate::Store::insert).
    ///
    /// # Errors
    /// [`Fault::Unstorable`] if Zstandard refuses the recording, or the recording has more samples
    /// or values than a store may have.
    pub fn new(
        meta: RunMeta,
        recording: &Recording,
        metrics: Vec<(String, String, f64)>,
    ) -> Result<Self, Fault> {
        check_size(recording)?;
        let mut packer = Packer::new().map_err(|error| unstorable(&error))?;
        let streams = recording.streams.iter().map(|stream| pack(&mut packer, stream));
        let streams = streams.collect::<Result<_, _>>()?;
        Ok(Self {
            meta,
            interval: recording.interval,
            duration: recording.duration,
            streams,
            events: recording.events.clone(),
            metrics,
        })
    }

    /// The metadata of the run.
    #[must_use]
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }

    /// About how much memory the run takes, in bytes: its compressed series.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of = |series: &Series| series.data.len() + series.times.as_ref().map_or(0, Vec::len);
        self.streams.iter().flat_map(|stream| &stream.series).map(of).sum()
    }
}

/// Refuses a recording that could not be read again.
fn check_size(recording: &Recording) -> Result<(), Fault> {
    let samples = recording.duration.as_nanos() / recording.interval.as_nanos().max(1);
    let of = |stream: &StreamRecord| {
        let columns: usize = stream.columns.iter().map(|column| column.values.len()).sum();
        let points: usize = stream.points.iter().map(|points| points.values.len()).sum();
        columns + 2 * points
    };
    let values: usize = recording.streams.iter().map(of).sum();
    if samples > MAX_SAMPLES || values as u64 > MAX_VALUES {
        let text = format!(
            "it has {samples} samples and {values} values, and {MAX_SAMPLES} and {MAX_VALUES} are \
             allowed; lengthen sample_interval"
        );
        return Err(Fault::Unstorable(text));
    }
    Ok(())
}

/// Stores runs in one transaction and returns their numbers, in the order of the runs.
pub(super) fn insert(
    connection: &mut Connection,
    digests: &mut Digests,
    runs: &[PackedRun],
) -> Result<Vec<i64>, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    digests.update(&transaction)?;
    let mut rows = Rows::new(&transaction)?;
    let mut ids = Vec::with_capacity(runs.len());
    // The runs of this transaction, which is not committed yet: digest and number.
    let mut added: Vec<(&str, i64)> = Vec::new();
    for run in runs {
        if let Some(id) = find_equal(&transaction, digests, &added, &run.meta)? {
            ids.push(id);
            continue;
        }
        let id = rows.insert(run)?;
        ids.push(id);
        added.push((run.meta.note(DIGEST).unwrap_or_default(), id));
    }
    let stored = added.len();
    drop(rows);
    transaction.commit()?;
    advance_change_counter(connection, stored.saturating_sub(1))?;
    Ok(ids)
}

/// Advances the counter of transactions in the header of the file (bytes 24 to 27 and 92 to 95,
/// sqlite.org/fileformat2.html) by `by`. Runs that are stored together count one transaction each,
/// so that equal runs give an equal file no matter how they were grouped.
///
/// The transactions are neither synchronised nor journalled in a file: each overwrites the first
/// page in place and changes only bytes of its first sector, so no failure can tear it.
fn advance_change_counter(connection: &Connection, by: usize) -> rusqlite::Result<()> {
    if by == 0 {
        return Ok(());
    }
    let advance = format!("PRAGMA application_id = {};", schema::APPLICATION).repeat(by);
    let fast = "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;";
    // The runs are stored even if this fails, for example because another process keeps the lock.
    let _ = connection.execute_batch(fast).and_then(|()| connection.execute_batch(&advance));
    connection.execute_batch(DURABLE)
}

/// The numbers of the simulated runs by [`DIGEST`].
#[derive(Debug, Default)]
pub(super) struct Digests {
    known: HashMap<String, Vec<i64>>,
    /// The last run that was considered. Numbers are never reused, so later runs have higher ones.
    last: i64,
}

impl Digests {
    /// Adds the runs that were stored since the last call, also by other processes.
    pub(super) fn update(&mut self, connection: &Connection) -> Result<(), Fault> {
        let mut statement = connection.prepare(
            "SELECT run, value FROM note WHERE run > ?1 AND name = ?2 ORDER BY run, position",
        )?;
        let mut rows = statement.query(params![self.last, DIGEST])?;
        while let Some(row) = rows.next()? {
            let run = row.get(0)?;
            self.known.entry(row.get(1)?).or_default().push(run);
            self.last = run;
        }
        Ok(())
    }

    /// All runs that were found.
    pub(super) fn all(&self) -> &HashMap<String, Vec<i64>> {
        &self.known
    }
}

/// The number of an equal simulated run, which another process may have stored in the meantime.
fn find_equal(
    transaction: &Transaction<'_>,
    digests: &Digests,
    added: &[(&str, i64)],
    meta: &RunMeta,
) -> Result<Option<i64>, Fault> {
    let Some(digest) = meta.note(DIGEST) else { return Ok(None) };
    let stored = digests.known.get(digest).into_iter().flatten().copied();
    let added = added.iter().filter(|(other, _)| *other == digest).map(|(_, id)| *id);
    for id in stored.chain(added) {
        // The version is not compared: an equal digest means an equal model.
        let is_equal = |other: RunMeta| RunMeta { version: meta.version.clone(), ..other } == *meta;
        if read::run(transaction, id)?.is_some_and(|run| is_equal(run.meta)) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// A stream with its compressed series.
#[derive(Clone, Debug)]
struct PackedStream {
    name: String,
    kind: StreamKind,
    active: (Time, Time),
    series: Vec<Series>,
}

/// A compressed series.
#[derive(Clone, Debug)]
struct Series {
    shape: &'static str,
    name: &'static str,
    count: usize,
    times: Option<Vec<u8>>,
    data: Vec<u8>,
}

/// Compresses the columns, then the points of a stream.
fn pack(packer: &mut Packer, stream: &StreamRecord) -> Result<PackedStream, Fault> {
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
    let StreamRecord { name, kind, active, .. } = stream;
    Ok(PackedStream { name: name.clone(), kind: *kind, active: *active, series: all })
}

/// Inserts the rows of runs, with statements that are prepared once per transaction.
struct Rows<'t> {
    transaction: &'t Transaction<'t>,
    file: Statement<'t>,
    run: Statement<'t>,
    parameter: Statement<'t>,
    note: Statement<'t>,
    stream: Statement<'t>,
    series: Statement<'t>,
    event: Statement<'t>,
    metric: Statement<'t>,
}

impl<'t> Rows<'t> {
    fn new(transaction: &'t Transaction<'t>) -> Result<Self, Fault> {
        let prepare = |sql| transaction.prepare(sql);
        Ok(Self {
            transaction,
            file: prepare("INSERT OR IGNORE INTO file (text) VALUES (?1)")?,
            run: prepare(
                "INSERT INTO run (experiment, seed, run_index, mode, version, file, interval_ns, duration_ns)
                 VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM file WHERE text = ?6), ?7, ?8)",
            )?,
            parameter: prepare("INSERT INTO parameter VALUES (?1, ?2, ?3, ?4)")?,
            note: prepare("INSERT INTO note VALUES (?1, ?2, ?3, ?4)")?,
            stream: prepare(
                "INSERT INTO stream (run, position, name, kind, began_ns, ended_ns)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            series: prepare("INSERT INTO series VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?,
            event: prepare("INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?,
            metric: prepare("INSERT INTO metric VALUES (?1, ?2, ?3, ?4, ?5)")?,
        })
    }

    /// Inserts all rows of a run and returns its number.
    fn insert(&mut self, packed: &PackedRun) -> Result<i64, Fault> {
        let run = self.insert_run(packed)?;
        insert_pairs(&mut self.parameter, run, &packed.meta.cell)?;
        insert_pairs(&mut self.note, run, &packed.meta.notes)?;
        for (position, stream) in packed.streams.iter().enumerate() {
            self.insert_stream(run, position, stream)?;
        }
        self.insert_events(run, &packed.events)?;
        self.insert_metrics(run, &packed.metrics)?;
        Ok(run)
    }

    fn insert_run(&mut self, packed: &PackedRun) -> Result<i64, Fault> {
        let meta = &packed.meta;
        self.file.execute([&*meta.file])?;
        self.run.execute(params![
            meta.experiment,
            meta.seed.to_string(),
            meta.index,
            meta.mode.as_str(),
            meta.version,
            &*meta.file,
            packed.interval.as_nanos().cast_signed(),
            packed.duration.as_nanos().cast_signed(),
        ])?;
        Ok(self.transaction.last_insert_rowid())
    }

    fn insert_stream(
        &mut self,
        run: i64,
        position: usize,
        stream: &PackedStream,
    ) -> Result<(), Fault> {
        self.stream.execute(params![
            run,
            integer(position),
            stream.name,
            stream.kind.as_str(),
            nanos(stream.active.0),
            nanos(stream.active.1)
        ])?;
        let id = self.transaction.last_insert_rowid();
        for (position, series) in stream.series.iter().enumerate() {
            let Series { shape, name, count, times, data } = series;
            self.series.execute(params![
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

    fn insert_events(&mut self, run: i64, events: &[Event]) -> Result<(), Fault> {
        for (position, event) in events.iter().enumerate() {
            let Event { at, stream, what, value } = event;
            self.event.execute(params![run, integer(position), nanos(*at), stream, what, value])?;
        }
        Ok(())
    }

    fn insert_metrics(&mut self, run: i64, metrics: &[(String, String, f64)]) -> Result<(), Fault> {
        for (position, (stream, name, value)) in metrics.iter().enumerate() {
            self.metric.execute(params![run, integer(position), stream, name, value])?;
        }
        Ok(())
    }
}

/// Inserts (name, value) pairs of a run.
fn insert_pairs(
    statement: &mut Statement<'_>,
    run: i64,
    pairs: &[(String, String)],
) -> Result<(), Fault> {
    for (position, (name, value)) in pairs.iter().enumerate() {
        statement.execute(params![run, integer(position), name, value])?;
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
