//! Where a device's packets wait, and whose turn it is.

use super::config::Buffer;
use super::window::{Feed, Held, Window};
use crate::packet::Packet;
use crate::queue::{Drops, Queue, Streams};
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// The airtime that a receiver is given at a time (Høiland-Jørgensen et al. 2017, § 3.2; Linux
/// `mac80211`, 300 µs).
const QUANTUM: i64 = 300_000;

/// What waits for one receiver.
#[derive(Default)]
pub(super) struct Receiver {
    /// Its own queue, where each receiver has one.
    queue: Option<Queue>,
    /// Packets that have left a queue and are not in a frame yet.
    staged: VecDeque<Held>,
    /// What has been sent and not let go of.
    pub(super) window: Window,
    /// Transmissions without any acknowledgement, since the last that had one or gave a frame up.
    pub(super) failures: u32,
    /// Whether the first of them was to try out a rate.
    pub(super) sampled: bool,
    /// Airtime that it may use before others have had theirs, in nanoseconds.
    deficit: i64,
    /// Whether it waits for its turn.
    listed: bool,
}

impl Receiver {
    fn is_empty(&self) -> bool {
        self.window.is_empty()
            && self.staged.is_empty()
            && self.queue.as_ref().is_none_or(|queue| queue.packets() == 0)
    }

    fn packets(&self) -> usize {
        let queued = self.queue.as_ref().map_or(0, Queue::packets);
        queued + self.staged.len() + self.window.packets()
    }
}

/// How the receivers take turns.
enum Turns {
    /// The driver's: one after the other; what failed is repeated at once.
    RoundRobin { queue: Queue, driver: usize, next: usize, again: Option<usize> },
    /// By airtime, those that are new first (Høiland-Jørgensen et al. 2017, algorithm 3).
    Airtime { new: VecDeque<usize>, old: VecDeque<usize> },
}

/// What waits at one who contends, for all of its receivers.
pub(super) struct Waiting {
    pub(super) receivers: Vec<Receiver>,
    turns: Turns,
}

impl Waiting {
    /// `streams` are those of its queues, of which there may be one a receiver.
    pub(super) fn new(config: &Buffer, receivers: &[&str], streams: &Streams) -> Self {
        let (queue, turns) = match config {
            Buffer::Shared { queue, driver } => {
                let driver = usize::try_from(*driver).unwrap_or(usize::MAX);
                let queue = Queue::new(queue, streams);
                (None, Turns::RoundRobin { queue, driver, next: 0, again: None })
            }
            Buffer::PerStation { queue } => {
                (Some(queue), Turns::Airtime { new: VecDeque::new(), old: VecDeque::new() })
            }
        };
        let receiver = |name: &&str| Receiver {
            queue: queue.map(|queue| Queue::new(queue, &streams.within(name))),
            deficit: QUANTUM,
            ..Receiver::default()
        };
        Self { receivers: receivers.iter().map(receiver).collect(), turns }
    }

    /// Takes in a packet for that receiver; `of` knows the receiver of any.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        receiver: usize,
        of: impl Fn(&Packet) -> usize,
        drops: &mut impl Drops,
    ) {
        match &mut self.turns {
            Turns::RoundRobin { queue, .. } => {
                queue.enqueue(now, packet, drops);
                self.refill(now, of, drops);
            }
            Turns::Airtime { new, old } => {
                let each = &mut self.receivers[receiver];
                if let Some(queue) = &mut each.queue {
                    queue.enqueue(now, packet, drops);
                }
                if !each.listed {
                    each.listed = true;
                    // Who owes airtime is not new.
                    if each.deficit > 0 { new.push_back(receiver) } else { old.push_back(receiver) }
                }
            }
        }
    }

    /// Moves packets on into the driver's buffer while it has room.
    pub(super) fn refill(
        &mut self,
        now: Time,
        of: impl Fn(&Packet) -> usize,
        drops: &mut impl Drops,
    ) {
        let Turns::RoundRobin { queue, driver, .. } = &mut self.turns else { return };
        let mut held: usize = self.receivers.iter().map(Receiver::packets).sum();
        while held < *driver
            && let Some((packet, sojourn)) = queue.dequeue(now, drops)
        {
            held += 1;
            let came = now.saturating_sub(sojourn);
            self.receivers[of(&packet)].staged.push_back(Held { packet, came });
        }
    }

    /// Whether there is nothing to send.
    pub(super) fn is_empty(&self) -> bool {
        // A shared queue holds packets only while the driver's buffer is full.
        self.receivers.iter().all(Receiver::is_empty)
    }

    /// Whose turn it is.
    pub(super) fn turn(&mut self) -> Option<usize> {
        let receivers = &mut self.receivers;
        match &mut self.turns {
            Turns::RoundRobin { next, again, .. } => {
                let count = receivers.len();
                let waits = |place: &usize| !receivers[*place].is_empty();
                let from_next = || (0..count).map(|step| (*next + step) % count).find(waits);
                let chosen = again.filter(waits).or_else(from_next)?;
                *next = (chosen + 1) % count;
                Some(chosen)
            }
            Turns::Airtime { new, old } => loop {
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
                        // It stays in turn once, lest it always be new.
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

    /// That receiver's turn was not used.
    pub(super) fn put_off(&mut self, receiver: usize) {
        if let Turns::RoundRobin { again, .. } = &mut self.turns {
            *again = Some(receiver);
        }
    }

    /// A transmission to that receiver is over: it is repeated at once, or what follows begins
    /// anew.
    pub(super) fn concluded(&mut self, receiver: usize, repeat: bool) {
        let failures = &mut self.receivers[receiver].failures;
        *failures = if repeat { *failures + 1 } else { 0 };
        if let Turns::RoundRobin { again, .. } = &mut self.turns {
            *again = repeat.then_some(receiver);
        }
    }

    /// That receiver held the channel for so long, with what it got or sent. It owes that to others
    /// who waited meanwhile.
    pub(super) fn charge(&mut self, receiver: usize, airtime: Duration) {
        let waits = |(place, each): (usize, &Receiver)| place != receiver && !each.is_empty();
        if !self.receivers.iter().enumerate().any(waits) {
            return;
        }
        let airtime = i64::try_from(airtime.as_nanos()).unwrap_or(i64::MAX);
        let deficit = &mut self.receivers[receiver].deficit;
        *deficit = deficit.saturating_sub(airtime);
    }

    /// What the next transmission to that receiver is made of.
    pub(super) fn feed<'a, D: Drops>(
        &'a mut self,
        receiver: usize,
        now: Time,
        drops: &'a mut D,
    ) -> (&'a mut Window, Staged<'a, D>) {
        let Receiver { queue, staged, window, .. } = &mut self.receivers[receiver];
        (window, Staged { staged, queue: queue.as_mut(), now, drops })
    }
}

/// The packets for one receiver, in order.
pub(super) struct Staged<'a, D> {
    staged: &'a mut VecDeque<Held>,
    queue: Option<&'a mut Queue>,
    now: Time,
    drops: &'a mut D,
}

impl<D: Drops> Feed for Staged<'_, D> {
    fn peek(&mut self) -> Option<Bytes> {
        if self.staged.is_empty()
            && let Some(queue) = &mut self.queue
            && let Some((packet, sojourn)) = queue.dequeue(self.now, self.drops)
        {
            self.staged.push_back(Held { packet, came: self.now.saturating_sub(sojourn) });
        }
        self.staged.front().map(|held| held.packet.size)
    }

    fn take(&mut self) -> Option<Held> {
        self.staged.pop_front()
    }
}
