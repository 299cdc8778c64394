//! The sender half: the loss-based rate, pacing and probes at the start.

use super::config::ChromiumConfig;
use super::loss::{LossControl, LossReport};
use super::receiver::milliseconds;
use super::start_probes::StartProbes;
use crate::gcc::config::Probing;
use crate::{ControllerConfig, Decision, Feedback, SentPacket, SignalSink};
use units::{Duration, Time};

/// Decides the rate from REMB and receiver reports.
pub(super) struct ChromiumSender {
    loss: LossControl,
    probes: Option<StartProbes>,
    pacing_factor: f64,
    timer: Duration,
    due: Option<Time>,
}

impl ChromiumSender {
    pub(super) fn new(config: &ChromiumConfig, rates: &ControllerConfig) -> Self {
        let start = rates.start_rate;
        Self {
            loss: LossControl::new(config.loss(), start, (rates.min_rate, rates.max_rate)),
            probes: (config.probing == Probing::Initial).then(|| StartProbes::new(start)),
            pacing_factor: config.pacing_factor,
            timer: config.loss_timer.max(Duration::from_millis(1)),
            due: None,
        }
    }

    /// The timer runs from the first event.
    fn start(&mut self, now: Time) {
        let timer = self.timer;
        self.due.get_or_insert_with(|| now + timer);
    }
}

impl crate::Sender for ChromiumSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.start(packet.sent);
        if let Some(probes) = &mut self.probes {
            probes.on_sent(packet);
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        self.start(now);
        match feedback {
            Feedback::Report { fraction_lost, expected, rtt } => {
                let lost = (fraction_lost * 256.0).round() as u64 * expected;
                let rtt = rtt.map(|rtt| rtt.as_millis() as i64);
                self.loss.on_report(milliseconds(now), &LossReport { lost, expected, rtt });
            }
            Feedback::Remb { rate } => self.loss.on_remb(rate),
            Feedback::Packets { .. } | Feedback::Custom(_) => {}
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_none_or(|due| due <= now) {
            self.loss.update(milliseconds(now));
            self.due = Some(now + self.timer);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    fn decision(&self) -> Decision {
        let target_rate = self.loss.rate();
        Decision {
            target_rate,
            pacing_rate: target_rate.scale(self.pacing_factor.max(1.0)),
            probe: self.probes.as_ref().map(StartProbes::cluster),
        }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("A_s", self.loss.rate().as_bps_f64());
        sink("fraction_lost", self.loss.fraction_lost());
        sink("least_rate", self.loss.least().map_or(f64::NAN, f64::from));
        sink("remb", self.loss.remb().map_or(f64::NAN, f64::from));
    }
}
