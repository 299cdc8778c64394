//! What the pages of a measured call tell its run: a queue of bounded length, and beside it what
//! must not be lost when that is full.

use super::message::{PageEvent, Seat};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The most events that wait for the run: at two statistics a second for each page, two minutes of
/// them.
const MAX_EVENTS: usize = 512;

/// What a seat's page did when the queue was full.
#[derive(Default)]
struct Unqueued {
    overflowed: AtomicBool,
    left: AtomicBool,
}

/// The pages' end of the queue.
pub(super) struct Teller {
    queue: SyncSender<(Seat, PageEvent)>,
    unqueued: Arc<[Unqueued; 2]>,
}

/// The run's end of the queue.
pub(super) struct Events {
    queue: Receiver<(Seat, PageEvent)>,
    unqueued: Arc<[Unqueued; 2]>,
}

pub(super) fn events() -> (Teller, Events) {
    let (sender, receiver) = sync_channel(MAX_EVENTS);
    let unqueued: Arc<[Unqueued; 2]> = Arc::default();
    (
        Teller { queue: sender, unqueued: Arc::clone(&unqueued) },
        Events { queue: receiver, unqueued },
    )
}

impl Teller {
    /// Tells the run; false if it does not read what it is told.
    pub(super) fn tell(&self, seat: Seat, event: PageEvent) -> bool {
        let told = self.queue.try_send((seat, event)).is_ok();
        if !told {
            self.unqueued[seat.index()].overflowed.store(true, Ordering::Relaxed);
        }
        told
    }

    /// Tells the run that the page is gone.
    pub(super) fn left(&self, seat: Seat) {
        if self.queue.try_send((seat, PageEvent::Left)).is_err() {
            self.unqueued[seat.index()].left.store(true, Ordering::Relaxed);
        }
    }
}

impl Events {
    /// The next, waiting for it at most this long.
    pub(super) fn next(&self, patience: Duration) -> Option<(Seat, PageEvent)> {
        let waiting = self.queue.try_recv().ok().or_else(|| self.unqueued());
        waiting.or_else(|| self.queue.recv_timeout(patience).ok())
    }

    /// What came after a full queue, once that is empty.
    fn unqueued(&self) -> Option<(Seat, PageEvent)> {
        let was = |flag: &AtomicBool| flag.swap(false, Ordering::Relaxed);
        Seat::ALL.into_iter().find_map(|seat| {
            let unqueued = &self.unqueued[seat.index()];
            if was(&unqueued.overflowed) {
                let what = "it told more than the run had time to read";
                return Some((seat, PageEvent::Failed(what.to_owned())));
            }
            was(&unqueued.left).then_some((seat, PageEvent::Left))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_loses_neither_that_it_was_full_nor_who_left() {
        let (teller, events) = events();
        for _ in 0..MAX_EVENTS {
            assert!(teller.tell(Seat::Caller, PageEvent::Ready));
        }
        assert!(!teller.tell(Seat::Callee, PageEvent::Ready));
        teller.left(Seat::Callee);
        teller.left(Seat::Caller);
        let next = || events.next(Duration::ZERO);
        for _ in 0..MAX_EVENTS {
            assert_eq!(next(), Some((Seat::Caller, PageEvent::Ready)));
        }
        assert_eq!(next(), Some((Seat::Caller, PageEvent::Left)));
        assert!(matches!(next(), Some((Seat::Callee, PageEvent::Failed(_)))));
        assert_eq!(next(), Some((Seat::Callee, PageEvent::Left)));
        assert_eq!(next(), None);
    }
}
