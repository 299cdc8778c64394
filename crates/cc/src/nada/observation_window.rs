//! The packets of the last LOGWIN: queuing delay, loss and marking ratio, receiving rate (§ 5.1).

use super::config::NadaConfig;
use super::loss_intervals::LossIntervals;
use crate::Ecn;
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// Most packets in the window, so that it stays bounded at any rate: 500 ms at 300 Mbit/s.
const MAX_PACKETS: usize = 16_384;
/// The window of the base delay has this many parts, each with its minimum.
const BASE_PARTS: usize = 10;

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub(crate) sequence: u64,
    pub(crate) sent: Time,
    pub(crate) arrival: Time,
    pub(crate) size: Bytes,
    pub(crate) ecn: Ecn,
    /// From departure until the report about the packet, if the sender observes.
    pub(crate) rtt: Option<Duration>,
}

impl Observation {
    /// One-way delay, from the sender's to the receiver's clock, in ns. Negative if their clocks
    /// differ by more than the delay.
    fn delay(&self) -> i64 {
        self.arrival.as_nanos().wrapping_sub(self.sent.as_nanos()) as i64
    }
}

/// The base delay: the least one-way delay of a long window (§ 5.1.1).
struct BaseDelay {
    part: Option<Duration>,
    minima: [i64; BASE_PARTS],
    least: i64,
    since: Option<Time>,
}

impl BaseDelay {
    fn new(window: Duration) -> Self {
        let part = Duration::from_nanos(window.as_nanos() / BASE_PARTS as u64);
        Self {
            part: Some(part).filter(|part| *part > Duration::ZERO),
            minima: [i64::MAX; BASE_PARTS],
            least: i64::MAX,
            since: None,
        }
    }

    fn update(&mut self, at: Time, delay: i64) {
        let since = *self.since.get_or_insert(at);
        if self.part.is_some_and(|part| at.saturating_since(since) >= part) {
            self.minima.rotate_right(1);
            self.minima[0] = i64::MAX;
            self.since = Some(at);
            self.least = self.minima.iter().copied().min().unwrap_or(i64::MAX);
        }
        self.minima[0] = self.minima[0].min(delay);
        self.least = self.least.min(delay);
    }
}

/// The packets of the last LOGWIN, in order of sequence number.
pub(crate) struct ObservationWindow {
    length: Duration,
    max_gap: Duration,
    base_window: Duration,
    filter_packets: usize,
    min_packets: usize,
    packets: VecDeque<Observation>,
    bytes: Bytes,
    marked: u64,
    base: BaseDelay,
    pub(crate) intervals: LossIntervals,
}

impl ObservationWindow {
    pub(crate) fn new(config: &NadaConfig) -> Self {
        Self {
            length: config.logwin,
            max_gap: config.max_gap,
            base_window: config.base_window,
            filter_packets: config.filter_packets,
            min_packets: config.min_packets,
            packets: VecDeque::with_capacity(256),
            bytes: Bytes::ZERO,
            marked: 0,
            base: BaseDelay::new(config.base_window),
            intervals: LossIntervals::default(),
        }
    }

    /// A packet arrived. Packets that are out of order are ignored, and so remain lost (§ 5.1.2).
    pub(crate) fn push(&mut self, packet: Observation) {
        if let Some(last) = self.packets.back() {
            if packet.sequence <= last.sequence || packet.sent < last.sent {
                return;
            }
            let gap = packet.sent.saturating_since(last.sent);
            if self.max_gap > Duration::ZERO && gap > self.max_gap {
                self.restart();
            }
        }
        self.base.update(packet.sent, packet.delay());
        self.intervals.on_packet(packet.sequence);
        self.bytes += packet.size;
        self.marked += u64::from(packet.ecn == Ecn::Ce);
        self.packets.push_back(packet);
        while let Some(first) = self.packets.front()
            && (packet.sent.saturating_since(first.sent) >= self.length
                || self.packets.len() > MAX_PACKETS)
        {
            self.bytes = self.bytes.saturating_sub(first.size);
            self.marked -= u64::from(first.ecn == Ecn::Ce);
            self.packets.pop_front();
        }
    }

    fn restart(&mut self) {
        self.packets.clear();
        self.bytes = Bytes::ZERO;
        self.marked = 0;
        self.base = BaseDelay::new(self.base_window);
        self.intervals = LossIntervals::default();
    }

    /// Queuing delay of a packet: d_fwd − d_base.
    fn queued(&self, packet: &Observation) -> Duration {
        Duration::from_nanos(packet.delay().saturating_sub(self.base.least).max(0).unsigned_abs())
    }

    fn newest(&self) -> impl Iterator<Item = &Observation> {
        self.packets.iter().rev().take(self.filter_packets)
    }

    /// d_queue: the least of the last 15 packets (§ 5.1.1).
    pub(crate) fn queuing_delay(&self) -> Option<Duration> {
        self.newest().map(|packet| self.queued(packet)).min()
    }

    /// The least round-trip time of the last 15 packets, if the sender observes.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.newest().filter_map(|packet| packet.rtt).min()
    }

    /// Packets that are missing in the window, and the ratios of missing and of marked packets
    /// (§ 5.1.2). `None` if there are too few packets.
    pub(crate) fn ratios(&self) -> Option<(u64, f64, f64)> {
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let (span, count) = (last.sequence - first.sequence + 1, self.packets.len() as u64);
        (self.packets.len() >= self.min_packets).then(|| {
            let lost = span.saturating_sub(count);
            (lost, lost as f64 / span as f64, self.marked as f64 / count as f64)
        })
    }

    /// r_recv in bit/s: the bytes after the first packet over the time from its arrival to the last
    /// arrival (§ 5.1.3). `None` if there are too few packets or no time has passed.
    pub(crate) fn receiving_rate(&self) -> Option<f64> {
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let span = last.arrival.saturating_since(first.arrival).as_secs_f64();
        let bits = self.bytes.saturating_sub(first.size).bits();
        (self.packets.len() >= self.min_packets && span > 0.0).then(|| bits as f64 / span)
    }

    /// Whether the queuing delay of a packet in the window is above `limit`.
    pub(crate) fn is_queuing(&self, limit: Duration) -> bool {
        self.packets.iter().any(|packet| self.queued(packet) > limit)
    }
}
