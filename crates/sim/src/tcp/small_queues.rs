//! How a sender passes packets to its own host: TCP Small Queues, and bursts by segmentation
//! offload (Linux `net/ipv4/tcp_output.c`).

use super::config::TcpStack;
use super::segment::MAX_SEGMENT;
use units::{Bitrate, Bytes, Duration};

/// The time of the pacing rate that a burst may hold, and that may wait in the queue (Linux
/// `sk_pacing_shift` 10).
const BURST_TIME: Duration = Duration::from_millis(1);
/// The minimum number of segments per burst (Linux `net.ipv4.tcp_min_tso_segs`).
const MIN_BURST: u64 = 2;
/// The maximum size of a burst (Linux `GSO_LEGACY_MAX_SIZE`).
const MAX_BURST: Bytes = Bytes::new(65_536);

/// A sender's packets in the queue of its own host.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallQueue {
    stack: TcpStack,
    unsent: Bytes,
    throttled: bool,
}

impl SmallQueue {
    pub(super) fn new(stack: TcpStack) -> Self {
        Self { stack, unsent: Bytes::ZERO, throttled: false }
    }

    /// The size of the packets that wait in the host's own queue.
    pub(super) fn unsent(&self) -> Bytes {
        self.unsent
    }

    /// The number of segments that leave together at this pacing rate (`tcp_tso_autosize`).
    pub(super) fn burst(&self, pacing: Bitrate) -> u64 {
        if !self.stack.gso {
            return 1;
        }
        let size = pacing.bytes_in(BURST_TIME).min(MAX_BURST);
        (size.get() / MAX_SEGMENT.get()).max(MIN_BURST)
    }

    /// Whether a burst of `size` must wait until packets have left the queue
    /// (`tcp_small_queue_check`): the queue holds more than two such bursts and more than a
    /// millisecond of the pacing rate. The limit is doubled for retransmissions.
    pub(super) fn must_wait(&mut self, size: Bytes, pacing: Bitrate, retransmission: bool) -> bool {
        let limit = (size * 2).max(pacing.bytes_in(BURST_TIME));
        let limit = if retransmission { limit * 2 } else { limit };
        self.throttled = self.stack.tsq && self.unsent > limit;
        self.throttled
    }

    /// A packet was put into the host's queue.
    pub(super) fn on_sent(&mut self, size: Bytes) {
        if self.stack.tsq {
            self.unsent += size;
        }
    }

    /// A packet left the host's queue or was dropped there. Returns whether the sender may have
    /// waited for that.
    pub(super) fn on_departed(&mut self, size: Bytes) -> bool {
        self.unsent = self.unsent.saturating_sub(size);
        std::mem::take(&mut self.throttled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_packets_wait_in_the_host_queue() {
        let packet = Bytes::new(1_500);
        let slow = Bitrate::from_mbps(2);
        let mut queue = SmallQueue::new(TcpStack { tsq: true, gso: false });
        let mut sent = 0;
        while !queue.must_wait(packet * queue.burst(slow), slow, false) {
            queue.on_sent(packet);
            sent += 1;
        }
        assert_eq!(
            (sent, queue.unsent()),
            (3, Bytes::new(4_500)),
            "one more than two bursts, as in Linux"
        );
        assert!(queue.on_departed(packet));
        assert!(!queue.must_wait(packet, slow, false));
        assert!(
            !queue.must_wait(packet, Bitrate::from_mbps(100), false),
            "a millisecond of a fast flow exceeds two packets"
        );
        let mut off = SmallQueue::new(TcpStack { tsq: false, gso: true });
        for _ in 0..100 {
            off.on_sent(packet);
        }
        assert!(!off.must_wait(packet, slow, false));
        assert_eq!([2, 100, 1_000].map(|mbps| off.burst(Bitrate::from_mbps(mbps))), [2, 8, 45]);
    }
}
