//! Proportional rate reduction (RFC 6937): how fast to send during a reduction of the congestion
//! window. Names are the RFC's.

/// One reduction of the congestion window; all values in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// The window at the end of the reduction.
    pub(super) ssthresh: f64,
    /// RecoverFS: the flight size at the start.
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
}

impl Prr {
    pub(super) fn new(ssthresh: f64, flight: u64) -> Self {
        Self { ssthresh, recover_fs: flight.max(1), prr_delivered: 0, prr_out: 0 }
    }

    /// A segment was sent.
    pub(super) fn on_sent(&mut self) {
        self.prr_out += 1;
    }

    /// The congestion window after an acknowledgement that delivered `delivered` segments and
    /// leaves `pipe` in flight. `good` means that the acknowledgement advanced and showed no
    /// further loss.
    ///
    /// If `pipe` is below `ssthresh`, follows Linux `tcp_cwnd_reduction`: sends as many segments as
    /// were delivered and not yet replaced (RFC 6937 § 3, conservative reduction bound), and one
    /// more if `good` (slow start reduction bound).
    pub(super) fn window(&mut self, delivered: u64, pipe: u64, good: bool) -> f64 {
        self.prr_delivered += delivered;
        let ssthresh = self.ssthresh;
        let sndcnt = if pipe as f64 > ssthresh {
            let due = (self.prr_delivered as f64 * ssthresh / self.recover_fs as f64).ceil();
            due - self.prr_out as f64
        } else {
            let room = ssthresh.floor() - pipe as f64;
            let owed = self.prr_delivered as f64 - self.prr_out as f64;
            let more = if good { 1.0 } else { 0.0 };
            room.min(owed.max(delivered as f64) + more)
        };
        // The first retransmission is never delayed.
        let min_sndcnt = if self.prr_out == 0 { 1.0 } else { 0.0 };
        pipe as f64 + sndcnt.max(min_sndcnt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 § 4: with 20 segments in flight, of which the first is lost, every second
    /// acknowledgement sends one segment.
    #[test]
    fn half_of_what_is_delivered_is_sent() {
        let mut reduction = Prr::new(10.0, 20);
        let mut pipe = 19;
        let mut sent = 0;
        for _ in 0..19 {
            pipe -= 1;
            let window = reduction.window(1, pipe, false);
            while window - pipe as f64 >= 1.0 {
                reduction.on_sent();
                pipe += 1;
                sent += 1;
            }
        }
        assert_eq!((sent, pipe), (10, 10));
    }
}
