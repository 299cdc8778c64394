//! The sender (§ 4.3). In the sender's form it also estimates (§ 6.4).

use super::config::{NadaConfig, Side};
use super::estimator::Estimator;
use super::feedback::CongestionReport;
use super::observation_window::Observation;
use super::rate_shaping::RateShaping;
use super::reference_rate::ReferenceRate;
use crate::{
    Allocation, ControllerConfig, Decision, Ecn, Feedback, MediaFrame, PacketResult, SentPacket,
    SignalSink,
};
use units::{Bitrate, Duration, Time};

pub(crate) struct NadaSender {
    /// In the sender's form.
    pub(super) estimator: Option<Estimator>,
    pub(super) rate: ReferenceRate,
    shaping: RateShaping,
    delta: Duration,
    min_update: Duration,
    first_packet: bool,
    max_rate: Bitrate,
    ecn: Ecn,
    rtt: Duration,
    /// t_last: the last update, or the first packet.
    last: Option<Time>,
}

impl NadaSender {
    pub(crate) fn new(config: &NadaConfig, rates: &ControllerConfig) -> Self {
        Self {
            estimator: (config.side == Side::Sender).then(|| Estimator::new(config)),
            rate: ReferenceRate::new(config, [rates.min_rate, rates.start_rate, rates.max_rate]),
            shaping: RateShaping::new(config),
            delta: config.delta,
            min_update: config.min_update,
            first_packet: config.first_packet,
            max_rate: rates.max_rate,
            ecn: config.ecn.field(),
            rtt: Duration::ZERO,
            last: None,
        }
    }

    /// The time since the last update, which is now.
    fn elapsed(&mut self, now: Time) -> Duration {
        let last = self.last.replace(now).unwrap_or(now);
        now.saturating_since(last)
    }

    /// Feedback per packet: estimates, and updates the rate once per interval.
    fn on_packets(&mut self, now: Time, results: &[PacketResult]) {
        for PacketResult { packet, arrival, ecn } in results {
            let (Some(arrival), Some(estimator)) = (*arrival, &mut self.estimator) else {
                continue;
            };
            estimator.on_packet(Observation {
                sequence: packet.sequence,
                sent: packet.sent,
                arrival,
                size: packet.size,
                ecn: *ecn,
                rtt: Some(now.saturating_since(packet.sent)),
            });
            if self.first_packet {
                self.estimate(now, self.delta);
            }
        }
        self.estimate(now, self.min_update);
    }

    /// Updates the rate if `interval` has passed since the last update.
    fn estimate(&mut self, now: Time, interval: Duration) {
        if let Some(estimator) = &mut self.estimator
            && self.last.is_some_and(|last| now.saturating_since(last) >= interval)
        {
            let report = estimator.report();
            self.rtt = estimator.window.rtt().unwrap_or(self.rtt);
            let elapsed = self.elapsed(now);
            self.rate.update(&report, elapsed, self.rtt);
        }
    }
}

impl crate::Sender for NadaSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.last.get_or_insert(packet.sent);
        self.shaping.on_sent(packet.size);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        match feedback {
            Feedback::Packets { results, .. } => self.on_packets(now, results),
            Feedback::Report { rtt: Some(rtt), .. } if self.estimator.is_none() => self.rtt = rtt,
            Feedback::Custom(message) if self.estimator.is_none() => {
                if let Some(report) = CongestionReport::decode(&message) {
                    let elapsed = self.elapsed(now);
                    self.rate.update(&report, elapsed, self.rtt);
                }
            }
            _ => {}
        }
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn decision(&self) -> Decision {
        let (target_rate, pacing_rate) = self.shaping.rates(self.rate.get(), self.rate.bounds());
        Decision { target_rate, pacing_rate, probe: None }
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn on_frame(&mut self, _now: Time, frame: &MediaFrame) {
        self.shaping.on_frame(frame.queued);
    }

    fn on_allocation(&mut self, _now: Time, allocation: Allocation) {
        if allocation.max_rate > Bitrate::ZERO {
            self.rate.set_max(allocation.max_rate.min(self.max_rate));
        }
    }

    fn on_route_change(&mut self, now: Time, start: Bitrate) {
        self.rate.restart(start);
        self.last = Some(now);
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("r_ref", self.rate.get());
        sink("x_curr", self.rate.x_prev());
        sink("rmode", f64::from(u8::from(!self.rate.is_ramping_up())));
        sink("buffer_len", self.shaping.buffered().get() as f64);
        sink("nada_rtt", self.rtt.as_millis_f64());
        if let Some(estimator) = &self.estimator {
            estimator.signals(sink);
        }
    }
}
