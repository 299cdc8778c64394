//! The sending end of a flow. It opens the connection ([`open`](TcpSender::open)); then
//! acknowledgements and timers come in, and segments go out: a file each.

mod acknowledgment;
mod record;
mod recovery;
mod timer;
mod transmission;

use super::TcpOutbox;
use super::application::Application;
use super::config::{Stack, TcpConfig};
use super::congestion::{Congestion, Window};
use super::delivery::Delivery;
use super::outstanding::Outstanding;
use super::rack::Rack;
use super::rtt::RoundTrip;
use super::segment::{Phase, Segment};
use super::small_queues::SmallQueue;
use crate::media::earlier;
use net::Ecn;
use record::Counters;
use recovery::{State, Undo};
use timer::Timer;
use transmission::Usage;
use units::{Bytes, Seed, Time};

/// The opening is given up after so many time-outs in a row (Linux `net.ipv4.tcp_syn_retries`).
const SYN_RETRIES: u32 = 6;

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
    /// When the first of the retransmissions left that were under way when the newest did (Linux
    /// `retrans_stamp`).
    retransmitting_since: Option<Time>,
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
    pub(crate) fn new(config: &TcpConfig, stack: Stack, seed: Seed) -> Self {
        let random = |what: &str| seed.stream(&format!("{}.tcp.{what}", config.name));
        Self {
            connection: Connection::Closed(config.start),
            application: Application::new(config.application, config.start, random("reading")),
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
            congestion: Congestion::new(config.congestion_control, random("bbr")),
            state: State::Open,
            undo: None,
            retransmitting_since: None,
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

    /// When each page was there, and how long that took, in seconds; nothing of an application
    /// without pages.
    pub(crate) fn take_pages(&mut self) -> Option<Vec<(Time, f64)>> {
        self.application.take_loaded()
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

    /// Sends the SYN, again and again as long as nothing is heard (RFC 9293 § 3.8.3, RFC 6298 §
    /// 5.7).
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
        self.emit_bare(now, syn, out);
    }

    /// Sends a segment without data. That the own queue refuses it is found out by the timer.
    fn emit_bare(&mut self, now: Time, segment: Segment, out: &mut impl TcpOutbox) {
        if out.segment(now, segment, Ecn::NotEct) {
            self.queue.on_sent(segment.size());
        }
    }

    /// A segment of the other end came.
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut impl TcpOutbox) {
        match (self.connection, segment.phase) {
            (Connection::Opening(_), Phase::SynAck) => {
                let rtt = now.saturating_since(segment.echo.unwrap_or(now));
                self.rtt.measured(rtt);
                self.rtt.path_measured(now, rtt);
                self.rtt.answered();
                (self.connection, self.peer_window) = (Connection::Open, segment.window);
                (self.ecn_agreed, self.peer_echo) =
                    (self.ecn && segment.ece, Some(segment.timestamp));
                self.last_sent = now;
                let answer = self.acknowledgment(now);
                self.emit_bare(now, answer, out);
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

    /// A packet left the host's own queue; one that waited for that may be sent.
    pub(crate) fn on_departed(&mut self, now: Time, size: Bytes, out: &mut impl TcpOutbox) {
        if self.queue.on_departed(size) && self.connection == Connection::Open {
            self.transmit(now, out);
        }
    }
}
