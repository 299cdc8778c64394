//! Droptail: first in, first out; a packet that does not fit is dropped on arrival (tc-pfifo,
//! tc-bfifo).
//!
//! The packet in transmission has left the queue and does not count. A packet that waits for tokens
//! is in the queue and counts, as in Linux's bfifo under tbf (net/sched/sch_fifo.c, sch_tbf.c).
//!
//! | where it differs | Linux | here |
//! |---|---|---|
//! | a packet larger than the limit | bfifo drops it | an empty queue accepts it: every limit lets some packets pass |
//! | a limit in time | none | converted to bytes at the current rate (Carlucci 2017 § V) |

use super::fifo::Fifo;
use super::{Drops, QueueDiscipline};
use crate::packet::{DropReason, Packet};
use units::{Bitrate, Bytes, Duration, Time};

/// The limit of a FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Packets(u64),
    Bytes(Bytes),
    /// The bytes that the line sends in this time.
    Time(Duration),
    Unlimited,
}

/// A droptail queue.
pub(crate) struct DropTail {
    limit: Limit,
    rate: Bitrate,
    queue: Fifo,
}

impl DropTail {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, rate: Bitrate::ZERO, queue: Fifo::default() }
    }

    fn fits(&self, packet: &Packet) -> bool {
        self.queue.packets.is_empty()
            || match self.limit {
                Limit::Packets(most) => (self.queue.packets.len() as u64) < most,
                Limit::Bytes(most) => self.queue.bytes + packet.size <= most,
                // q_M = T_q · C (Carlucci 2017 § V).
                Limit::Time(longest) => {
                    self.queue.bytes + packet.size <= self.rate.bytes_in(longest)
                }
                Limit::Unlimited => true,
            }
    }
}

impl QueueDiscipline for DropTail {
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        if self.fits(&packet) {
            self.queue.push(now, packet);
        } else {
            drops.drop(packet, DropReason::QueueFull);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut impl Drops) -> Option<(Packet, Duration)> {
        let (came, packet) = self.queue.pop()?;
        Some((packet, now.saturating_since(came)))
    }

    fn uses_rate(&self) -> bool {
        matches!(self.limit, Limit::Time(_))
    }

    /// A rate of zero keeps the last limit: the queue does not shrink while the line is
    /// interrupted.
    fn set_rate(&mut self, rate: Bitrate) {
        if rate > Bitrate::ZERO {
            self.rate = rate;
        }
    }

    fn head(&self) -> Option<Bytes> {
        self.queue.packets.front().map(|(_, packet)| packet.size)
    }

    fn oldest(&self) -> Option<Time> {
        self.queue.oldest()
    }

    fn packets(&self) -> usize {
        self.queue.packets.len()
    }

    fn bytes(&self) -> Bytes {
        self.queue.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(limit: Limit, sizes: &[u64]) -> usize {
        let mut queue = DropTail::new(limit);
        queue.set_rate(Bitrate::from_mbps(1));
        let mut drops = Vec::new();
        for &size in sizes {
            let packet = Packet { size: Bytes::new(size), ..Packet::default() };
            queue.enqueue(Time::ZERO, packet, &mut drops);
        }
        assert_eq!(queue.packets() + drops.len(), sizes.len(), "every packet is accounted for");
        queue.packets()
    }

    #[test]
    fn limits_in_packets_bytes_and_time() {
        let (bytes, time) =
            (|bytes| Limit::Bytes(Bytes::new(bytes)), |ms| Limit::Time(Duration::from_millis(ms)));
        assert_eq!(accepted(Limit::Packets(3), &[1000; 5]), 3);
        assert_eq!(accepted(bytes(3_000), &[1000; 5]), 3);
        assert_eq!(accepted(bytes(2_999), &[1000; 5]), 2);
        assert_eq!(accepted(time(24), &[1000; 5]), 3, "24 ms at 1 Mbit/s are 3000 B");
        assert_eq!(accepted(bytes(10), &[1000; 5]), 1, "an empty queue takes any packet");
        assert_eq!(accepted(Limit::Unlimited, &[1000; 5]), 5);
    }
}
