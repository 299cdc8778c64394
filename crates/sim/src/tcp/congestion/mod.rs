//! Congestion controls decide how much may be in flight and how fast it is sent. One file each.
//!
//! Windows are in segments and may have a fraction, as in RFC 9438.

mod bbr;
mod cubic;
mod hystart;
mod newreno;
mod prague;

use super::config::TcpCongestionControl;
use super::delivery::RateSample;
use bbr::Bbr;
use cubic::Cubic;
use newreno::NewReno;
use prague::Prague;
use units::{Bitrate, Duration, Stream, Time};

/// The initial window (RFC 6928).
pub(super) const INITIAL_WINDOW: f64 = 10.0;
/// Minimum of the slow start threshold, in segments (RFC 5681 eq. 4).
const MIN_THRESHOLD: f64 = 2.0;
/// The minimum number of segments per burst (Linux `net.ipv4.tcp_min_tso_segs`).
const MIN_BURST: u64 = 2;

/// The windows that a congestion control sets, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The congestion window.
    pub(super) cwnd: f64,
    /// The slow start threshold; infinite until the first congestion event.
    pub(super) ssthresh: f64,
    /// Whether both are whole numbers, as in Linux.
    whole_segments: bool,
    /// Segments acknowledged since the window last grew (Linux `snd_cwnd_cnt`).
    acknowledged: f64,
}

impl Window {
    pub(super) const fn new(whole_segments: bool) -> Self {
        let (cwnd, ssthresh) = (INITIAL_WINDOW, f64::INFINITY);
        Self { cwnd, ssthresh, whole_segments, acknowledged: 0.0 }
    }

    /// Whether the windows are whole numbers.
    fn is_whole(&self) -> bool {
        self.whole_segments
    }

    /// `segments`, rounded down if the windows are whole numbers.
    pub(super) fn rounded(&self, segments: f64) -> f64 {
        if self.whole_segments { segments.floor() } else { segments }
    }

    /// The window before a reduction, to which the reduction is proportional, when `outstanding`
    /// segments are not acknowledged cumulatively (RFC 6937 RecoverFS; Linux `prior_cwnd`).
    pub(super) fn prior(&self, outstanding: u64) -> u64 {
        if self.whole_segments { self.cwnd as u64 } else { outstanding }
    }

    /// A congestion event: the acknowledged segments are counted anew (Linux
    /// `tcp_init_cwnd_reduction`, `tcp_enter_loss`).
    pub(super) fn on_congestion(&mut self) {
        self.acknowledged = 0.0;
    }

    /// Congestion avoidance: `acked` segments were acknowledged, and the window grows by one per
    /// `per_segment` of them (Linux `tcp_cong_avoid_ai`).
    fn increase(&mut self, acked: f64, per_segment: f64) {
        if !self.whole_segments {
            self.cwnd += acked / per_segment;
            return;
        }
        if self.acknowledged >= per_segment {
            (self.acknowledged, self.cwnd) = (0.0, self.cwnd + 1.0);
        }
        self.acknowledged += acked;
        let grown = (self.acknowledged / per_segment).floor();
        self.acknowledged -= grown * per_segment;
        self.cwnd += grown;
    }

    /// Whether the window is below the threshold.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 § 3.1; RFC 3465 with L equal to the number of acknowledged segments).
    /// Returns the part of `acked` that exceeds the threshold.
    fn slow_start(&mut self, acked: f64) -> f64 {
        let grown = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }
}

/// The sender's loss recovery, as far as a congestion control needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossRecovery {
    /// No loss recovery.
    None,
    /// Lost segments are being retransmitted (fast recovery).
    Fast,
    /// The retransmission timer has expired.
    Timeout,
}

/// The information in one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) now: Time,
    /// Segments acknowledged for the first time, cumulatively or selectively.
    pub(super) delivered: u64,
    /// Segments whose marks this acknowledgement reports (AccECN).
    pub(super) marked: u64,
    /// Segments marked as lost because of this acknowledgement.
    pub(super) lost: u64,
    /// Segments delivered since the start of the flow.
    pub(super) total_delivered: u64,
    /// Segments in flight before and after this acknowledgement.
    pub(super) flight_before: u64,
    pub(super) flight: u64,
    /// The round-trip time of the newest segment that this acknowledges, if that was sent once.
    pub(super) rtt: Option<Duration>,
    pub(super) smoothed_rtt: Option<Duration>,
    /// The delivery rate over the last flight.
    pub(super) sample: Option<RateSample>,
    /// The congestion window limited the sender.
    pub(super) window_limited: bool,
    /// The stream offset acknowledged, and the next offset to be sent.
    pub(super) acknowledged: u64,
    pub(super) next: u64,
    pub(super) loss_recovery: LossRecovery,
}

