//! Searches the best point with a tree-structured Parzen estimator (TPE; Bergstra et al. 2011), one
//! estimator per parameter, by the crate `tpe`.

use super::keep::{Keep, Known};
use super::run::{Outcome, SweepError};
use super::space::{MAX_SOBOL, sobol};
use super::table::Table;
use super::{Place, Setting, Sweep};
use crate::runner::Runner;
use rand::SeedableRng;
use rand::rngs::StdRng;
use store::Store;

/// The points that are evaluated together. The same on every machine, so that the result does not
/// depend on the number of cores. Our choice.
const BATCH: usize = 4;
/// The points of a Sobol sequence that come first: a tenth, and at least this many. Bergstra et al.
/// 2011 § 6.1 begin with 30 random points.
const FIRST: usize = 10;

/// The result of an optimisation.
#[derive(Clone, Debug)]
pub struct Optimised {
    /// The points in the order of their evaluation.
    pub table: Table,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that the store had already.
    pub reused: usize,
    /// Whether it was cancelled before the last run.
    pub cancelled: bool,
}

/// The runs that a store keeps of earlier optimisations, and the store.
#[derive(Default)]
struct Memory<'s> {
    keep: Option<Keep<'s>>,
    known: Known,
    /// The number of the next run that is stored.
    next: usize,
    reused: usize,
}

/// A point of the unit cube with its settings and the values of its runs.
struct Tried {
    shares: Vec<f64>,
    settings: Vec<Setting>,
    runs: Vec<Outcome>,
}

impl Sweep {
    /// Searches the point with the greatest objective with at most `runs` runs. The objectives of
    /// the scenarios are normalised over the points evaluated so far. Runs that `store` has from an
    /// earlier optimisation, also with another number of runs, are not repeated; the others are
    /// stored after each group of points.
    ///
    /// # Errors
    /// If the number of runs is not enough for one point, the optimiser refuses a value, or the
    /// store holds runs of other scenarios under the sweep's name, or cannot be written.
    pub fn optimise(
        &self,
        runner: Runner<'_>,
        store: Option<&mut Store>,
        runs: usize,
    ) -> Result<Optimised, SweepError> {
        let budget = runs / self.runs_per_point();
        let mut tried: Vec<Tried> = Vec::new();
        let mut memory = Memory::default();
        if let Some(store) = store {
            let name = format!("{} (optimise)", self.name);
            let keep = Keep::open(self, store, (name, self.space()))?;
            (memory.known, memory.next) = keep.known(self)?;
            memory.keep = Some(keep);
        }
        let mut random = StdRng::seed_from_u64(self.seed.0);
        let first = (budget / 10).max(FIRST).min(budget).min(MAX_SOBOL.0);
        while tried.len() < budget {
            let count = BATCH.min(budget - tried.len());
            let known = self.optimised(&tried, &memory, false).table;
            let shares = (0..count).map(|index| {
                if tried.len() + index < first {
                    Ok(sobol(self.parameters.len(), tried.len() + index, self.seed))
                } else {
                    self.ask(&tried, &known, &mut random)
                }
            });
            let shares = shares.collect::<Result<Vec<_>, SweepError>>()?;
            let batch = self.evaluate(runner, &mut memory, shares, (tried.len(), budget))?;
            let Some(batch) = batch else {
                return Ok(self.optimised(&tried, &memory, true));
            };
            tried.extend(batch);
        }
        Ok(self.optimised(&tried, &memory, false))
    }

    /// Runs these points; `None` if that was cancelled.
    fn evaluate(
        &self,
        runner: Runner<'_>,
        memory: &mut Memory<'_>,
        shares: Vec<Vec<f64>>,
        (before, budget): (usize, usize),
    ) -> Result<Option<Vec<Tried>>, SweepError> {
        let per_point = self.runs_per_point();
        let of = |shares: Vec<f64>| {
            let settings: Vec<Setting> =
                self.parameters.iter().zip(&shares).map(|(one, share)| one.at(*share)).collect();
            Tried { shares, settings, runs: Vec::new() }
        };
        let mut batch: Vec<Tried> = shares.into_iter().map(of).collect();
        let count = batch.len() * per_point;
        let place = |index: usize| Place { point: index / per_point, ..self.place(index) };
        let stored = |index: usize| {
            let Place { point, scenario, run } = place(index);
            let values = batch[point].settings.iter().map(|one| one.text.clone()).collect();
            memory.known.get(&(scenario, values, self.seed_of(run).0)).cloned()
        };
        let mut outcomes: Vec<Option<Outcome>> = (0..count).map(stored).collect();
        let missing: Vec<usize> = (0..count).filter(|index| outcomes[*index].is_none()).collect();
        memory.reused += count - missing.len();
        let work = |index: usize| {
            let place = place(missing[index]);
            self.one(runner, place, &batch[place.point].settings)
        };
        runner.pool(runner.jobs.get().min(missing.len()), missing.len(), work, |receive| {
            let mut done = (before * per_point) + count - missing.len();
            for (index, outcome) in receive {
                outcomes[missing[index]] = outcome;
                done += 1;
                (runner.progress)(done, budget * per_point);
            }
        });
        if let Some(keep) = &mut memory.keep {
            for index in missing {
                let Some(outcome) = &outcomes[index] else { continue };
                let Place { point, scenario, run } = place(index);
                let settings = batch[point].settings.clone();
                keep.push(self, memory.next, (scenario, run), settings, outcome);
                memory.next += 1;
            }
            keep.flush()?;
        }
        let mut outcomes = outcomes.into_iter();
        for tried in &mut batch {
            match outcomes.by_ref().take(per_point).collect::<Option<_>>() {
                Some(runs) => tried.runs = runs,
                None => return Ok(None),
            }
        }
        Ok(Some(batch))
    }

    /// The next point to evaluate.
    fn ask(
        &self,
        tried: &[Tried],
        known: &Table,
        random: &mut StdRng,
    ) -> Result<Vec<f64>, SweepError> {
        let wrong = |error: &dyn std::fmt::Display| SweepError::Optimiser(error.to_string());
        (0..self.parameters.len())
            .map(|index| {
                let range = tpe::range(0.0, 1.0).map_err(|error| wrong(&error))?;
                let mut optimiser = tpe::TpeOptimizer::new(tpe::parzen_estimator(), range);
                for (point, result) in tried.iter().zip(&known.points) {
                    // The optimiser searches a minimum, and refuses what is no number.
                    let value = -result.objective;
                    let value = if value.is_nan() { f64::INFINITY } else { value };
                    optimiser.tell(point.shares[index], value).map_err(|error| wrong(&error))?;
                }
                optimiser.ask(random).map_err(|error| wrong(&error))
            })
            .collect()
    }

    fn optimised(&self, tried: &[Tried], memory: &Memory<'_>, cancelled: bool) -> Optimised {
        let mut table = Table::default();
        for (point, tried) in tried.iter().enumerate() {
            for error in tried.runs.iter().filter_map(|run| run.as_ref().err()) {
                table.fault(|| format!("{}: {error}", self.describe(&tried.settings)));
            }
            let runs: Vec<&[f64]> =
                tried.runs.iter().map(|run| run.as_deref().unwrap_or(&[])).collect();
            self.add_point(&mut table, point, tried.settings.clone(), &runs);
        }
        self.normalise(&mut table);
        let runs = tried.len() * self.runs_per_point();
        Optimised { table, runs, reused: memory.reused, cancelled }
    }
}
