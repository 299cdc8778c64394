use super::evaluate::CellValues;
use super::{Claim, Computed, Verdict};
use crate::runner::{Job, Outcome, Runner, Summary};
use experiment::Experiment;
use sim::Recording;

/// The claims to verify and the experiments that they need, each once.
#[derive(Debug)]
pub struct Plan<'c> {
    pub(super) claims: Vec<&'c Claim>,
    /// The experiments, in the order in which the claims name them.
    pub experiments: Vec<Experiment>,
    /// By claim: the experiment's place, or why there is none.
    places: Vec<Result<usize, String>>,
}

/// What was computed of one run: by claim of its experiment, by value.
#[derive(Clone, Debug)]
struct Results(Vec<Computed>);

/// A verification under way.
struct Verification<'p, 'c> {
    plan: &'p Plan<'c>,
    /// By experiment, by cell, by run, as far as they came; or what went wrong.
    runs: Vec<Vec<Vec<Result<Results, String>>>>,
}

impl<'c> Plan<'c> {
    /// Opens what the claims need. `change` may change an experiment, as `--runs` does. A claim
    /// whose experiment is wrong is not run.
    pub fn new(
        claims: Vec<&'c Claim>,
        change: impl Fn(Experiment) -> Result<Experiment, document::FileError>,
    ) -> Self {
        Self::of(claims, |name| crate::open(name).and_then(&change))
    }

    pub(super) fn of(
        claims: Vec<&'c Claim>,
        open: impl Fn(&str) -> Result<Experiment, document::FileError>,
    ) -> Self {
        let mut experiments: Vec<Experiment> = Vec::new();
        let mut place = |claim: &&Claim| {
            let known =
                experiments.iter().position(|experiment| experiment.name == claim.experiment);
            if let Some(known) = known {
                return Ok(known);
            }
            experiments.push(open(&claim.experiment).map_err(|error| error.to_string())?);
            Ok(experiments.len() - 1)
        };
        let places = claims.iter().map(&mut place).collect();
        Self { claims, experiments, places }
    }

    /// How many runs it takes.
    #[must_use]
    pub fn runs(&self) -> usize {
        let of = |experiment: &Experiment| experiment.cells().len() * experiment.runs as usize;
        self.experiments.iter().map(of).sum()
    }

    /// The claims that an experiment of the plan tests.
    fn claims_of(&self, experiment: usize) -> impl Iterator<Item = &'c Claim> + '_ {
        let here = move |place: &Result<usize, String>| *place == Ok(experiment);
        self.claims
            .iter()
            .zip(&self.places)
            .filter(move |(_, place)| here(place))
            .map(|(claim, _)| *claim)
    }

    /// Computes what the claims need of one run.
    fn compute(&self, job: Job, recording: &Recording) -> Results {
        let experiment = &self.experiments[job.experiment];
        Results(
            self.claims_of(job.experiment)
                .map(|claim| claim.compute(experiment, recording))
                .collect(),
        )
    }

    /// Runs everything and judges. `each` may make something more of every recording, in the thread
    /// of the run; `observe` gets it, in order, in the calling thread.
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
            verification.add(outcome.job, result.map_err(|failure| failure.to_string()));
        });
        (verification.verdicts(), summary)
    }
}

impl<'p, 'c> Verification<'p, 'c> {
    fn new(plan: &'p Plan<'c>) -> Self {
        let cells = |experiment: &Experiment| vec![Vec::new(); experiment.cells().len()];
        Self { plan, runs: plan.experiments.iter().map(cells).collect() }
    }

    fn add(&mut self, job: Job, result: Result<Results, String>) {
        let result = result.map_err(|reason| format!("the run with seed {}: {reason}", job.seed));
        self.runs[job.experiment][job.cell].push(result);
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut next = vec![0; self.plan.experiments.len()];
        let mut verdict = |(claim, place): (&&Claim, &Result<usize, String>)| match place {
            Err(reason) => claim.not_run(None, reason.clone()),
            Ok(place) => {
                let experiment = &self.plan.experiments[*place];
                next[*place] += 1;
                match self.values(*place, next[*place] - 1, claim.values.len()) {
                    Ok(cells) => claim.judge(experiment, &cells),
                    Err(reason) => claim.not_run(Some(experiment), reason),
                }
            }
        };
        self.plan.claims.iter().zip(&self.plan.places).map(&mut verdict).collect()
    }

    /// The values of the claim at `place` among those of the experiment, or why they are not all
    /// there.
    fn values(
        &self,
        experiment: usize,
        place: usize,
        count: usize,
    ) -> Result<Vec<CellValues>, String> {
        let wanted = self.plan.experiments[experiment].runs as usize;
        let cells = &self.runs[experiment];
        let done: usize = cells.iter().map(Vec::len).sum();
        if cells.iter().any(|runs| runs.len() < wanted) {
            return Err(format!("stopped after {done} of {} runs", wanted * cells.len()));
        }
        cells.iter().map(|runs| cell_values(runs, place, count)).collect()
    }
}

/// The values of one claim over the runs of a cell: by value, then by run.
fn cell_values(
    runs: &[Result<Results, String>],
    place: usize,
    count: usize,
) -> Result<CellValues, String> {
    let mut values = vec![Vec::with_capacity(runs.len()); count];
    for run in runs {
        let Results(claims) = run.as_ref().map_err(String::clone)?;
        for (value, result) in values.iter_mut().zip(&claims[place]) {
            value.push(result.clone()?);
        }
    }
    Ok(values)
}
