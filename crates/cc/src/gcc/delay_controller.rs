//! The delay-based controller of Carlucci 2017, Fig. 1: arrival filter, over-use detector and rate
//! controller in series. It runs at the receiver or, on transport-wide feedback, at the sender.

use super::arrival_filter::ArrivalFilter;
use super::arrival_group::{ArrivalGroups, GroupRule, Variation};
use super::config::GccConfig;
use super::overuse_detector::OveruseDetector;
use super::probing::ProbeMeter;
use super::rate_control::{RateControl, RateControlState};
use super::receive_rate::ReceiveRate;
use crate::{ArrivedPacket, SignalSink};
use units::{Bitrate, Duration, Time};

/// Computes A_r from arrivals.
pub(crate) struct DelayController {
    groups: ArrivalGroups,
    filter: ArrivalFilter,
    detector: OveruseDetector,
    control: RateControl,
    received: ReceiveRate,
    meter: ProbeMeter,
    /// The newest d_m, in ms, and R, for the signals.
    newest: (f64, Option<Bitrate>),
}

impl DelayController {
    pub(crate) fn new(config: &GccConfig, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            groups: ArrivalGroups::new(GroupRule {
                grouping: config.grouping,
                burst_time: config.burst_time,
                prefilter: config.prefilter,
            }),
            filter: ArrivalFilter::new(&config.filter()),
            detector: OveruseDetector::new(config),
            control: RateControl::new(config, start, bounds),
            received: ReceiveRate::new(config.rate_window),
            meter: ProbeMeter::default(),
            newest: (0.0, None),
        }
    }

    /// Processes an arrival. Returns whether a probe increased the rate.
    pub(crate) fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>) -> bool {
        if let Some(rtt) = rtt {
            self.control.on_rtt(rtt);
        }
        self.control.on_packet(packet.size);
        self.received.on_packet(packet.arrival, packet.size);
        if let Some(variation) = self.groups.on_packet(packet) {
            self.on_group(packet.arrival, &variation);
        }
        let result = packet.probe.and_then(|cluster| {
            self.meter.on_packet(cluster, packet.sent, packet.arrival, packet.size)
        });
        result.is_some_and(|rate| self.control.on_probe(rate))
    }

    fn on_group(&mut self, now: Time, variation: &Variation) {
        let m = self.filter.update(variation);
        let signal = self.detector.detect(variation.arrival, variation.interval, m);
        let received = self.received.rate(now);
        self.newest = (variation.delay, received);
        self.control.update(now, signal, received);
    }

    /// A_r.
    pub(crate) fn rate(&self) -> Bitrate {
        self.control.rate()
    }

    pub(crate) fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("m", self.filter.gradient());
        sink("threshold", self.detector.threshold());
        sink("delay_variation", self.newest.0);
        sink(
            "state",
            match self.control.state() {
                RateControlState::Decrease => -1.0,
                RateControlState::Hold => 0.0,
                RateControlState::Increase => 1.0,
            },
        );
        sink("A_r", self.control.rate().as_bps_f64());
        sink("R", self.newest.1.map_or(f64::NAN, Bitrate::as_bps_f64));
        sink("kalman_gain", self.filter.gain());
        sink("noise_variance", self.filter.noise());
        sink("slope", self.filter.slope());
        sink("overuse_count", self.detector.overuses() as f64);
    }
}
