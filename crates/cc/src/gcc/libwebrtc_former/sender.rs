//! The sender: distributes feedback to the stages, and computes the estimate as the minimum of the
//! delay-based rate, the loss-based rate and the receiver's limit (libwebrtc
//! `goog_cc/goog_cc_network_control.cc`, `goog_cc/send_side_bandwidth_estimation.cc`).

use super::super::overuse_detector::Signal;
use super::acknowledged_rate::AcknowledgedRate;
use super::alr::AlrDetector;
use super::config::LibwebrtcConfig;
use super::delay_based::{DelayBased, Inputs, Update};
use super::loss_based::{LossBased, LossState};
use super::probe_controller::{LimitCause, ProbeController};
use super::probe_estimator::ProbeEstimator;
use super::rtt_backoff::RttBackoff;
use crate::{ControllerConfig, Decision, Feedback, PacketResult, SentPacket, SignalSink};
use units::{Bitrate, Duration, Time};

/// Interval of the timeouts. In libwebrtc 25 ms (`goog_cc/goog_cc_factory.cc`); only pauses of
/// seconds matter.
const PROCESS_INTERVAL: Duration = Duration::from_millis(250);
/// Initial capacity: packets of one feedback message without reallocation.
const INITIAL_CAPACITY: usize = 1024;

/// The controller.
pub(super) struct LibwebrtcSender {
    config: LibwebrtcConfig,
    bounds: (Bitrate, Bitrate),
    delay: DelayBased,
    loss: LossBased,
    acknowledged: AcknowledgedRate,
    alr: AlrDetector,
    probes: ProbeController,
    estimator: ProbeEstimator,
    backoff: RttBackoff,
    /// The packets that a feedback message reports as received, in order of arrival.
    arrived: Vec<(SentPacket, Time)>,
    /// The estimate before the receiver's limit.
    target: Bitrate,
    delay_limit: Option<Bitrate>,
    receiver_limit: Option<Bitrate>,
    first_report: Option<Time>,
    fraction_lost: f64,
    was_in_alr: bool,
    /// The estimate and its limit that were last passed to the ALR detector and the probe
    /// controller.
    published: (Bitrate, Option<LimitCause>),
    probe_rate: Option<Bitrate>,
    processed: Option<Time>,
}

impl LibwebrtcSender {
    pub(super) fn new(config: &LibwebrtcConfig, rates: &ControllerConfig) -> Self {
        let bounds = (rates.min_rate.max(config.min_rate).min(rates.max_rate), rates.max_rate);
        let start = rates.start_rate.max(bounds.0);
        let mut sender = Self {
            config: config.clone(),
            bounds,
            delay: DelayBased::new(config, start, bounds.0),
            loss: LossBased::new(config, bounds),
            acknowledged: AcknowledgedRate::new(config),
            alr: AlrDetector::new(config, start),
            probes: ProbeController::new(config, start, bounds.1),
            estimator: ProbeEstimator::new(config),
            backoff: RttBackoff::new(config),
            arrived: Vec::with_capacity(INITIAL_CAPACITY),
            target: start,
            delay_limit: None,
            receiver_limit: None,
            first_report: None,
            fraction_lost: 0.0,
            was_in_alr: false,
            published: (start, None),
            probe_rate: None,
            processed: None,
        };
        sender.register_probes();
        sender
    }

    /// Processes feedback per packet.
    fn on_packets(&mut self, now: Time, results: &[PacketResult]) {
        if results.is_empty() {
            return;
        }
        self.collect(results);
        self.update_backoff(now);
        let in_alr = self.update_alr(now);
        for (packet, arrival) in &self.arrived {
            self.acknowledged.on_packet(packet.sent, *arrival, packet.size);
            if let Some(id) = packet.probe {
                self.estimator.on_packet(id, packet, *arrival);
            }
        }
        let acknowledged = self.acknowledged.rate();
        let probe = self.probe_result(acknowledged);
        let update =
            self.delay.on_feedback(now, &self.arrived, &Inputs { acknowledged, probe, in_alr });
        self.apply_delay_based(update);
        if self.config.loss {
            self.loss.update(results, acknowledged, self.delay_limit, in_alr);
        }
        self.estimate(now);
        if update.rate.is_some() {
            self.publish(now);
        }
        if update.recovered {
            self.probes.set_alr(self.alr.since());
            self.probes.on_recovered(now);
            self.register_probes();
        }
    }

    fn collect(&mut self, results: &[PacketResult]) {
        self.arrived.clear();
        self.arrived.extend(
            results
                .iter()
                .filter_map(|result| result.arrival.map(|arrival| (result.packet, arrival))),
        );
        if !self.arrived.is_sorted_by_key(|(_, arrival)| *arrival) {
            self.arrived.sort_unstable_by_key(|(packet, arrival)| (*arrival, packet.sequence));
        }
    }

