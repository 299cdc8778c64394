use super::evaluate::CellValues;
use super::untested::Untested;
use super::{Claim, Computed, Verdict};
use crate::runner::{Job, Outcome, RunFailure, Runner, Summary};
use document::FileError;
use experiment::Experiment;
use sim::Recording;

/// The claims to verify and their experiments, each once.
#[derive(Debug)]
pub struct Plan<'c> {
    pub(super) claims: Vec<&'c Claim>,
    /// The experiments, in the order in which the claims name them.
    pub experiments: Vec<Experiment>,
    /// By claim: the index of its experiment, or why the experiment cannot be opened.
    experiment_of: Vec<Result<usize, FileError>>,
}

/// The values of one run: by claim of its experiment, by value.
#[derive(Clone, Debug)]
struct Results(Vec<Computed>);

/// A verification in progress.
struct Verification<'p, 'c> {
    plan: &'p Plan<'c>,
    /// The results of the finished runs, by experiment, cell and run.
    runs: Vec<Vec<Vec<Result<Results, Untested>>>>,
}

impl<'c> Plan<'c> {
    /// Opens the experiments of the claims. `change` may modify an experiment, as `--runs` does. A
    /// claim whose experiment has an error is not tested, and neither is one about a sweep.
    pub fn new(
        claims: Vec<&'c Claim>,
        change: impl Fn(Experiment) -> Result<Experiment, FileError>,
    ) -> Self {
        Self::of(claims, |name| crate::open(name).and_then(&change))
    }

    pub(super) fn of(
        claims: Vec<&'c Claim>,
        open: impl Fn(&str) -> Result<Experiment, FileError>,
    ) -> Self {
        let mut experiments: Vec<Experiment> = Vec::new();
        let mut index_of = |claim: &&Claim| {
            if claim.is_sweep {
                return Err(claim.runs_when_named());
            }
            let known =
                experiments.iter().position(|experiment| experiment.name == claim.experiment);
            if let Some(known) = known {
                return Ok(known);
            }
            experiments.push(open(&claim.experiment)?);
            Ok(experiments.len() - 1)
        };
        let experiment_of = claims.iter().map(&mut index_of).collect();
        Self { claims, experiments, experiment_of }
    }

    /// The number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        let runs = |experiment: &Experiment| experiment.cells().len() * experiment.runs as usize;
        self.experiments.iter().map(runs).sum()
    }

    /// The claims that an experiment of the plan tests.
    fn claims_of(&self, experiment: usize) -> impl Iterator<Item = &'c Claim> + '_ {
        self.claims
            .iter()
            .zip(&self.experiment_of)
            .filter(move |(_, index)| **index == Ok(experiment))
            .map(|(claim, _)| *claim)
    }

    /// Computes the values of the claims in one run.
    fn compute(&self, job: Job, recording: &Recording) -> Results {
        let experiment = &self.experiments[job.experiment];
        Results(
            self.claims_of(job.experiment)
                .map(|claim| claim.compute(experiment, recording))
                .collect(),
        )
    }

    /// Runs the experiments and judges the claims. `each` computes an additional value from each
    /// recording, in the thread of the run; `observe` receives it, in order, in the calling thread.
    pub fn run<T: Send>(
        &self,
        runner: Runner<'_>,
        each: impl Fn(Job, &Recording) -> T + Sync,
        mut observe: impl FnMut(Job, T),
    ) -> (Vec<Verdict>, Summary) {
        let mut verification = Verification::new(self);
        let both =
            |job, recording: &Recording| (self.compute(job, recording), each(job, recording));
        let summary = runner.run(&self.experiments, both, |outcome: Outcome<_>| {
            let result = outcome.result.map(|(results, more)| {
                observe(outcome.job, more);
                results
            });
            verification.add(outcome.job, result);
        });
        (verification.verdicts(), summary)
    }
}

impl<'p, 'c> Verification<'p, 'c> {
    fn new(plan: &'p Plan<'c>) -> Self {
        let cells = |experiment: &Experiment| vec![Vec::new(); experiment.cells().len()];
        Self { plan, runs: plan.experiments.iter().map(cells).collect() }
    }

    fn add(&mut self, job: Job, result: Result<Results, RunFailure>) {
        let result = result.map_err(|failure| Untested::Run { seed: job.seed, failure });
        self.runs[job.experiment][job.cell].push(result);
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut next = vec![0; self.plan.experiments.len()];
        let mut verdict = |(claim, index): (&&Claim, &Result<usize, FileError>)| match index {
            Err(error) => claim.not_run(None, &error.clone().into()),
            Ok(index) => {
                let experiment = &self.plan.experiments[*index];
                next[*index] += 1;
                match self.values(*index, next[*index] - 1, claim.values.len()) {
                    Ok(cells) => claim.judge(experiment, &cells),
                    Err(reason) => claim.not_run(Some(experiment), &reason),
                }
            }
        };
        self.plan.claims.iter().zip(&self.plan.experiment_of).map(&mut verdict).collect()
    }

    /// The values of the claim with the index `claim` among those of the experiment.
    ///
    /// # Errors
    /// If a run is missing or failed.
    fn values(
        &self,
        experiment: usize,
        claim: usize,
        count: usize,
    ) -> Result<Vec<CellValues>, Untested> {
        let wanted = self.plan.experiments[experiment].runs as usize;
        let cells = &self.runs[experiment];
        let done: usize = cells.iter().map(Vec::len).sum();
        if cells.iter().any(|runs| runs.len() < wanted) {
            return Err(Untested::Stopped { done, total: wanted * cells.len() });
        }
        cells.iter().map(|runs| cell_values(runs, claim, count)).collect()
    }
}

/// The values of one claim over the runs of a cell: by value, then by run.
fn cell_values(
    runs: &[Result<Results, Untested>],
    claim: usize,
    count: usize,
) -> Result<CellValues, Untested> {
    let mut values = vec![Vec::with_capacity(runs.len()); count];
    for run in runs {
        let Results(claims) = run.as_ref().map_err(Untested::clone)?;
        for (value, result) in values.iter_mut().zip(&claims[claim]) {
            value.push(result.clone()?);
        }
    }
    Ok(values)
}
