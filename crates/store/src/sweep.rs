//! Sweeps: of each run only the parameters and metrics are kept.

use super::error::Fault;
use super::{Damage, Store, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde_json::{Map, Value};
use units::Seed;

/// A sweep in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepMeta {
    /// The name of the sweep; a store has each name once.
    pub name: String,
    /// The text of the sweep file.
    pub file: String,
    /// The identity of its runs: a digest of all that decides which run has which number and what
    /// is measured in it.
    pub plan: String,
    /// The identity of the model: a digest of its source.
    pub model: String,
    /// The version of Weir.
    pub version: String,
}

/// A finished run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRun {
    /// The number within the sweep, from 0.
    pub number: u64,
    /// The scenario's name.
    pub scenario: String,
    /// The parameters of its point, (name, value).
    pub parameters: Vec<(String, String)>,
    /// The seed.
    pub seed: Seed,
    /// The metrics, (name, value); not-a-number if a value does not exist. Empty if the run failed.
    pub result: Vec<(String, f64)>,
    /// Why the run failed.
    pub error: Option<String>,
}

impl Store {
    /// The number of the sweep, which is created if the store has none of this name.
    ///
    /// # Errors
    /// [`Fault::OtherModel`] or [`Fault::OtherSweep`] if the stored runs are not runs of this sweep
    /// under this model; the errors of [`insert`](Self::insert).
    pub fn open_sweep(&mut self, meta: &SweepMeta) -> Result<i64, StoreError> {
        open(&mut self.connection, meta).map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// Stores runs of a sweep in one transaction.
    ///
    /// # Errors
    /// As [`insert`](Self::insert). Then none of the runs is stored.
    pub fn insert_sweep_runs(&mut self, sweep: i64, runs: &[SweepRun]) -> Result<(), StoreError> {
        insert(&mut self.connection, sweep, runs)
            .map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// Passes the stored runs of a sweep to `each`, in the order of their numbers.
    ///
    /// # Errors
    /// If the file is damaged or cannot be read.
    pub fn sweep_runs(&self, sweep: i64, each: impl FnMut(SweepRun)) -> Result<(), StoreError> {
        read(&self.connection, sweep, each).map_err(|fault| StoreError::new(&self.path, fault))
    }
}

fn open(connection: &mut Connection, meta: &SweepMeta) -> Result<i64, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let columns = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found: Option<(i64, String, String)> = transaction
        .query_row("SELECT id, plan, model FROM sweep WHERE name = ?1", [&meta.name], columns)
        .optional()?;
    let id = match found {
        Some((_, _, model)) if model != meta.model => {
            return Err(Fault::OtherModel(meta.name.clone()));
        }
        Some((_, plan, _)) if plan != meta.plan => {
            return Err(Fault::OtherSweep(meta.name.clone()));
        }
        Some((id, ..)) => id,
        None => {
            let SweepMeta { name, file, plan, model, version } = meta;
            transaction.execute(
                "INSERT INTO sweep (name, file, plan, model, version) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![name, file, plan, model, version],
            )?;
            transaction.last_insert_rowid()
        }
    };
    transaction.commit()?;
    Ok(id)
}

fn insert(connection: &mut Connection, sweep: i64, runs: &[SweepRun]) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut statement = transaction
        .prepare("INSERT OR REPLACE INTO sweep_run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for run in runs {
        let parameters = run.parameters.iter();
        let parameters: Map<String, Value> =
            parameters.map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let result: Map<String, Value> =
            run.result.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
        statement.execute(params![
            sweep,
            run.number.cast_signed(),
            run.scenario,
            Value::Object(parameters).to_string(),
            run.seed.0.to_string(),
            Value::Object(result).to_string(),
            run.error,
        ])?;
    }
    drop(statement);
    Ok(transaction.commit()?)
}

fn read(connection: &Connection, sweep: i64, mut each: impl FnMut(SweepRun)) -> Result<(), Fault> {
    let mut statement = connection.prepare(
        "SELECT number, scenario, parameters, seed, result, error FROM sweep_run WHERE sweep = ?1 \
         ORDER BY number",
    )?;
    let mut rows = statement.query([sweep])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let damaged = || Damage::SweepRun(number);
        let seed: String = row.get(3)?;
        let text = |column| -> Result<Map<String, Value>, Fault> {
            let text: String = row.get(column)?;
            Ok(serde_json::from_str(&text).map_err(|_| damaged())?)
        };
        let parameters = text(2)?
            .into_iter()
            .map(|(name, value)| Ok((name, value.as_str().ok_or_else(damaged)?.to_owned())));
        each(SweepRun {
            number: number.cast_unsigned(),
            scenario: row.get(1)?,
            parameters: parameters.collect::<Result<_, Damage>>()?,
            seed: Seed(seed.parse().map_err(|_| damaged())?),
            result: text(4)?
                .into_iter()
                .map(|(name, value)| (name, value.as_f64().unwrap_or(f64::NAN)))
                .collect(),
            error: row.get(5)?,
        });
    }
    Ok(())
}
