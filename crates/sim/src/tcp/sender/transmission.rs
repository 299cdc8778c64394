//! What leaves, and when: windows, pacing, the host's own queue.

use super::TcpSender;
use super::recovery::State;
use super::timer::Timer;
use crate::tcp::TcpOutbox;
use crate::tcp::congestion::INITIAL_WINDOW;
use crate::tcp::outstanding::Sent;
use crate::tcp::segment::{MAX_SEGMENT, Segment};
use net::Ecn;
use units::{Bitrate, Bytes, Duration, Time};

/// The pacing rate that sizes bursts and small queues, relative to cwnd / RTT (Linux
/// `tcp_pacing_ss_ratio`, `…_ca_ratio`).
const SLOW_START_PACING: f64 = 2.0;
const AVOIDANCE_PACING: f64 = 1.2;
/// A window of a third and more is never held back for a fuller burst (Linux
/// `net.ipv4.tcp_tso_win_divisor`).
const BURST_SHARE: f64 = 3.0;

/// Whether it is the window that holds the sender back (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    limited: bool,
    most: u64,
    until: u64,
}

impl TcpSender {
    /// Sends what the windows, the pacing and the host's own queue let through.
    pub(super) fn transmit(&mut self, now: Time, out: &mut impl TcpOutbox) {
        let mut window_limited = false;
        while self.paced_until <= now {
            let pacing = self.pacing_rate();
            let room = self.window.cwnd.floor() - self.out.in_flight() as f64;
            if room < 1.0 {
                window_limited = true;
                break;
            }
            let burst = self.queue.burst(pacing);
            if let Some(lost) = self.out.next_lost().copied() {
                if self.queue.holds_back(wire_size(lost.payload), pacing, true)
                    || !self.send_again(now, &lost, out)
                {
                    break;
                }
                self.note_retransmission(now);
                continue;
            }
            let Some(payload) = self.application.next(self.next, now) else {
                self.delivery.limit_by_application(self.out.in_flight());
                break;
            };
            if !self.window_takes(payload) {
                break;
            }
            if self.awaits_fuller_burst(room, burst) {
                window_limited = true;
                break;
            }
            let alone = self.out.len() <= burst;
            if self.queue.holds_back(wire_size(payload) * burst, pacing, false) && !alone {
                break;
            }
            if !self.send_burst(now, burst.min(room as u64), out) {
                break;
            }
        }
        self.note_usage(window_limited);
    }

    /// Linux `tcp_tso_should_defer`: with offload, more of the window may soon be free for a fuller
    /// burst.
    pub(super) fn awaits_fuller_burst(&self, room: f64, burst: u64) -> bool {
        let enough = (burst as f64).min((self.window.cwnd / BURST_SHARE).max(1.0));
        room < enough && !self.is_repairing() && !self.out.is_empty()
    }

    /// Sends new segments that leave together.
    pub(super) fn send_burst(
        &mut self,
        now: Time,
        segments: u64,
        out: &mut impl TcpOutbox,
    ) -> bool {
        let mut sent = Bytes::ZERO;
        for _ in 0..segments {
            let next =
                self.application.next(self.next, now).filter(|payload| self.window_takes(*payload));
            let Some(payload) = next else { break };
            if !self.send_new(now, payload, out) {
                return false;
            }
            sent += payload;
        }
        self.pace(now, sent);
        true
    }

    /// After sending so much, how long nothing more leaves.
    pub(super) fn pace(&mut self, now: Time, sent: Bytes) {
        if let Some(span) = self.congestion.pacing_rate().and_then(|rate| rate.time_to_send(sent)) {
            self.paced_until = self.paced_until.max(now) + span;
        }
    }

    /// Whether the receiver's window takes another segment.
    pub(super) fn window_takes(&self, payload: Bytes) -> bool {
        self.next + payload.get() <= self.acknowledged + self.peer_window.get()
    }

    pub(super) fn send_new(&mut self, now: Time, payload: Bytes, out: &mut impl TcpOutbox) -> bool {
        let idle = self.out.is_empty();
        if idle {
            self.restart(now);
        }
        let (sequence, end) = (self.next, self.next + payload.get());
        let fin = self.application.ends_at(end);
        let ecn = if self.ecn_agreed { Ecn::Ect0 } else { Ecn::NotEct };
        if !self.emit(now, (sequence, payload, fin), ecn, out) {
            return false;
        }
        let snapshot = self.delivery.on_sent(now, idle);
        self.out.push(sequence, payload, fin, now, snapshot);
        self.next = end;
        if idle || matches!(self.timer, None | Some((_, Timer::Probe))) {
            self.set_timer(now);
        }
        true
    }

