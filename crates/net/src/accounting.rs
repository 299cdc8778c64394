//! Packet accounting: every packet that entered has left, was dropped, or is held.

use crate::packet::{DropReason, Packet};
use std::ops::{Add, AddAssign};
use units::Bytes;

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of packets.
    pub packets: u64,
    /// The sum of their [`Packet::size`].
    pub bytes: Bytes,
}

impl Count {
    pub(crate) fn count(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.size;
    }
}

impl Add for Count {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Counts of an element: entered = left + dropped + held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Packets that entered.
    pub entered: Count,
    /// Packets that left.
    pub left: Count,
    /// Packets that were dropped.
    pub dropped: Count,
    /// Packets that are inside now.
    pub held: Count,
}

impl Accounting {
    /// Whether every packet and every byte is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.entered == self.left + self.dropped + self.held
    }
}

/// Drops by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropCounts([Count; DropReason::ALL.len()]);

impl DropCounts {
    pub(crate) fn add(&mut self, packet: &Packet, reason: DropReason) {
        self.0[reason as usize].count(packet);
    }

    pub(crate) fn of(&self, reason: DropReason) -> Count {
        self.0[reason as usize]
    }

    pub(crate) fn total(&self) -> Count {
        self.0.iter().fold(Count::default(), |sum, &count| sum + count)
    }
}
