//! Which transmissions are lost: the RACK part of RACK-TLP (RFC 8985 § 6), as Linux's
//! `net/ipv4/tcp_recovery.c`.

use super::outstanding::{Outstanding, Sent, Verdict};
use super::rtt::RoundTrip;
use units::{Duration, Time};

/// So many segments selectively acknowledged tell of a loss without a reordering window (RFC 8985 §
/// 6.2 step 4: DupThresh).
const DUPLICATE_THRESHOLD: u64 = 3;
/// Recoveries after which the reordering window shrinks again (RFC 8985 § 6.2 step 4).
const PERSIST: u32 = 16;

/// What was delivered last, in the order of sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// The number of the delivered transmission that was sent last; RFC 8985 takes its time, and
    /// its place in the stream where two have the same.
    newest: Option<u64>,
    /// Its round-trip time.
    rtt: Duration,
    /// The highest offset delivered.
    highest: u64,
    reordering: bool,
    /// The reordering window in quarters of the least round trip.
    quarters: u64,
    /// Recoveries until it is one again.
    persist: u32,
    /// A duplicate widens the window once a round: not before this is acknowledged.
    widened_until: u64,
}

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            highest: 0,
            reordering: false,
            quarters: 1,
            persist: 0,
            widened_until: 0,
        }
    }

    /// A segment was delivered.
    pub(super) fn on_delivered(&mut self, now: Time, sent: &Sent, least_rtt: Option<Duration>) {
        let rtt = now.saturating_since(sent.at);
        if !sent.ever_retransmitted && sent.end() < self.highest {
            self.reordering = true;
        }
        self.highest = self.highest.max(sent.end());
        // Faster than any round trip: it was the first transmission that arrived (step 2).
        if sent.ever_retransmitted && least_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        if self.newest.is_none_or(|newest| sent.transmission > newest) {
            self.newest = Some(sent.transmission);
            self.rtt = rtt;
        }
    }

    /// The receiver reports a duplicate: a retransmission was for nothing.
    pub(super) fn on_duplicate(&mut self, acknowledged: u64, next: u64) {
        if acknowledged >= self.widened_until {
            self.quarters += 1;
            self.persist = PERSIST;
            self.widened_until = next;
        }
    }

    /// A recovery is over.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// How much later than the newest a transmission may arrive (step 4).
    fn window(&self, recovering: bool, sacked: u64, rtt: &RoundTrip) -> Duration {
        if !self.reordering && (recovering || sacked >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        let least = rtt.least().unwrap_or_default();
        (least * self.quarters / 4).min(rtt.smoothed().unwrap_or_default())
    }

    /// Marks what is lost (step 5). Returns how many are, and when to look again if some may prove
    /// to be.
    pub(super) fn detect(
        &self,
        now: Time,
        recovering: bool,
        rtt: &RoundTrip,
        out: &mut Outstanding,
    ) -> (u64, Option<Time>) {
        let Some(newest) = self.newest else { return (0, None) };
        let patience = self.rtt + self.window(recovering, out.sacked(), rtt);
        let mut again: Option<Time> = None;
        let lost = out.find_lost(|sent| {
            if sent.transmission >= newest {
                return Verdict::NoMore;
            }
            let deadline = sent.at + patience;
            if deadline <= now {
                return Verdict::Lost;
            }
            again = Some(again.map_or(deadline, |again| again.max(deadline)));
            Verdict::NotYet
        });
        (lost, again)
    }

    /// The retransmission timer expired: the first segment is lost, and of the others those that
    /// are overdue (RFC 8985 § 6.3).
    pub(super) fn on_timeout(&self, now: Time, rtt: &RoundTrip, out: &mut Outstanding) {
        let patience = self.rtt + self.window(false, out.sacked(), rtt);
        out.find_lost(
            |sent| if sent.at + patience <= now { Verdict::Lost } else { Verdict::NoMore },
        );
        out.lose_first();
    }
}