    pub(super) fn send_again(&mut self, now: Time, sent: &Sent, out: &mut impl TcpOutbox) -> bool {
        // RFC 3168 § 6.1.5: retransmissions are not ECN-capable.
        if !self.emit(now, (sent.sequence, sent.payload, sent.fin), Ecn::NotEct, out) {
            return false;
        }
        if self.out.retransmitted() == 0 {
            self.retransmitting_since = Some(now);
        }
        let snapshot = self.delivery.on_sent(now, false);
        self.out.retransmit(sent.sequence, now, snapshot);
        self.counters.retransmitted_packets += 1;
        self.counters.retransmitted_bytes += sent.payload.get();
        if self.timer.is_none() {
            self.set_timer(now);
        }
        self.pace(now, sent.payload);
        true
    }

    /// A loss is being repaired, which may prove to be none.
    fn note_retransmission(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.since.get_or_insert(now);
            undo.unexplained += 1;
        }
    }

    /// Hands a segment to the host. Returns whether it got in; if not, that is congestion too
    /// (Linux `tcp_transmit_skb`).
    pub(super) fn emit(
        &mut self,
        now: Time,
        (sequence, payload, fin): (u64, Bytes, bool),
        ecn: Ecn,
        out: &mut impl TcpOutbox,
    ) -> bool {
        let segment = Segment {
            sequence,
            payload,
            fin,
            cwr: self.tells_reduced && ecn != Ecn::NotEct,
            ..self.acknowledgment(now)
        };
        let size = segment.size();
        if !out.segment(now, segment, ecn) {
            self.counters.local_drops += 1;
            if matches!(self.state, State::Open) {
                self.reduce(false);
            }
            if self.out.is_empty() {
                self.retry = Some(now + self.rtt.base_timeout());
            }
            return false;
        }
        self.tells_reduced &= !segment.cwr;
        self.queue.on_sent(size);
        self.counters.packets += 1;
        self.counters.bytes += payload.get();
        self.last_sent = now;
        if let State::Reducing { reduction, .. } = &mut self.state {
            reduction.on_sent();
        }
        true
    }

    /// After a time with nothing to send the window is too old to be trusted: it is halved for
    /// every time-out that passed, down to the initial one (RFC 2861; Linux `tcp_cwnd_restart`).
    pub(super) fn restart(&mut self, now: Time) {
        let idle = now.saturating_since(self.last_sent);
        self.congestion.on_restart(now, idle);
        if self.congestion.governs_recovery() {
            return;
        }
        let timeout = self.rtt.base_timeout();
        let mut left = idle;
        if left > timeout && self.window.cwnd > INITIAL_WINDOW {
            self.window.ssthresh = self.window.ssthresh.max(0.75 * self.window.cwnd);
        }
        while left > timeout && self.window.cwnd > INITIAL_WINDOW {
            self.window.cwnd = (self.window.cwnd / 2.0).max(INITIAL_WINDOW);
            left = left - timeout;
        }
    }

    pub(super) fn note_usage(&mut self, limited: bool) {
        let limited = limited || self.out.in_flight() as f64 >= self.window.cwnd.floor();
        let usage = &mut self.usage;
        let fuller = !usage.limited && self.out.len() > usage.most;
        if self.acknowledged >= usage.until || limited || fuller {
            *usage = Usage { limited, most: self.out.len(), until: self.next };
        }
    }

    /// Linux `tcp_is_cwnd_limited`: in slow start a half-used window still grows.
    pub(super) fn is_window_limited(&self) -> bool {
        self.usage.limited
            || (self.window.in_slow_start() && self.window.cwnd < 2.0 * self.usage.most as f64)
    }

    /// The pacing rate: the control's, or what Linux sizes bursts and small queues by.
    pub(super) fn pacing_rate(&self) -> Bitrate {
        self.congestion.pacing_rate().unwrap_or_else(|| {
            let Some(rtt) = self.rtt.smoothed().filter(|rtt| *rtt > Duration::ZERO) else {
                return Bitrate::MAX;
            };
            let slow = self.window.cwnd < self.window.ssthresh / 2.0;
            let ratio = if slow { SLOW_START_PACING } else { AVOIDANCE_PACING };
            let window = self.window.cwnd.max(self.out.len() as f64) * MAX_SEGMENT.bits() as f64;
            Bitrate::from_bps_f64(ratio * window / rtt.as_secs_f64())
        })
    }
}

/// The packet of a full payload.
fn wire_size(payload: Bytes) -> Bytes {
    Segment { payload, ..Segment::default() }.size()
}
