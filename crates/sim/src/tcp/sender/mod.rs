//! The sending end of a flow. It opens the connection ([`open`](TcpSender::open)), then processes
//! acknowledgements and timers and sends segments. Each of these is a file.

mod acknowledgment;
mod record;
mod recovery;
mod timer;
mod transmission;

use super::TcpOutbox;
use super::application::Application;
use super::config::{TcpConfig, TcpStack};
use super::congestion::{Congestion, Window};
use super::delivery::DeliveryRate;
use super::outstanding::Outstanding;
use super::rack::Rack;
use super::rtt::RttEstimator;
use super::segment::{Phase, Segment};
use super::small_queues::SmallQueue;
use super::timer_wheel::TimerWheel;
use crate::endpoint::earlier;
use net::Ecn;
use record::Counters;
use recovery::{RecoveryState, Undo};
use timer::Timer;
use transmission::CwndUsage;
use units::{Bytes, Seed, Time};

/// The opening fails after this many consecutive time-outs (Linux `net.ipv4.tcp_syn_retries`).
const SYN_RETRIES: u32 = 6;

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The SYN is to be sent at this time.
    Closed(Time),
    /// The SYN was sent; it is repeated at this time.
    SynSent(Time),
    /// Data flows.
    Established,
    /// The whole stream was acknowledged at this time.
    Finished(Time),
    /// The connection was given up at this time, after too long without an acknowledgement.
    TimedOut(Time),
}

/// The sending end of a flow.
pub(crate) struct TcpSender {
    connection: Connection,
    application: Application,
    ecn: bool,
    /// ECT(1) and accurate feedback.
    is_l4s: bool,
    /// Marked segments that acknowledgements have reported (AccECN).
    marked: u64,
    /// The other end has agreed to ECN.
    ecn_agreed: bool,
    /// The next new segment carries CWR (RFC 3168 § 6.1.2).
    send_cwr: bool,
    next: u64,
    acknowledged: u64,
    peer_window: Bytes,
    peer_echo: Option<Time>,
    outstanding: Outstanding,
    rtt: RttEstimator,
    delivery: DeliveryRate,
    rack: Rack,
    window: Window,
    congestion: Congestion,
    recovery_state: RecoveryState,
    undo: Option<Undo>,
    /// When the first of the retransmissions under way was sent (Linux `retrans_stamp`).
    retrans_stamp: Option<Time>,
    /// The end of the tail loss probe (RFC 8985 TLP.end_seq), and whether the probe was a
    /// retransmission (TLP.is_retrans).
    tail_loss_probe: Option<(u64, bool)>,
    timer: Option<(Time, Timer)>,
    wheel: TimerWheel,
    /// When a packet that the host's own queue refused is retried, if nothing else wakes the
    /// sender.
    retry: Option<Time>,
    /// Pacing: nothing is sent before this time.
    paced_until: Time,
    last_sent: Time,
    cwnd_usage: CwndUsage,
    queue: SmallQueue,
    counters: Counters,
    round_trips: Vec<(Time, f64)>,
    /// The offset whose acknowledgement ends the current round; one round-trip time is recorded per
    /// round.
    round_end: u64,
}

impl TcpSender {
    pub(crate) fn new(config: &TcpConfig, stack: TcpStack, seed: Seed) -> Self {
        let random = |what: &str| seed.stream(&format!("{}.tcp.{what}", config.name));
        Self {
            connection: Connection::Closed(config.start),
            application: Application::new(config.application, config.start, random("reading")),
            ecn: config.ecn || config.congestion_control.is_l4s(),
            is_l4s: config.congestion_control.is_l4s(),
            marked: 0,
            ecn_agreed: false,
            send_cwr: false,
            next: 0,
            acknowledged: 0,
            peer_window: Bytes::ZERO,
            peer_echo: None,
            outstanding: Outstanding::default(),
            rtt: RttEstimator::default(),
            delivery: DeliveryRate::default(),
            rack: Rack::new(),
            window: Window::new(stack.whole_segments),
            congestion: Congestion::new(config.congestion_control, random("bbr")),
            recovery_state: RecoveryState::Open,
            undo: None,
            retrans_stamp: None,
            tail_loss_probe: None,
            timer: None,
            wheel: TimerWheel::new(config.hz),
            retry: None,
            paced_until: Time::ZERO,
            last_sent: Time::ZERO,
            cwnd_usage: CwndUsage::default(),
            queue: SmallQueue::new(stack),
            counters: Counters::default(),
            round_trips: Vec::new(),
            round_end: 0,
        }
    }

