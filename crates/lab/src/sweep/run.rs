use super::{Place, Scenario, Setting, Sweep};
use crate::runner::{Runner, panic_message};
use blake3::Hasher;
use document::FileError;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use store::{Store, StoreError, SweepMeta, SweepRun};

/// The longest time that a finished run waits to be stored with others, as for other runs: see
/// `runner/delivery.rs`.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Why a sweep has no results.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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

    fn add(&mut self, number: usize, outcome: Outcome) {
        match outcome {
            Ok(values) => self.values[number] = Some(values),
            Err(error) => {
                self.errors.insert(number, error);
            }
        }
    }
}

/// The values of a run, or why it failed.
pub(super) type Outcome = Result<Box<[f64]>, String>;

impl Sweep {
    /// Runs every point in every scenario with every seed. Runs that `store` has are not repeated,
    /// and the others are stored as they finish, at the latest after 50 ms.
    ///
    /// # Errors
    /// If the store holds other runs under the sweep's name, or cannot be written.
    pub fn run(
        &self,
        runner: Runner<'_>,
        store: Option<&mut Store>,
    ) -> Result<Results, SweepError> {
        let total = self.total_runs();
        let mut results = Results::of(total);
        let mut keep = store.map(|store| Keep::open(self, store)).transpose()?;
        if let Some(keep) = &keep {
            keep.load(self, &mut results)?;
        }
        results.reused = results.done();
        let pending: Vec<usize> = (0..total).filter(|number| !results.has(*number)).collect();
        let work = |index: usize| {
            let number = pending[index];
            (number, self.one(runner, self.place(number), &self.settings(self.place(number).point)))
        };
        let mut fault = None;
        runner.pool(runner.jobs.get().min(pending.len()), pending.len(), work, |receive| {
            fault = self.collect(runner, receive, keep.as_mut(), &mut results).err();
        });
        results.cancelled = results.done() < total;
        fault.map_or(Ok(results), |error| Err(error.into()))
    }

    /// One run of each scenario at the middle point, one after the other, to time them.
    pub fn sample(&self, runner: Runner<'_>) {
        let point = self.points() / 2;
        for scenario in 0..self.scenarios.len() {
            // The outcome does not matter here.
            let _ = self.one(runner, Place { point, scenario, run: 0 }, &self.settings(point));
        }
    }

    /// Takes the outcomes as the runs finish, and stores them in groups.
    fn collect(
        &self,
        runner: Runner<'_>,
        receive: &Receiver<(usize, (usize, Option<Outcome>))>,
        mut keep: Option<&mut Keep<'_>>,
        results: &mut Results,
    ) -> Result<(), StoreError> {
        let (total, mut done) = (self.total_runs(), results.reused);
        loop {
            let patience = keep.as_ref().and_then(|keep| keep.patience());
            let received = match patience {
                Some(patience) => receive.recv_timeout(patience),
                None => receive.recv().map_err(RecvTimeoutError::from),
            };
            match received {
                Ok((_, (number, Some(outcome)))) => {
                    if let Some(keep) = &mut keep {
                        keep.push(self, number, &outcome);
                    }
                    results.add(number, outcome);
                    done += 1;
                    (runner.progress)(done, total);
                }
                // The run was cancelled.
                Ok((_, (_, None))) => {}
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Some(keep) = &mut keep
                && let Err(error) = keep.flush_if_due()
            {
                // No further run begins, because none could be stored.
                runner.cancel.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        keep.map_or(Ok(()), Keep::flush)
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
    fn plan(&self) -> String {
        let mut hasher = Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(&format!("{:?} {:?} {}", self.seed, self.method, self.runs));
        for parameter in &self.parameters {
            add(&format!("{} {:?} {:?}", parameter.name, parameter.keys, parameter.values));
        }
        for Scenario { name, experiment, values, .. } in &self.scenarios {
            add(name);
            add(&experiment.identity());
            values.iter().for_each(|(name, request)| add(&format!("{name} {request:?}")));
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// A store that keeps the runs of a sweep.
struct Keep<'s> {
    store: &'s mut Store,
    sweep: i64,
    waiting: Vec<SweepRun>,
    /// When the waiting runs have to be stored at the latest; `None` if none waits.
    deadline: Option<Instant>,
}

impl<'s> Keep<'s> {
    fn open(sweep: &Sweep, store: &'s mut Store) -> Result<Self, StoreError> {
        let meta = SweepMeta {
            name: sweep.name.clone(),
            file: sweep.text.clone(),
            plan: sweep.plan(),
            model: env!("WEIR_MODEL").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let id = store.open_sweep(&meta)?;
        Ok(Self { store, sweep: id, waiting: Vec::new(), deadline: None })
    }

    /// The stored runs. A run whose values are not those of its scenario is run again.
    fn load(&self, sweep: &Sweep, results: &mut Results) -> Result<(), StoreError> {
        self.store.sweep_runs(self.sweep, |run| {
            let number = usize::try_from(run.number).unwrap_or(usize::MAX);
            if number >= results.values.len() {
                return;
            }
            if let Some(error) = run.error {
                results.add(number, Err(error));
                return;
            }
            let names = &sweep.scenarios[sweep.place(number).scenario].values;
            let value = |(name, _): &(String, _)| {
                run.result.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
            };
            if let Some(values) = names.iter().map(value).collect() {
                results.add(number, Ok(values));
            }
        })
    }

    fn push(&mut self, sweep: &Sweep, number: usize, outcome: &Outcome) {
        let place = sweep.place(number);
        let scenario = &sweep.scenarios[place.scenario];
        let settings = sweep.settings(place.point).into_iter();
        let parameters = sweep.parameters.iter().zip(settings);
        let values = outcome.as_deref().unwrap_or_default();
        let result = scenario.values.iter().zip(values);
        self.waiting.push(SweepRun {
            number: number as u64,
            scenario: scenario.name.clone(),
            parameters: parameters.map(|(one, value)| (one.name.clone(), value.text)).collect(),
            seed: sweep.seed_of(place.run),
            result: result.map(|((name, _), value)| (name.clone(), *value)).collect(),
            error: outcome.as_ref().err().cloned(),
        });
        self.deadline.get_or_insert_with(|| now() + MAX_WAIT);
    }

    fn patience(&self) -> Option<Duration> {
        self.deadline.map(|latest| latest.saturating_duration_since(now()))
    }

    fn flush_if_due(&mut self) -> Result<(), StoreError> {
        if self.deadline.is_some_and(|latest| latest <= now()) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if !self.waiting.is_empty() {
            self.store.insert_sweep_runs(self.sweep, &self.waiting)?;
        }
        self.waiting.clear();
        self.deadline = None;
        Ok(())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "decides when runs are stored, not what they contain"
)]
fn now() -> Instant {
    Instant::now()
}
