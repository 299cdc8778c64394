use super::dataset::{DatasetError, Parts, Written};
use super::execute::{Remote, missing};
use super::keep::{Collected, Dataset, Keep};
use super::ray::RayError;
use super::{Parameter, Place, Scenario, Setting, Sweep};
use crate::runner::{Runner, encode, panic_message};
use blake3::Hasher;
use document::FileError;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;
use store::{Store, StoreError};

/// The most runs whose metrics are kept in memory, at 8 bytes each and 32 per run: 1 GB with eight
/// metrics.
const MAX_IN_MEMORY: usize = 10_000_000;

/// Why a sweep has no results.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The sweep file has an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The optimiser refused a value.
    #[error("the optimiser failed: {0}")]
    Optimiser(String),
    /// The metrics of all runs do not fit into memory.
    #[error(
        "a table of {runs} runs is too large for memory; write them with --dataset, or fewer points"
    )]
    TooLarge {
        /// The number of runs.
        runs: usize,
    },
    /// The folder of Parquet files cannot be used.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The Ray cluster cannot be used.
    #[error(transparent)]
    Ray(#[from] RayError),
}

/// The metrics of the runs of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The values of each run that has finished, by its number.
    pub(super) values: Vec<Option<Box<[f64]>>>,
    /// Why a run failed, by its number.
    pub(super) errors: BTreeMap<usize, String>,
    /// The number of runs that the store had already.
    pub reused: usize,
    /// Whether the sweep was cancelled before all runs were done.
    pub cancelled: bool,
    /// What became of the dataset, if one was written too.
    pub written: Option<Written>,
}

/// Where the metrics of the runs of a sweep are kept beside the memory.
#[derive(Debug, Default)]
pub struct Keeping<'a> {
    /// Keeps each run, and gives back those that it has.
    pub store: Option<&'a mut Store>,
    /// Gets one row per run as [`Sweep::write_dataset`] writes it.
    pub dataset: Option<&'a Path>,
}

impl Results {
    fn of(total: usize) -> Self {
        Self { values: vec![None; total], ..Self::default() }
    }

    /// The number of runs that have finished or failed.
    #[must_use]
    pub fn done(&self) -> usize {
        self.values.iter().flatten().count() + self.errors.len()
    }

    /// The failed runs: number and reason.
    #[must_use]
    pub fn errors(&self) -> &BTreeMap<usize, String> {
        &self.errors
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.values[number].is_some() || self.errors.contains_key(&number)
    }

    /// The outcomes of these runs, which are done.
    pub(super) fn outcomes(&self, numbers: Range<usize>) -> Vec<Outcome> {
        let of = |number: usize| match self.errors.get(&number) {
            Some(error) => Err(error.clone()),
            None => Ok(self.values[number].clone().unwrap_or_default()),
        };
        numbers.map(of).collect()
    }

    pub(super) fn add(&mut self, number: usize, outcome: Outcome) {
        match outcome {
            Ok(values) => self.values[number] = Some(values),
            Err(error) => {
                self.errors.insert(number, error);
            }
        }
    }
}

/// The values of a run, or why it failed.
pub type Outcome = Result<Box<[f64]>, String>;

impl Sweep {
    /// Runs every point in every scenario with every seed, in the threads of `runner` or with
    /// `remote`. Runs that the store of `keeping` has are not repeated, and the others are stored
    /// as they finish, at the latest after 50 ms. A file of the dataset is written once all its
    /// runs have results, be they new or from the store.
    ///
    /// # Errors
    /// If the store or the dataset has other runs, or cannot be written; the errors of `remote`.
    pub fn run(
        &self,
        runner: Runner<'_>,
        keeping: Keeping<'_>,
        remote: Option<&mut dyn Remote>,
    ) -> Result<Results, SweepError> {
        let total = self.total_runs();
        if total > MAX_IN_MEMORY {
            return Err(SweepError::TooLarge { runs: total });
        }
        let mut results = Results::of(total);
        let plan = || (self.name.clone(), self.plan());
        let parts = keeping.dataset.map(|place| Parts::open(self, place)).transpose()?;
        let keep = keeping.store.map(|store| Keep::open(self, store, plan())).transpose()?;
        if let Some(keep) = &keep {
            keep.load(self, &mut results)?;
        }
        results.reused = results.done();
        let missing = missing(total, |number| results.has(number));
        let dataset = parts.map(|parts| Dataset::open(parts, &results)).transpose()?;
        let mut sink = Collected { sweep: self, results, keep, dataset };
        self.execute(runner, remote, &missing, &mut sink)?;
        let mut results = sink.results;
        results.cancelled = results.done() < total;
        results.written = sink.dataset.map(|dataset| dataset.parts.finish());
        Ok(results)
    }

