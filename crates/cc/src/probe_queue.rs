//! Queue of probe clusters, which are sent one after the other (libwebrtc
//! `pacing/bitrate_prober.cc`).

use crate::{ProbeCluster, SentPacket};
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// Maximum number of waiting clusters. A decision requests at most two.
const CAPACITY: usize = 8;

/// The part of a cluster that was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    packets: u32,
    bytes: Bytes,
}

/// Offers the clusters in order.
pub struct ProbeQueue {
    expiry: Duration,
    offered: Option<ProbeCluster>,
    /// Whether the offered cluster was sent completely or abandoned.
    done: bool,
    progress: Progress,
    requested: Option<Time>,
    waiting: VecDeque<ProbeCluster>,
}

/// Minimum number of bytes in a cluster (libwebrtc `pacing/bitrate_prober.cc`).
pub(crate) fn min_bytes(cluster: &ProbeCluster) -> Bytes {
    cluster.rate.bytes_in(cluster.min_duration)
}

impl ProbeQueue {
    /// An empty queue. A cluster that is not sent within `expiry` after it was offered is
    /// abandoned.
    #[must_use]
    pub fn new(expiry: Duration) -> Self {
        Self {
            expiry,
            offered: None,
            done: true,
            progress: Progress::default(),
            requested: None,
            waiting: VecDeque::with_capacity(CAPACITY),
        }
    }

    /// Adds a cluster at `now`; `None` before the first packet. If the queue is full, the oldest
    /// waiting cluster is abandoned.
    pub fn push(&mut self, now: Option<Time>, cluster: ProbeCluster) {
        if self.waiting.len() == CAPACITY {
            self.waiting.pop_front();
        }
        self.waiting.push_back(cluster);
        if self.done {
            self.next(now);
        }
    }

    fn next(&mut self, now: Option<Time>) {
        if let Some(cluster) = self.waiting.pop_front() {
            (self.offered, self.done, self.progress, self.requested) =
                (Some(cluster), false, Progress::default(), now);
        }
    }

    /// A packet left. After the last packet of a cluster the next cluster is offered.
    pub fn on_sent(&mut self, packet: &SentPacket) {
        let Some(cluster) = self.offered.filter(|_| !self.done) else { return };
        let requested = *self.requested.get_or_insert(packet.sent);
        if packet.probe == Some(cluster.id) {
            self.progress.packets += 1;
            self.progress.bytes += packet.size;
        }
        let sent = self.progress.packets >= cluster.min_packets
            && self.progress.bytes >= min_bytes(&cluster);
        if sent || packet.sent.saturating_since(requested) > self.expiry {
            self.done = true;
            self.next(Some(packet.sent));
        }
    }

    /// The newest cluster offered.
    #[must_use]
    pub fn offered(&self) -> Option<ProbeCluster> {
        self.offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bitrate;

    fn cluster(id: u32) -> ProbeCluster {
        let rate = Bitrate::from_mbps(4);
        ProbeCluster { id, rate, min_duration: Duration::from_millis(15), min_packets: 5 }
    }

    fn packet(ms: u64, size: u64, probe: Option<u32>) -> SentPacket {
        SentPacket { sequence: 0, sent: Time::from_millis(ms), size: Bytes::new(size), probe }
    }

    fn id(queue: &ProbeQueue) -> u32 {
        queue.offered().unwrap().id
    }

    #[test]
    fn the_second_follows_when_the_first_is_sent() {
        let mut queue = ProbeQueue::new(Duration::from_secs(5));
        queue.push(None, cluster(1));
        queue.push(None, cluster(2));
        assert_eq!(id(&queue), 1);
        // 15 ms at 4 Mbit/s are 7500 B: seven packets of 1000 B are too few, eight enough.
        (0..7).for_each(|k| queue.on_sent(&packet(k, 1000, Some(1))));
        queue.on_sent(&packet(8, 1000, None));
        assert_eq!(id(&queue), 1);
        queue.on_sent(&packet(9, 1000, Some(1)));
        assert_eq!(id(&queue), 2);
        // Four large packets are enough bytes, but five packets are required.
        (10..14).for_each(|k| queue.on_sent(&packet(k, 5000, Some(2))));
        queue.push(None, cluster(3));
        assert_eq!(id(&queue), 2);
        queue.on_sent(&packet(14, 5000, Some(2)));
        assert_eq!(id(&queue), 3);
    }

    #[test]
    fn a_cluster_that_is_not_sent_in_time_is_abandoned() {
        let mut queue = ProbeQueue::new(Duration::from_secs(5));
        queue.push(Some(Time::ZERO), cluster(1));
        queue.push(Some(Time::ZERO), cluster(2));
        queue.on_sent(&packet(5000, 1000, None));
        assert_eq!(id(&queue), 1);
        queue.on_sent(&packet(5001, 1000, None));
        assert_eq!(id(&queue), 2);
    }
}
