//! NewReno (RFC 5681, RFC 6582): one segment more per round trip, half the window at congestion.
//! The sender does the loss recovery itself, with selective acknowledgements.

use super::{Ack, CongestionControl, MIN_THRESHOLD, Window};

pub(in crate::tcp) struct NewReno;

impl CongestionControl for NewReno {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        // RFC 7661 § 4.3: the window does not grow unless it is used.
        if !ack.window_limited {
            return;
        }
        let mut acked = ack.delivered as f64;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        // RFC 5681 eq. 3, counted in segments instead of acknowledgements (RFC 3465).
        window.increase(acked, window.cwnd);
    }

    /// RFC 5681 eq. 4, with the window instead of the flight size, as in Linux
    /// (`tcp_reno_ssthresh`).
    fn on_congestion(&mut self, window: &Window) -> f64 {
        window.rounded(window.cwnd / 2.0).max(MIN_THRESHOLD)
    }
}
