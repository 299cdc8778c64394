//! The sender: distributes feedback to the stages, and publishes the estimate (libwebrtc
//! `goog_cc/goog_cc_network_control.cc`).

use super::super::overuse_detector::Signal;
use super::acknowledged_rate::AcknowledgedRate;
use super::alr::AlrDetector;
use super::choices::SafeReset;
use super::config::LibwebrtcConfig;
use super::congestion_window::CongestionWindow;
use super::delay_based::{DelayBased, Inputs, Update};
use super::in_flight::InFlight;
use super::loss_based::LossState;
use super::probe_controller::{LimitCause, ProbeController};
use super::probe_estimator::ProbeEstimator;
use super::rounding::bytes_in;
use super::send_side::SendSide;
use crate::{
    Allocation, ControllerConfig, Decision, Feedback, PacketResult, SentPacket, SignalSink,
};
use units::{Bitrate, Duration, Time};

/// Interval of the timeouts (libwebrtc `goog_cc/goog_cc_factory.cc`: 25 ms).
const PROCESS_INTERVAL: Duration = Duration::from_millis(25);
/// Initial capacity: packets of one feedback message without reallocation.
const INITIAL_CAPACITY: usize = 1024;

/// The values that were last published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Published {
    pub(super) target: Bitrate,
    pub(super) loss_state: LossState,
    /// Loss by receiver reports in 1/256.
    pub(super) fraction_lost: u64,
    pub(super) rtt: Duration,
    /// The target rate after the reduction by a full congestion window.
    pub(super) reduced: Bitrate,
}

/// The controller.
pub(super) struct LibwebrtcSender {
    config: LibwebrtcConfig,
    constraints: ControllerConfig,
    allocation: Allocation,
    pub(super) delay: DelayBased,
    pub(super) send_side: SendSide,
    pub(super) acknowledged: AcknowledgedRate,
    pub(super) alr: AlrDetector,
    pub(super) probes: ProbeController,
    pub(super) estimator: ProbeEstimator,
    pub(super) window: CongestionWindow,
    /// The packets that a feedback message reports as received, in order of arrival.
    arrived: Vec<(SentPacket, Time)>,
    pub(super) in_flight: InFlight,
    was_in_alr: bool,
    has_feedback: bool,
    pub(super) published: Published,
    /// Pacing and padding rate, as last told.
    pub(super) pacer: (Bitrate, Bitrate),
    probe_rate: Option<Bitrate>,
    processed: Option<Time>,
    /// Every cluster that was requested.
    #[cfg(test)]
    pub(super) requested: Vec<crate::ProbeCluster>,
}

impl LibwebrtcSender {
    pub(super) fn new(config: &LibwebrtcConfig, rates: &ControllerConfig) -> Self {
        let start = rates.start_rate;
        let mut sender = Self {
            config: config.clone(),
            constraints: rates.clone(),
            allocation: Allocation::default(),
            delay: DelayBased::new(config, start, config.min_rate),
            send_side: SendSide::new(config),
            acknowledged: AcknowledgedRate::new(config),
            alr: AlrDetector::new(config),
            probes: ProbeController::new(config),
            estimator: ProbeEstimator::new(config),
            window: CongestionWindow::new(config),
            arrived: Vec::with_capacity(INITIAL_CAPACITY),
            in_flight: InFlight::new(),
            was_in_alr: false,
            has_feedback: false,
            published: Published {
                target: start,
                loss_state: LossState::DelayBased,
                fraction_lost: 0,
                rtt: Duration::ZERO,
                reduced: start,
            },
            pacer: (Bitrate::ZERO, Bitrate::ZERO),
            probe_rate: None,
            processed: None,
            #[cfg(test)]
            requested: Vec::new(),
        };
        sender.constrain(None, start);
        sender.published.target = sender.send_side.target();
        sender.published.reduced = sender.published.target;
        sender.alr.set_estimate(sender.published.target);
        sender.tell_pacer();
        sender
    }

    /// The bounds of the estimate. The allocated minimum is a lower bound.
    fn bounds(&self) -> (Bitrate, Bitrate) {
        let min = self.constraints.min_rate.max(self.config.min_rate).max(self.allocation.min_rate);
        (min, self.constraints.max_rate.max(min))
    }

    /// Puts the bounds and the start rate in force.
    fn constrain(&mut self, now: Option<Time>, start: Bitrate) {
        let (min, max) = self.bounds();
        let start = start.max(min);
        self.send_side.set_bounds(min, max);
        self.send_side.set_rate(start);
        self.delay.set_start(start);
        self.delay.set_min(min);
        self.probes.set_rates(now, start, max);
        self.register_probes();
    }