/// A congestion control. The sender calls it; one implementation per algorithm.
trait CongestionControl {
    /// The connection was opened, and that took `rtt`.
    fn on_open(&mut self, _now: Time, _rtt: Duration) {}
    /// An acknowledgement arrived. Not called while the window is being reduced, except for a
    /// control that [governs recovery](Self::governs_recovery).
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);
    /// A congestion event; called once per episode. Returns the new slow start threshold.
    fn on_congestion(&mut self, window: &Window) -> f64;
    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}
    /// The congestion event was spurious; the window from before it has been restored.
    fn on_undo(&mut self) {}
    /// Data is sent again after a time `idle` with nothing in flight.
    fn on_restart(&mut self, _now: Time, _idle: Duration) {}
    /// Whether this control sets the window during loss recovery, instead of proportional rate
    /// reduction.
    fn governs_recovery(&self) -> bool {
        false
    }
    /// The pacing rate. `None` means that segments leave as soon as the window permits.
    fn pacing_rate(&self) -> Option<Bitrate> {
        None
    }
    /// The minimum number of segments per burst at this pacing rate.
    fn min_burst(&self, _pacing: Bitrate) -> u64 {
        MIN_BURST
    }
    /// The maximum number of segments per burst at this pacing rate.
    fn max_burst(&self, _pacing: Bitrate) -> u64 {
        u64::MAX
    }
    /// Whether the control itself limits sending, so that the delivery rate is not that of the
    /// path.
    fn holds_back(&self) -> bool {
        false
    }
}

/// The congestion control of a flow.
pub(in crate::tcp) enum Congestion {
    NewReno(NewReno),
    Cubic(Box<Cubic>),
    Bbr(Box<Bbr>),
    Prague(Box<Prague>),
}

/// Forwards a call to the flow's control.
macro_rules! each {
    ($congestion:expr, $name:ident => $call:expr) => {
        match $congestion {
            Congestion::NewReno($name) => $call,
            Congestion::Cubic($name) => $call,
            Congestion::Bbr($name) => $call,
            Congestion::Prague($name) => $call,
        }
    };
}

impl Congestion {
    /// `random` chooses the phase in which BBR enters ProbeBW.
    pub(super) fn new(config: TcpCongestionControl, random: Stream) -> Self {
        match config {
            TcpCongestionControl::NewReno => Self::NewReno(NewReno),
            TcpCongestionControl::Cubic => Self::Cubic(Box::default()),
            TcpCongestionControl::Bbr => Self::Bbr(Box::new(Bbr::new(random))),
            TcpCongestionControl::Prague => Self::Prague(Box::new(Prague::new())),
        }
    }

    pub(super) fn on_open(&mut self, now: Time, rtt: Duration) {
        each!(self, control => control.on_open(now, rtt));
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

    pub(super) fn min_burst(&self, pacing: Bitrate) -> u64 {
        each!(self, control => control.min_burst(pacing))
    }

    pub(super) fn max_burst(&self, pacing: Bitrate) -> u64 {
        each!(self, control => control.max_burst(pacing))
    }

    pub(super) fn holds_back(&self) -> bool {
        each!(self, control => control.holds_back())
    }
}

#[cfg(test)]
impl Ack {
    /// Acknowledges one segment of a sender that is limited by its window.
    pub(super) fn of_one(now: Time, rtt: Duration) -> Self {
        Self {
            now,
            delivered: 1,
            marked: 0,
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
            loss_recovery: LossRecovery::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux `tcp_cong_avoid_ai`: one segment more per window of acknowledged segments; the rest
    /// counts for the next one.
    #[test]
    fn whole_windows_grow_by_one_segment_per_window() {
        let mut window = Window { cwnd: 5.0, ..Window::new(true) };
        let mut grown = Vec::new();
        for _ in 0..9 {
            window.increase(2.0, window.cwnd);
            grown.push(window.cwnd);
        }
        assert_eq!(grown, [5.0, 5.0, 6.0, 6.0, 6.0, 7.0, 7.0, 7.0, 8.0]);
        assert_eq!(window.rounded(3.5), 3.0);
        let mut fractions = Window { cwnd: 5.0, ..Window::new(false) };
        fractions.increase(2.0, 5.0);
        assert_eq!((fractions.cwnd, fractions.rounded(3.5)), (5.4, 3.5));
    }
}
