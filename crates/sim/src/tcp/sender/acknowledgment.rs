//! Processing of an acknowledgement, in the order of its steps.

use super::{Connection, TcpSender};
use crate::tcp::TcpOutbox;
use crate::tcp::congestion::Ack;
use crate::tcp::outstanding::Sent;
use crate::tcp::segment::Segment;
use units::{Duration, Time};

impl TcpSender {
    pub(super) fn on_acknowledgment(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut impl TcpOutbox,
    ) {
        if segment.acknowledgment > self.next {
            debug_assert!(false, "an acknowledgement of what was never sent");
            return;
        }
        self.peer_window = segment.window;
        let flight_before = self.outstanding.in_flight();
        let delivered_before = self.delivery.delivered();
        let advanced = segment.acknowledgment > self.acknowledged;
        let duplicate = self.duplicate(segment);
        let rtt = self.deliver(now, segment, advanced);
        if advanced {
            self.rtt.reset_backoff();
        }
        if duplicate {
            self.rack.on_duplicate(self.acknowledged, self.next);
            if let Some(undo) = &mut self.undo {
                undo.undo_retrans = undo.undo_retrans.saturating_sub(1);
            }
        }
        let marked = segment.marked.saturating_sub(self.marked);
        self.marked += marked;
        self.counters.ecn_echoes += u64::from(marked > 0);
        let recovering = self.in_loss_recovery();
        let (lost, reo_timeout) =
            self.rack.detect_if_advanced(now, recovering, &self.rtt, &mut self.outstanding);
        let delivered = self.delivery.delivered() - delivered_before;
        self.update_recovery_state(segment, advanced, duplicate);
        let ack = Ack {
            now,
            delivered,
            marked,
            lost,
            total_delivered: self.delivery.delivered(),
            flight_before,
            flight: self.outstanding.in_flight(),
            rtt,
            smoothed_rtt: self.rtt.srtt(),
            sample: self.delivery.sample(now, self.rtt.min_rtt()),
            window_limited: self.is_window_limited(),
            acknowledged: self.acknowledged,
            next: self.next,
            loss_recovery: self.loss_recovery(),
        };
        self.set_cwnd(&ack, advanced);
        self.application.on_acknowledged(now, self.acknowledged);
        if self.application.ends_at(self.acknowledged) {
            (self.connection, self.timer) = (Connection::Finished(now), None);
            return;
        }
        match reo_timeout {
            Some(remaining) => self.set_reordering_timer(now, remaining),
            None if delivered > 0 || advanced => self.set_timer(now),
            None => {}
        }
        self.transmit(now, out);
    }

    /// Whether the first SACK block reports a duplicate (RFC 2883 § 4): it lies below the
    /// cumulative acknowledgement or within the second block.
    pub(super) fn duplicate(&self, segment: &Segment) -> bool {
        let Some((from, up_to)) = segment.sack[0] else { return false };
        let within = |(start, end): (u64, u64)| start <= from && up_to <= end;
        up_to <= segment.acknowledgment || segment.sack[1].is_some_and(within)
    }

    /// Takes the segments that `segment` acknowledges off the retransmission queue. Returns the
    /// round-trip time of the newest one.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        segment: &Segment,
        advanced: bool,
    ) -> Option<Duration> {
        let (delivery, rack, min_rtt) = (&mut self.delivery, &mut self.rack, self.rtt.min_rtt());
        // Karn's algorithm: only a segment that was sent once gives a round-trip time. The oldest
        // one includes the wait for a delayed acknowledgement, as the time-out must; the newest one
        // is the path's.
        let (mut oldest, mut newest) = (None, None);
        let mut each = |sent: &Sent, first_arrived: bool| {
            delivery.on_delivered(now, sent.snapshot, sent.at);
            if !first_arrived {
                rack.on_delivered(now, sent, min_rtt);
            }
            if !sent.ever_retransmitted {
                let rtt = now.saturating_since(sent.at);
                oldest.get_or_insert(rtt);
                newest = Some(rtt);
            }
        };
        if advanced {
            self.acknowledged = segment.acknowledgment;
            self.outstanding.acknowledge(segment.acknowledgment, |sent| {
                if !sent.sacked {
                    // The echo is older than the retransmission: the first transmission arrived
                    // (RFC 8985 § 6.2 step 2).
                    let first = segment.echo.is_some_and(|echo| echo < sent.at);
                    each(sent, sent.ever_retransmitted && first);
                }
            });
        }
        for (from, up_to) in segment.sack.into_iter().flatten() {
            if up_to > self.acknowledged {
                self.outstanding.sack(from, up_to, |sent| each(sent, false));
            }
        }
        match (oldest, segment.echo) {
            (Some(oldest), _) => self.rtt.update(oldest),
            // Everything was retransmitted: the time stamp tells which transmission arrived (RFC
            // 7323 § 4).
            (None, Some(echo)) if advanced => self.rtt.update(now.saturating_since(echo)),
            _ => {}
        }
        if let Some(newest) = newest {
            self.rtt.update_min(now, newest);
        }
        if let Some(newest) = newest
            && self.acknowledged >= self.round_end
        {
            self.round_end = self.next;
            self.round_trips.push((now, newest.as_secs_f64()));
        }
        newest
    }
}
