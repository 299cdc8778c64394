//! When segments are sent: congestion and receive window, pacing, the host's own queue.

use super::TcpSender;
use super::recovery::RecoveryState;
use super::timer::Timer;
use crate::tcp::TcpOutbox;
use crate::tcp::congestion::INITIAL_WINDOW;
use crate::tcp::outstanding::Sent;
use crate::tcp::segment::{MAX_SEGMENT, Segment};
use net::Ecn;
use units::{Bitrate, Bytes, Duration, Time};

/// The pacing rate that determines the size of bursts and of small queues, relative to cwnd / RTT
/// (Linux `tcp_pacing_ss_ratio`, `…_ca_ratio`).
const SLOW_START_PACING: f64 = 2.0;
const AVOIDANCE_PACING: f64 = 1.2;
/// Segments at the start of a connection that are not paced (Linux `tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: u64 = 10;
/// The sender does not wait for a fuller burst if this share of the window is free (Linux
/// `net.ipv4.tcp_tso_win_divisor`).
const TSO_WIN_DIVISOR: f64 = 3.0;

/// Whether the congestion window limits the sender (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CwndUsage {
    cwnd_limited: bool,
    max_packets_out: u64,
    usage_end: u64,
}

impl TcpSender {
    /// Sends as much as the windows, the pacing and the host's own queue permit.
    pub(super) fn transmit(&mut self, now: Time, out: &mut impl TcpOutbox) {
        let mut window_limited = false;
        while self.paced_until <= now {
            let pacing = self.pacing_rate();
            let room = self.window.cwnd.floor() - self.outstanding.in_flight() as f64;
            if room < 1.0 {
                window_limited = true;
                break;
            }
            let burst = self.queue.burst(pacing);
            if let Some(lost) = self.outstanding.next_lost().copied() {
                if self.queue.must_wait(wire_size(lost.payload), pacing, true)
                    || !self.retransmit(now, &lost, out)
                {
                    break;
                }
                self.note_retransmission(now);
                continue;
            }
            let Some(payload) = self.application.next(self.next, now) else {
                self.delivery.mark_app_limited(self.outstanding.in_flight());
                break;
            };
            if !self.window_takes(payload) {
                break;
            }
            if self.awaits_fuller_burst(room, burst) {
                window_limited = true;
                break;
            }
            let alone = self.outstanding.len() <= burst;
            if self.queue.must_wait(wire_size(payload) * burst, pacing, false) && !alone {
                break;
            }
            if !self.send_burst(now, burst.min(room as u64), out) {
                break;
            }
        }
        self.note_usage(window_limited);
    }

    /// Whether to wait because more of the window may soon be free for a fuller burst (Linux
    /// `tcp_tso_should_defer`).
    pub(super) fn awaits_fuller_burst(&self, room: f64, burst: u64) -> bool {
        let enough = (burst as f64).min((self.window.cwnd / TSO_WIN_DIVISOR).max(1.0));
        room < enough && !self.in_loss_recovery() && !self.outstanding.is_empty()
    }

    /// Sends up to `segments` new segments as one burst. Returns false if the host's own queue
    /// refused one.
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

    /// Delays the next transmission by the time that `sent` takes at the pacing rate. The first ten
    /// segments are not paced. A transmission that comes later than pacing permitted shortens the
    /// delay, at most by half (Linux `tcp_update_skb_after_send`).
    pub(super) fn pace(&mut self, now: Time, sent: Bytes) {
        let Some(rate) = self.congestion.pacing_rate() else { return };
        let late = now.saturating_since(self.paced_until);
        self.paced_until = self.paced_until.max(now);
        if self.counters.packets >= UNPACED_SEGMENTS
            && let Some(span) = rate.time_to_send(sent)
        {
            self.paced_until += span.saturating_sub(late.min(span / 2));
        }
    }

    /// Whether the receive window has room for `payload`.
    pub(super) fn window_takes(&self, payload: Bytes) -> bool {
        self.next + payload.get() <= self.acknowledged + self.peer_window.get()
    }

    pub(super) fn send_new(&mut self, now: Time, payload: Bytes, out: &mut impl TcpOutbox) -> bool {
        let idle = self.outstanding.is_empty();
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
        self.outstanding.push(sequence, payload, fin, now, snapshot);
        self.next = end;
        if idle || matches!(self.timer, None | Some((_, Timer::Probe))) {
            self.set_timer(now);
        }
        true
    }

