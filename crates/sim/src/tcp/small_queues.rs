//! How a sender hands packets to its own host: TCP Small Queues, and bursts by segmentation offload
//! (Linux `net/ipv4/tcp_output.c`).

use super::config::Stack;
use super::segment::MAX_SEGMENT;
use units::{Bitrate, Bytes, Duration};

/// A burst holds a millisecond's worth of the pacing rate, and so may wait in the queue (Linux
/// `sk_pacing_shift` 10).
const WORTH: Duration = Duration::from_millis(1);
/// At least two segments a burst (Linux `net.ipv4.tcp_min_tso_segs`).
const MIN_BURST: u64 = 2;
/// The most bytes of a burst (Linux `GSO_LEGACY_MAX_SIZE`).
const MAX_BURST: Bytes = Bytes::new(65_536);

/// A sender's packets in its own host's queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallQueue {
    stack: Stack,
    unsent: Bytes,
    throttled: bool,
}

impl SmallQueue {
    pub(super) fn new(stack: Stack) -> Self {
        Self { stack, unsent: Bytes::ZERO, throttled: false }
    }

    /// Packets that wait in the host's own queue.
    pub(super) fn unsent(&self) -> Bytes {
        self.unsent
    }

    /// How many segments leave together at this pacing rate (`tcp_tso_autosize`).
    pub(super) fn burst(&self, pacing: Bitrate) -> u64 {
        if !self.stack.gso {
            return 1;
        }
        let worth = pacing.bytes_in(WORTH).min(MAX_BURST);
        (worth.get() / MAX_SEGMENT.get()).max(MIN_BURST)
    }

    /// Whether a burst of packets of `size` must wait until some have left
    /// (`tcp_small_queue_check`): more than two of it, or a millisecond's worth, are unsent; twice
    /// that for retransmissions.
    pub(super) fn holds_back(
        &mut self,
        size: Bytes,
        pacing: Bitrate,
        retransmission: bool,
    ) -> bool {
        let limit = (size * 2).max(pacing.bytes_in(WORTH));
        let limit = if retransmission { limit * 2 } else { limit };
        self.throttled = self.stack.tsq && self.unsent > limit;
        self.throttled
    }

    /// A packet was put into the queue.
    pub(super) fn on_sent(&mut self, size: Bytes) {
        if self.stack.tsq {
            self.unsent += size;
        }
    }

    /// A packet has left it, or was given up there. Returns whether the sender may have waited for
    /// that.
    pub(super) fn on_departed(&mut self, size: Bytes) -> bool {
        self.unsent = self.unsent.saturating_sub(size);
        std::mem::take(&mut self.throttled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_packets_wait_in_the_own_queue() {
        let packet = Bytes::new(1_500);
        let slow = Bitrate::from_mbps(2);
        let mut queue = SmallQueue::new(Stack { tsq: true, gso: false });
        let mut sent = 0;
        while !queue.holds_back(packet * queue.burst(slow), slow, false) {
            queue.on_sent(packet);
            sent += 1;
        }
        assert_eq!(
            (sent, queue.unsent()),
            (3, Bytes::new(4_500)),
            "one more than two, as in Linux"
        );
        assert!(queue.on_departed(packet));
        assert!(!queue.holds_back(packet, slow, false));
        assert!(
            !queue.holds_back(packet, Bitrate::from_mbps(100), false),
            "a millisecond of a fast flow is more"
        );
        let mut off = SmallQueue::new(Stack { tsq: false, gso: true });
        for _ in 0..100 {
            off.on_sent(packet);
        }
        assert!(!off.holds_back(packet, slow, false));
        assert_eq!([2, 100, 1_000].map(|mbps| off.burst(Bitrate::from_mbps(mbps))), [2, 8, 45]);
    }
}
