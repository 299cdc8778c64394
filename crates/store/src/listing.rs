//! The list of all runs with their tags, read with one statement per table: a store may have many
//! thousands of runs.

use super::error::{Damage, Fault};
use super::{MAX_TAG, MAX_TAGS, Mode};
use rusqlite::{Connection, Row, TransactionBehavior, params};
use units::{Duration, Seed};

/// A run in the list of all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRun {
    /// The number in the store.
    pub id: i64,
    /// The experiment's name.
    pub experiment: String,
    /// The parameters of the grid cell, as in [`RunMeta::cell`](crate::RunMeta::cell).
    pub cell: Vec<(String, String)>,
    /// The seed.
    pub seed: Seed,
    /// The index of the run within its cell.
    pub index: u32,
    /// How the run was made.
    pub mode: Mode,
    /// The version of Weir that made it.
    pub version: String,
    /// The duration of the run.
    pub duration: Duration,
    /// The notes, (name, value), without the digest of simulated runs.
    pub notes: Vec<(String, String)>,
    /// The tags, in alphabetical order.
    pub tags: Vec<String>,
}

/// All runs, in the order in which they were stored.
pub(super) fn all(connection: &Connection) -> Result<Vec<ListedRun>, Fault> {
    let connection = connection.unchecked_transaction()?;
    let mut statement = connection.prepare(
        "SELECT id, experiment, seed, run_index, mode, version, duration_ns FROM run ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    let mut runs: Vec<ListedRun> = Vec::new();
    while let Some(row) = rows.next()? {
        runs.push(run(row)?);
    }
    each(
        &connection,
        "SELECT run, name, value FROM parameter ORDER BY run, position",
        &mut runs,
        |run, row| {
            run.cell.push((row.get(1)?, row.get(2)?));
            Ok(())
        },
    )?;
    each(
        &connection,
        "SELECT run, name, value FROM note WHERE name <> 'digest' ORDER BY run, position",
        &mut runs,
        |run, row| {
            run.notes.push((row.get(1)?, row.get(2)?));
            Ok(())
        },
    )?;
    each(&connection, "SELECT run, name FROM tag ORDER BY run, name", &mut runs, |run, row| {
        run.tags.push(row.get(1)?);
        Ok(())
    })?;
    Ok(runs)
}

fn run(row: &Row<'_>) -> Result<ListedRun, Fault> {
    let id = row.get(0)?;
    let (seed, mode): (String, String) = (row.get(2)?, row.get(4)?);
    Ok(ListedRun {
        id,
        experiment: row.get(1)?,
        cell: Vec::new(),
        seed: seed.parse().map_err(|_| Damage::Seed(id))?,
        index: row.get(3)?,
        mode: mode.parse().map_err(|_| Damage::Mode(id))?,
        version: row.get(5)?,
        duration: Duration::from_nanos(row.get::<_, i64>(6)?.cast_unsigned()),
        notes: Vec::new(),
        tags: Vec::new(),
    })
}

/// Passes the rows of a statement, whose first column is the number of a run and which is ordered
/// by it, to the runs.
fn each(
    connection: &Connection,
    sql: &str,
    runs: &mut [ListedRun],
    add: impl Fn(&mut ListedRun, &Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), Fault> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut at = 0;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        while runs.get(at).is_some_and(|run| run.id < id) {
            at += 1;
        }
        if let Some(run) = runs.get_mut(at).filter(|run| run.id == id) {
            add(run, row)?;
        }
    }
    Ok(())
}

/// Replaces the tags of a run.
pub(super) fn set_tags(connection: &mut Connection, id: i64, tags: &[String]) -> Result<(), Fault> {
    let is_tag = |tag: &String| {
        !tag.trim().is_empty() && tag.chars().count() <= MAX_TAG && !tag.contains(char::is_control)
    };
    if tags.len() > MAX_TAGS || !tags.iter().all(is_tag) {
        return Err(Fault::Tags);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let there = "SELECT count(*) FROM run WHERE id = ?1";
    if transaction.query_row(there, [id], |row| row.get::<_, i64>(0))? == 0 {
        return Err(Fault::NoSuchRun(id));
    }
    transaction.execute("DELETE FROM tag WHERE run = ?1", [id])?;
    for tag in tags {
        transaction
            .execute("INSERT OR IGNORE INTO tag VALUES (?1, ?2)", params![id, tag.trim()])?;
    }
    Ok(transaction.commit()?)
}
