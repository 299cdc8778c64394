//! The store of a sweep's runs: of each run the parameters and the metrics.

use super::dataset::{Parts, RUNS_PER_PART};
use super::execute::Sink;
use super::run::{Outcome, Results, SweepError};
use super::{Setting, Sweep};
use crate::deadline::Deadline;
use std::collections::HashMap;
use std::time::Duration;
use store::{Store, StoreError, SweepMeta, SweepRun};

/// A store that keeps the runs of a sweep.
pub(super) struct Keep<'s> {
    store: &'s mut Store,
    sweep: i64,
    waiting: Vec<SweepRun>,
    deadline: Deadline,
}

impl<'s> Keep<'s> {
    /// Opens the runs that the store keeps under `name`, which must have the same `plan`.
    pub(super) fn open(
        sweep: &Sweep,
        store: &'s mut Store,
        (name, plan): (String, String),
    ) -> Result<Self, StoreError> {
        let meta = SweepMeta {
            name,
            file: sweep.text.clone(),
            plan,
            model: env!("WEIR_MODEL").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let id = store.open_sweep(&meta)?;
        Ok(Self { store, sweep: id, waiting: Vec::new(), deadline: Deadline::default() })
    }

    /// The stored runs. A run whose values are not those of its scenario is run again.
    pub(super) fn load(&self, sweep: &Sweep, results: &mut Results) -> Result<(), StoreError> {
        self.store.sweep_runs(self.sweep, |run| {
            let number = usize::try_from(run.number).unwrap_or(usize::MAX);
            if number >= results.values.len() {
                return;
            }
            let scenario = sweep.place(number).scenario;
            if let Some(outcome) = outcome(sweep, scenario, run) {
                results.add(number, outcome);
            }
        })
    }

    /// The stored runs by what they are, and one more than the greatest number of a stored run.
    pub(super) fn known(&self, sweep: &Sweep) -> Result<(Known, usize), StoreError> {
        let (mut known, mut next) = (Known::new(), 0);
        self.store.sweep_runs(self.sweep, |run| {
            next = next.max(usize::try_from(run.number).unwrap_or(usize::MAX - 1) + 1);
            let place = sweep.scenarios.iter().position(|one| one.name == run.scenario);
            let Some(scenario) = place else { return };
            let values = run.parameters.iter().map(|(_, value)| value.clone()).collect();
            let key = (scenario, values, run.seed.0);
            if let Some(outcome) = outcome(sweep, scenario, run) {
                known.insert(key, outcome);
            }
        })?;
        Ok((known, next))
    }

    /// Takes a finished run, which is stored with the others that finish soon.
    pub(super) fn push(
        &mut self,
        sweep: &Sweep,
        number: usize,
        (scenario, run): (usize, u32),
        settings: Vec<Setting>,
        outcome: &Outcome,
    ) {
        let scenario = &sweep.scenarios[scenario];
        let parameters = sweep.parameters.iter().zip(settings);
        let values = outcome.as_deref().unwrap_or_default();
        let result = scenario.values.iter().zip(values);
        self.waiting.push(SweepRun {
            number: number as u64,
            scenario: scenario.name.clone(),
            parameters: parameters.map(|(one, value)| (one.name.clone(), value.text)).collect(),
            seed: sweep.seed_of(run),
            result: result.map(|((name, _), value)| (name.clone(), *value)).collect(),
            error: outcome.as_ref().err().cloned(),
        });
        self.deadline.start();
    }

    /// Stores the waiting runs.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        if !self.waiting.is_empty() {
            self.store.insert_sweep_runs(self.sweep, &self.waiting)?;
        }
        self.waiting.clear();
        self.deadline.clear();
        Ok(())
    }
}

/// Stored runs by the index of the scenario, the values of the parameters, and the seed.
pub(super) type Known = HashMap<(usize, Vec<String>, u64), Outcome>;

/// What a stored run found; `None` if its values are not those of the scenario.
fn outcome(sweep: &Sweep, scenario: usize, run: SweepRun) -> Option<Outcome> {
    if let Some(error) = run.error {
        return Some(Err(error));
    }
    let names = &sweep.scenarios[scenario].values;
    let value = |(name, _): &(String, _)| {
        run.result.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    };
    names.iter().map(value).collect::<Option<_>>().map(Ok)
}

/// Collects the outcomes in memory, and in a store and a dataset if there are any.
pub(super) struct Collected<'s, 'k> {
    pub(super) sweep: &'s Sweep,
    pub(super) results: Results,
    pub(super) keep: Option<Keep<'k>>,
    pub(super) dataset: Option<Dataset<'s>>,
}

/// The files of a dataset that are written from the results in memory.
pub(super) struct Dataset<'s> {
    pub(super) parts: Parts<'s>,
    /// The number of runs that each file waits for; 0 for those that are there.
    waits_for: Vec<usize>,
}

impl<'s> Dataset<'s> {
    /// Writes the missing files whose runs all have results; the others wait for their runs.
    pub(super) fn open(mut parts: Parts<'s>, results: &Results) -> Result<Self, SweepError> {
        let missing: Vec<usize> = parts.missing_parts().collect();
        let mut waits_for = vec![0; missing.last().map_or(0, |last| last + 1)];
        for part in missing {
            let runs = parts.runs_of(part);
            waits_for[part] = runs.clone().filter(|number| !results.has(*number)).count();
            if waits_for[part] == 0 {
                parts.write(part, &results.outcomes(runs))?;
            }
        }
        Ok(Self { parts, waits_for })
    }

    /// Takes note of a run whose result is new in `results`.
    fn add(&mut self, number: usize, results: &Results) -> Result<(), SweepError> {
        let part = number / RUNS_PER_PART;
        let Some(waits_for) = self.waits_for.get_mut(part).filter(|count| **count > 0) else {
            return Ok(());
        };
        *waits_for -= 1;
        if *waits_for == 0 {
            let outcomes = results.outcomes(self.parts.runs_of(part));
            self.parts.write(part, &outcomes)?;
        }
        Ok(())
    }
}

impl Sink for Collected<'_, '_> {
    fn add(&mut self, number: usize, outcome: Outcome) -> Result<(), SweepError> {
        if let Some(keep) = &mut self.keep {
            let place = self.sweep.place(number);
            let settings = self.sweep.settings(place.point);
            keep.push(self.sweep, number, (place.scenario, place.run), settings, &outcome);
        }
        let is_new = !self.results.has(number);
        self.results.add(number, outcome);
        match &mut self.dataset {
            Some(dataset) if is_new => dataset.add(number, &self.results),
            _ => Ok(()),
        }
    }

    fn patience(&self) -> Option<Duration> {
        self.keep.as_ref()?.deadline.patience()
    }

    fn settle(&mut self) -> Result<(), SweepError> {
        if self.patience() == Some(Duration::ZERO) {
            self.finish()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SweepError> {
        Ok(self.keep.as_mut().map_or(Ok(()), Keep::flush)?)
    }
}
