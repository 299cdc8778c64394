//! Loss detection: the RACK part of RACK-TLP (RFC 8985 § 6), as in Linux `net/ipv4/tcp_recovery.c`.
//! Names are the RFC's.

use super::outstanding::{Outstanding, Sent, Verdict};
use super::rtt::RttEstimator;
use units::{Duration, Time};

/// DupThresh: with this number of selectively acknowledged segments the reordering window is zero
/// (RFC 8985 § 6.2 step 4).
const DUP_THRESH: u64 = 3;
/// Loss recoveries after which the reordering window shrinks again (RFC 8985 § 6.2 step 4).
const REO_WND_PERSIST: u32 = 16;

/// The state of loss detection (the RFC's RACK.*).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// RACK.segment: of the delivered transmissions, the number of the one sent last. RFC 8985
    /// compares its time, and its sequence number if two times are equal.
    segment: Option<u64>,
    /// RACK.rtt: the round-trip time of the transmission that was delivered last.
    rtt: Duration,
    /// Segments were delivered since the last detection (Linux `rack.advanced`).
    advanced: bool,
    /// RACK.fack: the highest offset delivered.
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult: the reordering window in quarters of the minimum round-trip time.
    reo_wnd_mult: u64,
    /// RACK.reo_wnd_persist: loss recoveries until `reo_wnd_mult` is 1 again.
    reo_wnd_persist: u32,
    /// RACK.dsack_round: a duplicate widens the window once per round, so not again before this
    /// offset is acknowledged.
    dsack_round: u64,
}

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            segment: None,
            rtt: Duration::ZERO,
            advanced: false,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: 0,
        }
    }

    /// A segment was delivered.
    pub(super) fn on_delivered(&mut self, now: Time, sent: &Sent, min_rtt: Option<Duration>) {
        let rtt = now.saturating_since(sent.at);
        if !sent.ever_retransmitted && sent.end() < self.fack {
            self.reordering_seen = true;
        }
        self.fack = self.fack.max(sent.end());
        // Faster than the minimum round-trip time: the first transmission arrived, not the
        // retransmission (step 2).
        if sent.ever_retransmitted && min_rtt.is_none_or(|min_rtt| rtt < min_rtt) {
            return;
        }
        (self.rtt, self.advanced) = (rtt, true);
        self.segment = self.segment.max(Some(sent.transmission));
    }

    /// The receiver reports a duplicate: a retransmission was unnecessary.
    pub(super) fn on_duplicate(&mut self, acknowledged: u64, next: u64) {
        if acknowledged >= self.dsack_round {
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
            self.dsack_round = next;
        }
    }

    /// A loss recovery has ended.
    pub(super) fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// RACK.reo_wnd: how much later than RACK.segment a transmission may arrive (step 4).
    fn reo_wnd(&self, recovering: bool, sacked: u64, rtt: &RttEstimator) -> Duration {
        if !self.reordering_seen && (recovering || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let min_rtt = rtt.min_rtt().unwrap_or_default();
        (min_rtt * self.reo_wnd_mult / 4).min(rtt.srtt().unwrap_or_default())
    }

    /// Marks lost segments after an acknowledgement, unless it delivered none (Linux
    /// `tcp_rack_mark_lost`). Returns as [`detect`](Self::detect).
    pub(super) fn detect_if_advanced(
        &mut self,
        now: Time,
        recovering: bool,
        rtt: &RttEstimator,
        outstanding: &mut Outstanding,
    ) -> (u64, Option<Duration>) {
        if !std::mem::take(&mut self.advanced) {
            return (0, None);
        }
        self.detect(now, recovering, rtt, outstanding)
    }

    /// Marks lost segments (step 5). Returns how many were marked, and if more may prove lost, the
    /// time until the last of them has.
    pub(super) fn detect(
        &self,
        now: Time,
        recovering: bool,
        rtt: &RttEstimator,
        outstanding: &mut Outstanding,
    ) -> (u64, Option<Duration>) {
        let Some(segment) = self.segment else { return (0, None) };
        let timeout = self.rtt + self.reo_wnd(recovering, outstanding.sacked(), rtt);
        let mut reo_timeout = None;
        let lost = outstanding.find_lost(|sent| {
            if sent.transmission >= segment {
                return Verdict::NoMore;
            }
            let deadline = sent.at + timeout;
            if deadline <= now {
                return Verdict::Lost;
            }
            reo_timeout = reo_timeout.max(Some(deadline.saturating_since(now)));
            Verdict::NotYet
        });
        (lost, reo_timeout)
    }

    /// The retransmission timer expired: marks the first segment and every overdue one as lost (RFC
    /// 8985 § 6.3).
    pub(super) fn on_timeout(&self, now: Time, rtt: &RttEstimator, outstanding: &mut Outstanding) {
        let timeout = self.rtt + self.reo_wnd(false, outstanding.sacked(), rtt);
        outstanding.find_lost(|sent| {
            if sent.at + timeout <= now { Verdict::Lost } else { Verdict::NoMore }
        });
        outstanding.mark_first_lost();
    }
}
