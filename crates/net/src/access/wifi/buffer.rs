//! The buffer of a contender, and the choice of the next receiver.

use super::config::{Buffer, DriverOrder, WifiDevice};
use super::window::{Feed, Held, Window};
use crate::packet::{DropReason, Packet};
use crate::queue::{Drops, Queue, Streams};
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// The airtime quantum of a receiver, in ns (Høiland-Jørgensen et al. 2017, § 3.2; Linux
/// `mac80211`, 300 µs).
const QUANTUM: i64 = 300_000;

/// The packets for one receiver.
#[derive(Default)]
pub(super) struct Receiver {
    /// Its own queue, if each receiver has one.
    queue: Option<Queue>,
    /// Packets that have left the queue and are not in a frame yet.
    staged: VecDeque<Held>,
    /// Frames that were sent and are not released.
    pub(super) window: Window,
    /// Transmissions in a row without acknowledgement; reset when a frame is given up.
    pub(super) failures: u32,
    /// Whether the first of them sampled a rate.
    pub(super) sampled: bool,
    /// The airtime that it may still use in this round, in ns.
    deficit: i64,
    /// Whether it is in one of the lists of [`Scheduling::Airtime`].
    listed: bool,
}

impl Receiver {
    fn is_empty(&self) -> bool {
        self.window.is_empty()
            && self.staged.is_empty()
            && self.queue.as_ref().is_none_or(|queue| queue.packets() == 0)
    }

    /// The position of the oldest packet in the driver; `None` if there is none.
    fn oldest(&self) -> Option<u64> {
        self.window.oldest().or_else(|| self.staged.front().map(|held| held.position))
    }

    fn packets(&self) -> usize {
        let queued = self.queue.as_ref().map_or(0, Queue::packets);
        queued + self.staged.len() + self.window.packets()
    }
}

/// The scheduling of receivers.
enum Scheduling {
    /// The driver's, behind the shared queue; a failed transmission is repeated at once.
    Driver { queue: Queue, limit: usize, order: DriverOrder, next: usize, again: Option<usize> },
    /// By airtime, new receivers first (Høiland-Jørgensen et al. 2017, algorithm 3).
    Airtime { new: VecDeque<usize>, old: VecDeque<usize> },
}

/// The packets that wait at a contender, for all of its receivers.
pub(super) struct Waiting {
    pub(super) receivers: Vec<Receiver>,
    scheduling: Scheduling,
    pub(super) lifetime: Option<Duration>,
    /// The number of packets that have entered a driver or the queue of a receiver.
    entries: u64,
}

impl Waiting {
    /// `streams` are the random streams of its queues, of which there may be one per receiver.
    pub(super) fn new(config: &WifiDevice, receivers: &[&str], streams: &Streams) -> Self {
        let (queue, scheduling) = match &config.buffer {
            Buffer::Shared { queue, driver, order } => {
                let limit = usize::try_from(*driver).unwrap_or(usize::MAX);
                let (queue, order) = (Queue::new(queue, streams), *order);
                (None, Scheduling::Driver { queue, limit, order, next: 0, again: None })
            }
            Buffer::PerStation { queue } => {
                (Some(queue), Scheduling::Airtime { new: VecDeque::new(), old: VecDeque::new() })
            }
        };
        let receiver = |name: &&str| Receiver {
            queue: queue.map(|queue| Queue::new(queue, &streams.within(name))),
            deficit: QUANTUM,
            ..Receiver::default()
        };
        let receivers = receivers.iter().map(receiver).collect();
        Self { receivers, scheduling, lifetime: config.msdu_lifetime, entries: 0 }
    }

