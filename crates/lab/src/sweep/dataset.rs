//! A sweep as Parquet files in a folder or in object storage, for sweeps whose results do not fit
//! into memory. Each file has a fixed range of runs and is written at once, so that a sweep
//! continues with the files that are missing.

use super::execute::{Remote, Sink};
use super::run::{Outcome, SweepError};
use super::storage::Storage;
use super::{Sweep, Table};
use crate::runner::Runner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use store::export::{ExportError, Frame, FrameColumn};

/// The runs in one file, about 100 kB. Our choice: that of a task on a cluster, whose runs then are
/// lost together at the most.
pub const RUNS_PER_PART: usize = 1_000;
/// The description of the dataset. Readers of datasets skip names that begin with an underscore.
const ABOUT: &str = "_weir.json";
/// The columns that every dataset has.
const OWN: [&str; 5] = ["run", "seed", "scenario", "objective", "error"];

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The folder cannot be read or created, with the message of the system.
    #[error("{0}: {1}; check the folder, or name another with --dataset")]
    Folder(PathBuf, std::io::Error),
    /// The folder has files and no description of a sweep.
    #[error("{0}: the folder is not empty and not a dataset of a sweep; name another folder")]
    NotEmpty(PathBuf),
    /// The address of object storage, or the environment, is wrong, with the reason.
    #[error("--dataset {0}: {1}; write s3://BUCKET/PATH")]
    Address(String, String),
    /// The address is of another service.
    #[error("--dataset {0}: it is neither a folder nor s3://BUCKET/PATH; write one of them")]
    OtherScheme(String),
    /// This build has no client of object storage.
    #[error("{0}: this build cannot write to object storage; name a folder, or use 'make build'")]
    NoObjectStorage(String),
    /// The environment has no credentials: the address, and the variable that is missing.
    #[error(
        "{0}: {1} is not set; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
         AWS_SKIP_SIGNATURE=true for a bucket that needs none"
    )]
    NoCredentials(String, &'static str),
    /// A request to the bucket failed, with the reason and what to do.
    #[error("{address}: {hint} ({reason}); the same command continues with what is written")]
    Bucket {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// The description cannot be read.
    #[error("{0}: it is damaged ({1}); name a new folder with --dataset")]
    Damaged(PathBuf, serde_json::Error),
    /// The folder has runs of another version of the model.
    #[error(
        "{0}: its runs are from another version of the model, which would be mixed; name a new \
         folder with --dataset"
    )]
    OtherModel(PathBuf),
    /// The folder has another sweep.
    #[error(
        "{0}: it has another sweep, or other points, scenarios, seeds or metrics, which would be \
         mixed; name a new folder with --dataset"
    )]
    OtherSweep(PathBuf),
    /// A value has the name of a column that every dataset has.
    #[error("value.{0}: every dataset has a column of this name; give the value another name")]
    ColumnName(String),
}

/// The description of a dataset.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct About {
    sweep: String,
    file: String,
    plan: String,
    model: String,
    version: String,
    runs: usize,
    runs_per_part: usize,
}

/// What became of a sweep that was written as a dataset.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The number of files of the whole dataset.
    pub parts: usize,
    /// The number of runs that the folder had already.
    pub reused: usize,
    /// The number of runs that it has now.
    pub done: usize,
    /// The failed runs and the runs without an objective among the new ones.
    pub table: Table,
    /// Whether the sweep was cancelled before all runs were done.
    pub cancelled: bool,
}

impl Sweep {
    /// Runs the sweep as [`run`](Self::run), and writes one row per run into the files
    /// `part-0000000.parquet` and so on of `place`: a folder, or `s3://BUCKET/PATH`. Files that are
    /// there are not written again. The memory does not depend on the number of runs.
    ///
    /// # Errors
    /// If the place has other data or cannot be written; the errors of `remote`.
    pub fn write_dataset(
        &self,
        runner: Runner<'_>,
        place: &Path,
        remote: Option<&mut dyn Remote>,
    ) -> Result<Written, SweepError> {
        let parts = Parts::open(self, place)?;
        let missing = parts.missing();
        let mut sink = Collecting { parts, open: BTreeMap::new() };
        self.execute(runner, remote, &missing, &mut sink)?;
        Ok(sink.parts.finish())
    }

