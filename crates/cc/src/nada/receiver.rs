//! The receiver's form (§ 4.2): a report each DELTA in which a packet arrived.

use super::config::NadaConfig;
use super::estimator::Estimator;
use super::feedback::CongestionReport;
use super::observation_window::Observation;
use crate::{ArrivedPacket, ReceiverFeedback, SignalSink};
use units::{Duration, Time};

pub(crate) struct NadaReceiver {
    estimator: Estimator,
    delta: Duration,
    /// When the next report is due; `None` if no packet arrived since the last one.
    due: Option<Time>,
    last: Option<Time>,
    report: Option<CongestionReport>,
}

impl NadaReceiver {
    pub(crate) fn new(config: &NadaConfig) -> Self {
        Self {
            estimator: Estimator::new(config),
            delta: config.delta,
            due: None,
            last: None,
            report: None,
        }
    }
}

impl crate::Receiver for NadaReceiver {
    fn on_packet(&mut self, packet: &ArrivedPacket, _rtt: Option<Duration>) {
        let ArrivedPacket { sequence, sent, arrival, size, ecn, .. } = *packet;
        self.estimator.on_packet(Observation { sequence, sent, arrival, size, ecn, rtt: None });
        if self.due.is_none() {
            let next = self.last.map_or(arrival, |last| last) + self.delta;
            self.due = Some(next.max(arrival + Duration::from_nanos(1)));
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            self.report = Some(self.estimator.report());
            self.last = Some(now);
            self.due = None;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    fn poll(&mut self, _now: Time) -> Option<ReceiverFeedback> {
        self.report.take().map(|report| ReceiverFeedback::Custom(report.encode()))
    }

    fn speaks_remb(&self) -> bool {
        false
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        self.estimator.signals(sink);
    }
}
