//! The receiver half: all stages of the delay-based estimate, and REMB (libwebrtc
//! `remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.cc`).
//!
//! Times are whole milliseconds, as in libwebrtc.

use super::aimd::Aimd;
use super::config::ChromiumConfig;
use super::detector::{Detector, Usage, scaled};
use super::groups::{Delta, Groups, Stamped};
use super::incoming_rate::IncomingRate;
use super::kalman::Kalman;
use super::max_rate::Region;
use super::probe_clusters::ProbeClusters;
use super::remb::Remb;
use super::words::{ProbeRule, Silence, Updates};
use crate::{ArrivedPacket, ReceiverFeedback, SignalSink};
use units::{Bitrate, Duration, Time};

/// Probes are detected for this time after the first packet, and until there is an estimate
/// (`…_abs_send_time.cc`: 2000 ms).
const PROBING_TIME: i64 = 2000;

/// Estimates the rate that the path carries.
pub(super) struct ChromiumReceiver {
    config: ChromiumConfig,
    bounds: (Bitrate, Bitrate),
    groups: Groups,
    filter: Kalman,
    detector: Detector,
    aimd: Aimd,
    incoming: IncomingRate,
    probes: ProbeClusters,
    remb: Remb,
    /// Arrival of the first packet, and of the newest packet unless it was forgotten, ms.
    first: Option<i64>,
    newest: Option<i64>,
    /// When the timer fired last, and its interval, ms.
    processed: Option<i64>,
    interval: i64,
    /// When the newest estimate was published, ms.
    published: Option<i64>,
    publications: u64,
    delta: Option<Delta>,
    received: u32,
    pending: Option<Bitrate>,
}

impl ChromiumReceiver {
    pub(super) fn new(config: &ChromiumConfig, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            groups: Groups::new(&config.groups()),
            filter: Kalman::new(config),
            detector: Detector::new(&config.detector()),
            aimd: Aimd::new(config, bounds.0),
            incoming: IncomingRate::new(config.rate_window, config.rate_divisor),
            probes: ProbeClusters::new(),
            remb: Remb::new(config.remb_interval),
            config: config.clone(),
            bounds,
            first: None,
            newest: None,
            processed: None,
            interval: config.first_interval.as_millis() as i64,
            published: None,
            publications: 0,
            delta: None,
            received: 0,
            pending: None,
        }
    }

    fn arrived(&mut self, packet: &ArrivedPacket) {
        let now = milliseconds(packet.arrival);
        let size = self.config.clock.payload(packet.size);
        self.forget_after_silence(now);
        self.newest = Some(now);
        self.first.get_or_insert(now);
        self.incoming.on_packet(now, size);
        let before = self.detector.usage();
        let probed = self.probe(now, packet, size);
        let timestamp = self.config.clock.timestamp(packet, self.config.clock_step);
        self.delta = self.groups.on_packet(Stamped { timestamp, arrival: now, known: now, size });
        if let Some(delta) = self.delta {
            self.filter.update(&delta, before);
            let (offset, deltas) = (self.filter.offset(), self.filter.deltas());
            self.detector.detect(now, delta.sent, offset, deltas);
        }
        if probed && self.config.probe_at_once || self.is_due(now, before) {
            self.update(now);
        }
        self.received = self.incoming.rate(now);
    }

    /// Whether a packet at `now` causes an update.
    fn is_due(&mut self, now: i64, before: Usage) -> bool {
        let interval = self.aimd.feedback_interval();
        let by_packet = self.config.updates == Updates::Packet;
        if by_packet && self.published.is_none_or(|published| now - published > interval) {
            return true;
        }
        if self.detector.usage() != Usage::Overuse {
            return false;
        }
        let onset = self.config.reduce_at_onset && before != Usage::Overuse;
        let received = self.incoming.rate(now);
        onset || self.aimd.may_reduce(now, received)
    }

    /// Looks for probes at the start of the call. Returns whether a probe set the rate.
    fn probe(&mut self, now: i64, packet: &ArrivedPacket, size: u64) -> bool {
        let rule = self.config.probe_rule;
        let start = self.first.is_none_or(|first| now - first < PROBING_TIME);
        let early = start || self.aimd.estimate().is_none();
        if rule == ProbeRule::Ignored || !early || size <= u64::from(self.config.probe_min_size) {
            return false;
        }
        let sent = self.sending_time(packet);
        let (best, clusters) = self.probes.on_packet(sent, now, size as u32);
        let used = best.filter(|&rate| self.accepts(now, rate));
        if let Some(rate) = used {
            self.aimd.on_probe(now, rate);
        } else {
            self.probes.finish(clusters);
        }
        used.is_some()
    }

    /// The sending time in whole milliseconds.
    fn sending_time(&self, packet: &ArrivedPacket) -> i64 {
        let clock = self.config.clock;
        clock.milliseconds(clock.timestamp(packet, self.config.clock_step)) as i64
    }

    fn accepts(&mut self, now: i64, rate: u32) -> bool {
        let raises = self.aimd.estimate().is_none_or(|estimate| rate > estimate);
        match self.config.probe_rule {
            ProbeRule::Ignored => false,
            ProbeRule::AboveReceived => raises && rate > self.incoming.rate(now),
            ProbeRule::Raising => raises,
        }
    }

    /// Forgets groups and filter at the first packet after a silence.
    fn forget_after_silence(&mut self, now: i64) {
        if self.config.silence == Silence::GroupsAndFilter && self.is_silent(now) {
            self.groups.reset();
            self.filter = Kalman::new(&self.config);
        }
    }

    fn is_silent(&self, now: i64) -> bool {
        let limit = self.config.silence_time.as_millis() as i64;
        self.newest.is_none_or(|newest| now - newest > limit)
    }

    /// The timer fired. Without packets there is no update.
    fn process(&mut self, now: i64) {
        self.delta = None;
        self.received = self.incoming.rate(now);
        if self.newest.is_none() {
            return;
        }
        if !self.is_silent(now) {
            self.update(now);
            return;
        }
        self.newest = None;
        self.groups.reset();
        if self.config.silence == Silence::Everything {
            self.filter = Kalman::new(&self.config);
            self.detector = Detector::new(&self.config.detector());
            self.aimd = Aimd::new(&self.config, self.bounds.0);
        }
    }

    fn update(&mut self, now: i64) {
        let received = self.incoming.rate(now);
        // The detector learns the region of the previous update.
        let region = self.aimd.region();
        self.aimd.update(now, self.detector.usage(), received);
        self.detector.set_region(region);
        if let Some(rate) = self.aimd.estimate() {
            self.publish(now, rate);
        }
    }

    fn publish(&mut self, now: i64, rate: u32) {
        self.published = Some(now);
        self.publications += 1;
        self.interval = self.aimd.feedback_interval();
        if self.remb.on_estimate(now, rate) {
            let rate = Bitrate::from_bps(u64::from(rate));
            self.pending = Some(rate.max(self.bounds.0).min(self.bounds.1));
        }
    }

    /// When the timer fires next, ms.
    fn due(&self) -> Option<i64> {
        self.processed.map(|processed| processed + self.interval)
    }
}

