//! Runs experiments: every cell with every seed, on several threads. Outcomes are delivered in the
//! order of (experiment, cell, run) for any number of threads, so that results do not depend on the
//! machine.

mod cache;
mod delivery;
mod stored;
#[cfg(test)]
mod tests;

pub use crate::failure::RunFailure;
pub use cache::{CacheSummary, NO_CACHE, RunCache};
pub use stored::{capture, insert};

use crate::external;
use cache::Found;
pub(crate) use cache::encode;
use delivery::Delivery;
use experiment::{Cell, Experiment};
use sim::recording::MAX_VALUES;
use sim::{Recording, Scenario};
use std::any::Any;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use store::PackedRun;
use units::Seed;

/// One run of a list of experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// Index of the experiment.
    pub experiment: usize,
    /// Index of the grid cell.
    pub cell: usize,
    /// Index of the run within its cell, from 0.
    pub run: u32,
    /// The seed.
    pub seed: Seed,
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// The run.
    pub job: Job,
    /// The result, or why there is none.
    pub result: Result<T, RunFailure>,
}

/// The progress of a batch of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of runs requested.
    pub total: usize,
    /// Number of runs with a result.
    pub done: usize,
    /// Number of failed runs.
    pub failed: usize,
    /// Whether the batch was cancelled before all runs were done.
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

/// The greatest number of values that concurrent runs may sample, 4 GiB: eight runs as large as one
/// may be. Our choice.
const MAX_CONCURRENT_VALUES: u64 = 8 * MAX_VALUES;

/// How a batch of runs is executed.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Number of threads. Each run uses one thread. Fewer threads are used if the recordings of
    /// that many runs might take more than 4 GiB.
    pub jobs: NonZeroUsize,
    /// Setting it stops the batch: no run begins, and unfinished runs are discarded.
    pub cancel: &'a AtomicBool,
    /// Called after each run with (finished runs, total runs).
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// The cache of runs. Runs that are in its store are not simulated again.
    pub cache: &'a RunCache,
}

/// The outcome of a run, and the run itself if it has to be stored.
struct Finished<T> {
    outcome: Outcome<T>,
    to_store: Option<PackedRun>,
}

