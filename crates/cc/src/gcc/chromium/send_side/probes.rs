//! Which probe clusters to send (libwebrtc `goog_cc/probe_controller.cc`).

use super::super::aimd::whole;
use super::config::SendSideConfig;
use crate::{ControllerConfig, ProbeCluster, SentPacket};
use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration};

/// Rates of the first two clusters, as multiples of the start rate (`probe_controller.cc`: 3, 6).
const START_FACTORS: [u32; 2] = [3, 6];
/// Rate of a further cluster, as a multiple of the estimate (`probe_controller.cc`: 2).
const FURTHER_FACTOR: u32 = 2;
/// A further cluster is sent if the estimate is above this share of the probed rate, percent
/// (`probe_controller.cc`: 70).
const SUCCESS_PERCENT: u64 = 70;
/// Maximum waiting time for a result, ms (`probe_controller.cc`: 1000).
const RESULT_TIMEOUT: i64 = 1000;
/// A large drop of the estimate: its factor, how long it counts, ms, and the fraction of the
/// earlier estimate that is probed (`probe_controller.cc`: 0.66, 5000, 0.85).
const DROP: (f64, i64, f64) = (0.66, 5000, 0.85);
/// Least expected result of a probe after a drop, as a fraction of the probed rate
/// (`probe_controller.cc`: 1 − 0.05).
const EXPECTED: f64 = 0.95;
/// How long the end of an application-limited region counts, ms (`probe_controller.cc`: 3000).
const ALR_ENDED: i64 = 3000;
/// Minimum time between two probes after drops, ms (`probe_controller.cc`: 5000).
const DROP_INTERVAL: i64 = 5000;
/// Minimum duration of a cluster, and minimum number of packets (`probe_controller.cc`: 15 ms and
/// 5).
const MIN_DURATION: Duration = Duration::from_millis(15);
const MIN_PACKETS: u32 = 5;
/// Clusters that wait to be sent.
const CAPACITY: usize = 8;

/// Decides which clusters to send, and when the next waiting cluster is current.
pub(super) struct Probes {
    max: u32,
    waiting: bool,
    /// Estimate above which the path is probed further; 0: not.
    further: u32,
    initiated: Option<i64>,
    estimate: u32,
    dropped: (Option<i64>, u32),
    drop_probed: Option<i64>,
    alr_ended: Option<i64>,
    asked: u32,
    newest: Option<ProbeCluster>,
    queue: VecDeque<ProbeCluster>,
    /// The last clusters, sent or not.
    known: VecDeque<ProbeCluster>,
    /// Packets and bytes of the current cluster so far.
    sent: (u32, u64),
}

impl Probes {
    pub(super) fn new(config: &SendSideConfig, rates: &ControllerConfig) -> Self {
        let allocated = rates.max_rate.scale(config.probe_allocated);
        let limited = config.probe_allocated > 0.0 && allocated < config.probe_max;
        let mut probes = Self {
            max: whole(if limited { allocated } else { config.probe_max }),
            waiting: false,
            further: 0,
            initiated: None,
            estimate: whole(rates.start_rate),
            dropped: (None, 0),
            drop_probed: None,
            alr_ended: None,
            asked: 0,
            newest: None,
            queue: VecDeque::with_capacity(CAPACITY),
            known: VecDeque::with_capacity(CAPACITY),
            sent: (0, 0),
        };
        if config.probe_start {
            let start = whole(rates.start_rate);
            probes.initiate(START_FACTORS.map(|factor| start.saturating_mul(factor)), true);
        }
        probes
    }

    /// The call began at `now`, ms, with the first clusters.
    pub(super) fn start(&mut self, now: i64) {
        self.initiated.get_or_insert(now);
    }

    fn initiate<const N: usize>(&mut self, rates: [u32; N], mut further: bool) {
        for rate in rates {
            further &= rate <= self.max;
            self.ask(rate.min(self.max));
        }
        self.waiting = further;
        let last = rates.last().copied().unwrap_or_default();
        let least = u64::from(last) * SUCCESS_PERCENT / 100;
        self.further = if further { least as u32 } else { 0 };
    }

    fn ask(&mut self, rate: u32) {
        self.asked += 1;
        let cluster = ProbeCluster {
            id: self.asked,
            rate: Bitrate::from_bps(u64::from(rate)),
            min_duration: MIN_DURATION,
            min_packets: MIN_PACKETS,
        };
        self.newest = Some(cluster);
        if self.queue.len() >= CAPACITY {
            self.queue.pop_front();
        }
        self.queue.push_back(cluster);
        if self.known.len() >= CAPACITY {
            self.known.pop_front();
        }
        self.known.push_back(cluster);
    }

    /// A recent cluster by its id.
    pub(super) fn find(&self, id: u32) -> Option<ProbeCluster> {
        self.known.iter().find(|cluster| cluster.id == id).copied()
    }

    /// The published estimate changed.
    pub(super) fn on_estimate(&mut self, now: i64, rate: u32) {
        if self.waiting && self.further > 0 && rate > self.further {
            self.initiated = Some(now);
            self.initiate([rate.saturating_mul(FURTHER_FACTOR)], true);
        }
        if f64::from(rate) < DROP.0 * f64::from(self.estimate) {
            self.dropped = (Some(now), self.estimate);
        }
        self.estimate = rate;
    }

    pub(super) fn on_alr_ended(&mut self, now: i64) {
        self.alr_ended = Some(now);
    }

    /// Under-use ended. In or right after an application-limited region, a large drop is probed.
    pub(super) fn on_recovered(&mut self, now: i64, in_alr: bool) {
        let limited = in_alr || self.alr_ended.is_some_and(|ended| now - ended < ALR_ENDED);
        let rate = (DROP.2 * f64::from(self.dropped.1)) as u32;
        let raises = (EXPECTED * f64::from(rate)) as u32 > self.estimate;
        let recent = self.dropped.0.is_some_and(|dropped| now - dropped < DROP.1);
        let rested = self.drop_probed.is_none_or(|probed| now - probed > DROP_INTERVAL);
        if limited && !self.waiting && raises && recent && rested {
            self.initiated = Some(now);
            self.drop_probed = Some(now);
            self.initiate([rate], false);
        }
    }

    /// The timer fired: results that are late are not waited for.
    pub(super) fn on_timer(&mut self, now: i64) {
        if self.initiated.is_some_and(|initiated| now - initiated > RESULT_TIMEOUT) {
            (self.waiting, self.further) = (false, 0);
        }
    }

    /// A packet was sent. A cluster with all its packets and bytes makes room for the next one.
    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let Some(current) = self.queue.front() else { return };
        if packet.probe != Some(current.id) || self.queue.len() < 2 {
            return;
        }
        self.sent = (self.sent.0 + 1, self.sent.1 + packet.size.get());
        if self.sent.0 >= current.min_packets && self.sent.1 >= min_bytes(current).get() {
            self.queue.pop_front();
            self.sent = (0, 0);
        }
    }

    /// The current cluster.
    pub(super) fn cluster(&self) -> Option<ProbeCluster> {
        self.queue.front().copied()
    }

    /// The number of clusters so far, and the newest one.
    pub(super) fn asked(&self) -> (u32, Option<ProbeCluster>) {
        (self.asked, self.newest)
    }
}

/// Minimum size of a cluster.
pub(super) fn min_bytes(cluster: &ProbeCluster) -> Bytes {
    cluster.rate.bytes_in(cluster.min_duration)
}
