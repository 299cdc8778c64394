//! Stores finished runs in groups and then delivers their outcomes.

use super::{Finished, Outcome, RunCache};
use crate::deadline::Deadline;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::PackedRun;

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
    deadline: Deadline,
}

impl<'a, T, S: FnMut(Outcome<T>)> Delivery<'a, T, S> {
    pub(super) fn new(cache: &'a RunCache, cancel: &'a AtomicBool, sink: S) -> Self {
        let (waiting, packed) = (Vec::new(), Vec::new());
        Self { cache, cancel, sink, waiting, packed, bytes: 0, deadline: Deadline::default() }
    }

    /// Takes the next run in the order of the jobs.
    pub(super) fn push(&mut self, finished: Finished<T>) {
        let Finished { outcome, to_store } = finished;
        self.waiting.push(outcome);
        if let Some(packed) = to_store {
            self.bytes += packed.bytes();
            self.packed.push(packed);
            self.deadline.start();
        }
        if self.packed.is_empty() || self.bytes >= MAX_BYTES {
            self.flush();
        }
    }

    /// How long the next run may be waited for; `None` if no run waits to be stored.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.deadline.patience()
    }

    /// Stores the waiting runs and delivers their outcomes.
    pub(super) fn flush(&mut self) {
        if !self.packed.is_empty() {
            self.cache.insert_simulated(&self.packed, self.cancel);
        }
        self.packed.clear();
        self.bytes = 0;
        self.deadline.clear();
        self.waiting.drain(..).for_each(&mut self.sink);
    }
}
