//! Hierarchical token bucket: a tree of classes, each with a guaranteed rate, which borrow the
//! bandwidth that others leave unused (tc-htb; Devera, 'HTB Linux queuing discipline manual', 2002;
//! Linux `net/sched/sch_htb.c`).
//!
//! ```text
//!             1:1 rate 1Mbit                 a class is green while it is under its rate: it sends;
//!            /              \                yellow between rate and ceil: it borrows from its parent, if that is green;
//!  1:10 rate 204kbit   1:20 rate 8bit        red at its ceil: it waits.
//!       ceil 1Mbit          ceil 1Mbit
//! ```
//!
//! Leaves that may send at the same level and priority are served round-robin, a quantum each. The
//! lowest level goes first, then the lowest `prio`: green leaves send before leaves that borrow.
//!
//! | where it differs | Linux | here |
//! |---|---|---|
//! | sizes | with the link's header (14 bytes on Ethernet) | IP packets; `overhead 14` counts the header |
//! | tokens | through a reciprocal table, rounded | exact to the nanosecond |
//! | classes by firewall mark or socket priority | yes | filters only |
//! | children added to a class with a queue | the queue is deleted | refused |
//! | a burst of over 275 s at the class's rate | tc's 32 bits overflow: at 8 bit/s, 225 of 1600 bytes | as written |

mod config;
mod feed;
mod tree;

pub(super) use config::{CLASS_USAGE, MAX_DEPTH, USAGE};
pub use config::{HtbClass, HtbConfig};

use super::QueueConfig;
use super::droptail::{DropTail, Limit};
use super::filter::{Filter, classify};
use super::{Drops, Queue, QueueDiscipline, Streams};
use crate::packet::Packet;
use tree::{Class, Tree};
use units::{Bytes, Duration, Time};

/// HTB.
pub(crate) struct Htb {
    tree: Tree,
    /// The queue of each class; `None` for inner classes.
    leaves: Vec<Option<Queue>>,
    filters: Vec<Filter>,
    /// The filters of each inner class.
    inner_filters: Vec<Vec<Filter>>,
    /// The minor number of each class, ascending.
    minors: Vec<u16>,
    default: Option<u16>,
    /// Packets that belong to no class: they are served first, at any rate.
    direct: DropTail,
    packets: usize,
    /// No packet can leave before this time unless another arrives; `None`: unknown.
    stalled: Option<Time>,
}

impl Htb {
    pub(crate) fn new(config: &HtbConfig, streams: &Streams) -> Self {
        // In the order of their numbers, as Linux serves them.
        let mut classes: Vec<&HtbClass> = config.classes.iter().collect();
        classes.sort_by_key(|class| class.minor);
        let minors: Vec<u16> = classes.iter().map(|class| class.minor).collect();
        let index = |minor: u16| minors.binary_search(&minor).ok();
        let parents: Vec<Option<usize>> =
            classes.iter().map(|class| class.parent.and_then(index)).collect();
        let is_inner = |index: usize| parents.contains(&Some(index));
        let pfifo = QueueConfig::Pfifo(config.direct_qlen);
        let leaf = |(index, class): (usize, &&HtbClass)| {
            let within = || streams.within(&format!("{:x}", class.minor));
            (!is_inner(index)).then(|| Queue::new(class.leaf.as_ref().unwrap_or(&pfifo), &within()))
        };
        Self {
            leaves: classes.iter().enumerate().map(leaf).collect(),
            tree: Tree::new(
                classes
                    .iter()
                    .zip(&parents)
                    .map(|(class, &parent)| Class::new(class, parent, config.r2q)),
            ),
            filters: config.filters.clone(),
            inner_filters: classes.iter().map(|class| class.filters.clone()).collect(),
            default: (config.default != 0).then_some(config.default),
            minors,
            direct: DropTail::new(Limit::Packets(config.direct_qlen)),
            packets: 0,
            stalled: None,
        }
    }

    fn index(&self, minor: u16) -> Option<usize> {
        self.minors.binary_search(&minor).ok()
    }

    /// The leaf of a packet; `None` if it bypasses the classes.
    fn leaf(&self, packet: &Packet) -> Option<usize> {
        let mut filters = &self.filters;
        while let Some(minor) = classify(filters, packet) {
            if minor == 0 {
                return None;
            }
            let Some(index) = self.index(minor) else { break };
            if self.leaves[index].is_some() {
                return Some(index);
            }
            filters = &self.inner_filters[index];
        }
        let index = self.index(self.default?)?;
        self.leaves[index].is_some().then_some(index)
    }

    /// Dequeues a packet from the leaves that may send at this level and priority.
    fn take(
        &mut self,
        now: Time,
        level: usize,
        prio: usize,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration)> {
        let mut first = None;
        loop {
            let index = self.tree.next_leaf(level, prio)?;
            let queue = self.leaves[index].as_mut()?;
            let before = queue.packets();
            let taken = queue.dequeue(now, drops);
            let left = queue.packets();
            self.packets -= before - left;
            if let Some((packet, _)) = &taken {
                self.tree.turn(index, level, prio, packet.size);
            }
            if left == 0 {
                self.tree.deactivate(index);
            }
            if let Some((packet, sojourn)) = taken {
                self.tree.charge(now, index, level, packet.size);
                return Some((packet, sojourn));
            }
            if left > 0 {
                // The leaf's own queue shapes and holds its packets back: try the next leaf, until
                // all were tried.
                if first == Some(index) {
                    return None;
                }
                first.get_or_insert(index);
                self.tree.pass(index, level, prio);
            }
        }
    }
}

impl QueueDiscipline for Htb {
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        self.stalled = None;
        let Some(index) = self.leaf(&packet) else {
            let before = self.direct.packets();
            self.direct.enqueue(now, packet, drops);
            self.packets += self.direct.packets() - before;
            return;
        };
        let Some(queue) = &mut self.leaves[index] else { return };
        let before = queue.packets();
        queue.enqueue(now, packet, drops);
        let after = queue.packets();
        self.packets = self.packets + after - before;
        // The queue may have dropped this packet, or others until it was empty.
        match after {
            0 => self.tree.deactivate(index),
            _ => self.tree.activate(index),
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        if let Some(taken) = self.direct.dequeue(now, drops) {
            self.packets -= 1;
            return Some(taken);
        }
        for level in 0..MAX_DEPTH {
            self.tree.change_modes(now, level);
            for prio in self.tree.ready(level) {
                if let Some(taken) = self.take(now, level, prio, drops) {
                    return Some(taken);
                }
            }
        }
        let shaping = self.leaves.iter().flatten().filter_map(|queue| queue.next_ready(now));
        let shaping = shaping.filter(|&at| at > now);
        self.stalled = Some(shaping.chain(self.tree.next_change()).min().unwrap_or(Time::MAX));
        None
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        (self.packets > 0).then(|| self.stalled.map_or(now, |at| at.max(now)))
    }

    fn oldest(&self) -> Option<Time> {
        let leaves = self.leaves.iter().flatten().filter_map(Queue::oldest);
        leaves.chain(self.direct.oldest()).min()
    }

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> Bytes {
        let leaves: Bytes = self.leaves.iter().flatten().map(Queue::bytes).sum();
        leaves + self.direct.bytes()
    }
}

#[cfg(test)]
mod tests;
