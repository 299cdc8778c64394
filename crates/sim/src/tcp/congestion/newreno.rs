//! NewReno (RFC 5681, RFC 6582): a segment more a round trip, half the window at congestion. The
//! repair of losses itself is the sender's, with selective acknowledgements.

use super::{Ack, CongestionControl, MIN_THRESHOLD, Window};

pub(in crate::tcp) struct NewReno;

impl CongestionControl for NewReno {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        // RFC 7661 § 4.3: a window that is not used is not grown.
        if !ack.window_limited {
            return;
        }
        let mut acked = ack.delivered as f64;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        // RFC 5681 eq. 3, counting segments and not acknowledgements (RFC 3465).
        window.cwnd += acked / window.cwnd;
    }

    /// RFC 5681 eq. 4, of the window as in Linux (`tcp_reno_ssthresh`).
    fn on_congestion(&mut self, window: &Window) -> f64 {
        (window.cwnd / 2.0).max(MIN_THRESHOLD)
    }
}
