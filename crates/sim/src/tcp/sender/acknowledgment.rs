//! What an acknowledgement tells, and in which order it is taken in.

use super::timer::Timer;
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
                undo.unexplained = undo.unexplained.saturating_sub(1);
            }
        }
        let (lost, look_again) =
            self.rack.detect(now, self.is_repairing(), &self.rtt, &mut self.out);
        let delivered = self.delivery.delivered() - delivered_before;
        self.answer(segment, advanced, duplicate);
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
        self.set_window(&ack, advanced);
        self.application.on_acknowledged(now, self.acknowledged);
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

    /// Whether the first block reports a duplicate (RFC 2883 § 4): it lies below what is
    /// acknowledged, or within the second.
    pub(super) fn duplicate(&self, segment: &Segment) -> bool {
        let Some((from, upto)) = segment.sack[0] else { return false };
        let within = |(start, end): (u64, u64)| start <= from && upto <= end;
        upto <= segment.acknowledgment || segment.sack[1].is_some_and(within)
    }

    /// Takes what the segment acknowledges off the retransmission queue. Returns the newest round
    /// trip.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        segment: &Segment,
        advanced: bool,
    ) -> Option<Duration> {
        let (delivery, rack, least) = (&mut self.delivery, &mut self.rack, self.rtt.least());
        // Karn: only what was sent once tells a round trip. The oldest includes the wait for a
        // delayed acknowledgement, as the time-out must; the newest is the path's.
        let (mut oldest, mut newest) = (None, None);
        let mut each = |sent: &Sent, first_arrived: bool| {
            delivery.on_delivered(now, sent.snapshot, sent.at);
            if !first_arrived {
                rack.on_delivered(now, sent, least);
            }
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
                    // The echo is older than the retransmission: it was the first transmission that
                    // arrived (RFC 8985 § 6.2 step 2).
                    let first = segment.echo.is_some_and(|echo| echo < sent.at);
                    each(sent, sent.ever_retransmitted && first);
                }
            });
        }
        for (from, upto) in segment.sack.into_iter().flatten() {
            if upto > self.acknowledged {
                self.out.sack(from, upto, |sent| each(sent, false));
            }
        }
        match (oldest, segment.echo) {
            (Some(oldest), _) => self.rtt.measured(oldest),
            // Everything was retransmitted: the time stamp tells which transmission it was (RFC
            // 7323 § 4).
            (None, Some(echo)) if advanced => self.rtt.measured(now.saturating_since(echo)),
            _ => {}
        }
        if let Some(newest) = newest {
            self.rtt.path_measured(now, newest);
        }
        if let Some(newest) = newest
            && self.acknowledged >= self.round
        {
            self.round = self.next;
            self.round_trips.push((now, newest.as_secs_f64()));
        }
        newest
    }
}