    pub(super) fn retransmit(&mut self, now: Time, sent: &Sent, out: &mut impl TcpOutbox) -> bool {
        // RFC 3168 § 6.1.5: retransmissions are not ECN-capable.
        if !self.emit(now, (sent.sequence, sent.payload, sent.fin), Ecn::NotEct, out) {
            return false;
        }
        if self.outstanding.retransmitted() == 0 {
            self.retrans_stamp = Some(now);
        }
        let snapshot = self.delivery.on_sent(now, false);
        self.outstanding.retransmit(sent.sequence, now, snapshot);
        self.counters.retransmitted_packets += 1;
        self.counters.retransmitted_bytes += sent.payload.get();
        if self.timer.is_none() {
            self.set_timer(now);
        }
        self.pace(now, sent.payload);
        true
    }

    /// Counts a retransmission for the detection of a spurious reduction.
    fn note_retransmission(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.retrans_stamp.get_or_insert(now);
            undo.undo_retrans += 1;
        }
    }

    /// Passes a segment to the host. Returns whether the host's own queue accepted it; if not, that
    /// counts as congestion (Linux `tcp_transmit_skb`).
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
            cwr: self.send_cwr && ecn != Ecn::NotEct,
            ..self.acknowledgment(now)
        };
        let size = segment.size();
        if !out.segment(now, segment, ecn) {
            self.counters.local_drops += 1;
            if matches!(self.recovery_state, RecoveryState::Open) {
                self.reduce(false);
            }
            if self.outstanding.is_empty() {
                self.retry = Some(now + self.rtt.base_rto());
            }
            return false;
        }
        self.send_cwr &= !segment.cwr;
        self.queue.on_sent(size);
        self.counters.packets += 1;
        self.counters.bytes += payload.get();
        self.last_sent = now;
        if let RecoveryState::Reducing { reduction, .. } = &mut self.recovery_state {
            reduction.on_sent();
        }
        true
    }

    /// After an idle period the window no longer matches the path. It is halved for each time-out
    /// that passed, down to the initial window (RFC 2861; Linux `tcp_cwnd_restart`).
    pub(super) fn restart(&mut self, now: Time) {
        let idle = now.saturating_since(self.last_sent);
        self.congestion.on_restart(now, idle);
        if self.congestion.governs_recovery() {
            return;
        }
        let rto = self.rtt.base_rto();
        let mut left = idle;
        if left > rto && self.window.cwnd > INITIAL_WINDOW {
            self.window.ssthresh = self.window.ssthresh.max(0.75 * self.window.cwnd);
        }
        while left > rto && self.window.cwnd > INITIAL_WINDOW {
            self.window.cwnd = (self.window.cwnd / 2.0).max(INITIAL_WINDOW);
            left = left - rto;
        }
    }

    pub(super) fn note_usage(&mut self, cwnd_limited: bool) {
        let cwnd_limited =
            cwnd_limited || self.outstanding.in_flight() as f64 >= self.window.cwnd.floor();
        let cwnd_usage = &mut self.cwnd_usage;
        let fuller =
            !cwnd_usage.cwnd_limited && self.outstanding.len() > cwnd_usage.max_packets_out;
        if self.acknowledged >= cwnd_usage.usage_end || cwnd_limited || fuller {
            *cwnd_usage = CwndUsage {
                cwnd_limited,
                max_packets_out: self.outstanding.len(),
                usage_end: self.next,
            };
        }
    }

    /// Linux `tcp_is_cwnd_limited`: in slow start the window grows even if only half of it is used.
    pub(super) fn is_window_limited(&self) -> bool {
        self.cwnd_usage.cwnd_limited
            || (self.window.in_slow_start()
                && self.window.cwnd < 2.0 * self.cwnd_usage.max_packets_out as f64)
    }

    /// The congestion control's pacing rate; without one, the rate from which Linux derives the
    /// size of bursts and small queues.
    pub(super) fn pacing_rate(&self) -> Bitrate {
        self.congestion.pacing_rate().unwrap_or_else(|| {
            let Some(rtt) = self.rtt.srtt().filter(|rtt| *rtt > Duration::ZERO) else {
                return Bitrate::MAX;
            };
            let slow = self.window.cwnd < self.window.ssthresh / 2.0;
            let ratio = if slow { SLOW_START_PACING } else { AVOIDANCE_PACING };
            let window =
                self.window.cwnd.max(self.outstanding.len() as f64) * MAX_SEGMENT.bits() as f64;
            Bitrate::from_bps_f64(ratio * window / rtt.as_secs_f64())
        })
    }
}

/// The size of the packet that carries `payload`.
fn wire_size(payload: Bytes) -> Bytes {
    Segment { payload, ..Segment::default() }.size()
}