    /// Passes on the minimum time from sending to feedback, without the waiting time at the
    /// receiver.
    fn update_backoff(&mut self, now: Time) {
        let Some(newest) = self.arrived.last().map(|(_, arrival)| *arrival) else { return };
        let times = self.arrived.iter().map(|(packet, arrival)| {
            now.saturating_since(packet.sent).saturating_sub(newest.saturating_since(*arrival))
        });
        if let Some(min) = times.min() {
            self.backoff.on_feedback(now, min);
        }
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
        self.delay_limit = Some(rate);
        if update.probe {
            self.target = rate;
        }
        self.limit();
    }

    /// Recomputes the estimate.
    fn estimate(&mut self, now: Time) {
        if self.backoff.is_above() {
            if let Some(rate) = self.backoff.reduced(now, self.target) {
                self.target = rate;
            }
        } else if let Some(rate) = self.loss.rate().filter(|_| self.config.loss) {
            self.target = rate;
        } else if !self.config.loss || (self.fraction_lost == 0.0 && self.in_start_phase(now)) {
            let known = [self.receiver_limit, self.delay_limit].into_iter().flatten().max();
            self.target = known.map_or(self.target, |known| known.max(self.target));
        }
        self.limit();
    }

    fn in_start_phase(&self, now: Time) -> bool {
        self.first_report.is_none_or(|first| now.saturating_since(first) < self.config.start_phase)
    }

    fn limit(&mut self) {
        let upper = self.delay_limit.map_or(self.bounds.1, |limit| limit.min(self.bounds.1));
        self.target = self.target.min(upper).max(self.bounds.0);
    }

    /// The estimate with the receiver's limit.
    fn target(&self) -> Bitrate {
        self.receiver_limit.map_or(self.target, |limit| self.target.min(limit)).max(self.bounds.0)
    }

    /// Passes the estimate to the stages that use it, if it has changed.
    fn publish(&mut self, now: Time) {
        let limit = match (self.delay.state(), self.backoff.is_above(), self.loss.state()) {
            (Signal::Overuse { .. } | Signal::Underuse, _, _) => LimitCause::DelayChanges,
            (Signal::Normal, true, _) => LimitCause::RoundTripTime,
            (_, _, LossState::Decreasing) => LimitCause::Loss,
            (_, _, LossState::Increasing) => LimitCause::LossIncreasing,
            (_, _, LossState::DelayBased) => LimitCause::Delay,
        };
        let newest = (self.target(), Some(limit));
        if std::mem::replace(&mut self.published, newest) != newest {
            self.alr.set_estimate(newest.0);
            self.probes.set_estimate(now, newest.0, limit);
            self.register_probes();
        }
    }

    fn process(&mut self, now: Time) {
        self.processed = Some(now);
        self.estimate(now);
        self.probes.set_alr(self.alr.since());
        self.probes.process(now);
        self.register_probes();
        self.publish(now);
    }

    /// Passes new clusters to the probe estimator, before the probe controller creates more.
    fn register_probes(&mut self) {
        for cluster in self.probes.take_fresh().into_iter().flatten() {
            self.estimator.expect(cluster);
        }
    }
}

impl crate::Sender for LibwebrtcSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.alr.on_sent(packet);
        self.backoff.on_sent(packet.sent);
        self.probes.on_sent(packet);
        self.processed.get_or_insert(packet.sent);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        match feedback {
            Feedback::Packets { results, rtt } => {
                if let Some(rtt) = rtt {
                    self.delay.on_rtt(rtt);
                }
                self.on_packets(now, results);
            }
            Feedback::Report { fraction_lost, rtt, .. } => {
                self.first_report.get_or_insert(now);
                self.fraction_lost = fraction_lost;
                if let Some(rtt) = rtt {
                    self.delay.on_rtt(rtt);
                }
            }
            Feedback::Remb { rate } => {
                self.receiver_limit = Some(rate).filter(|&rate| rate > Bitrate::ZERO);
            }
            _ => {}
        }
        self.process(now);
    }

    fn on_timeout(&mut self, now: Time) {
        self.process(now);
    }

    fn next_timeout(&self) -> Option<Time> {
        self.processed.map(|processed| processed + PROCESS_INTERVAL)
    }

    fn decision(&self) -> Decision {
        let target_rate = self.target();
        let pacing_rate = target_rate.scale(self.config.pacing_factor);
        Decision { target_rate, pacing_rate, probe: self.probes.cluster() }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        let rate = |rate: Option<Bitrate>| rate.map_or(f64::NAN, Bitrate::as_bps_f64);
        self.delay.signals(sink);
        self.loss.signals(sink);
        sink("acknowledged_rate", rate(self.acknowledged.rate()));
        sink("in_alr", f64::from(u8::from(self.alr.since().is_some())));
        sink("probe_rate", rate(self.probe_rate));
        sink("remb", rate(self.receiver_limit));
        sink("fraction_lost", self.fraction_lost);
    }
}
