//! The sender's timer: retransmission (RFC 6298), tail loss probes and reordering (RFC 8985).

use super::recovery::RecoveryState;
use super::{Connection, TcpSender};
use crate::tcp::TcpOutbox;
use units::{Duration, Time};

/// A connection is given up after this many consecutive time-outs (Linux `net.ipv4.tcp_retries2`).
const MAX_RETRIES: u32 = 15;
/// Added to the reordering time-out, and to two round-trip times before a tail loss probe (Linux
/// `TCP_TIMEOUT_MIN_US`).
const TIMEOUT_MIN: Duration = Duration::from_millis(2);
/// The same before a tail loss probe for a single segment, whose acknowledgement may be delayed
/// (RFC 8985 § 7.2; Linux `TCP_RTO_MIN`).
const PROBE_DELAYED_ACK: Duration = Duration::from_millis(200);

/// The purpose of the timer; there is one timer, as in Linux.
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
                let (lost, _) = self.rack.detect(
                    now,
                    self.in_loss_recovery(),
                    &self.rtt,
                    &mut self.outstanding,
                );
                if lost > 0 && !self.in_loss_recovery() {
                    self.counters.recoveries += 1;
                    self.reduce(true);
                    let flight = self.outstanding.in_flight();
                    if let RecoveryState::Reducing { reduction, .. } = &mut self.recovery_state
                        && !self.congestion.governs_recovery()
                    {
                        // Linux `tcp_rack_reo_timeout`: treated as if one segment had been
                        // delivered.
                        self.window.cwnd = reduction.window(1, flight, false);
                    }
                }
                self.set_retransmission_timer(now);
            }
        }
    }

    /// The retransmission timer expired (RFC 6298 §§ 5.4 to 5.6; Linux `tcp_enter_loss`).
    pub(super) fn on_timeout(&mut self, now: Time) {
        if self.rtt.backoff() >= MAX_RETRIES {
            self.connection = Connection::TimedOut(now);
            return;
        }
        self.counters.timeouts += 1;
        self.rtt.back_off();
        let same_event = match self.recovery_state {
            RecoveryState::Open => false,
            RecoveryState::Reducing { .. } => true,
            RecoveryState::TimedOut { .. } => self.rtt.backoff() > 1,
        };
        if !same_event {
            self.undo = Some(self.undo_point());
            self.window.ssthresh = self.congestion.on_congestion(&self.window);
        }
        self.congestion.on_timeout();
        self.window.on_congestion();
        self.send_cwr = self.ecn_agreed;
        self.rack.on_timeout(now, &self.rtt, &mut self.outstanding);
        self.window.cwnd = self.outstanding.in_flight() as f64 + 1.0;
        self.recovery_state = RecoveryState::TimedOut { until: self.next };
        self.tail_loss_probe = None;
        self.set_retransmission_timer(now);
    }

    /// Sends a tail loss probe: a new segment if there is one, else the last one again (RFC 8985 §
    /// 7.3).
    pub(super) fn send_probe(&mut self, now: Time, out: &mut impl TcpOutbox) {
        let new = self.sendable(self.next, now);
        let retransmission = new.is_none();
        let sent = match (new, self.outstanding.last().copied()) {
            (Some(payload), _) => self.send_new(now, payload, false, out),
            (None, Some(last)) => self.retransmit(now, &last, out),
            (None, None) => false,
        };
        if sent {
            self.tail_loss_probe = Some((self.next, retransmission));
        }
        self.set_retransmission_timer(now);
    }

    /// Sets the timer to expire at the tick after `delay`.
    fn set(&mut self, now: Time, delay: Duration, timer: Timer) {
        self.timer = Some((self.wheel.expiry(now, delay), timer));
    }

    fn set_retransmission_timer(&mut self, now: Time) {
        self.set(now, self.rtt.rto(), Timer::Retransmission);
    }

    /// Sets the timer to detect losses again when `remaining` has passed (Linux
    /// `tcp_rack_mark_lost`).
    pub(super) fn set_reordering_timer(&mut self, now: Time, remaining: Duration) {
        let delay = (remaining + TIMEOUT_MIN).min(self.rtt.rto());
        self.set(now, delay, Timer::Reordering);
    }

    /// Sets the timer after data was acknowledged or sent. If no loss is known it is set for a tail
    /// loss probe, at the latest when the retransmission time-out expires (RFC 8985 § 7.2); else
    /// for the retransmission time-out.
    pub(super) fn set_timer(&mut self, now: Time) {
        if self.outstanding.is_empty() {
            self.timer = None;
            return;
        }
        let no_loss_known = matches!(
            self.recovery_state,
            RecoveryState::Open | RecoveryState::Reducing { loss: false, .. }
        );
        match self.rtt.srtt() {
            Some(rtt)
                if no_loss_known
                    && self.outstanding.sacked() == 0
                    && self.tail_loss_probe.is_none() =>
            {
                let slack =
                    if self.outstanding.len() == 1 { PROBE_DELAYED_ACK } else { TIMEOUT_MIN };
                self.set(now, (rtt * 2 + slack).min(self.rtt.rto()), Timer::Probe);
            }
            _ => self.set_retransmission_timer(now),
        }
    }
}
