//! Jobs: experiments that run, claims that are verified, advice and comparisons.
//!
//! Jobs wait in one of two lanes, so that a long verification does not hold up a run. Each lane
//! works on one job at a time, with the threads of `lab::runner`. Finished runs are in the store
//! before they are reported, so a killed server loses only the runs that were under way.

mod advise;
mod compare;
mod job;
mod live;
mod real_time;
mod run;
mod verify;

pub(crate) use advise::AdviseTask;
pub(crate) use job::{Job, Task};
pub(crate) use real_time::{RealTime, RealTimeTask};
pub(crate) use run::RunTask;
pub(crate) use verify::VerifyTask;

use crate::MAX_WAITING;
use crate::data::Runs;
use crate::messages::{JobKind, JobView, RunRow, VerdictRow};
use lab::claims::Catalogue;
use lab::runner::{RunCache, Runner, Summary};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The greatest number of finished jobs that are remembered, to bound memory. Our choice.
const MAX_FINISHED: usize = 200;

/// The jobs of a dashboard.
pub(crate) struct Jobs {
    board: Arc<Board>,
    /// The lane of runs, and that of everything else.
    lanes: [Sender<Arc<Job>>; 2],
}

/// What the threads of the jobs and the pages share.
pub(crate) struct Board {
    pub(crate) runs: Arc<Runs>,
    pub(crate) catalogue: Arc<Catalogue>,
    jobs: Mutex<Vec<Arc<Job>>>,
    /// The newest verdict on each claim, by its id.
    verdicts: Mutex<BTreeMap<String, VerdictRow>>,
    /// Counts the changes of jobs.
    changes: watch::Sender<u64>,
    threads: NonZeroUsize,
    real_time: Option<RealTime>,
}

/// Too many jobs wait.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{MAX_WAITING} jobs are waiting already; cancel some, or wait until one is finished")]
pub(crate) struct Full;

impl Jobs {
    /// Starts the threads of the lanes.
    pub(crate) fn start(
        runs: Arc<Runs>,
        catalogue: Arc<Catalogue>,
        threads: NonZeroUsize,
        real_time: Option<RealTime>,
    ) -> io::Result<Self> {
        let board = Arc::new(Board {
            runs,
            catalogue,
            jobs: Mutex::default(),
            verdicts: Mutex::default(),
            changes: watch::channel(0).0,
            threads,
            real_time,
        });
        let lane = |name: &str| {
            let (send, receive) = channel();
            let board = Arc::clone(&board);
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(move || work(&board, &receive)).map(|_| send)
        };
        let lanes = [lane("runs")?, lane("studies")?];
        Ok(Self { board, lanes })
    }

    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// Adds a job at the end of its lane.
    pub(crate) fn add(&self, title: String, task: Task) -> Result<Arc<Job>, Full> {
        let job = {
            let mut jobs = self.board.jobs();
            if jobs.iter().filter(|job| !job.is_finished()).count() >= MAX_WAITING {
                return Err(Full);
            }
            let finished: Vec<u64> =
                jobs.iter().filter(|job| job.is_finished()).map(|job| job.id).collect();
            if let Some(oldest) = finished.first().filter(|_| finished.len() >= MAX_FINISHED) {
                jobs.retain(|job| job.id != *oldest);
            }
            let id = jobs.last().map_or(1, |job| job.id + 1);
            let job = Arc::new(Job::new(id, title, task));
            jobs.push(Arc::clone(&job));
            job
        };
        let lane = usize::from(job.kind() != JobKind::Run);
        // The threads of the lanes live as long as their senders.
        let _ = self.lanes[lane].send(Arc::clone(&job));
        self.board.changed(&job);
        Ok(job)
    }

    /// The job with this number.
    pub(crate) fn get(&self, id: u64) -> Option<Arc<Job>> {
        self.board.jobs().iter().find(|job| job.id == id).cloned()
    }

    /// Cancels a job. Its finished runs stay in the store.
    pub(crate) fn cancel(&self, job: &Job) {
        job.cancel();
        self.board.changed(job);
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.board.jobs().iter().for_each(|job| job.cancel());
    }
}

impl Board {
    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verdicts_locked(&self) -> MutexGuard<'_, BTreeMap<String, VerdictRow>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The verdicts since the start of the server, by claim.
    pub(crate) fn verdicts(&self) -> BTreeMap<String, VerdictRow> {
        self.verdicts_locked().clone()
    }

    /// Tells the pages that a job has changed.
    fn changed(&self, job: &Job) {
        self.changes.send_modify(|count| {
            *count += 1;
            job.touch(*count);
        });
    }

    /// A receiver of the number of changes.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The jobs that have changed since the change with this number, the newest last.
    pub(crate) fn since(&self, change: u64) -> Vec<JobView> {
        self.jobs().iter().filter(|job| job.change() > change).map(|job| job.view()).collect()
    }

    /// Runs `work` with a runner that reports progress and keeps the runs in the store.
    fn with_runner(
        &self,
        job: &Job,
        work: impl FnOnce(Runner<'_>) -> Result<Summary, String>,
    ) -> Result<Summary, String> {
        let cache = RunCache::open(Some(self.runs.path())).map_err(|error| error.to_string())?;
        let progress = |done, total| {
            job.progress(done, total);
            self.changed(job);
        };
        let runner = Runner {
            jobs: self.threads,
            cancel: job.cancelled(),
            progress: &progress,
            cache: &cache,
        };
        let result = work(runner);
        match cache.finish().error {
            Some(error) => Err(error.to_string()),
            None => result,
        }
    }
}

/// Works on the jobs of a lane until the dashboard is dropped.
fn work(board: &Board, lane: &Receiver<Arc<Job>>) {
    while let Ok(job) = lane.recv() {
        if !job.begin() {
            continue;
        }
        board.changed(&job);
        let result = match &job.task {
            Task::Run(task) => run::work(board, &job, task),
            Task::RealTime(task) => real_time::work(board, &job, task),
            Task::Verify(task) => verify::work(board, &job, task),
            Task::Advise(task) => advise::work(board, &job, task),
            Task::Compare => compare::work(board, &job),
        };
        job.end(result);
        board.changed(&job);
    }
}

/// The runs of an experiment and cell, for the list beside a run.
pub(crate) fn siblings(all: Vec<RunRow>, of: &RunRow) -> Vec<RunRow> {
    let is_sibling = |run: &RunRow| run.experiment == of.experiment && run.id != of.id;
    all.into_iter().filter(is_sibling).take(MAX_SIBLINGS).collect()
}

/// The greatest number of runs beside a run. Our choice.
const MAX_SIBLINGS: usize = 500;
