//! Congestion controls: how much may be in flight, and how fast it is sent. One file each.
//!
//! Windows count segments, as in Linux and in RFC 9438, with a fraction.

mod bbr;
mod cubic;
mod hystart;
mod newreno;

use super::config::TcpCongestionControl;
use super::delivery::RateSample;
use bbr::Bbr;
use cubic::Cubic;
use newreno::NewReno;
use units::{Bitrate, Duration, Stream, Time};

/// The initial window (RFC 6928).
pub(super) const INITIAL_WINDOW: f64 = 10.0;
/// No threshold is set below (RFC 5681 eq. 4).
const MIN_THRESHOLD: f64 = 2.0;

/// What a congestion control sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The congestion window.
    pub(super) cwnd: f64,
    /// The slow start threshold; infinite until the first congestion.
    pub(super) ssthresh: f64,
}

impl Window {
    pub(super) const fn new() -> Self {
        Self { cwnd: INITIAL_WINDOW, ssthresh: f64::INFINITY }
    }

    /// Whether the window is below the threshold.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 § 3.1, counting as RFC 3465 with L as many as were acknowledged):
    /// returns what is left of `acked` above the threshold.
    fn slow_start(&mut self, acked: f64) -> f64 {
        let grown = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }
}

/// What the sender is doing about congestion, as far as a control must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Nothing is lost.
    None,
    /// Losses are being repaired.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) now: Time,
    /// Segments that it acknowledges, selectively or not, for the first time.
    pub(super) delivered: u64,
    /// Segments taken for lost because of it.
    pub(super) lost: u64,
    /// Segments ever delivered.
    pub(super) total_delivered: u64,
    /// In flight before and after it.
    pub(super) flight_before: u64,
    pub(super) flight: u64,
    /// The round trip of the newest segment that it acknowledges, if that was sent once.
    pub(super) rtt: Option<Duration>,
    pub(super) smoothed_rtt: Option<Duration>,
    /// The delivery rate over the last flight.
    pub(super) sample: Option<RateSample>,
    /// It was the window that held the sender back.
    pub(super) window_limited: bool,
    /// The offset acknowledged, and the next one to be sent.
    pub(super) acknowledged: u64,
    pub(super) next: u64,
    pub(super) repair: Repair,
}

/// What a congestion control does.
trait CongestionControl {
    /// An acknowledgement came. Not called while the window is being reduced, but for a control
    /// that [governs recovery](Self::governs_recovery).
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);
    /// Congestion was found, once an episode; returns the threshold to go down to.
    fn on_congestion(&mut self, window: &Window) -> f64;
    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}
    /// There was no congestion: the window before has been restored.
    fn on_undo(&mut self) {}
    /// Data is sent again after a time with nothing in flight.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {}
    /// Whether it sets the window while losses are repaired, instead of proportional rate
    /// reduction.
    fn governs_recovery(&self) -> bool {
        false
    }
    /// The rate at which to send; none: as the window opens.
    fn pacing_rate(&self) -> Option<Bitrate> {
        None
    }
    /// Whether the delivery rate must not be taken for the path's: the control itself sends little.
    fn holds_back(&self) -> bool {
        false
    }
}

/// The congestion control of a flow.
pub(in crate::tcp) enum Congestion {
    NewReno(NewReno),
    Cubic(Box<Cubic>),
    Bbr(Box<Bbr>),
}

/// Hands a call on to the control at hand.
macro_rules! each {
    ($congestion:expr, $name:ident => $call:expr) => {
        match $congestion {
            Congestion::NewReno($name) => $call,
            Congestion::Cubic($name) => $call,
            Congestion::Bbr($name) => $call,
        }
    };
}

impl Congestion {
    /// `random` chooses where BBR begins its cycle.
    pub(super) fn new(config: TcpCongestionControl, random: Stream) -> Self {
        match config {
            TcpCongestionControl::NewReno => Self::NewReno(NewReno),
            TcpCongestionControl::Cubic => Self::Cubic(Box::default()),
            TcpCongestionControl::Bbr => Self::Bbr(Box::new(Bbr::new(random))),
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        each!(self, control => control.on_ack(ack, window));
    }

    pub(super) fn on_congestion(&mut self, window: &Window) -> f64 {
        each!(self, control => control.on_congestion(window))
    }

    pub(super) fn on_timeout(&mut self) {
        each!(self, control => control.on_timeout());
    }

    pub(super) fn on_undo(&mut self) {
        each!(self, control => control.on_undo());
    }

    pub(super) fn on_restart(&mut self, now: Time, idle: Duration) {
        each!(self, control => control.on_restart(now, idle));
    }

    pub(super) fn governs_recovery(&self) -> bool {
        each!(self, control => control.governs_recovery())
    }

    pub(super) fn pacing_rate(&self) -> Option<Bitrate> {
        each!(self, control => control.pacing_rate())
    }

    pub(super) fn holds_back(&self) -> bool {
        each!(self, control => control.holds_back())
    }
}

#[cfg(test)]
impl Ack {
    /// One segment acknowledged of a sender that its window holds back.
    pub(super) fn of_one(now: Time, rtt: Duration) -> Self {
        Self {
            now,
            delivered: 1,
            lost: 0,
            total_delivered: 0,
            flight_before: 0,
            flight: 0,
            rtt: Some(rtt),
            smoothed_rtt: Some(rtt),
            sample: None,
            window_limited: true,
            acknowledged: 0,
            next: 0,
            repair: Repair::None,
        }
    }
}
