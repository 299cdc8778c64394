//! The queue of events from the pages of a measured call to its run. Its length is limited; that a
//! page overflowed the queue or left is kept in flags, and so is not lost if the queue is full.

use super::MAX_PARTICIPANTS;
use super::message::{CallRole, PageEvent};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The maximum number of queued events. Two pages that each send two statistics per second fill
/// the queue in about two minutes.
const MAX_EVENTS: usize = 512;

/// What happened to a page while the queue was full.
#[derive(Default)]
struct Unqueued {
    overflowed: AtomicBool,
    left: AtomicBool,
}

/// The pages' end of the queue.
pub(super) struct EventSender {
    queue: SyncSender<(CallRole, PageEvent)>,
    unqueued: Arc<[Unqueued; MAX_PARTICIPANTS]>,
}

/// The run's end of the queue.
pub(super) struct EventReceiver {
    queue: Receiver<(CallRole, PageEvent)>,
    unqueued: Arc<[Unqueued; MAX_PARTICIPANTS]>,
}

pub(super) fn event_queue() -> (EventSender, EventReceiver) {
    let (sender, receiver) = sync_channel(MAX_EVENTS);
    let unqueued: Arc<[Unqueued; MAX_PARTICIPANTS]> = Arc::default();
    (
        EventSender { queue: sender, unqueued: Arc::clone(&unqueued) },
        EventReceiver { queue: receiver, unqueued },
    )
}

impl EventSender {
    /// Queues an event; `false` if the queue is full or the run has ended.
    pub(super) fn send(&self, role: CallRole, event: PageEvent) -> bool {
        let is_sent = self.queue.try_send((role, event)).is_ok();
        if !is_sent {
            self.unqueued[role.index()].overflowed.store(true, Ordering::Relaxed);
        }
        is_sent
    }

    /// Tells the run that the page has left.
    pub(super) fn send_left(&self, role: CallRole) {
        if self.queue.try_send((role, PageEvent::Left)).is_err() {
            self.unqueued[role.index()].left.store(true, Ordering::Relaxed);
        }
    }
}

impl EventReceiver {
    /// The next event; `None` if none comes within `timeout`.
    pub(super) fn next(&self, timeout: Duration) -> Option<(CallRole, PageEvent)> {
        let waiting = self.queue.try_recv().ok().or_else(|| self.unqueued());
        waiting.or_else(|| self.queue.recv_timeout(timeout).ok())
    }

    /// The next event that is kept in the flags. Call this when the queue is empty: these events
    /// came after the queued ones.
    fn unqueued(&self) -> Option<(CallRole, PageEvent)> {
        let take = |flag: &AtomicBool| flag.swap(false, Ordering::Relaxed);
        CallRole::ALL.into_iter().find_map(|role| {
            let unqueued = &self.unqueued[role.index()];
            if take(&unqueued.overflowed) {
                let reason = "the page sent more events than the run had time to read";
                return Some((role, PageEvent::Failed(reason.to_owned())));
            }
            take(&unqueued.left).then_some((role, PageEvent::Left))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_still_reports_the_overflow_and_who_left() {
        let (sender, receiver) = event_queue();
        for _ in 0..MAX_EVENTS {
            assert!(sender.send(CallRole::Caller, PageEvent::Ready));
        }
        assert!(!sender.send(CallRole::Callee, PageEvent::Ready));
        sender.send_left(CallRole::Callee);
        sender.send_left(CallRole::Caller);
        let next = || receiver.next(Duration::ZERO);
        for _ in 0..MAX_EVENTS {
            assert_eq!(next(), Some((CallRole::Caller, PageEvent::Ready)));
        }
        assert_eq!(next(), Some((CallRole::Caller, PageEvent::Left)));
        assert!(matches!(next(), Some((CallRole::Callee, PageEvent::Failed(_)))));
        assert_eq!(next(), Some((CallRole::Callee, PageEvent::Left)));
        assert_eq!(next(), None);
    }
}
