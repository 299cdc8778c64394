//! Runs experiments: every cell with every seed, on all cores. What comes out is in the order of
//! (experiment, cell, run), whatever the number of threads, so a result does not depend on the
//! machine.

mod keep;
mod keeper;
#[cfg(test)]
mod tests;

pub use keep::{capture, keep, stored};
pub use keeper::{Keeper, Kept, NOWHERE};

use experiment::Experiment;
use keeper::Found;
use sim::Recording;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use units::Seed;

/// One run to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// Which of the experiments.
    pub experiment: usize,
    /// Which of its cells.
    pub cell: usize,
    /// Which of the cell's runs, from 0.
    pub run: u32,
    /// Its seed.
    pub seed: Seed,
}

/// Why a run gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFailure {
    /// It could not be run: why.
    Refused(String),
    /// It broke off: a fault of the program, and what it said.
    Panicked(String),
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => f.write_str(reason),
            Self::Panicked(reason) => {
                write!(f, "it broke off, which is a fault of the program: {reason}")
            }
        }
    }
}

impl std::error::Error for RunFailure {}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// The run.
    pub job: Job,
    /// What was made of it, or why there is nothing.
    pub result: Result<T, RunFailure>,
}

/// How far it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Runs there were to do.
    pub total: usize,
    /// Runs that gave a result.
    pub done: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Whether it was told to stop before the end.
    pub cancelled: bool,
}

impl std::ops::Add for Summary {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            done: self.done + other.done,
            failed: self.failed + other.failed,
            cancelled: self.cancelled || other.cancelled,
        }
    }
}

/// How to run.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Threads; one run is one thread.
    pub jobs: NonZeroUsize,
    /// Set from outside to begin nothing new and to leave runs under way.
    pub cancel: &'a AtomicBool,
    /// Told after each run: (done, in all).
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Where runs are kept; one that is there already is taken from there.
    pub keeper: &'a Keeper,
}

/// What came of a run, and the recording with its digest if it is to be kept.
struct Made<T> {
    outcome: Outcome<T>,
    fresh: Option<(String, Recording)>,
}

/// As many threads as the machine has cores.
#[must_use]
pub fn all_cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl Runner<'_> {
    /// Runs all experiments. `each` makes something of a recording, in the thread of the run;
    /// `sink` gets the outcomes in order, in the calling thread, as soon as all before are there
    /// and the run is kept.
    pub fn run<T: Send>(
        &self,
        experiments: &[Experiment],
        each: impl Fn(Job, &Recording) -> T + Sync,
        mut sink: impl FnMut(Outcome<T>),
    ) -> Summary {
        let jobs = jobs(experiments);
        let work = |job: Job| self.one(&experiments[job.experiment], job, &each);
        self.spread(&jobs, work, |Made { outcome, fresh }| {
            if let Some((digest, recording)) = fresh {
                let (job, experiment) = (outcome.job, &experiments[outcome.job.experiment]);
                self.keeper.keep_simulated(experiment, job, &recording, &digest, self.cancel);
            }
            sink(outcome);
        })
    }

    /// One run; `None` if it was cancelled.
    fn one<T>(
        &self,
        experiment: &Experiment,
        job: Job,
        each: impl Fn(Job, &Recording) -> T,
    ) -> Option<Made<T>> {
        let attempt = || {
            let scenario = experiment.cells()[job.cell].scenario(job.seed);
            let digest = self.keeper.digest(&scenario);
            let found = digest
                .as_ref()
                .and_then(|digest| self.keeper.find(experiment, job, digest, self.cancel));
            let (recording, is_kept) = match found {
                Some(Found { recording, is_kept }) => (recording, is_kept),
                None => {
                    let options = sim::Options { cancel: Some(self.cancel), ..Default::default() };
                    (sim::run(&scenario, options)?, false)
                }
            };
            let made = each(job, &recording);
            Ok::<_, sim::RunError>((
                made,
                digest.filter(|_| !is_kept).map(|digest| (digest, recording)),
            ))
        };
        let (result, fresh) = match catch_unwind(AssertUnwindSafe(attempt)) {
            Ok(Ok((value, fresh))) => (Ok(value), fresh),
            Ok(Err(_)) if self.cancel.load(Ordering::Relaxed) => return None,
            Ok(Err(error)) => (Err(RunFailure::Refused(error.to_string())), None),
            Err(panic) => (Err(RunFailure::Panicked(words(panic.as_ref()))), None),
        };
        Some(Made { outcome: Outcome { job, result }, fresh })
    }

    /// Spreads the work over the threads and puts the outcomes back in order.
    fn spread<T: Send>(
        &self,
        jobs: &[Job],
        work: impl Fn(Job) -> Option<Made<T>> + Sync,
        mut sink: impl FnMut(Made<T>),
    ) -> Summary {
        let next = AtomicUsize::new(0);
        let (send, receive) = mpsc::channel();
        let mut summary = Summary { total: jobs.len(), ..Summary::default() };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.get().min(jobs.len()) {
                let (send, next, work) = (send.clone(), &next, &work);
                let thread = std::thread::Builder::new().name(THREAD_NAME.to_owned());
                let spawned = thread.spawn_scoped(scope, move || {
                    loop {
                        let place = self.take(next);
                        let Some(job) = jobs.get(place) else { return };
                        if send.send((place, work(*job))).is_err() {
                            return;
                        }
                    }
                });
                if spawned.is_err() {
                    break;
                }
            }
            drop(send);
            self.collect(&receive, &mut summary, &mut sink);
        });
        summary.cancelled = summary.done + summary.failed < summary.total;
        summary
    }

    /// The index of the next job; past the end when cancelled.
    fn take(&self, next: &AtomicUsize) -> usize {
        if self.cancel.load(Ordering::Relaxed) {
            usize::MAX
        } else {
            next.fetch_add(1, Ordering::Relaxed)
        }
    }

    fn collect<T>(
        &self,
        receive: &mpsc::Receiver<(usize, Option<Made<T>>)>,
        summary: &mut Summary,
        sink: &mut impl FnMut(Made<T>),
    ) {
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        for (place, made) in receive {
            if let Some(made) = &made {
                if made.outcome.result.is_ok() {
                    summary.done += 1;
                } else {
                    summary.failed += 1;
                }
                (self.progress)(summary.done + summary.failed, summary.total);
            }
            waiting.insert(place, made);
            while let Some(made) = waiting.remove(&expected) {
                expected += 1;
                made.into_iter().for_each(&mut *sink);
            }
        }
        // After a cancellation there are gaps; what was finished is kept.
        waiting.into_values().flatten().for_each(sink);
    }
}

/// The name of the threads that run, by which a panic hook can tell them.
pub const THREAD_NAME: &str = "weir-run";

/// Every run, in order.
fn jobs(experiments: &[Experiment]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (experiment, of) in experiments.iter().enumerate() {
        for cell in 0..of.cells().len() {
            jobs.extend((0..).zip(of.seeds()).map(|(run, seed)| Job {
                experiment,
                cell,
                run,
                seed,
            }));
        }
    }
    jobs
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without words".to_owned())
}