    /// One run of each scenario at the middle point, one after the other, to time them.
    pub fn sample(&self, runner: Runner<'_>) {
        let point = self.points() / 2;
        for scenario in 0..self.scenarios.len() {
            // The outcome does not matter here.
            let _ = self.one(runner, Place { point, scenario, run: 0 }, &self.settings(point));
        }
    }

    /// One run; `None` if it was cancelled.
    pub(super) fn one(
        &self,
        runner: Runner<'_>,
        place: Place,
        settings: &[Setting],
    ) -> Option<Outcome> {
        let scenario = &self.scenarios[place.scenario];
        let overrides = self.overrides(settings);
        let attempt = || -> Outcome {
            let experiment = scenario
                .experiment
                .with_overrides(&overrides)
                .map_err(|error| error.to_string())?;
            let options = sim::Options { cancel: Some(runner.cancel), ..Default::default() };
            let wanted = experiment.cells()[0].scenario(self.seed_of(place.run));
            let recording = sim::run(&wanted, options).map_err(|error| error.to_string())?;
            let values = scenario
                .values
                .iter()
                .map(|(_, request)| request.compute_among(&recording, experiment.streams()));
            values.collect::<Result<_, _>>().map_err(|error| error.to_string())
        };
        match catch_unwind(AssertUnwindSafe(attempt)) {
            Ok(Err(_)) if runner.cancel.load(Ordering::Relaxed) => None,
            Ok(outcome) => Some(outcome),
            Err(panic) => {
                let message = panic_message(panic.as_ref());
                Some(Err(format!("internal error (panic); please report it: {message}")))
            }
        }
    }

    /// The values of the parameters, as for `--set`.
    pub(super) fn overrides(&self, settings: &[Setting]) -> Vec<(String, String)> {
        let pairs = self.parameters.iter().zip(settings);
        pairs
            .flat_map(|(parameter, setting)| {
                parameter.keys.iter().map(|key| (key.clone(), setting.text.clone()))
            })
            .collect()
    }

    /// The point in words: `k_up=0.01, k_down=0.00018`.
    #[must_use]
    pub fn describe(&self, settings: &[Setting]) -> String {
        let pairs = self.parameters.iter().zip(settings);
        let words =
            pairs.map(|(parameter, setting)| format!("{}={}", parameter.name, setting.text));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The identity of the runs: which run has which number, and what is measured in it. Titles,
    /// objectives and labels do not matter.
    pub(super) fn plan(&self) -> String {
        self.digest(&format!("{:?} {:?} {}", self.seed, self.method, self.runs), |parameter| {
            format!("{} {:?} {:?}", parameter.name, parameter.keys, parameter.values)
        })
    }

    /// The identity of the runs apart from their numbers: what a run with given parameters and seed
    /// is.
    pub(super) fn space(&self) -> String {
        self.digest("optimise", |parameter| format!("{} {:?}", parameter.name, parameter.keys))
    }

    /// A digest of `numbering`, of the parameters, and of the scenarios with the files that they
    /// name and the metrics.
    fn digest(&self, numbering: &str, parameter: impl Fn(&Parameter) -> String) -> String {
        let mut hasher = Hasher::new();
        let add = |hasher: &mut Hasher, text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(&mut hasher, numbering);
        self.parameters.iter().for_each(|one| add(&mut hasher, &parameter(one)));
        for Scenario { name, experiment, values, .. } in &self.scenarios {
            add(&mut hasher, name);
            add(&mut hasher, &experiment.identity());
            encode(&experiment.cells()[0].scenario(self.seed), &mut hasher);
            values.iter().for_each(|(name, one)| add(&mut hasher, &format!("{name} {one:?}")));
        }
        hasher.finalize().to_hex().to_string()
    }
}
