//! The sending end: opens the connection, sends as the windows allow, and answers acknowledgements and time-outs.

use super::TcpOutbox;
use super::application::Application;
use super::config::{Stack, TcpConfig};
use super::congestion::{Ack, Congestion, INITIAL_WINDOW, Repair, Window};
use super::delivery::Delivery;
use super::outstanding::{Outstanding, Sent};
use super::prr::Reduction;
use super::rack::Rack;
use super::rtt::RoundTrip;
use super::segment::{MAX_SEGMENT, Phase, Segment};
use super::small_queues::SmallQueue;
use crate::media::{Show, earlier};
use net::Ecn;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// A connection is given up after so many time-outs in a row (Linux `net.ipv4.tcp_retries2`), its opening after so many
/// (`net.ipv4.tcp_syn_retries`).
const RETRIES: u32 = 15;
const SYN_RETRIES: u32 = 6;
/// A probe waits this much beside two round trips, and more if a single segment's acknowledgement may be delayed (RFC 8985
/// § 7.2; Linux `TCP_TIMEOUT_MIN`, `TCP_RTO_MIN`).
const PROBE_SLACK: Duration = Duration::from_millis(2);
const PROBE_DELAYED_ACK: Duration = Duration::from_millis(200);
/// The pacing rate that sizes bursts and small queues, relative to cwnd / RTT (Linux `tcp_pacing_ss_ratio`, `…_ca_ratio`).
const SLOW_START_PACING: f64 = 2.0;
const AVOIDANCE_PACING: f64 = 1.2;
/// A window of a third and more is never held back for a fuller burst (Linux `net.ipv4.tcp_tso_win_divisor`).
const BURST_SHARE: f64 = 3.0;

/// How far the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The SYN is to be sent then.
    Closed(Time),
    /// It was; the next one is due then.
    Opening(Time),
    /// Data flows.
    Open,
    /// The stream has ended and is acknowledged, since then.
    Finished(Time),
    /// Nothing was heard for too long; given up then.
    TimedOut(Time),
}

/// What is being done about congestion (RFC 5681, RFC 6582; Linux `tcp_ca_state`).
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing.
    Open,
    /// The window is reduced until `until` is acknowledged; `repairing`: because of a loss.
    Reducing { until: u64, reduction: Reduction, repairing: bool },
    /// The retransmission timer has expired, and what was sent until then is being repaired.
    TimedOut { until: u64 },
}

/// What the timer is set for; there is one, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// Retransmission (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 § 7).
    Probe,
    /// Reordering (RFC 8985 § 6.2 step 5).
    Reordering,
}

/// What to restore if the reduction proves to have been for nothing (RFC 4015).
#[derive(Clone, Copy, Debug)]
struct Undo {
    window: Window,
    /// When the first retransmission left.
    since: Option<Time>,
    /// Retransmissions that are not reported as duplicates.
    unexplained: i64,
    retransmitted: bool,
}

/// Whether it is the window that holds the sender back (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    limited: bool,
    most: u64,
    until: u64,
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    bytes: u64,
    packets: u64,
    retransmitted_bytes: u64,
    retransmitted_packets: u64,
    recoveries: u64,
    timeouts: u64,
    undone: u64,
    local_drops: u64,
    ecn_echoes: u64,
}

/// The sending end of a flow.
pub(crate) struct TcpSender {
    connection: Connection,
    application: Application,
    ecn: bool,
    /// The other end agreed to ECN.
    ecn_agreed: bool,
    /// The next segment tells that the window was reduced (RFC 3168 § 6.1.2).
    tells_reduced: bool,
    next: u64,
    acknowledged: u64,
    peer_window: Bytes,
    peer_echo: Option<Time>,
    out: Outstanding,
    rtt: RoundTrip,
    delivery: Delivery,
    rack: Rack,
    window: Window,
    congestion: Congestion,
    state: State,
    undo: Option<Undo>,
    /// The offset up to which a probe was sent, and whether that was a retransmission.
    probe: Option<(u64, bool)>,
    timer: Option<(Time, Timer)>,
    /// When a packet that the own queue refused is tried again, if nothing else wakes the sender.
    retry: Option<Time>,
    /// Nothing leaves before (pacing).
    paced_until: Time,
    last_sent: Time,
    usage: Usage,
    queue: SmallQueue,
    counters: Counters,
    round_trips: Vec<(Time, f64)>,
    /// The next round trip that is recorded: one a round.
    round: u64,
}