/// The number of cores of the machine.
#[must_use]
pub fn all_cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl Runner<'_> {
    /// Runs all experiments. `each` computes a value from each recording, in the thread of the run.
    /// `sink` receives the outcomes in order, in the calling thread, each after all outcomes before
    /// it have arrived and its run is stored. Runs that finish within 50 ms are stored together.
    pub fn run<T: Send>(
        &self,
        experiments: &[Experiment],
        each: impl Fn(Job, &Recording) -> T + Sync,
        sink: impl FnMut(Outcome<T>),
    ) -> Summary {
        self.run_by(experiments, external::simulate, each, sink)
    }

    /// As [`run`](Self::run), but with `simulate` in place of [`external::simulate`], for
    /// controllers that are code of the caller. A cache would not know this code: use [`NO_CACHE`].
    pub fn run_by<T: Send>(
        &self,
        experiments: &[Experiment],
        simulate: impl Fn(&Scenario, sim::Options<'_>) -> Result<Recording, RunFailure> + Sync,
        each: impl Fn(Job, &Recording) -> T + Sync,
        sink: impl FnMut(Outcome<T>),
    ) -> Summary {
        let jobs = jobs(experiments);
        let work = |job: Job| self.one(&experiments[job.experiment], job, &simulate, &each);
        let threads = self.threads(experiments).min(jobs.len());
        self.distribute(&jobs, threads, work, Delivery::new(self.cache, self.cancel, sink))
    }

    /// One run; `None` if it was cancelled.
    fn one<T>(
        &self,
        experiment: &Experiment,
        job: Job,
        simulate: impl Fn(&Scenario, sim::Options<'_>) -> Result<Recording, RunFailure>,
        each: impl Fn(Job, &Recording) -> T,
    ) -> Option<Finished<T>> {
        let attempt = || {
            let scenario = experiment.cells()[job.cell].scenario(job.seed);
            let digest = self.cache.digest(&scenario);
            let found = digest
                .as_ref()
                .and_then(|digest| self.cache.find(experiment, job, digest, self.cancel));
            let (recording, is_stored) = match found {
                Some(Found { recording, has_same_name }) => (recording, has_same_name),
                None => {
                    let options = sim::Options { cancel: Some(self.cancel), ..Default::default() };
                    (simulate(&scenario, options)?, false)
                }
            };
            let value = each(job, &recording);
            let to_store = digest.filter(|_| !is_stored).and_then(|digest| {
                self.cache.pack(experiment, job, &recording, &digest, self.cancel)
            });
            Ok::<_, RunFailure>((value, to_store))
        };
        let (result, to_store) = match catch_unwind(AssertUnwindSafe(attempt)) {
            Ok(Ok((value, to_store))) => (Ok(value), to_store),
            Ok(Err(_)) if self.cancel.load(Ordering::Relaxed) => return None,
            Ok(Err(failure)) => (Err(failure), None),
            Err(panic) => (Err(RunFailure::Panicked(panic_message(panic.as_ref()))), None),
        };
        Some(Finished { outcome: Outcome { job, result }, to_store })
    }

    /// The number of threads whose recordings fit into memory.
    fn threads(&self, experiments: &[Experiment]) -> usize {
        let cells = experiments.iter().flat_map(Experiment::cells);
        let largest = cells.map(Cell::sampled_values).max().unwrap_or(0);
        let fit = usize::try_from(MAX_CONCURRENT_VALUES / largest.max(1)).unwrap_or(usize::MAX);
        self.jobs.get().min(fit.max(1))
    }

    /// Distributes the jobs over the threads and restores the order of the outcomes.
    fn distribute<T: Send>(
        &self,
        jobs: &[Job],
        threads: usize,
        work: impl Fn(Job) -> Option<Finished<T>> + Sync,
        mut delivery: Delivery<'_, T, impl FnMut(Outcome<T>)>,
    ) -> Summary {
        let mut summary = Summary { total: jobs.len(), ..Summary::default() };
        self.pool(
            threads,
            jobs.len(),
            |index| work(jobs[index]),
            |receive| {
                self.collect(receive, &mut summary, &mut delivery);
            },
        );
        summary.cancelled = summary.done + summary.failed < summary.total;
        summary
    }

    /// Calls `work` for each index below `count` in one of the threads, and passes the results to
    /// `collect` in the calling thread, in the order in which they finish.
    pub(crate) fn pool<R: Send>(
        &self,
        threads: usize,
        count: usize,
        work: impl Fn(usize) -> R + Sync,
        collect: impl FnOnce(&mpsc::Receiver<(usize, R)>),
    ) {
        let next = AtomicUsize::new(0);
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (send, next, work) = (send.clone(), &next, &work);
                let thread = std::thread::Builder::new().name(THREAD_NAME.to_owned());
                let spawned = thread.spawn_scoped(scope, move || {
                    loop {
                        let index = self.take(next);
                        if index >= count || send.send((index, work(index))).is_err() {
                            return;
                        }
                    }
                });
                if spawned.is_err() {
                    break;
                }
            }
            drop(send);
            collect(&receive);
        });
    }

    /// The index of the next job; past the end if the batch is cancelled.
    fn take(&self, next: &AtomicUsize) -> usize {
        if self.cancel.load(Ordering::Relaxed) {
            usize::MAX
        } else {
            next.fetch_add(1, Ordering::Relaxed)
        }
    }

    fn collect<T>(
        &self,
        receive: &mpsc::Receiver<(usize, Option<Finished<T>>)>,
        summary: &mut Summary,
        delivery: &mut Delivery<'_, T, impl FnMut(Outcome<T>)>,
    ) {
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        loop {
            let received = match delivery.patience() {
                Some(patience) => receive.recv_timeout(patience),
                None => receive.recv().map_err(RecvTimeoutError::from),
            };
            let (index, finished) = match received {
                Ok(received) => received,
                Err(RecvTimeoutError::Timeout) => {
                    delivery.flush();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(finished) = &finished {
                if finished.outcome.result.is_ok() {
                    summary.done += 1;
                } else {
                    summary.failed += 1;
                }
                (self.progress)(summary.done + summary.failed, summary.total);
            }
            waiting.insert(index, finished);
            while let Some(finished) = waiting.remove(&expected) {
                expected += 1;
                finished.into_iter().for_each(|finished| delivery.push(finished));
            }
        }
        // A cancelled batch has gaps. The runs after a gap are delivered too.
        waiting.into_values().flatten().for_each(|finished| delivery.push(finished));
        delivery.flush();
    }
}

/// The name of the threads of runs, so that a panic hook can recognise them.
pub const THREAD_NAME: &str = "weir-run";

/// All runs of the experiments, in order.
fn jobs(experiments: &[Experiment]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (experiment, runs_of) in experiments.iter().enumerate() {
        for cell in 0..runs_of.cells().len() {
            jobs.extend((0..).zip(runs_of.seeds()).map(|(run, seed)| Job {
                experiment,
                cell,
                run,
                seed,
            }));
        }
    }
    jobs
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