    /// Processes feedback per packet. Packets of an earlier route do not count.
    pub(super) fn on_packets(&mut self, now: Time, results: &[PacketResult]) {
        let earlier = results.partition_point(|result| !self.in_flight.is_on_route(&result.packet));
        let results = &results[earlier..];
        if results.is_empty() {
            return;
        }
        self.has_feedback = true;
        self.collect(results);
        self.window.set_in_flight(self.in_flight.bytes());
        let has_round_trips = self.update_round_trips(now);
        let in_alr = self.update_alr(now);
        self.acknowledged.on_feedback(&self.arrived);
        for (packet, arrival) in &self.arrived {
            if let Some(id) = packet.probe {
                self.estimator.on_packet(id, packet, *arrival);
            }
        }
        let acknowledged = self.acknowledged.rate();
        let probe = self.probe_result(acknowledged);
        let update =
            self.delay.on_feedback(now, &self.arrived, &Inputs { acknowledged, probe, in_alr });
        self.apply_delay_based(update);
        self.send_side.on_packets(now, results, acknowledged, in_alr);
        if update.rate.is_some() {
            self.publish(now);
        }
        if update.recovered {
            self.probes.set_alr(self.alr.since());
            self.probes.on_recovered(now);
            self.register_probes();
        }
        if has_round_trips {
            self.window.update(self.published.target);
        }
    }

    fn collect(&mut self, results: &[PacketResult]) {
        self.arrived.clear();
        for PacketResult { packet, arrival, .. } in results {
            self.in_flight.on_reported(packet.sequence);
            self.arrived.extend(arrival.map(|arrival| (*packet, arrival)));
        }
        let key = |(packet, arrival): &(SentPacket, Time)| (*arrival, packet.sent, packet.sequence);
        if !self.arrived.is_sorted_by_key(key) {
            self.arrived.sort_unstable_by_key(key);
        }
    }

    /// Passes on the minimum time from sending to feedback without the waiting time at the
    /// receiver, and the longest time with it. Returns whether any packet arrived.
    fn update_round_trips(&mut self, now: Time) -> bool {
        let Some(newest) = self.arrived.last().map(|(_, arrival)| *arrival) else { return false };
        let times = self.arrived.iter().map(|(packet, arrival)| {
            let round_trip = now.saturating_since(packet.sent);
            (round_trip.saturating_sub(newest.saturating_since(*arrival)), round_trip)
        });
        let (min, longest) = times.fold((Duration::MAX, Duration::ZERO), |before, time| {
            (before.0.min(time.0), before.1.max(time.1))
        });
        self.send_side.on_feedback_rtt(now, min);
        self.window.on_feedback(longest);
        true
    }

    fn update_alr(&mut self, now: Time) -> bool {
        let in_alr = self.alr.since().is_some();
        if self.was_in_alr && !in_alr {
            self.acknowledged.on_alr_ended(now);
            self.probes.on_alr_ended(now);
        }
        self.was_in_alr = in_alr;
        in_alr
    }

    /// The result of a probe. A result lowers the estimate at most to `probe.fall` times the
    /// acknowledged rate.
    fn probe_result(&mut self, acknowledged: Option<Bitrate>) -> Option<Bitrate> {
        let result = self.estimator.take()?;
        self.probe_rate = Some(result);
        let floor =
            acknowledged.map(|rate| rate.scale(self.config.probe_fall).min(self.delay.rate()));
        Some(floor.map_or(result, |floor| result.max(floor)))
    }

    fn apply_delay_based(&mut self, update: Update) {
        let Some(rate) = update.rate else { return };
        if update.probe {
            self.send_side.set_rate(rate);
        }
        self.send_side.set_delay_based(rate);
    }

    fn limit_cause(&self) -> LimitCause {
        match (self.delay.state(), self.send_side.is_rtt_above_limit(), self.send_side.loss_state())
        {
            (Signal::Overuse { .. } | Signal::Underuse, _, _) => LimitCause::DelayChanges,
            (Signal::Normal, true, _) => LimitCause::RoundTripTime,
            (_, _, LossState::Decreasing | LossState::Padding) => LimitCause::Loss,
            (_, _, LossState::Increasing) => LimitCause::LossIncreasing,
            (_, _, LossState::DelayBased) => LimitCause::Delay,
        }
    }

    /// Passes the estimate to the stages that use it, if it has changed.
    pub(super) fn publish(&mut self, now: Time) {
        let target = self.send_side.target();
        let reduced = self.window.reduced(target).max(self.send_side.min_rate());
        let newest = Published {
            target,
            loss_state: self.send_side.loss_state(),
            fraction_lost: self.send_side.fraction_lost(),
            rtt: self.send_side.rtt(),
            reduced,
        };
        if std::mem::replace(&mut self.published, newest) != newest {
            self.alr.set_estimate(target);
            self.probes.set_estimate(now, target, self.limit_cause());
            self.register_probes();
            self.tell_pacer();
        }
    }

    /// Computes the rates of the pacer, which are whole bytes per burst.
    fn tell_pacer(&mut self) {
        let factor = if self.has_feedback {
            self.config.pacing_factor
        } else {
            self.config.first_pacing_factor
        };
        let Published { target, reduced, .. } = self.published;
        let pads = self.published.loss_state == LossState::Padding;
        let whole = |rate| {
            let burst = self.config.pacing_burst;
            bytes_in(rate, burst).per(burst).unwrap_or_default()
        };
        let pacing = whole(target.max(self.allocation.min_rate).scale(factor));
        self.pacer = (pacing, if pads { whole(target.min(reduced)) } else { Bitrate::ZERO });
    }

