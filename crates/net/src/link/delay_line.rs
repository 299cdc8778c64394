//! Propagation: packets that have left the server and have not arrived. They do not count against a
//! queue.

use crate::packet::Packet;
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// A delay line: first in, first out, even if the delay falls.
#[derive(Default)]
pub(crate) struct DelayLine {
    packets: VecDeque<(Time, Packet)>,
    /// The exit time of the newest packet. Later packets leave no sooner, or a falling delay would
    /// reorder them.
    last: Time,
    bytes: Bytes,
}

impl DelayLine {
    /// Adds a packet, which leaves after `delay`.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, delay: Duration, packet: Packet) {
        self.last = self.last.max(now + delay);
        self.bytes += packet.size;
        self.packets.push_back((self.last, packet));
    }

    /// Whether a packet that enters now with this delay leaves at once.
    #[inline]
    pub(crate) fn passes(&self, now: Time, delay: Duration) -> bool {
        delay == Duration::ZERO && self.packets.is_empty() && self.last <= now
    }

    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.packets.front().map(|&(at, _)| at)
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Packet> {
        if self.next()? > now {
            return None;
        }
        let (_, packet) = self.packets.pop_front()?;
        self.bytes -= packet.size;
        Some(packet)
    }

    pub(crate) fn packets(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_delay_does_not_reorder() {
        let mut line = DelayLine::default();
        let packet = |id| Packet { id, ..Packet::default() };
        line.push(Time::ZERO, Duration::from_millis(100), packet(1));
        line.push(Time::from_millis(10), Duration::ZERO, packet(2));
        assert_eq!(line.pop(Time::from_millis(50)), None);
        let out: Vec<u64> =
            std::iter::from_fn(|| line.pop(Time::from_millis(100))).map(|p| p.id).collect();
        assert_eq!(out, [1, 2]);
    }
}
