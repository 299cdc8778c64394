//! Queue disciplines: where packets wait for a line. One file each, one line in [`tc`].

mod droptail;
mod tc;

pub use tc::{QueueConfig, QueueConfigError};

use crate::packet::{DropReason, Packet};
use droptail::DropTail;
use units::{Bitrate, Bytes, Duration, Time};

/// Where a discipline puts what it drops: nothing is lost sight of.
pub(crate) trait Drops {
    fn drop(&mut self, packet: Packet, reason: DropReason);
}

impl Drops for Vec<(Packet, DropReason)> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.push((packet, reason));
    }
}

/// What every discipline does.
pub(crate) trait QueueDiscipline {
    /// Takes in a packet, or drops it or others.
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops);
    /// Gives the next packet and how long it waited.
    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)>;
    /// When a packet can next be had; `None`: when one comes.
    fn next_ready(&self, now: Time) -> Option<Time>;
    /// The line's rate is from now on this.
    fn set_rate(&mut self, rate: Bitrate);
    /// Packets that wait.
    fn packets(&self) -> usize;
    /// Bytes that wait.
    fn bytes(&self) -> Bytes;
}

/// A queue of any discipline.
pub(crate) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig) -> Self {
        Self::DropTail(DropTail::new(config.limit()))
    }

    pub(crate) fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        match self {
            Self::DropTail(queue) => queue.enqueue(now, packet, drops),
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        match self {
            Self::DropTail(queue) => queue.dequeue(now, drops),
        }
    }

    pub(crate) fn next_ready(&self, now: Time) -> Option<Time> {
        match self {
            Self::DropTail(queue) => queue.next_ready(now),
        }
    }

    pub(crate) fn set_rate(&mut self, rate: Bitrate) {
        match self {
            Self::DropTail(queue) => queue.set_rate(rate),
        }
    }

    pub(crate) fn packets(&self) -> usize {
        match self {
            Self::DropTail(queue) => queue.packets(),
        }
    }

    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Self::DropTail(queue) => queue.bytes(),
        }
    }
}
