//! A FIFO of packets with their arrival times, which most disciplines are built on.

use crate::packet::Packet;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A FIFO and the bytes in it.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    pub(super) packets: VecDeque<(Time, Packet)>,
    pub(super) bytes: Bytes,
}

impl Fifo {
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += packet.size;
        self.packets.push_back((now, packet));
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, Packet)> {
        let popped = self.packets.pop_front()?;
        self.bytes -= popped.1.size;
        Some(popped)
    }

    /// Arrival time of the packet at the head.
    pub(super) fn oldest(&self) -> Option<Time> {
        self.packets.front().map(|&(came, _)| came)
    }
}