    pub(crate) fn connection(&self) -> Connection {
        self.connection
    }

    /// Acknowledged payload, in bytes.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Takes the recorded (time, round-trip time in seconds), one per round.
    pub(crate) fn round_trips(&self) -> &[(Time, f64)] {
        &self.round_trips
    }

    /// Takes (when the page was loaded, load time in seconds) of each page; `None` for an
    /// application without pages.
    pub(crate) fn pages(&self) -> Option<&[(Time, f64)]> {
        self.application.loaded()
    }

    /// When the next call of `wake` is due.
    pub(crate) fn next_wake(&self, now: Time) -> Option<Time> {
        match self.connection {
            Connection::Closed(at) | Connection::SynSent(at) => Some(at),
            Connection::Finished(_) | Connection::TimedOut(_) => None,
            Connection::Established => {
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

    /// Handles everything that is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl TcpOutbox) {
        match self.connection {
            Connection::Closed(at) | Connection::SynSent(at) if at <= now => self.open(now, out),
            Connection::Established => {
                if let Some((at, timer)) = self.timer
                    && at <= now
                {
                    self.timer = None;
                    self.on_timer(now, timer, out);
                }
                if self.retry.is_some_and(|at| at <= now) {
                    self.retry = None;
                }
                if self.connection == Connection::Established {
                    self.transmit(now, out);
                }
            }
            _ => {}
        }
    }

    /// Sends the SYN, and repeats it until an answer arrives (RFC 9293 § 3.8.3, RFC 6298 § 5.7).
    fn open(&mut self, now: Time, out: &mut impl TcpOutbox) {
        if matches!(self.connection, Connection::SynSent(_)) {
            self.rtt.back_off();
            if self.rtt.backoff() > SYN_RETRIES {
                self.connection = Connection::TimedOut(now);
                return;
            }
        }
        self.connection = Connection::SynSent(self.wheel.expiry(now, self.rtt.rto()));
        let (ece, cwr) = (self.ecn, self.ecn);
        let syn = Segment { phase: Phase::Syn, timestamp: now, ece, cwr, ..Segment::default() };
        self.emit_bare(now, syn, out);
    }

    /// Sends a segment without data. If the host's own queue refuses it, the timer repeats it.
    fn emit_bare(&mut self, now: Time, segment: Segment, out: &mut impl TcpOutbox) {
        if out.segment(now, segment, Ecn::NotEct) {
            self.queue.on_sent(segment.size());
        }
    }

    /// A segment of the other end arrived.
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut impl TcpOutbox) {
        match (self.connection, segment.phase) {
            (Connection::SynSent(_), Phase::SynAck) => {
                let rtt = now.saturating_since(segment.echo.unwrap_or(now));
                self.rtt.update(rtt);
                self.rtt.update_min(now, rtt);
                self.rtt.reset_backoff();
                self.congestion.on_open(now, rtt);
                (self.connection, self.peer_window) = (Connection::Established, segment.window);
                (self.ecn_agreed, self.peer_echo) =
                    (self.ecn && segment.ece, Some(segment.timestamp));
                self.last_sent = now;
                let ack = self.acknowledgment(now);
                self.emit_bare(now, ack, out);
                self.transmit(now, out);
            }
            (Connection::Established, Phase::Established) => {
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

    /// A packet left the host's own queue; sends a packet that waited for that.
    pub(crate) fn on_departed(&mut self, now: Time, size: Bytes, out: &mut impl TcpOutbox) {
        if self.queue.on_departed(size) && self.connection == Connection::Established {
            self.transmit(now, out);
        }
    }
}