    /// Refuses values with the name of a column that is there already.
    fn check_columns(&self) -> Result<(), DatasetError> {
        let mut names = self.scenarios.iter().flat_map(|scenario| &scenario.values);
        match names.find(|(name, _)| OWN.contains(&name.as_str())) {
            Some((name, _)) => Err(DatasetError::ColumnName(name.clone())),
            None => Ok(()),
        }
    }

    /// Writes the description of the dataset, or checks that there is this sweep's.
    fn claim(&self, place: &Path, storage: &Storage) -> Result<(), DatasetError> {
        let about = About {
            sweep: self.name.clone(),
            file: self.text.clone(),
            plan: self.plan(),
            model: env!("WEIR_MODEL").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            runs: self.total_runs(),
            runs_per_part: RUNS_PER_PART,
        };
        let place = || place.to_owned();
        let damaged = |error| DatasetError::Damaged(place().join(ABOUT), error);
        let Some(text) = storage.read(ABOUT)? else {
            let mut is_empty = true;
            storage.names(&mut |_| is_empty = false)?;
            if !is_empty {
                return Err(DatasetError::NotEmpty(place()));
            }
            return storage.write(ABOUT, &serde_json::to_vec_pretty(&about).map_err(damaged)?);
        };
        let found: About = serde_json::from_slice(&text).map_err(damaged)?;
        if found.model != about.model {
            return Err(DatasetError::OtherModel(place()));
        }
        let same = |one: &About| (one.sweep.clone(), one.plan.clone(), one.runs_per_part);
        if same(&found) == same(&about) { Ok(()) } else { Err(DatasetError::OtherSweep(place())) }
    }

    /// The rows of a part.
    fn frame(&self, first: usize, outcomes: &[Outcome], table: &mut Table) -> Frame {
        let runs = first..first + outcomes.len();
        let places: Vec<_> = runs.clone().map(|number| self.place(number)).collect();
        let settings: Vec<_> = places.iter().map(|place| self.settings(place.point)).collect();
        let mut objectives = Vec::with_capacity(outcomes.len());
        for (index, outcome) in outcomes.iter().enumerate() {
            if let Err(error) = outcome {
                table.fault(|| {
                    format!("{}: {error}", self.run_in_words(first + index, &settings[index]))
                });
            }
            let (place, values) = (&places[index], outcome.as_deref().unwrap_or_default());
            let scenario = &self.scenarios[place.scenario];
            let settings = &settings[index];
            objectives.push(self.objective_of_run(table, scenario, settings, place.run, values));
        }
        let mut columns = vec![
            ("run".to_owned(), FrameColumn::Integer(runs.map(|number| number as i64).collect())),
            (
                "seed".to_owned(),
                FrameColumn::Unsigned(places.iter().map(|one| self.seed_of(one.run).0).collect()),
            ),
            (
                "scenario".to_owned(),
                FrameColumn::Text(
                    places
                        .iter()
                        .map(|one| Some(self.scenarios[one.scenario].name.clone()))
                        .collect(),
                ),
            ),
        ];
        for (index, parameter) in self.parameters.iter().enumerate() {
            let is_number = parameter.at_index(0).number.is_some();
            let values = settings.iter().map(|settings| &settings[index]);
            let column = if is_number {
                FrameColumn::Real(values.map(|one| one.number.unwrap_or(f64::NAN)).collect())
            } else {
                FrameColumn::Text(values.map(|one| Some(one.text.clone())).collect())
            };
            columns.push((format!("cell.{}", parameter.name), column));
        }
        columns.push(("objective".to_owned(), FrameColumn::Real(objectives)));
        for name in self.value_names() {
            let value = |(place, outcome): (&super::Place, &Outcome)| {
                let values = &self.scenarios[place.scenario].values;
                let index = values.iter().position(|(other, _)| other == name)?;
                outcome.as_deref().ok()?.get(index).copied()
            };
            let values = places.iter().zip(outcomes).map(|one| value(one).unwrap_or(f64::NAN));
            columns.push((name.to_owned(), FrameColumn::Real(values.collect())));
        }
        let errors = outcomes.iter().map(|outcome| outcome.as_ref().err().cloned());
        columns.push(("error".to_owned(), FrameColumn::Text(errors.collect())));
        Frame { columns }
    }