impl crate::Receiver for ChromiumReceiver {
    fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>) {
        let now = milliseconds(packet.arrival);
        self.remb.start(now);
        if let Some(rtt) = rtt.filter(|_| self.config.rtt_at_receiver) {
            self.aimd.on_rtt(rtt);
        }
        self.arrived(packet);
        if self.config.updates == Updates::Timer {
            self.processed.get_or_insert(now);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        let now = milliseconds(now);
        self.remb.start(now);
        if self.config.updates == Updates::Timer && self.due().is_none_or(|due| due <= now) {
            self.process(now);
            self.processed = Some(now);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due().map(|due| Time::from_millis(due as u64))
    }

    fn poll(&mut self, _now: Time) -> Option<ReceiverFeedback> {
        self.pending.take().map(ReceiverFeedback::Remb)
    }

    fn speaks_remb(&self) -> bool {
        true
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("m", self.filter.offset());
        sink("scaled_m", scaled(self.filter.offset(), self.filter.deltas()));
        sink("deltas", f64::from(self.filter.deltas()));
        sink("noise_variance", self.filter.noise());
        sink("slope", self.filter.slope());
        sink("threshold", self.detector.threshold());
        sink("usage", f64::from(self.detector.usage() as i8));
        let over = self.detector.over();
        sink("overuse_time", over.map_or(f64::NAN, |(time, _)| time));
        sink("overuse_samples", over.map_or(0.0, |(_, samples)| f64::from(samples)));
        sink("overuse_count", self.detector.onsets() as f64);
        sink(
            "region",
            match self.aimd.region() {
                Region::Unknown => -1.0,
                Region::Near => 0.0,
                Region::Above => 1.0,
            },
        );
        sink("state", self.aimd.state().number());
        sink("R", f64::from(self.received));
        sink("A_r", self.aimd.estimate().map_or(f64::NAN, f64::from));
        let max = self.aimd.max();
        sink("link_capacity", max.average().map_or(f64::NAN, |kbps| f64::from(kbps) * 1e3));
        sink("link_capacity_variance", f64::from(max.variance()));
        sink("publications", self.publications as f64);
        let delta = self.delta;
        sink("sent_delta", delta.map_or(f64::NAN, |delta| delta.sent));
        sink("arrival_delta", delta.map_or(f64::NAN, |delta| delta.arrival as f64));
        sink("size_delta", delta.map_or(f64::NAN, |delta| delta.size as f64));
    }
}

/// Whole milliseconds of a time.
pub(super) fn milliseconds(time: Time) -> i64 {
    (time.as_nanos() / 1_000_000) as i64
}
