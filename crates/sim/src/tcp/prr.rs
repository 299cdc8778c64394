//! Proportional rate reduction (RFC 6937): how fast to send while congestion is answered.

/// One reduction of the window, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// The window to arrive at.
    pub(super) ssthresh: f64,
    /// In flight at the beginning (RecoverFS).
    flight: u64,
    delivered: u64,
    sent: u64,
}

impl Reduction {
    pub(super) fn new(ssthresh: f64, flight: u64) -> Self {
        Self { ssthresh, flight: flight.max(1), delivered: 0, sent: 0 }
    }

    /// A segment was sent.
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The window after an acknowledgement that delivered so many segments; `good`: it advanced and
    /// found no further loss.
    ///
    /// Where less is in flight than the window to arrive at, as Linux `tcp_cwnd_reduction`: by what
    /// was delivered and not yet sent for (RFC 6937 § 3, conservative reduction bound), and one
    /// more if `good` (slow start reduction bound).
    pub(super) fn window(&mut self, delivered: u64, in_flight: u64, good: bool) -> f64 {
        self.delivered += delivered;
        let target = self.ssthresh;
        let quota = if in_flight as f64 > target {
            let due = (self.delivered as f64 * target / self.flight as f64).ceil();
            due - self.sent as f64
        } else {
            let room = target.floor() - in_flight as f64;
            let owed = self.delivered as f64 - self.sent as f64;
            let more = if good { 1.0 } else { 0.0 };
            room.min(owed.max(delivered as f64) + more)
        };
        // The first retransmission is never held back.
        let least = if self.sent == 0 { 1.0 } else { 0.0 };
        in_flight as f64 + quota.max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 § 4: at 20 segments in flight, of which the first is lost, every other
    /// acknowledgement sends one.
    #[test]
    fn half_of_what_is_delivered_is_sent() {
        let mut reduction = Reduction::new(10.0, 20);
        let mut in_flight = 19;
        let mut sent = 0;
        for _ in 0..19 {
            in_flight -= 1;
            let window = reduction.window(1, in_flight, false);
            while window - in_flight as f64 >= 1.0 {
                reduction.on_sent();
                in_flight += 1;
                sent += 1;
            }
        }
        assert_eq!((sent, in_flight), (10, 10));
    }
}
