//! When segments are sent: congestion and receive window, pacing, the host's own queue.

use super::TcpSender;
use super::recovery::RecoveryState;
use super::timer::Timer;
use crate::tcp::TcpOutbox;
use crate::tcp::congestion::INITIAL_WINDOW;
use crate::tcp::outstanding::Sent;
use crate::tcp::segment::{MAX_SEGMENT, Segment};
use crate::tcp::small_queues::BURST_TIME;
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

/// The payload of a segment and its flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    sequence: u64,
    payload: Bytes,
    fin: bool,
    push: bool,
}

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
            let min_burst = self.congestion.min_burst(pacing);
            let burst = self.queue.burst(pacing, min_burst, self.rtt.min_rtt());
            let burst = burst.min(self.congestion.max_burst(pacing));
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
            if !self.window_takes(self.next, payload) {
                break;
            }
            if self.awaits_fuller_burst(now, room, burst) {
                window_limited = true;
                break;
            }
            let alone = self.outstanding.len() <= burst;
            if self.queue.must_wait(wire_size(payload) * burst, pacing, false) && !alone {
                break;
            }
            if !self.send_burst(now, self.quota(burst, room), out) {
                break;
            }
        }
        self.note_usage(window_limited);
    }

    /// The number of segments of the next burst: at most half of the window, so that two bursts are
    /// under way (Linux `tcp_cwnd_test`).
    fn quota(&self, burst: u64, room: f64) -> u64 {
        let half = (self.window.cwnd / 2.0).max(1.0);
        burst.min(room.min(half) as u64)
    }

    /// Whether to wait because more of the window will soon be free for a fuller burst: a segment
    /// has left within the last millisecond, and the acknowledgement of the oldest segment is
    /// expected within the next one, or within half a round-trip time if that is less (Linux 6.18
    /// `tcp_tso_should_defer`).
    fn awaits_fuller_burst(&self, now: Time, room: f64, burst: u64) -> bool {
        let enough = (burst as f64).min((self.window.cwnd / TSO_WIN_DIVISOR).max(1.0));
        if room >= enough || self.in_loss_recovery() {
            return false;
        }
        let (Some(first), Some(srtt)) = (self.outstanding.first(), self.rtt.srtt()) else {
            return false;
        };
        now.saturating_since(self.last_sent) <= BURST_TIME
            && first.at + srtt <= now + BURST_TIME.min(srtt / 2)
    }

    /// Sends up to `segments` new segments as one burst. The last one of several has PSH (Linux
    /// `__tcp_transmit_skb`). Returns false if the host's own queue refused one.
    pub(super) fn send_burst(
        &mut self,
        now: Time,
        segments: u64,
        out: &mut impl TcpOutbox,
    ) -> bool {
        let mut sent = Bytes::ZERO;
        for index in 1..=segments {
            let Some(payload) = self.sendable(self.next, now) else { break };
            let is_last = |sender: &Self| {
                index == segments || sender.sendable(sender.next + payload.get(), now).is_none()
            };
            let push = index > 1 && is_last(self);
            if !self.send_new(now, payload, push, out) {
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

    /// Whether the receive window has room for `payload` at `offset`.
    fn window_takes(&self, offset: u64, payload: Bytes) -> bool {
        offset + payload.get() <= self.acknowledged + self.peer_window.get()
    }

    /// The payload of the segment at `offset`, if it is written and the receive window has room.
    pub(super) fn sendable(&self, offset: u64, now: Time) -> Option<Bytes> {
        self.application.next(offset, now).filter(|payload| self.window_takes(offset, *payload))
    }

    pub(super) fn send_new(
        &mut self,
        now: Time,
        payload: Bytes,
        push: bool,
        out: &mut impl TcpOutbox,
    ) -> bool {
        let idle = self.outstanding.is_empty();
        if idle {
            self.restart(now);
        }
        let (sequence, end) = (self.next, self.next + payload.get());
        let fin = self.application.ends_at(end);
        let ecn = match (self.ecn_agreed, self.is_l4s) {
            (true, true) => Ecn::Ect1,
            (true, false) => Ecn::Ect0,
            (false, _) => Ecn::NotEct,
        };
        if !self.emit(now, Data { sequence, payload, fin, push }, ecn, out) {
            return false;
        }
        let snapshot = self.delivery.on_sent(now, idle);
        self.outstanding.push(sequence, payload, (fin, push), now, snapshot);
        self.next = end;
        if idle || matches!(self.timer, None | Some((_, Timer::Probe))) {
            self.set_timer(now);
        }
        true
    }

    pub(super) fn retransmit(&mut self, now: Time, sent: &Sent, out: &mut impl TcpOutbox) -> bool {
        // RFC 3168 § 6.1.5: retransmissions are not ECN-capable.
        let Sent { sequence, payload, fin, push, .. } = *sent;
        if !self.emit(now, Data { sequence, payload, fin, push }, Ecn::NotEct, out) {
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
        Data { sequence, payload, fin, push }: Data,
        ecn: Ecn,
        out: &mut impl TcpOutbox,
    ) -> bool {
        let segment = Segment {
            sequence,
            payload,
            fin,
            push,
            cwr: self.send_cwr && ecn != Ecn::NotEct && !self.is_l4s,
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
            self.window.ssthresh =
                self.window.ssthresh.max(self.window.rounded(0.75 * self.window.cwnd));
        }
        while left > rto && self.window.cwnd > INITIAL_WINDOW {
            self.window.cwnd = self.window.rounded(self.window.cwnd / 2.0).max(INITIAL_WINDOW);
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