    /// Queues a packet for a receiver; `of` tells the receiver of any packet.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        receiver: usize,
        of: impl Fn(&Packet) -> usize,
        drops: &mut impl Drops,
    ) {
        match &mut self.scheduling {
            Scheduling::Driver { queue, .. } => {
                queue.enqueue(now, packet, drops);
                self.refill(now, of, drops);
            }
            Scheduling::Airtime { new, old } => {
                let each = &mut self.receivers[receiver];
                if let Some(queue) = &mut each.queue {
                    queue.enqueue(now, packet, drops);
                }
                if !each.listed {
                    each.listed = true;
                    // A receiver with a debt of airtime is not new.
                    if each.deficit > 0 { new.push_back(receiver) } else { old.push_back(receiver) }
                }
            }
        }
    }

    /// Moves packets from the shared queue into the driver's buffer while it has room.
    pub(super) fn refill(
        &mut self,
        now: Time,
        of: impl Fn(&Packet) -> usize,
        drops: &mut impl Drops,
    ) {
        let Scheduling::Driver { queue, limit, .. } = &mut self.scheduling else { return };
        let mut held: usize = self.receivers.iter().map(Receiver::packets).sum();
        while held < *limit
            && let Some((packet, sojourn)) = queue.dequeue(now, drops)
        {
            held += 1;
            let came = now.saturating_sub(sojourn);
            let position = self.entries;
            self.entries += 1;
            let entry = Held { packet, came, entered: now, position };
            self.receivers[of(&packet)].staged.push_back(entry);
        }
    }

    /// Whether there is no packet to send.
    pub(super) fn is_empty(&self) -> bool {
        // A shared queue holds packets only while the driver's buffer is full.
        self.receivers.iter().all(Receiver::is_empty)
    }

    /// The receiver to serve next; `None` if there are no packets.
    pub(super) fn next_receiver(&mut self) -> Option<usize> {
        let receivers = &mut self.receivers;
        match &mut self.scheduling {
            Scheduling::Driver { order, next, again, .. } => {
                let count = receivers.len();
                let waits = |index: &usize| !receivers[*index].is_empty();
                let by_order = || match order {
                    DriverOrder::RoundRobin => {
                        (0..count).map(|step| (*next + step) % count).find(waits)
                    }
                    DriverOrder::Fifo => {
                        (0..count).filter(waits).min_by_key(|index| receivers[*index].oldest())
                    }
                };
                let chosen = again.filter(waits).or_else(by_order)?;
                *next = (chosen + 1) % count;
                Some(chosen)
            }
            Scheduling::Airtime { new, old } => loop {
                let of_new = !new.is_empty();
                let chosen = if of_new { new.front() } else { old.front() }.copied()?;
                let each = &mut receivers[chosen];
                let list = if of_new { &mut *new } else { &mut *old };
                if each.deficit <= 0 {
                    each.deficit += QUANTUM;
                    list.pop_front();
                    old.push_back(chosen);
                } else if each.is_empty() {
                    list.pop_front();
                    if of_new {
                        // It stays in the list for another round, so that it does not become new
                        // again at once.
                        old.push_back(chosen);
                    } else {
                        each.listed = false;
                    }
                } else {
                    return Some(chosen);
                }
            },
        }
    }

    /// Keeps the turn of a receiver that could not use it.
    pub(super) fn keep_turn(&mut self, receiver: usize) {
        if let Scheduling::Driver { again, .. } = &mut self.scheduling {
            *again = Some(receiver);
        }
    }

    /// Ends a transmission to a receiver: it is repeated at once, or the count of failures is
    /// reset.
    pub(super) fn concluded(&mut self, receiver: usize, repeat: bool) {
        let failures = &mut self.receivers[receiver].failures;
        *failures = if repeat { *failures + 1 } else { 0 };
        if let Scheduling::Driver { again, .. } = &mut self.scheduling {
            *again = repeat.then_some(receiver);
        }
    }

    /// Charges a receiver for the airtime that it used, for sending or receiving, if other
    /// receivers waited meanwhile.
    pub(super) fn charge(&mut self, receiver: usize, airtime: Duration) {
        let waits = |(index, each): (usize, &Receiver)| index != receiver && !each.is_empty();
        if !self.receivers.iter().enumerate().any(waits) {
            return;
        }
        let airtime = i64::try_from(airtime.as_nanos()).unwrap_or(i64::MAX);
        let deficit = &mut self.receivers[receiver].deficit;
        *deficit = deficit.saturating_sub(airtime);
    }

    /// The window and the packets that the next transmission to a receiver is composed of.
    pub(super) fn feed<'a, D: Drops>(
        &'a mut self,
        receiver: usize,
        now: Time,
        drops: &'a mut D,
    ) -> (&'a mut Window, Staged<'a, D>) {
        let Receiver { queue, staged, window, .. } = &mut self.receivers[receiver];
        let lifetime = self.lifetime;
        (window, Staged { staged, queue: queue.as_mut(), lifetime, now, drops })
    }
}

/// Whether the lifetime of a packet that entered then is over.
pub(super) fn expired(lifetime: Option<Duration>, entered: Time, now: Time) -> bool {
    lifetime.is_some_and(|lifetime| now.saturating_since(entered) > lifetime)
}

/// The packets for one receiver, in order.
pub(super) struct Staged<'a, D> {
    staged: &'a mut VecDeque<Held>,
    queue: Option<&'a mut Queue>,
    lifetime: Option<Duration>,
    now: Time,
    drops: &'a mut D,
}

impl<D: Drops> Feed for Staged<'_, D> {
    fn peek(&mut self) -> Option<Bytes> {
        loop {
            if self.staged.is_empty()
                && let Some(queue) = &mut self.queue
                && let Some((packet, sojourn)) = queue.dequeue(self.now, self.drops)
            {
                let came = self.now.saturating_sub(sojourn);
                self.staged.push_back(Held { packet, came, entered: came, position: 0 });
            }
            let next = self.staged.front()?;
            if !expired(self.lifetime, next.entered, self.now) {
                return Some(next.packet.size);
            }
            let held = self.staged.pop_front()?;
            self.drops.drop(held.packet, DropReason::Discarded);
        }
    }

    fn take(&mut self) -> Option<Held> {
        self.staged.pop_front()
    }
}
