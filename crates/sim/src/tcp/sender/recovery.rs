//! How congestion is answered: reduction, repair, and taking it back (RFC 5681, RFC 6582, RFC
//! 4015).

use super::TcpSender;
use crate::tcp::congestion::{Ack, Repair, Window};
use crate::tcp::prr::Reduction;
use crate::tcp::segment::Segment;
use units::Time;

/// What is being done about congestion (RFC 5681, RFC 6582; Linux `tcp_ca_state`).
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Nothing.
    Open,
    /// The window is reduced until `until` is acknowledged; `repairing`: because of a loss.
    Reducing { until: u64, reduction: Reduction, repairing: bool },
    /// The retransmission timer has expired, and what was sent until then is being repaired.
    TimedOut { until: u64 },
}

/// What to restore if the reduction proves to have been for nothing (RFC 4015).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) window: Window,
    /// When the first retransmission left.
    pub(super) since: Option<Time>,
    /// Retransmissions that are not reported as duplicates.
    pub(super) unexplained: u64,
}

impl TcpSender {
    /// Goes from state to state.
    pub(super) fn answer(&mut self, segment: &Segment, advanced: bool, duplicate: bool) {
        self.undo_if_spurious(segment, advanced);
        match self.state {
            State::Reducing { until, repairing, reduction }
                if self.has_reduced(until, repairing) =>
            {
                if !self.congestion.governs_recovery() {
                    self.window.cwnd = reduction.ssthresh;
                }
                self.state = State::Open;
                if repairing {
                    self.rack.on_recovered();
                }
            }
            State::TimedOut { until } if self.acknowledged >= until => {
                self.state = State::Open;
                self.rack.on_recovered();
            }
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
            }
        }
        debug_assert!(self.out.lost() == 0 || self.is_repairing(), "losses are repaired");
    }

    /// A repair ends with what was sent before it; without a loss it takes one acknowledgement
    /// more, as the one before may still echo the mark that is being answered (Linux
    /// `tcp_fastretrans_alert`, `TCP_CA_CWR`).
    fn has_reduced(&self, until: u64, repairing: bool) -> bool {
        self.acknowledged > until || (repairing && self.acknowledged == until)
    }

    /// A reduction was for nothing if what was sent first arrived (RFC 3522: the echo is older than
    /// the retransmission), or if every retransmission is reported as a duplicate (Linux
    /// `tcp_may_undo`).
    pub(super) fn undo_if_spurious(&mut self, segment: &Segment, advanced: bool) {
        let Some(undo) = self.undo else { return };
        let first = advanced
            && undo.since.is_some_and(|since| segment.echo.is_some_and(|echo| echo < since));
        let all_duplicate = undo.since.is_some() && undo.unexplained == 0;
        if !first && !all_duplicate {
            return;
        }
        (self.undo, self.tells_reduced) = (None, false);
        self.counters.undone += 1;
        self.window.cwnd = self.window.cwnd.max(undo.window.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(undo.window.ssthresh);
        self.out.forget_losses();
        self.congestion.on_undo();
        self.state = State::Open;
    }

    /// A probe repaired a loss that nothing else showed: that is congestion too (RFC 8985 § 7.4.2).
    pub(super) fn answer_probe(&mut self, advanced: bool, duplicate: bool) {
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

    /// Begins to reduce the window. Only a reduction for a loss can prove to be for nothing.
    pub(super) fn reduce(&mut self, repairing: bool) {
        let reduction = match self.state {
            // A loss while the window is reduced already: the same congestion.
            State::Reducing { reduction, .. } => reduction,
            _ => {
                self.undo = repairing.then(|| self.undo_point());
                Reduction::new(self.congestion.on_congestion(&self.window), self.out.len())
            }
        };
        self.window.ssthresh = reduction.ssthresh;
        (self.tells_reduced, self.probe) = (self.ecn_agreed, None);
        self.state = State::Reducing { until: self.next, reduction, repairing };
    }

    /// What to come back to from here. Retransmissions that an earlier reduction has under way
    /// still count: their arrival is no sign that this one is for nothing (Linux `tcp_init_undo`,
    /// `tcp_retrans_stamp_cleanup`).
    pub(super) fn undo_point(&self) -> Undo {
        let under_way = self.out.retransmitted();
        let since = self.retransmitting_since.filter(|_| under_way > 0);
        Undo { window: self.window, since, unexplained: under_way }
    }

    /// Sets the window after an acknowledgement; only one that advances grows it (Linux
    /// `tcp_may_raise_cwnd`).
    pub(super) fn set_window(&mut self, ack: &Ack, advanced: bool) {
        if self.congestion.governs_recovery() {
            self.congestion.on_ack(ack, &mut self.window);
        } else if let State::Reducing { reduction, .. } = &mut self.state {
            if ack.delivered > 0 {
                let good = advanced && ack.lost == 0;
                self.window.cwnd = reduction.window(ack.delivered, ack.flight, good);
            }
        } else if ack.delivered > 0 && advanced {
            self.congestion.on_ack(ack, &mut self.window);
        }
        if self.congestion.holds_back() {
            self.delivery.limit_by_application(ack.flight);
        }
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.repair() != Repair::None
    }

    pub(super) fn repair(&self) -> Repair {
        match self.state {
            State::Reducing { repairing: true, .. } => Repair::Recovery,
            State::TimedOut { .. } => Repair::Loss,
            _ => Repair::None,
        }
    }
}
