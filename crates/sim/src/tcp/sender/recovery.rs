//! The response to congestion: reduction of the window, loss recovery, and undoing a spurious
//! reduction (RFC 5681, RFC 6582, RFC 4015).

use super::TcpSender;
use crate::tcp::congestion::{Ack, LossRecovery, Window};
use crate::tcp::prr::Prr;
use crate::tcp::segment::Segment;
use units::Time;

/// The state of the response to congestion (RFC 5681, RFC 6582; Linux `tcp_ca_state`).
#[derive(Clone, Copy, Debug)]
pub(super) enum RecoveryState {
    /// No congestion (`TCP_CA_Open`).
    Open,
    /// The window is reduced until `until` is acknowledged: because of a loss if `loss`
    /// (`TCP_CA_Recovery`), else because of an ECN mark or a local drop (`TCP_CA_CWR`).
    Reducing { until: u64, reduction: Prr, loss: bool },
    /// The retransmission timer has expired; data sent before is recovered until `until` is
    /// acknowledged (`TCP_CA_Loss`).
    TimedOut { until: u64 },
}

/// What is restored if the reduction proves spurious (RFC 4015).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) window: Window,
    /// When the first retransmission was sent (Linux `retrans_stamp`).
    pub(super) retrans_stamp: Option<Time>,
    /// Retransmissions that are not yet reported as duplicates (Linux `undo_retrans`).
    pub(super) undo_retrans: u64,
}

impl TcpSender {
    /// Performs the state transitions for an acknowledgement.
    pub(super) fn update_recovery_state(
        &mut self,
        segment: &Segment,
        advanced: bool,
        duplicate: bool,
    ) {
        self.undo_if_spurious(segment, advanced);
        match self.recovery_state {
            RecoveryState::Reducing { until, loss, reduction }
                if self.reduction_is_complete(until, loss) =>
            {
                if !self.congestion.governs_recovery() {
                    self.window.cwnd = reduction.ssthresh;
                }
                self.recovery_state = RecoveryState::Open;
                if loss {
                    self.rack.on_recovered();
                }
            }
            RecoveryState::TimedOut { until } if self.acknowledged >= until => {
                self.recovery_state = RecoveryState::Open;
                self.rack.on_recovered();
            }
            _ => {}
        }
        self.process_tlp_ack(advanced, duplicate);
        if self.outstanding.lost() > 0 && !self.in_loss_recovery() {
            self.counters.recoveries += 1;
            self.reduce(true);
        } else if segment.ece && self.ecn_agreed {
            self.counters.ecn_echoes += 1;
            if matches!(self.recovery_state, RecoveryState::Open) {
                self.reduce(false);
            }
        }
        debug_assert!(
            self.outstanding.lost() == 0 || self.in_loss_recovery(),
            "losses are repaired"
        );
    }

    /// Loss recovery ends when the data sent before it is acknowledged. A reduction without a loss
    /// takes one more acknowledgement, because the previous one may still echo the same ECN mark
    /// (Linux `tcp_fastretrans_alert`, `TCP_CA_CWR`).
    fn reduction_is_complete(&self, until: u64, loss: bool) -> bool {
        self.acknowledged > until || (loss && self.acknowledged == until)
    }

    /// Undoes a spurious reduction: either the first transmission arrived (RFC 3522: the echo is
    /// older than the retransmission), or every retransmission is reported as a duplicate (Linux
    /// `tcp_may_undo`).
    pub(super) fn undo_if_spurious(&mut self, segment: &Segment, advanced: bool) {
        let Some(undo) = self.undo else { return };
        let first_arrived = advanced
            && undo
                .retrans_stamp
                .is_some_and(|retrans_stamp| segment.echo.is_some_and(|echo| echo < retrans_stamp));
        let all_duplicate = undo.retrans_stamp.is_some() && undo.undo_retrans == 0;
        if !first_arrived && !all_duplicate {
            return;
        }
        (self.undo, self.send_cwr) = (None, false);
        self.counters.undone += 1;
        self.window.cwnd = self.window.cwnd.max(undo.window.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(undo.window.ssthresh);
        self.outstanding.clear_losses();
        self.congestion.on_undo();
        self.recovery_state = RecoveryState::Open;
    }

    /// A tail loss probe repaired a loss that nothing else showed, which is congestion too (RFC
    /// 8985 § 7.4.2).
    pub(super) fn process_tlp_ack(&mut self, advanced: bool, duplicate: bool) {
        let Some((probe_end, retransmission)) = self.tail_loss_probe else { return };
        if self.acknowledged < probe_end {
            return;
        }
        if self.acknowledged > probe_end && retransmission && !duplicate {
            self.tail_loss_probe = None;
            if matches!(self.recovery_state, RecoveryState::Open) {
                self.reduce(false);
            }
        } else if !retransmission || duplicate || !advanced {
            // The probe was new data, or it arrived in addition to the first transmission.
            self.tail_loss_probe = None;
        }
    }

    /// Starts a reduction of the window. Only a reduction because of a loss can be undone.
    pub(super) fn reduce(&mut self, loss: bool) {
        let reduction = match self.recovery_state {
            // A loss during a reduction belongs to the same congestion event.
            RecoveryState::Reducing { reduction, .. } => reduction,
            _ => {
                self.undo = loss.then(|| self.undo_point());
                self.window.on_congestion();
                let prior = self.window.prior(self.outstanding.len());
                Prr::new(self.congestion.on_congestion(&self.window), prior)
            }
        };
        self.window.ssthresh = reduction.ssthresh;
        (self.send_cwr, self.tail_loss_probe) = (self.ecn_agreed, None);
        self.recovery_state = RecoveryState::Reducing { until: self.next, reduction, loss };
    }

    /// The state to restore if a reduction that starts now is undone. Retransmissions of an earlier
    /// reduction that are still under way count: their arrival does not show that this reduction is
    /// spurious (Linux `tcp_init_undo`, `tcp_retrans_stamp_cleanup`).
    pub(super) fn undo_point(&self) -> Undo {
        let under_way = self.outstanding.retransmitted();
        let retrans_stamp = self.retrans_stamp.filter(|_| under_way > 0);
        Undo { window: self.window, retrans_stamp, undo_retrans: under_way }
    }

    /// Sets the window after an acknowledgement; only an acknowledgement that advances can grow the
    /// window (Linux `tcp_may_raise_cwnd`).
    pub(super) fn set_cwnd(&mut self, ack: &Ack, advanced: bool) {
        if self.congestion.governs_recovery() {
            self.congestion.on_ack(ack, &mut self.window);
        } else if let RecoveryState::Reducing { reduction, .. } = &mut self.recovery_state {
            if ack.delivered > 0 {
                let good = advanced && ack.lost == 0;
                self.window.cwnd = reduction.window(ack.delivered, ack.flight, good);
            }
        } else if ack.delivered > 0 && advanced {
            self.congestion.on_ack(ack, &mut self.window);
        }
        if self.congestion.holds_back() {
            self.delivery.mark_app_limited(ack.flight);
        }
    }

    pub(super) fn in_loss_recovery(&self) -> bool {
        self.loss_recovery() != LossRecovery::None
    }

    pub(super) fn loss_recovery(&self) -> LossRecovery {
        match self.recovery_state {
            RecoveryState::Reducing { loss: true, .. } => LossRecovery::Fast,
            RecoveryState::TimedOut { .. } => LossRecovery::Timeout,
            _ => LossRecovery::None,
        }
    }
}