    /// The names of the values of all scenarios, each once.
    fn value_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.scenarios.iter().flat_map(|scenario| &scenario.values) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}

/// The name of the file of a part.
fn name(part: usize) -> String {
    format!("part-{part:07}.parquet")
}

/// The runs of a part.
fn runs_of(part: usize, total: usize) -> Range<usize> {
    part * RUNS_PER_PART..total.min((part + 1) * RUNS_PER_PART)
}

/// The files of a dataset.
pub(super) struct Parts<'a> {
    sweep: &'a Sweep,
    storage: Storage,
    /// Whether the file of each part is there.
    there: Vec<bool>,
    written: Written,
}

impl<'a> Parts<'a> {
    /// The files that `place` has of this sweep.
    pub(super) fn open(sweep: &'a Sweep, place: &Path) -> Result<Self, DatasetError> {
        sweep.check_columns()?;
        let storage = Storage::open(place)?;
        sweep.claim(place, &storage)?;
        let total = sweep.total_runs();
        let mut there = vec![false; total.div_ceil(RUNS_PER_PART)];
        storage.names(&mut |found| {
            let number = found.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet"));
            let part = number.and_then(|number| number.parse().ok());
            if let Some(part) = part.filter(|part| name(*part) == found) {
                there.get_mut(part).into_iter().for_each(|one: &mut bool| *one = true);
            }
        })?;
        let present = (0..there.len()).filter(|part| there[*part]);
        let reused = present.map(|part| runs_of(part, total).len()).sum();
        let written = Written { parts: there.len(), reused, done: reused, ..Written::default() };
        Ok(Self { sweep, storage, there, written })
    }

    /// The runs whose files are missing, as ascending ranges.
    fn missing(&self) -> Vec<Range<usize>> {
        let mut missing: Vec<Range<usize>> = Vec::new();
        for runs in self.missing_parts().map(|part| self.runs_of(part)) {
            match missing.last_mut() {
                Some(last) if last.end == runs.start => last.end = runs.end,
                _ => missing.push(runs),
            }
        }
        missing
    }

    /// The parts whose files are missing.
    pub(super) fn missing_parts(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.there.len()).filter(|part| !self.there[*part])
    }

    /// The runs of a part.
    pub(super) fn runs_of(&self, part: usize) -> Range<usize> {
        runs_of(part, self.sweep.total_runs())
    }

    /// Writes the file of a part.
    pub(super) fn write(&mut self, part: usize, outcomes: &[Outcome]) -> Result<(), DatasetError> {
        let first = self.runs_of(part).start;
        let frame = self.sweep.frame(first, outcomes, &mut self.written.table);
        let mut content = Vec::new();
        frame.write_parquet(&mut content)?;
        self.storage.write(&name(part), &content)?;
        self.there[part] = true;
        self.written.done += outcomes.len();
        Ok(())
    }

    /// What became of the dataset.
    pub(super) fn finish(self) -> Written {
        Written { cancelled: self.written.done < self.sweep.total_runs(), ..self.written }
    }
}

/// Collects the outcomes of each part, and writes the parts that are complete.
struct Collecting<'a> {
    parts: Parts<'a>,
    /// The outcomes of the parts that are not complete, and the number of those that have come.
    open: BTreeMap<usize, (Vec<Option<Outcome>>, usize)>,
}

impl Sink for Collecting<'_> {
    fn add(&mut self, number: usize, outcome: Outcome) -> Result<(), SweepError> {
        let part = number / RUNS_PER_PART;
        let runs = self.parts.runs_of(part);
        let (outcomes, came) = self.open.entry(part).or_insert_with(|| (vec![None; runs.len()], 0));
        *came += usize::from(outcomes[number - runs.start].replace(outcome).is_none());
        if *came < runs.len() {
            return Ok(());
        }
        let Some((outcomes, _)) = self.open.remove(&part) else { return Ok(()) };
        let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
        Ok(self.parts.write(part, &outcomes)?)
    }

    /// Parts that are not complete are not written.
    fn finish(&mut self) -> Result<(), SweepError> {
        Ok(())
    }
}
