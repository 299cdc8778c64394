//! One job: its task, its state, and what it has found.

use super::live::Live;
use super::{AdviseTask, RealTimeTask, RunTask, VerifyTask};
use crate::messages::{Comparisons, JobKind, JobStatus, JobView, Mode, Ranking};
use lab::runner::Summary;
use report::FigureFile;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The greatest number of messages of a job that are kept. Our choice.
const MAX_MESSAGES: usize = 20;

/// What a job does.
pub(crate) enum Task {
    Run(RunTask),
    RealTime(RealTimeTask),
    Verify(VerifyTask),
    Advise(AdviseTask),
    Compare,
}

/// What a job has found, besides runs.
#[derive(Clone, Default)]
pub(crate) struct Found {
    pub(crate) figures: Arc<Vec<FigureFile>>,
    pub(crate) ranking: Option<Arc<Ranking>>,
    pub(crate) comparisons: Option<Arc<Comparisons>>,
}

/// A job.
pub(crate) struct Job {
    pub(crate) id: u64,
    title: String,
    pub(crate) task: Task,
    cancel: AtomicBool,
    change: AtomicU64,
    state: Mutex<State>,
    found: Mutex<Found>,
    /// The runs under way.
    pub(crate) live: Live,
}

struct State {
    status: JobStatus,
    done: usize,
    failed: usize,
    total: usize,
    messages: Vec<String>,
    runs: Vec<i64>,
}

impl Job {
    pub(super) fn new(id: u64, title: String, task: Task) -> Self {
        let total = match &task {
            Task::Run(task) => task.total(),
            Task::RealTime(task) => task.total,
            Task::Verify(_) | Task::Advise(_) | Task::Compare => 0,
        };
        let status = JobStatus::Waiting;
        let (messages, runs) = (Vec::new(), Vec::new());
        Self {
            id,
            title,
            task,
            cancel: AtomicBool::new(false),
            change: AtomicU64::new(0),
            state: Mutex::new(State { status, done: 0, failed: 0, total, messages, runs }),
            found: Mutex::default(),
            live: Live::default(),
        }
    }

    pub(crate) fn kind(&self) -> JobKind {
        match &self.task {
            Task::Run(_) | Task::RealTime(_) => JobKind::Run,
            Task::Verify(_) => JobKind::Verify,
            Task::Advise(_) => JobKind::Advise,
            Task::Compare => JobKind::Compare,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn found(&self) -> Found {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn find(&self, change: impl FnOnce(&mut Found)) {
        change(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The flag that stops the runs of the job.
    pub(super) fn cancelled(&self) -> &AtomicBool {
        &self.cancel
    }

    pub(super) fn is_finished(&self) -> bool {
        !matches!(self.state().status, JobStatus::Waiting | JobStatus::Running)
    }

    /// Cancels the job; does nothing if it is finished.
    pub(super) fn cancel(&self) {
        let mut state = self.state();
        if state.status == JobStatus::Waiting {
            state.status = JobStatus::Cancelled;
        }
        drop(state);
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Begins the job; `false` if it was cancelled while it waited.
    pub(super) fn begin(&self) -> bool {
        let mut state = self.state();
        let begins = state.status == JobStatus::Waiting;
        if begins {
            state.status = JobStatus::Running;
        }
        begins
    }

    /// Ends the job with the summary of its runs, or why there is none.
    pub(super) fn end(&self, result: Result<Summary, String>) {
        let mut state = self.state();
        let was_cancelled = self.cancel.load(Ordering::Relaxed);
        state.status = match result {
            Ok(summary) if summary.cancelled && was_cancelled => JobStatus::Cancelled,
            Ok(summary) => {
                (state.done, state.failed, state.total) =
                    (summary.done, summary.failed, summary.total);
                if summary.failed > 0 { JobStatus::Failed } else { JobStatus::Done }
            }
            Err(message) => {
                state.messages.push(message);
                JobStatus::Failed
            }
        };
    }

    pub(super) fn progress(&self, done: usize, total: usize) {
        let mut state = self.state();
        (state.done, state.total) = (done, total);
    }

    /// Adds a message about a failed run.
    pub(super) fn fail(&self, message: String) {
        let mut state = self.state();
        state.failed += 1;
        if state.messages.len() < MAX_MESSAGES {
            state.messages.push(message);
        }
    }

    /// Adds the number of a run in the store.
    pub(super) fn stored(&self, id: i64) {
        self.state().runs.push(id);
    }

    /// Notes that the job changed, in the change with this number.
    pub(super) fn touch(&self, change: u64) {
        self.change.store(change, Ordering::Relaxed);
    }

    pub(super) fn change(&self) -> u64 {
        self.change.load(Ordering::Relaxed)
    }

    pub(crate) fn view(&self) -> JobView {
        let state = self.state();
        let (at, end) = self.live.time();
        let under_way = self.live.share();
        let total = state.total.max(1) as f64;
        let share = match state.status {
            JobStatus::Done => 1.0,
            _ => ((state.done as f64 + under_way) / total).min(1.0),
        };
        let (experiment, mode) = match &self.task {
            Task::Run(task) => (task.experiment.name.clone(), Mode::Simulated),
            Task::RealTime(task) => (task.name.clone(), task.mode),
            Task::Verify(_) | Task::Advise(_) | Task::Compare => (String::new(), Mode::Simulated),
        };
        JobView {
            id: self.id,
            kind: self.kind(),
            title: self.title.clone(),
            experiment,
            mode,
            status: state.status,
            done: state.done,
            failed: state.failed,
            total: state.total,
            share,
            at,
            end,
            messages: state.messages.clone(),
            runs: state.runs.clone(),
        }
    }
}