    pub(super) fn process(&mut self, now: Time) {
        self.processed = Some(now);
        self.send_side.update(now);
        self.probes.set_alr(self.alr.since());
        self.probes.process(now);
        self.register_probes();
        self.window.update(self.published.target);
        self.publish(now);
    }

    /// A receiver report: packets lost and expected since the report before.
    pub(super) fn on_report(&mut self, now: Time, lost: u64, expected: u64) {
        self.send_side.on_report(now, lost, expected);
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.delay.on_rtt(rtt);
        self.send_side.on_rtt(rtt);
    }

    /// Passes new clusters to the probe estimator, before the probe controller creates more.
    fn register_probes(&mut self) {
        for cluster in self.probes.take_fresh().into_iter().flatten() {
            self.estimator.expect(cluster);
            #[cfg(test)]
            self.requested.push(cluster);
        }
    }

    /// The rate at which the estimate starts after a change of the network route.
    fn safe_start(&self, start: Bitrate) -> Bitrate {
        let limit = match self.config.safe_reset {
            SafeReset::Off => None,
            SafeReset::Estimate => Some(self.send_side.target()),
            SafeReset::Acknowledged => self.acknowledged.first_rate(),
        };
        limit.map_or(start, |limit| start.min(limit))
    }

    /// The share by which frames should shrink, as last published.
    pub(super) fn reduction(&self) -> f64 {
        let (target, reduced) = (self.published.target, self.published.reduced);
        if target == Bitrate::ZERO {
            return 0.0;
        }
        (target.as_bps_f64() - reduced.as_bps_f64()) / target.as_bps_f64()
    }
}

impl crate::Sender for LibwebrtcSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight.on_sent(packet);
        self.alr.on_sent(packet);
        self.send_side.on_sent(packet.sent);
        self.probes.on_sent(packet);
        self.window.set_in_flight(self.in_flight.bytes());
        self.processed.get_or_insert(packet.sent);
        self.publish(packet.sent);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        match feedback {
            Feedback::Packets { results, rtt } => {
                if let Some(rtt) = rtt {
                    self.on_rtt(rtt);
                }
                self.on_packets(now, results);
            }
            Feedback::Report { fraction_lost, expected, rtt } => {
                if let Some(rtt) = rtt {
                    self.on_rtt(rtt);
                }
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "`as` saturates"
                )]
                let lost = (fraction_lost * expected as f64).round() as u64;
                self.on_report(now, lost, expected);
            }
            Feedback::Remb { rate } => self.send_side.set_receiver_limit(rate),
            Feedback::Custom(_) => {}
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.process(now);
    }

    fn next_timeout(&self) -> Option<Time> {
        self.processed.map(|processed| processed + PROCESS_INTERVAL)
    }

    fn decision(&self) -> Decision {
        let Published { target, reduced, .. } = self.published;
        let target_rate = if self.config.window_drop_frames { target } else { reduced };
        Decision { target_rate, pacing_rate: self.pacer.0, probe: self.probes.cluster() }
    }

    fn on_allocation(&mut self, now: Time, allocation: Allocation) {
        let before = std::mem::replace(&mut self.allocation, allocation);
        self.probes.set_allocated(now, allocation.max_rate);
        self.register_probes();
        if before.min_rate != allocation.min_rate {
            let (min, max) = self.bounds();
            self.delay.set_min(min);
            self.send_side.set_bounds(min, max);
            self.tell_pacer();
        }
    }

    fn on_route_change(&mut self, now: Time, start: Bitrate) {
        let start = self.safe_start(start);
        self.acknowledged = AcknowledgedRate::new(&self.config);
        self.estimator = ProbeEstimator::new(&self.config);
        self.delay = DelayBased::new(&self.config, start, self.config.min_rate);
        self.send_side.on_route_change();
        self.in_flight.on_route_change();
        self.probes.reset(now);
        self.constrain(Some(now), start);
        self.publish(now);
    }

    fn padding_rate(&self) -> Bitrate {
        self.pacer.1
    }

    fn pacing_burst(&self) -> Option<Duration> {
        Some(self.config.pacing_burst)
    }

    fn frame_reduction(&self) -> f64 {
        if self.config.window_drop_frames { self.reduction() } else { 0.0 }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        let rate = |rate: Option<Bitrate>| rate.map_or(f64::NAN, Bitrate::as_bps_f64);
        self.delay.signals(sink);
        self.send_side.loss().signals(sink);
        sink("acknowledged_rate", rate(self.acknowledged.rate()));
        sink("in_alr", f64::from(u8::from(self.alr.since().is_some())));
        sink("probe_rate", rate(self.probe_rate));
        sink("remb", rate(self.send_side.receiver_limit()));
        sink("fraction_lost", self.send_side.fraction_lost() as f64 / 256.0);
        sink("padding_rate", self.pacer.1.as_bps_f64());
        sink("window", self.window.window().map_or(f64::NAN, |window| window.get() as f64));
    }
}
