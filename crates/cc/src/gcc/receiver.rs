//! The receiver half: the delay-based controller and its REMB messages.

use super::config::GccConfig;
use super::delay_controller::DelayController;
use crate::{ArrivedPacket, ReceiverFeedback, SignalSink};
use units::{Bitrate, Duration, Time};

/// Observes arrivals and sends A_r back: once per interval, at once when A_r decreases by more than
/// the configured fraction, and at once when a probe increased A_r.
pub(crate) struct GccReceiver {
    delay: DelayController,
    interval: Duration,
    fall: f64,
    due: Option<Time>,
    newest: Option<Bitrate>,
    send_now: bool,
}

impl GccReceiver {
    pub(crate) fn new(config: &GccConfig, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            delay: DelayController::new(config, start, bounds),
            interval: config.remb_interval.max(Duration::from_millis(1)),
            fall: config.remb_fall,
            due: None,
            newest: None,
            send_now: false,
        }
    }
}

impl crate::Receiver for GccReceiver {
    fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>) {
        self.due.get_or_insert(packet.arrival + self.interval);
        let raised = self.delay.on_packet(packet, rtt);
        let rate = self.delay.rate().as_bps_f64();
        let fallen =
            self.newest.is_some_and(|newest| rate < (1.0 - self.fall) * newest.as_bps_f64());
        self.send_now |= raised || fallen;
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            self.send_now = true;
            self.due = Some(now + self.interval);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    fn poll(&mut self, now: Time) -> Option<ReceiverFeedback> {
        if !std::mem::take(&mut self.send_now) {
            return None;
        }
        self.due = Some(now + self.interval);
        self.newest = Some(self.delay.rate());
        self.newest.map(ReceiverFeedback::Remb)
    }

    fn speaks_remb(&self) -> bool {
        true
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        self.delay.signals(sink);
    }
}
