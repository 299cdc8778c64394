//! A sweep as a folder of Parquet files, for sweeps whose results do not fit into memory. Each file
//! has a fixed range of runs and is written at once, so that a sweep continues with the files that
//! are missing.

use super::execute::{Remote, Sink};
use super::run::{Outcome, SweepError};
use super::{Sweep, Table};
use crate::runner::Runner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use store::export::{ExportError, Frame, FrameColumn, to_file};

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
#[derive(Debug, Default)]
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
    /// `part-0000000.parquet` and so on of `folder`. Files that are there are not written again.
    /// The memory does not depend on the number of runs.
    ///
    /// # Errors
    /// If the folder has other data or cannot be written; the errors of `remote`.
    pub fn write_dataset(
        &self,
        runner: Runner<'_>,
        folder: &Path,
        remote: Option<&mut dyn Remote>,
    ) -> Result<Written, SweepError> {
        self.check_columns()?;
        self.claim(folder)?;
        let (total, parts) = (self.total_runs(), self.total_runs().div_ceil(RUNS_PER_PART));
        let mut missing: Vec<Range<usize>> = Vec::new();
        for part in (0..parts).filter(|part| !path(folder, *part).is_file()) {
            let runs = runs_of(part, total);
            match missing.last_mut() {
                Some(last) if last.end == runs.start => last.end = runs.end,
                _ => missing.push(runs),
            }
        }
        let reused = total - missing.iter().map(Range::len).sum::<usize>();
        let written = Written { parts, reused, done: reused, ..Written::default() };
        let mut sink = Parts { sweep: self, folder, open: BTreeMap::new(), written };
        self.execute(runner, remote, &missing, &mut sink)?;
        Ok(Written { cancelled: sink.written.done < total, ..sink.written })
    }

    /// Refuses values with the name of a column that is there already.
    fn check_columns(&self) -> Result<(), DatasetError> {
        let mut names = self.scenarios.iter().flat_map(|scenario| &scenario.values);
        match names.find(|(name, _)| OWN.contains(&name.as_str())) {
            Some((name, _)) => Err(DatasetError::ColumnName(name.clone())),
            None => Ok(()),
        }
    }

    /// Creates the folder with its description, or checks that it has this sweep.
    fn claim(&self, folder: &Path) -> Result<(), DatasetError> {
        let about = About {
            sweep: self.name.clone(),
            file: self.text.clone(),
            plan: self.plan(),
            model: env!("WEIR_MODEL").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            runs: self.total_runs(),
            runs_per_part: RUNS_PER_PART,
        };
        let at = |error| DatasetError::Folder(folder.to_owned(), error);
        std::fs::create_dir_all(folder).map_err(at)?;
        let path = folder.join(ABOUT);
        match std::fs::read(&path) {
            Ok(text) => {
                let damaged = |error| DatasetError::Damaged(path.clone(), error);
                let found: About = serde_json::from_slice(&text).map_err(damaged)?;
                if found.model != about.model {
                    return Err(DatasetError::OtherModel(folder.to_owned()));
                }
                let same = |one: &About| (one.sweep.clone(), one.plan.clone(), one.runs_per_part);
                if same(&found) == same(&about) {
                    return Ok(());
                }
                Err(DatasetError::OtherSweep(folder.to_owned()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if std::fs::read_dir(folder).map_err(at)?.next().is_some() {
                    return Err(DatasetError::NotEmpty(folder.to_owned()));
                }
                let write = |file: &mut std::io::BufWriter<&std::fs::File>| {
                    serde_json::to_writer_pretty(file, &about).map_err(std::io::Error::from)
                };
                Ok(to_file(&path, write)?)
            }
            Err(error) => Err(at(error)),
        }
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

/// The path of a part.
fn path(folder: &Path, part: usize) -> PathBuf {
    folder.join(format!("part-{part:07}.parquet"))
}

/// The runs of a part.
fn runs_of(part: usize, total: usize) -> Range<usize> {
    part * RUNS_PER_PART..total.min((part + 1) * RUNS_PER_PART)
}

/// Collects the outcomes of each part, and writes the parts that are complete.
struct Parts<'a> {
    sweep: &'a Sweep,
    folder: &'a Path,
    /// The outcomes of the parts that are not complete, and the number of those that have come.
    open: BTreeMap<usize, (Vec<Option<Outcome>>, usize)>,
    written: Written,
}

impl Sink for Parts<'_> {
    fn add(&mut self, number: usize, outcome: Outcome) -> Result<(), SweepError> {
        let part = number / RUNS_PER_PART;
        let runs = runs_of(part, self.sweep.total_runs());
        let (outcomes, came) = self.open.entry(part).or_insert_with(|| (vec![None; runs.len()], 0));
        *came += usize::from(outcomes[number - runs.start].replace(outcome).is_none());
        if *came < runs.len() {
            return Ok(());
        }
        let Some((outcomes, _)) = self.open.remove(&part) else { return Ok(()) };
        let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
        let frame = self.sweep.frame(runs.start, &outcomes, &mut self.written.table);
        to_file(&path(self.folder, part), |file| frame.write_parquet(file))
            .map_err(DatasetError::from)?;
        self.written.done += outcomes.len();
        Ok(())
    }

    /// Parts that are not complete are not written.
    fn finish(&mut self) -> Result<(), SweepError> {
        Ok(())
    }
}