impl TcpSender {
    pub(crate) fn new(config: &TcpConfig, stack: Stack, random: Stream) -> Self {
        Self {
            connection: Connection::Closed(config.start),
            application: Application::new(config.source, config.start),
            ecn: config.ecn,
            ecn_agreed: false,
            tells_reduced: false,
            next: 0,
            acknowledged: 0,
            peer_window: Bytes::ZERO,
            peer_echo: None,
            out: Outstanding::default(),
            rtt: RoundTrip::default(),
            delivery: Delivery::default(),
            rack: Rack::new(),
            window: Window::new(),
            congestion: Congestion::new(config.congestion_control, random),
            state: State::Open,
            undo: None,
            probe: None,
            timer: None,
            retry: None,
            paced_until: Time::ZERO,
            last_sent: Time::ZERO,
            usage: Usage::default(),
            queue: SmallQueue::new(stack),
            counters: Counters::default(),
            round_trips: Vec::new(),
            round: 0,
        }
    }

    pub(crate) fn connection(&self) -> Connection {
        self.connection
    }

    /// Payload that was sent and is acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Round trips, one a round.
    pub(crate) fn take_round_trips(&mut self) -> Vec<(Time, f64)> {
        std::mem::take(&mut self.round_trips)
    }

    /// When something is due.
    pub(crate) fn next_wake(&self, now: Time) -> Option<Time> {
        match self.connection {
            Connection::Closed(at) | Connection::Opening(at) => Some(at),
            Connection::Finished(_) | Connection::TimedOut(_) => None,
            Connection::Open => {
                let timer = self.timer.map(|(at, _)| at);
                let paced = (self.paced_until > now).then_some(self.paced_until);
                let application = match self.application.next(self.next, now) {
                    None => self.application.next_change(now),
                    Some(_) => None,
                };
                earlier(earlier(timer, self.retry), earlier(paced, application))
            }
        }
    }

