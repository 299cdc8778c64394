//! Detects probes by the spacing of the packets (libwebrtc
//! `remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.cc`, 2014 to 2016).

use std::collections::VecDeque;

/// Minimum number of intervals in a cluster (`…_abs_send_time.cc`: 4).
const MIN_INTERVALS: u32 = 4;
/// Packets that are kept while there is no cluster (`…_abs_send_time.cc`: 15).
const MAX_PACKETS: usize = 15;
/// Number of clusters after which all packets are forgotten (`…_abs_send_time.cc`: 3).
const ALL_CLUSTERS: u32 = 3;
/// An interval belongs to a cluster if it differs from the mean by less than this, ms
/// (`…_abs_send_time.cc`: 2.5).
const SPREAD: f32 = 2.5;
/// By how much the mean interval may grow and shrink on the path, ms (`…_abs_send_time.cc`: 2 and
/// 5).
const DISTORTION: (f32, f32) = (2.0, 5.0);
/// Initial capacity. More packets are kept only while clusters are found but fewer than three.
const INITIAL_CAPACITY: usize = 4096;

#[derive(Clone, Copy)]
struct Packet {
    sent: i64,
    arrival: i64,
    size: u32,
}

/// Intervals of nearly equal length.
#[derive(Clone, Copy, Default)]
struct Cluster {
    intervals: u32,
    sent: f32,
    arrival: f32,
    size: u32,
    /// Intervals of at least 1 ms at both ends.
    long: u32,
}

impl Cluster {
    fn add(&mut self, before: Packet, packet: Packet) {
        self.sent += (packet.sent - before.sent) as f32;
        self.arrival += (packet.arrival - before.arrival) as f32;
        self.size += packet.size;
        self.intervals += 1;
    }

    fn holds(&self, interval: i64) -> bool {
        let mean = self.sent / self.intervals as f32;
        self.intervals == 0 || (interval as f32 - mean).abs() < SPREAD
    }

    /// The lower of the sending and the receiving rate, bit/s; `None` if the path changed the
    /// intervals too much.
    fn rate(&self) -> Option<u32> {
        let n = self.intervals as f32;
        let (sent, arrival) = (self.sent / n, self.arrival / n);
        let kept = arrival - sent <= DISTORTION.0 && sent - arrival <= DISTORTION.1;
        let bits = (self.size / self.intervals * 8 * 1000) as f32;
        let valid = self.long > self.intervals / 2 && kept;
        valid.then(|| (bits / sent).min(bits / arrival) as u32)
    }
}

/// Collects the packets of the start of a call.
pub(super) struct ProbeClusters {
    packets: VecDeque<Packet>,
}

impl ProbeClusters {
    pub(super) fn new() -> Self {
        Self { packets: VecDeque::with_capacity(INITIAL_CAPACITY) }
    }

    /// A packet of `size` bytes arrived. Returns the highest rate of the clusters up to the first
    /// invalid one, bit/s. The caller says with [`ProbeClusters::finish`] that the rate was not
    /// used.
    pub(super) fn on_packet(&mut self, sent: i64, arrival: i64, size: u32) -> (Option<u32>, u32) {
        self.packets.push_back(Packet { sent, arrival, size });
        let (clusters, best) = self.clusters();
        if clusters == 0 && self.packets.len() >= MAX_PACKETS {
            self.packets.pop_front();
        }
        (best, clusters)
    }

    /// After three clusters all packets are forgotten.
    pub(super) fn finish(&mut self, clusters: u32) {
        if clusters >= ALL_CLUSTERS {
            self.packets.clear();
        }
    }

    /// The number of clusters, and the highest rate.
    fn clusters(&self) -> (u32, Option<u32>) {
        let mut found = Found::default();
        let mut current = Cluster::default();
        for (&before, &packet) in self.packets.iter().zip(self.packets.iter().skip(1)) {
            let (sent, arrival) = (packet.sent - before.sent, packet.arrival - before.arrival);
            current.long += u32::from(sent >= 1 && arrival >= 1);
            if !current.holds(sent) {
                found.take(&current);
                current = Cluster::default();
            }
            current.add(before, packet);
        }
        found.take(&current);
        (found.clusters, found.best)
    }
}

/// The clusters so far.
#[derive(Default)]
struct Found {
    clusters: u32,
    best: Option<u32>,
    ended: bool,
}

impl Found {
    /// Clusters after the first invalid one do not count as results.
    fn take(&mut self, cluster: &Cluster) {
        if cluster.intervals < MIN_INTERVALS {
            return;
        }
        self.clusters += 1;
        let without_time = cluster.sent == 0.0 || cluster.arrival == 0.0;
        if self.ended || without_time {
            return;
        }
        match cluster.rate() {
            Some(rate) if rate > self.best.unwrap_or(0) => self.best = Some(rate),
            Some(_) => {}
            None => self.ended = true,
        }
    }
}
