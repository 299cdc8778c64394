//! The sender half: the loss-based controller, the minimum of both rates, and the rates for the
//! sending engine.

use super::config::{GccConfig, Side};
use super::delay_controller::DelayController;
use super::loss_controller::LossController;
use super::probing::ProbePlan;
use crate::{ArrivedPacket, Decision, Feedback, PacketResult, SentPacket, SignalSink};
use units::{Bitrate, Duration, Time};

/// Decides A = min(A_r, A_s) (Carlucci 2017 § III).
pub(crate) struct GccSender {
    loss: LossController,
    /// The delay-based controller, if it runs at the sender.
    delay: Option<DelayController>,
    /// A_r, from REMB or from `delay`.
    a_r: Option<Bitrate>,
    plan: Option<ProbePlan>,
    pacing_factor: f64,
    capped: bool,
    bounds: (Bitrate, Bitrate),
    rtt: Option<Duration>,
}

impl GccSender {
    pub(crate) fn new(config: &GccConfig, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            loss: LossController::new(config, start, bounds),
            delay: (config.side == Side::Sender)
                .then(|| DelayController::new(config, start, bounds)),
            a_r: None,
            plan: (config.probing == super::config::Probing::Initial)
                .then(|| ProbePlan::new(start)),
            pacing_factor: config.pacing_factor,
            capped: config.loss_capped,
            bounds,
            rtt: None,
        }
    }

    fn on_delay_based(&mut self, now: Time, a_r: Bitrate) {
        let raised = self.a_r.is_none_or(|before| a_r > before);
        self.a_r = Some(a_r);
        self.loss.on_delay_based(now, a_r);
        if let Some(plan) = self.plan.as_mut().filter(|_| raised) {
            plan.on_result(now, a_r);
        }
    }

    fn on_packets(&mut self, now: Time, results: &[PacketResult]) {
        let Some(delay) = &mut self.delay else { return };
        for PacketResult { packet, arrival, ecn } in results {
            let Some(arrival) = *arrival else { continue };
            let SentPacket { sequence, sent, size, probe } = *packet;
            // Feedback has no RTP timestamps: packets are grouped by burst.
            let ecn = *ecn;
            let arrived =
                ArrivedPacket { sequence, sent, arrival, size, rtp_timestamp: 0, probe, ecn };
            delay.on_packet(&arrived, self.rtt);
        }
        let rate = delay.rate();
        self.on_delay_based(now, rate);
    }

    fn target(&self) -> Bitrate {
        let a_s = self.loss.rate();
        self.a_r.map_or(a_s, |a_r| a_r.min(a_s)).max(self.bounds.0).min(self.bounds.1)
    }
}

impl crate::Sender for GccSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        if let (Some(plan), Some(cluster)) = (&mut self.plan, packet.probe) {
            plan.on_sent(packet.sent, cluster);
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        match feedback {
            Feedback::Packets { results, rtt } => {
                self.rtt = rtt.or(self.rtt);
                self.on_packets(now, results);
            }
            Feedback::Report { fraction_lost, rtt, .. } => {
                self.rtt = rtt.or(self.rtt);
                let target = self.target();
                self.loss.on_report(now, fraction_lost, target);
                if let Some(a_r) = self.a_r.filter(|_| self.capped) {
                    self.loss.on_delay_based(now, a_r);
                }
            }
            Feedback::Remb { rate } => self.on_delay_based(now, rate),
            _ => {}
        }
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn decision(&self) -> Decision {
        let target_rate = self.target();
        let pacing_rate = target_rate.scale(self.pacing_factor);
        Decision {
            target_rate,
            pacing_rate,
            probe: self.plan.as_ref().and_then(ProbePlan::cluster),
        }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("A_s", self.loss.rate().as_bps_f64());
        sink("fraction_lost", self.loss.fraction_lost());
        sink("remb", self.a_r.map_or(f64::NAN, Bitrate::as_bps_f64));
        if let Some(delay) = &self.delay {
            delay.signals(sink);
        }
    }
}
