//! The sender: distributes feedback to the stages and publishes the estimate (libwebrtc
//! `goog_cc/goog_cc_network_control.cc`).

use super::super::loss::{LossControl, LossReport};
use super::super::receiver::milliseconds;
use super::acknowledged::Acknowledged;
use super::alr::Alr;
use super::config::SendSideConfig;
use super::delay_based::{Arrived, DelayBased};
use super::probe_results::{Probe, ProbeResults};
use super::probes::{Probes, min_bytes};
use crate::{ControllerConfig, Decision, Feedback, PacketResult, SentPacket, SignalSink};
use units::{Bitrate, Duration, Time};

/// Initial capacity: packets of one feedback message without reallocation.
const INITIAL_CAPACITY: usize = 1024;

/// The controller.
pub(super) struct SendSide {
    delay: DelayBased,
    loss: LossControl,
    acknowledged: Acknowledged,
    alr: Alr,
    probes: Probes,
    results: ProbeResults,
    arrived: Vec<(Arrived, Option<Probe>)>,
    was_in_alr: bool,
    /// The published estimate with its fraction lost and round-trip time.
    published: (Bitrate, f64, i64),
    pacing_factor: f64,
    timer: Duration,
    due: Option<Time>,
}

impl SendSide {
    pub(super) fn new(config: &SendSideConfig, rates: &ControllerConfig) -> Self {
        let (start, bounds) = (rates.start_rate, (rates.min_rate, rates.max_rate));
        Self {
            delay: DelayBased::new(config, start, bounds.0),
            loss: LossControl::new(config.loss(), start, bounds),
            acknowledged: Acknowledged::new(config),
            alr: Alr::default(),
            probes: Probes::new(config, rates),
            results: ProbeResults::new(),
            arrived: Vec::with_capacity(INITIAL_CAPACITY),
            was_in_alr: false,
            published: (start, f64::NAN, 0),
            pacing_factor: config.pacing_factor,
            timer: config.loss_timer.max(Duration::from_millis(1)),
            due: None,
        }
    }

    /// The timer runs from the first event.
    fn start(&mut self, now: Time) {
        let timer = self.timer;
        self.due.get_or_insert_with(|| now + timer);
        self.probes.start(milliseconds(now));
    }

    fn on_packets(&mut self, now: i64, results: &[PacketResult]) {
        self.update_alr(now);
        self.collect(results);
        if self.arrived.is_empty() {
            return;
        }
        let mut recovered = false;
        for (packet, probe) in &self.arrived {
            self.acknowledged.on_packet(packet.sent, packet.arrival, packet.size);
            recovered |= self.delay.on_packet(now, packet);
            if let Some(probe) = probe {
                self.results.on_packet(probe);
            }
        }
        let update = self.delay.update(now, self.acknowledged.rate(), self.results.take());
        if update.updated {
            let rate = self.delay.aimd.rate();
            if update.probe {
                self.loss.set(rate);
            }
            self.loss.on_delay_based(rate);
            self.publish(now);
        }
        if recovered && update.recovered {
            self.probes.on_recovered(now, self.alr.since().is_some());
        }
    }

    /// The packets that arrived, in order of arrival.
    fn collect(&mut self, results: &[PacketResult]) {
        self.arrived.clear();
        for PacketResult { packet, arrival, .. } in results {
            let Some(arrival) = arrival.map(milliseconds) else { continue };
            let (sent, size) = (milliseconds(packet.sent), packet.size.get());
            let arrived = Arrived { sent, arrival, sequence: packet.sequence, size };
            let probe = packet.probe.and_then(|id| self.probes.find(id)).map(|cluster| Probe {
                cluster: cluster.id,
                least: (u64::from(cluster.min_packets), min_bytes(&cluster).get()),
                sent,
                arrival,
                bits: packet.size.bits(),
            });
            self.arrived.push((arrived, probe));
        }
        self.arrived
            .sort_unstable_by_key(|(packet, _)| (packet.arrival, packet.sent, packet.sequence));
    }

    fn update_alr(&mut self, now: i64) {
        let in_alr = self.alr.since().is_some();
        if self.was_in_alr && !in_alr {
            self.acknowledged.on_alr_ended(now);
            self.probes.on_alr_ended(now);
        }
        self.was_in_alr = in_alr;
    }

    /// Publishes the estimate if it has changed.
    fn publish(&mut self, now: i64) {
        let estimate = (self.loss.rate(), self.loss.fraction_lost(), self.loss.rtt());
        if estimate != self.published {
            self.published = estimate;
            let rate = super::super::aimd::whole(estimate.0);
            self.alr.set_estimate(rate);
            self.probes.on_estimate(now, rate);
        }
    }
}

impl crate::Sender for SendSide {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.start(packet.sent);
        self.alr.on_sent(milliseconds(packet.sent), packet.size.get());
        self.probes.on_sent(packet);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        self.start(now);
        match feedback {
            Feedback::Packets { results, rtt } => {
                if let Some(rtt) = rtt {
                    self.delay.on_rtt(rtt);
                }
                self.on_packets(milliseconds(now), results);
            }
            Feedback::Report { fraction_lost, expected, rtt } => {
                // The report counts lost packets; the fraction stands for them.
                let lost = 256 * (fraction_lost * expected as f64).round() as u64;
                let rtt = rtt.map(|rtt| rtt.as_millis() as i64).filter(|rtt| *rtt > 0);
                self.loss.on_report(milliseconds(now), &LossReport { lost, expected, rtt });
            }
            Feedback::Remb { rate } => self.loss.on_remb(rate),
            Feedback::Custom(_) => {}
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_none_or(|due| due <= now) {
            self.due = Some(now + self.timer);
            let now = milliseconds(now);
            self.probes.start(now);
            self.loss.update(now);
            self.probes.on_timer(now);
            self.publish(now);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    fn decision(&self) -> Decision {
        let target_rate = self.published.0;
        Decision {
            target_rate,
            pacing_rate: target_rate.scale(self.pacing_factor.max(1.0)),
            probe: self.probes.cluster(),
        }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        self.delay.signals(sink);
        sink("acknowledged_rate", self.acknowledged.rate().map_or(f64::NAN, f64::from));
        sink("in_alr", f64::from(u8::from(self.alr.since().is_some())));
        sink("A_s", self.loss.rate().as_bps_f64());
        sink("fraction_lost", self.loss.fraction_lost());
        sink("least_rate", self.loss.least().map_or(f64::NAN, f64::from));
        sink("remb", self.loss.remb().map_or(f64::NAN, f64::from));
        sink("rtt", self.loss.rtt() as f64);
        let (asked, newest) = self.probes.asked();
        sink("probes", f64::from(asked));
        sink("probe_rate", newest.map_or(f64::NAN, |cluster| cluster.rate.as_bps_f64()));
    }
}
