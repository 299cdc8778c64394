//! The rate that a probe cluster measured (libwebrtc `goog_cc/probe_bitrate_estimator.cc`).

use std::collections::VecDeque;

/// Share of the packets and bytes of a cluster that a result needs, percent
/// (`probe_bitrate_estimator.cc`: 80 and 80).
const RECEIVED_PERCENT: u64 = 80;
/// Maximum ratio of the receiving to the sending rate (`probe_bitrate_estimator.cc`: 2).
const MAX_RATIO: f32 = 2.0;
/// Below this ratio the link was saturated, and this fraction of the receiving rate is the result
/// (`probe_bitrate_estimator.cc`: 0.9 and 0.95).
const SATURATED: (f32, f32) = (0.9, 0.95);
/// Maximum duration of a cluster, and how long it is kept, ms (`probe_bitrate_estimator.cc`: 1000).
const MAX_TIME: i64 = 1000;
/// Clusters that are kept.
const CAPACITY: usize = 16;

/// A packet of a cluster that arrived.
#[derive(Clone, Copy)]
pub(super) struct Probe {
    pub(super) cluster: u32,
    /// Minimum number of packets and bytes of the cluster.
    pub(super) least: (u64, u64),
    pub(super) sent: i64,
    pub(super) arrival: i64,
    pub(super) bits: u64,
}

struct Cluster {
    id: u32,
    packets: u64,
    bits: u64,
    sent: (i64, i64),
    received: (i64, i64),
    /// Bits of the packet sent last and of the packet received first.
    last_sent: u64,
    first_received: u64,
}

impl Cluster {
    fn new(probe: &Probe) -> Self {
        Self {
            id: probe.cluster,
            packets: 0,
            bits: 0,
            sent: (probe.sent, i64::MIN),
            received: (i64::MAX, i64::MIN),
            last_sent: 0,
            first_received: 0,
        }
    }

    fn add(&mut self, probe: &Probe) {
        self.sent.0 = self.sent.0.min(probe.sent);
        if probe.sent > self.sent.1 {
            self.sent.1 = probe.sent;
            self.last_sent = probe.bits;
        }
        if probe.arrival < self.received.0 {
            self.received.0 = probe.arrival;
            self.first_received = probe.bits;
        }
        self.received.1 = self.received.1.max(probe.arrival);
        self.packets += 1;
        self.bits += probe.bits;
    }

    /// The result, bit/s. The last packet sent and the first one received do not count, because the
    /// intervals do not include their duration.
    fn result(&self, least: (u64, u64)) -> Option<u32> {
        let packets = least.0 * RECEIVED_PERCENT / 100;
        let bits = least.1 * RECEIVED_PERCENT / 100 * 8;
        let sent = rate(self.bits - self.last_sent, self.sent)?;
        let received = rate(self.bits - self.first_received, self.received)?;
        if self.packets < packets || self.bits < bits || received / sent > MAX_RATIO {
            return None;
        }
        let saturated = received < SATURATED.0 * sent;
        Some(if saturated { SATURATED.1 * received } else { sent.min(received) } as u32)
    }
}

/// Bits per interval in ms, as bit/s; `None` if the interval is empty or too long.
fn rate(bits: u64, (first, last): (i64, i64)) -> Option<f32> {
    let interval = last - first;
    (interval > 0 && interval <= MAX_TIME).then(|| bits as f32 / interval as f32 * 1000.0)
}

/// Collects the packets of clusters.
pub(super) struct ProbeResults {
    clusters: VecDeque<Cluster>,
    newest: Option<u32>,
}

impl ProbeResults {
    pub(super) fn new() -> Self {
        Self { clusters: VecDeque::with_capacity(CAPACITY), newest: None }
    }

    pub(super) fn on_packet(&mut self, probe: &Probe) {
        self.clusters.retain(|cluster| cluster.received.1 >= probe.arrival - MAX_TIME);
        let known = self.clusters.iter().position(|cluster| cluster.id == probe.cluster);
        let index = known.unwrap_or_else(|| {
            if self.clusters.len() >= CAPACITY {
                self.clusters.pop_front();
            }
            self.clusters.push_back(Cluster::new(probe));
            self.clusters.len() - 1
        });
        self.clusters[index].add(probe);
        self.newest = self.clusters[index].result(probe.least).or(self.newest);
    }

    /// The newest result, bit/s. It is returned once.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.newest.take()
    }
}
