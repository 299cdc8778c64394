//! Probe clusters at the start of a call (libwebrtc `pacing/bitrate_prober.cc`).

use crate::{ProbeCluster, SentPacket};
use units::{Bitrate, Duration};

/// Factors of the start rate and numbers of packets (`bitrate_prober.cc`: 6 packets at 3 times, 5
/// at 6 times the start rate).
const CLUSTERS: [(u64, u32); 2] = [(3, 6), (6, 5)];

/// Asks for one cluster after the other.
pub(super) struct StartProbes {
    start: Bitrate,
    /// Index of the current cluster, and its packets so far.
    current: (usize, u32),
}

impl StartProbes {
    pub(super) fn new(start: Bitrate) -> Self {
        Self { start, current: (0, 0) }
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let (index, packets) = &mut self.current;
        if packet.probe == Some(*index as u32 + 1) {
            *packets += 1;
            if *packets >= CLUSTERS[*index].1 && *index + 1 < CLUSTERS.len() {
                self.current = (*index + 1, 0);
            }
        }
    }

    /// The newest cluster.
    pub(super) fn cluster(&self) -> ProbeCluster {
        let (factor, min_packets) = CLUSTERS[self.current.0];
        ProbeCluster {
            id: self.current.0 as u32 + 1,
            rate: self.start * factor,
            min_duration: Duration::ZERO,
            min_packets,
        }
    }
}
