//! What is reported: rmode, x_curr and r_recv, from the observation window (§ 4.2). The receiver or
//! the sender runs it.

use super::config::NadaConfig;
use super::congestion_signal::CongestionSignal;
use super::feedback::CongestionReport;
use super::observation_window::{Observation, ObservationWindow};
use crate::SignalSink;
use units::{Bitrate, Duration};

/// Estimates delay, loss and marking.
pub(crate) struct Estimator {
    pub(crate) window: ObservationWindow,
    signal: CongestionSignal,
    alpha: f64,
    qeps: Duration,
    d_queue: Duration,
    d_tilde: f64,
    lost: u64,
    p_loss: f64,
    p_mark: f64,
    x_curr: f64,
    r_recv: f64,
}

impl Estimator {
    pub(crate) fn new(config: &NadaConfig) -> Self {
        Self {
            window: ObservationWindow::new(config),
            signal: CongestionSignal::new(config),
            alpha: config.alpha,
            qeps: config.qeps,
            d_queue: Duration::ZERO,
            d_tilde: 0.0,
            lost: 0,
            p_loss: 0.0,
            p_mark: 0.0,
            x_curr: 0.0,
            r_recv: 0.0,
        }
    }

    pub(crate) fn on_packet(&mut self, packet: Observation) {
        self.window.push(packet);
    }

    /// Updates the estimates and returns the report.
    pub(crate) fn report(&mut self) -> CongestionReport {
        if let Some(rate) = self.window.receiving_rate() {
            self.r_recv = rate;
        }
        if let Some((lost, loss, marking)) = self.window.ratios() {
            self.lost = lost;
            self.p_loss += self.alpha * (loss - self.p_loss);
            self.p_mark += self.alpha * (marking - self.p_mark);
        }
        if let Some(d_queue) = self.window.queuing_delay() {
            self.d_queue = d_queue;
            self.d_tilde = self.signal.delay(d_queue, self.window.intervals.average());
            self.x_curr = self.signal.aggregate(self.d_tilde, self.p_mark, self.p_loss);
        }
        CongestionReport {
            ramp_up: self.lost == 0 && !self.window.is_queuing(self.qeps),
            x_curr: self.x_curr,
            r_recv: Bitrate::from_bps_f64(self.r_recv),
        }
    }

    pub(crate) fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("d_queue", self.d_queue.as_millis_f64());
        sink("d_tilde", self.d_tilde);
        sink("p_loss", self.p_loss);
        sink("p_mark", self.p_mark);
        let interval = self.window.intervals.average();
        sink("loss_int", interval.map_or(f64::NAN, |interval| interval.average));
        sink("r_recv", self.r_recv);
    }
}
