//! Stores finished runs in groups and then delivers their outcomes.

use super::{Finished, Outcome, RunCache};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use store::PackedRun;

/// The longest time that a finished run waits for others before it is stored. A transaction waits
/// four times for the disk, so one per run costs more than the run. This is half of the
/// 100 ms of work that a killed process may lose; writing the group takes the rest.
const MAX_WAIT: Duration = Duration::from_millis(50);
/// The greatest size of a group, in bytes of compressed series, to bound memory. Our choice.
const MAX_BYTES: usize = 64 << 20;

/// Finished runs that wait to be stored together. Their outcomes are delivered after that, so that
/// every run whose outcome was delivered is in the store.
pub(super) struct Delivery<'a, T, S> {
    cache: &'a RunCache,
    cancel: &'a AtomicBool,
    sink: S,
    waiting: Vec<Outcome<T>>,
    packed: Vec<PackedRun>,
    bytes: usize,
    /// When the group has to be stored at the latest; `None` if no run waits.
    deadline: Option<Instant>,
}

impl<'a, T, S: FnMut(Outcome<T>)> Delivery<'a, T, S> {
    pub(super) fn new(cache: &'a RunCache, cancel: &'a AtomicBool, sink: S) -> Self {
        let (waiting, packed) = (Vec::new(), Vec::new());
        Self { cache, cancel, sink, waiting, packed, bytes: 0, deadline: None }
    }

    /// Takes the next run in the order of the jobs.
    pub(super) fn push(&mut self, finished: Finished<T>) {
        let Finished { outcome, to_store } = finished;
        self.waiting.push(outcome);
        if let Some(packed) = to_store {
            self.bytes += packed.bytes();
            self.packed.push(packed);
            let latest = self.deadline.unwrap_or_else(|| now() + MAX_WAIT);
            self.deadline = Some(latest);
        }
        if self.packed.is_empty() || self.bytes >= MAX_BYTES {
            self.flush();
        }
    }

    /// How long the next run may be waited for; `None` if no run waits to be stored.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.deadline.map(|latest| latest.saturating_duration_since(now()))
    }

    /// Stores the waiting runs and delivers their outcomes.
    pub(super) fn flush(&mut self) {
        if !self.packed.is_empty() {
            self.cache.insert_simulated(&self.packed, self.cancel);
        }
        self.packed.clear();
        self.bytes = 0;
        self.deadline = None;
        self.waiting.drain(..).for_each(&mut self.sink);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "decides when runs are stored, not what they contain"
)]
fn now() -> Instant {
    Instant::now()
}
