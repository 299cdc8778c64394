//! The sender's timer: retransmission (RFC 6298), tail loss probes and reordering (RFC 8985).

use super::recovery::State;
use super::{Connection, TcpSender};
use crate::tcp::TcpOutbox;
use units::{Duration, Time};

/// A connection is given up after so many time-outs in a row (Linux `net.ipv4.tcp_retries2`).
const RETRIES: u32 = 15;
/// A probe waits this much beside two round trips, and more if a single segment's acknowledgement
/// may be delayed (RFC 8985 § 7.2; Linux `TCP_TIMEOUT_MIN`, `TCP_RTO_MIN`).
const PROBE_SLACK: Duration = Duration::from_millis(2);
const PROBE_DELAYED_ACK: Duration = Duration::from_millis(200);

/// What the timer is set for; there is one, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Retransmission (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 § 7).
    Probe,
    /// Reordering (RFC 8985 § 6.2 step 5).
    Reordering,
}

impl TcpSender {
    pub(super) fn on_timer(&mut self, now: Time, timer: Timer, out: &mut impl TcpOutbox) {
        match timer {
            Timer::Retransmission => self.on_timeout(now),
            Timer::Probe => self.send_probe(now, out),
            Timer::Reordering => {
                let (lost, again) =
                    self.rack.detect(now, self.is_repairing(), &self.rtt, &mut self.out);
                if lost > 0 && !self.is_repairing() {
                    self.counters.recoveries += 1;
                    self.reduce(true);
                    let flight = self.out.in_flight();
                    if let State::Reducing { reduction, .. } = &mut self.state
                        && !self.congestion.governs_recovery()
                    {
                        // Linux `tcp_rack_reo_timeout`: as if a segment had been delivered.
                        self.window.cwnd = reduction.window(1, flight, false);
                    }
                }
                self.timer = again.map(|at| (at, Timer::Reordering));
                if again.is_none() {
                    self.set_timer(now);
                }
            }
        }
    }

    /// RFC 6298 §§ 5.4 to 5.6; Linux `tcp_enter_loss`.
    pub(super) fn on_timeout(&mut self, now: Time) {
        if self.rtt.backoff() >= RETRIES {
            self.connection = Connection::TimedOut(now);
            return;
        }
        self.counters.timeouts += 1;
        self.rtt.back_off();
        let same_congestion = match self.state {
            State::Open => false,
            State::Reducing { .. } => true,
            State::TimedOut { .. } => self.rtt.backoff() > 1,
        };
        if !same_congestion {
            self.undo = Some(self.undo_point());
            self.window.ssthresh = self.congestion.on_congestion(&self.window);
        }
        self.congestion.on_timeout();
        self.tells_reduced = self.ecn_agreed;
        self.rack.on_timeout(now, &self.rtt, &mut self.out);
        self.window.cwnd = self.out.in_flight() as f64 + 1.0;
        self.state = State::TimedOut { until: self.next };
        self.probe = None;
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
    }

    /// RFC 8985 § 7.3: a new segment if there is one, else the last one again.
    pub(super) fn send_probe(&mut self, now: Time, out: &mut impl TcpOutbox) {
        let fresh =
            self.application.next(self.next, now).filter(|payload| self.window_takes(*payload));
        let retransmission = fresh.is_none();
        let sent = match (fresh, self.out.last().copied()) {
            (Some(payload), _) => self.send_new(now, payload, out),
            (None, Some(last)) => self.send_again(now, &last, out),
            (None, None) => false,
        };
        if sent {
            self.probe = Some((self.next, retransmission));
        }
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
    }

    /// Sets the timer after something was acknowledged or sent: for a probe if nothing is known to
    /// be amiss, no later than the time-out (RFC 8985 § 7.2), else for the time-out.
    pub(super) fn set_timer(&mut self, now: Time) {
        if self.out.is_empty() {
            self.timer = None;
            return;
        }
        let timeout = now + self.rtt.timeout();
        let quiet = matches!(self.state, State::Open | State::Reducing { repairing: false, .. });
        self.timer = match self.rtt.smoothed() {
            Some(rtt) if quiet && self.out.sacked() == 0 && self.probe.is_none() => {
                let slack = if self.out.len() == 1 { PROBE_DELAYED_ACK } else { PROBE_SLACK };
                Some(((now + rtt * 2 + slack).min(timeout), Timer::Probe))
            }
            _ => Some((timeout, Timer::Retransmission)),
        };
    }
}