    /// Does what is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl TcpOutbox) {
        match self.connection {
            Connection::Closed(at) | Connection::Opening(at) if at <= now => self.open(now, out),
            Connection::Open => {
                if let Some((at, timer)) = self.timer
                    && at <= now
                {
                    self.timer = None;
                    self.on_timer(now, timer, out);
                }
                if self.retry.is_some_and(|at| at <= now) {
                    self.retry = None;
                }
                if self.connection == Connection::Open {
                    self.transmit(now, out);
                }
            }
            _ => {}
        }
    }

    /// Sends the SYN, again and again as long as nothing is heard (RFC 9293 § 3.8.3, RFC 6298 § 5.7).
    fn open(&mut self, now: Time, out: &mut impl TcpOutbox) {
        if matches!(self.connection, Connection::Opening(_)) {
            self.rtt.back_off();
            if self.rtt.backoff() > SYN_RETRIES {
                self.connection = Connection::TimedOut(now);
                return;
            }
        }
        self.connection = Connection::Opening(now + self.rtt.timeout());
        let (ece, cwr) = (self.ecn, self.ecn);
        let syn = Segment { phase: Phase::Syn, timestamp: now, ece, cwr, ..Segment::default() };
        out.segment(now, syn, Ecn::NotEct);
    }

    /// A segment of the other end came.
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut impl TcpOutbox) {
        match (self.connection, segment.phase) {
            (Connection::Opening(_), Phase::SynAck) => {
                if self.rtt.backoff() == 0 {
                    let sent = segment.echo.unwrap_or(now);
                    self.rtt.measured(now, now.saturating_since(sent));
                }
                self.rtt.answered();
                (self.connection, self.peer_window) = (Connection::Open, segment.window);
                (self.ecn_agreed, self.peer_echo) = (self.ecn && segment.ece, Some(segment.timestamp));
                self.last_sent = now;
                let answer = self.acknowledgment(now);
                out.segment(now, answer, Ecn::NotEct);
                self.transmit(now, out);
            }
            (Connection::Open, Phase::Established) => {
                self.peer_echo = Some(segment.timestamp);
                self.on_acknowledgment(now, segment, out);
            }
            _ => {}
        }
    }

    /// A segment without data.
    fn acknowledgment(&self, now: Time) -> Segment {
        Segment { sequence: self.next, timestamp: now, echo: self.peer_echo, ..Segment::default() }
    }

    fn on_acknowledgment(&mut self, now: Time, segment: &Segment, out: &mut impl TcpOutbox) {
        if segment.acknowledgment > self.next {
            debug_assert!(false, "an acknowledgement of what was never sent");
            return;
        }
        self.peer_window = segment.window;
        let flight_before = self.out.in_flight();
        let delivered_before = self.delivery.delivered();
        let advanced = segment.acknowledgment > self.acknowledged;
        let duplicate = self.duplicate(segment);
        let rtt = self.deliver(now, segment, advanced);
        if advanced {
            self.rtt.answered();
        }
        if duplicate {
            self.rack.on_duplicate(self.acknowledged, self.next);
            if let Some(undo) = &mut self.undo {
                undo.unexplained -= 1;
            }
        }
        let (lost, look_again) = self.rack.detect(now, self.is_repairing(), &self.rtt, &mut self.out);
        let delivered = self.delivery.delivered() - delivered_before;
        self.answer(now, segment, advanced, duplicate, lost);
        let ack = Ack {
            now,
            delivered,
            lost,
            total_delivered: self.delivery.delivered(),
            flight_before,
            flight: self.out.in_flight(),
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            sample: self.delivery.sample(now, self.rtt.least()),
            window_limited: self.is_window_limited(),
            acknowledged: self.acknowledged,
            next: self.next,
            repair: self.repair(),
        };
        self.set_window(&ack, advanced && lost == 0);
        if self.application.ends_at(self.acknowledged) {
            (self.connection, self.timer) = (Connection::Finished(now), None);
            return;
        }
        match look_again {
            Some(at) => self.timer = Some((at, Timer::Reordering)),
            None if delivered > 0 || advanced => self.set_timer(now),
            None => {}
        }
        self.transmit(now, out);
    }

    /// Whether the first block reports a duplicate (RFC 2883 § 4): it lies below what is acknowledged, or within the second.
    fn duplicate(&self, segment: &Segment) -> bool {
        let Some((from, upto)) = segment.sack[0] else { return false };
        let within = |(start, end): (u64, u64)| start <= from && upto <= end;
        upto <= segment.acknowledgment || segment.sack[1].is_some_and(within)
    }

    /// Takes what the segment acknowledges off the retransmission queue. Returns the newest round trip.
    fn deliver(&mut self, now: Time, segment: &Segment, advanced: bool) -> Option<Duration> {
        let (delivery, rack, least) = (&mut self.delivery, &mut self.rack, self.rtt.least());
        // Karn: only what was sent once tells a round trip. The oldest includes the wait for a delayed acknowledgement, as
        // the time-out must; the newest is the path's.
        let (mut oldest, mut newest) = (None, None);
        let mut each = |sent: &Sent| {
            delivery.on_delivered(now, sent.snapshot, sent.at);
            rack.on_delivered(now, sent, least);
            if !sent.ever_retransmitted {
                let rtt = now.saturating_since(sent.at);
                oldest.get_or_insert(rtt);
                newest = Some(rtt);
            }
        };
        if advanced {
            self.acknowledged = segment.acknowledgment;
            self.out.acknowledge(segment.acknowledgment, |sent| {
                if !sent.sacked {
                    each(sent);
                }
            });
        }
        for (from, upto) in segment.sack.into_iter().flatten() {
            if upto > self.acknowledged {
                self.out.sack(from, upto, &mut each);
            }
        }
        if let Some(oldest) = oldest {
            self.rtt.measured(now, oldest);
        }
        if let Some(newest) = newest
            && self.acknowledged >= self.round
        {
            self.round = self.next;
            self.round_trips.push((now, newest.as_secs_f64()));
        }
        newest
    }

    /// Goes from state to state.
    fn answer(&mut self, now: Time, segment: &Segment, advanced: bool, duplicate: bool, lost: u64) {
        self.undo_if_spurious(segment, advanced);
        match self.state {
            State::Reducing { until, repairing, reduction } if self.acknowledged >= until => {
                if !self.congestion.governs_recovery() {
                    self.window.cwnd = reduction.ssthresh;
                }
                self.state = State::Open;
                if repairing {
                    self.rack.on_recovered();
                }
            }
            State::TimedOut { until } if self.acknowledged >= until => self.state = State::Open,
            _ => {}
        }
        self.answer_probe(advanced, duplicate);
        if self.out.lost() > 0 && !self.is_repairing() {
            self.counters.recoveries += 1;
            self.reduce(true);
        } else if segment.ece && self.ecn_agreed {
            self.counters.ecn_echoes += 1;
            if matches!(self.state, State::Open) {
                self.reduce(false);
                self.tells_reduced = true;
            }
        }
        debug_assert!(lost == 0 || self.is_repairing(), "a loss is answered at {now}");
    }

    /// A reduction was for nothing if what was sent first arrived (RFC 3522: the echo is older than the retransmission), or if
    /// every retransmission is reported as a duplicate (Linux `tcp_may_undo`).
    fn undo_if_spurious(&mut self, segment: &Segment, advanced: bool) {
        let Some(undo) = self.undo else { return };
        let first = advanced && undo.since.is_some_and(|since| segment.echo.is_some_and(|echo| echo < since));
        if !first && !(undo.retransmitted && undo.unexplained <= 0) {
            return;
        }
        self.undo = None;
        self.counters.undone += 1;
        self.window.cwnd = self.window.cwnd.max(undo.window.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(undo.window.ssthresh);
        self.out.forget_losses();
        self.congestion.on_undo();
        self.state = State::Open;
    }

    /// A probe repaired a loss that nothing else showed: that is congestion too (RFC 8985 § 7.4.2).
    fn answer_probe(&mut self, advanced: bool, duplicate: bool) {
        let Some((upto, retransmission)) = self.probe else { return };
        if self.acknowledged < upto {
            return;
        }
        if self.acknowledged > upto && retransmission && !duplicate {
            self.probe = None;
            if matches!(self.state, State::Open) {
                self.reduce(false);
            }
        } else if !retransmission || duplicate || !advanced {
            // The probe was new data, or arrived beside the first transmission.
            self.probe = None;
        }
    }

    /// Begins to reduce the window.
    fn reduce(&mut self, repairing: bool) {
        let ssthresh = match self.state {
            // A loss while the window is reduced already: the same congestion.
            State::Reducing { reduction, .. } => reduction.ssthresh,
            _ => {
                self.begin_undo();
                self.congestion.on_congestion(&self.window)
            }
        };
        self.window.ssthresh = ssthresh;
        let reduction = Reduction::new(ssthresh, self.out.len());
        self.state = State::Reducing { until: self.next, reduction, repairing };
    }

    fn begin_undo(&mut self) {
        let (window, unexplained) = (self.window, 0);
        self.undo = Some(Undo { window, since: None, unexplained, retransmitted: false });
    }

    fn set_window(&mut self, ack: &Ack, good: bool) {
        if self.congestion.governs_recovery() {
            self.congestion.on_ack(ack, &mut self.window);
        } else if let State::Reducing { reduction, .. } = &mut self.state {
            if ack.delivered > 0 {
                self.window.cwnd = reduction.window(ack.delivered, ack.flight, good);
            }
        } else if ack.delivered > 0 {
            self.congestion.on_ack(ack, &mut self.window);
        }
        if self.congestion.holds_back() {
            self.delivery.limit_by_application(ack.flight);
        }
    }

    fn is_repairing(&self) -> bool {
        self.repair() != Repair::None
    }

    fn repair(&self) -> Repair {
        match self.state {
            State::Reducing { repairing: true, .. } => Repair::Recovery,
            State::TimedOut { .. } => Repair::Loss,
            _ => Repair::None,
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut impl TcpOutbox) {
        match timer {
            Timer::Retransmission => self.on_timeout(now),
            Timer::Probe => self.send_probe(now, out),
            Timer::Reordering => {
                let (lost, again) = self.rack.detect(now, self.is_repairing(), &self.rtt, &mut self.out);
                if lost > 0 && !self.is_repairing() {
                    self.counters.recoveries += 1;
                    self.reduce(true);
                }
                self.timer = again.map(|at| (at, Timer::Reordering));
                if again.is_none() {
                    self.set_timer(now);
                }
            }
        }
    }

    /// RFC 6298 §§ 5.4 to 5.6; Linux `tcp_enter_loss`.
    fn on_timeout(&mut self, now: Time) {
        if self.rtt.backoff() >= RETRIES {
            self.connection = Connection::TimedOut(now);
            return;
        }
        self.counters.timeouts += 1;
        self.rtt.back_off();
        let again = matches!(self.state, State::TimedOut { .. }) && self.rtt.backoff() > 1;
        if !again {
            if self.repair() == Repair::None {
                self.begin_undo();
            }
            self.window.ssthresh = self.congestion.on_congestion(&self.window);
            self.congestion.on_timeout();
        }
        self.rack.on_timeout(now, &self.rtt, &mut self.out);
        self.window.cwnd = self.out.in_flight() as f64 + 1.0;
        self.state = State::TimedOut { until: self.next };
        self.probe = None;
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
    }

    /// RFC 8985 § 7.3: a new segment if there is one, else the last one again.
    fn send_probe(&mut self, now: Time, out: &mut impl TcpOutbox) {
        let fresh = self.application.next(self.next, now).filter(|payload| self.window_takes(*payload));
        let retransmission = fresh.is_none();
        if let Some(payload) = fresh {
            self.send_new(now, payload, out);
        } else if let Some(last) = self.out.last().copied() {
            self.send_again(now, &last, out);
        }
        self.probe = Some((self.next, retransmission));
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
    }

    /// Sets the timer after something was acknowledged or sent: for a probe if nothing is known to be amiss, else for the
    /// time-out of the oldest segment.
    fn set_timer(&mut self, now: Time) {
        if self.out.is_empty() {
            self.timer = None;
            return;
        }
        let timeout = now + self.rtt.timeout();
        let quiet = matches!(self.state, State::Open | State::Reducing { repairing: false, .. });
        self.timer = match self.rtt.smoothed() {
            Some(rtt) if quiet && self.out.sacked() == 0 && self.probe.is_none() => {
                let slack = if self.out.len() == 1 { PROBE_DELAYED_ACK } else { PROBE_SLACK };
                let probe = now + rtt * 2 + slack;
                Some(if probe < timeout { (probe, Timer::Probe) } else { (timeout, Timer::Retransmission) })
            }
            _ => Some((timeout, Timer::Retransmission)),
        };
    }

    /// A packet left the host's own queue; one that waited for that may be sent.
    pub(crate) fn on_departed(&mut self, now: Time, size: Bytes, out: &mut impl TcpOutbox) {
        if self.queue.on_departed(size) && self.connection == Connection::Open {
            self.transmit(now, out);
        }
    }

    /// Sends what the windows, the pacing and the host's own queue let through.
    fn transmit(&mut self, now: Time, out: &mut impl TcpOutbox) {
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
                if self.queue.holds_back(wire_size(lost.payload), pacing, true) || !self.send_again(now, &lost, out) {
                    break;
                }
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

    /// Linux `tcp_tso_should_defer`: with offload, more of the window may soon be free for a fuller burst.
    fn awaits_fuller_burst(&self, room: f64, burst: u64) -> bool {
        let enough = (burst as f64).min((self.window.cwnd / BURST_SHARE).max(1.0));
        room < enough && !self.is_repairing() && !self.out.is_empty()
    }

    /// Sends new segments that leave together.
    fn send_burst(&mut self, now: Time, segments: u64, out: &mut impl TcpOutbox) -> bool {
        let mut sent = Bytes::ZERO;
        for _ in 0..segments {
            let next = self.application.next(self.next, now).filter(|payload| self.window_takes(*payload));
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
    fn pace(&mut self, now: Time, sent: Bytes) {
        if let Some(span) = self.congestion.pacing_rate().and_then(|rate| rate.time_to_send(sent)) {
            self.paced_until = self.paced_until.max(now) + span;
        }
    }

    /// Whether the receiver's window takes another segment.
    fn window_takes(&self, payload: Bytes) -> bool {
        self.next + payload.get() <= self.acknowledged + self.peer_window.get()
    }

    fn send_new(&mut self, now: Time, payload: Bytes, out: &mut impl TcpOutbox) -> bool {
        let idle = self.out.is_empty();
        if idle {
            self.restart(now);
        }
        let (sequence, end) = (self.next, self.next + payload.get());
        let fin = self.application.ends_at(end);
        let ecn = if self.ecn_agreed { Ecn::Ect0 } else { Ecn::NotEct };
        if !self.emit(now, Sent { sequence, payload, fin, ..self.blank(now) }, ecn, out) {
            return false;
        }
        let snapshot = self.delivery.on_sent(now, idle);
        self.out.push(Sent { sequence, payload, fin, snapshot, ..self.blank(now) });
        self.next = end;
        if idle || matches!(self.timer, None | Some((_, Timer::Probe))) {
            self.set_timer(now);
        }
        true
    }

    fn blank(&self, now: Time) -> Sent {
        Sent {
            sequence: 0,
            payload: Bytes::ZERO,
            fin: false,
            at: now,
            snapshot: Default::default(),
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
        }
    }

    fn send_again(&mut self, now: Time, sent: &Sent, out: &mut impl TcpOutbox) -> bool {
        // RFC 3168 § 6.1.5: retransmissions are not ECN-capable.
        if !self.emit(now, *sent, Ecn::NotEct, out) {
            return false;
        }
        let snapshot = self.delivery.on_sent(now, false);
        self.out.retransmit(sent.sequence, now, snapshot);
        self.counters.retransmitted_packets += 1;
        self.counters.retransmitted_bytes += sent.payload.get();
        if let Some(undo) = &mut self.undo {
            undo.since.get_or_insert(now);
            undo.unexplained += 1;
            undo.retransmitted = true;
        }
        if self.timer.is_none() {
            self.set_timer(now);
        }
        self.pace(now, sent.payload);
        true
    }

    /// Hands a segment to the host. Returns whether it got in; if not, that is congestion too (Linux `tcp_transmit_skb`).
    fn emit(&mut self, now: Time, sent: Sent, ecn: Ecn, out: &mut impl TcpOutbox) -> bool {
        let segment = Segment {
            sequence: sent.sequence,
            payload: sent.payload,
            fin: sent.fin,
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
        self.counters.bytes += sent.payload.get();
        self.last_sent = now;
        if let State::Reducing { reduction, .. } = &mut self.state {
            reduction.on_sent();
        }
        true
    }

    /// After a time with nothing to send the window is too old to be trusted: it is halved for every time-out that passed, down
    /// to the initial one (RFC 2861; Linux `tcp_cwnd_restart`).
    fn restart(&mut self, now: Time) {
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

    fn note_usage(&mut self, limited: bool) {
        let limited = limited || self.out.in_flight() as f64 >= self.window.cwnd.floor();
        let usage = &mut self.usage;
        let fuller = !usage.limited && self.out.len() > usage.most;
        if self.acknowledged >= usage.until || limited || fuller {
            *usage = Usage { limited, most: self.out.len(), until: self.next };
        }
    }

    /// Linux `tcp_is_cwnd_limited`: in slow start a half-used window still grows.
    fn is_window_limited(&self) -> bool {
        self.usage.limited
            || (self.window.in_slow_start() && self.window.cwnd < 2.0 * self.usage.most as f64)
    }

    /// The pacing rate: the control's, or what Linux sizes bursts and small queues by.
    fn pacing_rate(&self) -> Bitrate {
        self.congestion.pacing_rate().unwrap_or_else(|| {
            let Some(rtt) = self.rtt.smoothed().filter(|rtt| *rtt > Duration::ZERO) else { return Bitrate::MAX };
            let slow = self.window.cwnd < self.window.ssthresh / 2.0;
            let ratio = if slow { SLOW_START_PACING } else { AVOIDANCE_PACING };
            let window = self.window.cwnd.max(self.out.len() as f64) * MAX_SEGMENT.bits() as f64;
            Bitrate::from_bps_f64(ratio * window / rtt.as_secs_f64())
        })
    }

    pub(crate) fn show(&self, show: &mut Show<'_>) {
        let segments = |count: f64| count * MAX_SEGMENT.get() as f64;
        let seconds = |span: Option<Duration>| span.map_or(f64::NAN, Duration::as_secs_f64);
        let counters = &self.counters;
        let pacing = self.congestion.pacing_rate().map_or(f64::NAN, Bitrate::as_bps_f64);
        show("bytesSent", counters.bytes as f64);
        show("packetsSent", counters.packets as f64);
        show("retransmittedBytesSent", counters.retransmitted_bytes as f64);
        show("retransmittedPacketsSent", counters.retransmitted_packets as f64);
        show("bytesAcknowledged", self.acknowledged as f64);
        show("congestionWindow", segments(self.window.cwnd));
        show("slowStartThreshold", segments(self.window.ssthresh));
        show("bytesInFlight", segments(self.out.in_flight() as f64));
        show("unackData", self.out.bytes().get() as f64);
        show("receiverWindow", self.peer_window.get() as f64);
        show("roundTripTime", seconds(self.rtt.newest()));
        show("smoothedRoundTripTime", seconds(self.rtt.smoothed()));
        show("retransmissionTimeout", self.rtt.timeout().as_secs_f64());
        show("pacingRate", pacing);
        show("unsentBytes", self.queue.unsent().get() as f64);
        show("recoveries", counters.recoveries as f64);
        show("timeouts", counters.timeouts as f64);
        show("spuriousReductions", counters.undone as f64);
        show("localDrops", counters.local_drops as f64);
        show("ecnEchoes", counters.ecn_echoes as f64);
    }
}

/// The packet of a full payload.
fn wire_size(payload: Bytes) -> Bytes {
    Segment { payload, ..Segment::default() }.size()
}
