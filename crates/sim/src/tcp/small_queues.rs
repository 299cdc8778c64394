//! How a sender passes packets to its own host: TCP Small Queues, and bursts by segmentation
//! offload (Linux `net/ipv4/tcp_output.c`).

use super::config::TcpStack;
use super::segment::MAX_SEGMENT;
use units::{Bitrate, Bytes, Duration};

/// The time of the pacing rate that a burst may hold, and that may wait in the queue (Linux
/// `sk_pacing_shift` 10).
pub(super) const BURST_TIME: Duration = Duration::from_millis(1);
/// The maximum size of a burst (Linux `GSO_LEGACY_MAX_SIZE`).
const MAX_BURST: Bytes = Bytes::new(65_536);
/// The minimum round-trip time at which the allowance for near hosts is halved once: 512 µs, and
/// once more for each further one (Linux `net.ipv4.tcp_tso_rtt_log` 9).
const RTT_STEP: Duration = Duration::from_micros(512);

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

    /// The number of segments that leave together at this pacing rate, at least `min`
    /// (`tcp_tso_autosize`, Linux 5.18 and later).
    pub(super) fn burst(&self, pacing: Bitrate, min: u64, min_rtt: Option<Duration>) -> u64 {
        if !self.stack.gso {
            return 1;
        }
        let halvings = min_rtt.unwrap_or_default().as_nanos() / RTT_STEP.as_nanos();
        let near = MAX_BURST.get() >> halvings.min(u64::from(u32::BITS));
        let size = (pacing.bytes_in(BURST_TIME) + Bytes::new(near)).min(MAX_BURST);
        (size.get() / MAX_SEGMENT.get()).max(min)
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
        let mut queue = SmallQueue::new(TcpStack { tsq: true, ..TcpStack::default() });
        let mut sent = 0;
        while !queue.must_wait(packet * queue.burst(slow, 2, None), slow, false) {
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
        let mut off = SmallQueue::new(TcpStack { gso: true, ..TcpStack::default() });
        for _ in 0..100 {
            off.on_sent(packet);
        }
        assert!(!off.must_wait(packet, slow, false));
        let far = Some(Duration::from_millis(50));
        let bursts = [2, 100, 1_000].map(|mbps| off.burst(Bitrate::from_mbps(mbps), 2, far));
        assert_eq!(bursts, [2, 8, 45]);
        let near = [0, 512, 1_024, 8_192].map(Duration::from_micros);
        let near = near.map(|rtt| off.burst(slow, 1, Some(rtt)));
        assert_eq!(near, [45, 22, 11, 1], "the allowance is halved for each 512 µs");
    }
}
