//! ACK aggregation: how many more segments were acknowledged than the bandwidth explains (Linux
//! `bbr_update_ack_aggregation`; called extra_acked in Cardwell et al.,
//! draft-cardwell-iccrg-bbr-congestion-control-01 § 4.5.5).

use super::super::Ack;
use units::Time;

/// Length of each of the two windows of the maximum, in rounds (Linux `bbr_extra_acked_win_rtts`).
const WINDOW_ROUNDS: u32 = 5;
/// An epoch restarts after this many segments (Linux `bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_RESET_THRESHOLD: f64 = (1u32 << 20) as f64;
/// Limit of the addition to the window: what the bandwidth sends in this time, in seconds (Linux
/// `bbr_extra_acked_max_us`).
const MAX_SECONDS: f64 = 0.1;

/// The largest number of segments that was acknowledged beyond what the bandwidth explains, over
/// the last five to ten rounds.
#[derive(Default)]
pub(super) struct Aggregation {
    epoch_start: Time,
    epoch_acked: f64,
    /// The maximum of the current window and of the one before it, in segments.
    extra_acked: [f64; 2],
    window_rounds: u32,
}

impl Aggregation {
    /// Updates the estimate with an acknowledgement that gives a rate sample; `bandwidth` is in
    /// segments per second.
    pub(super) fn update(&mut self, ack: &Ack, round_start: bool, bandwidth: f64, cwnd: f64) {
        if round_start {
            self.window_rounds += 1;
            if self.window_rounds >= WINDOW_ROUNDS {
                self.window_rounds = 0;
                self.extra_acked = [0.0, self.extra_acked[0]];
            }
        }
        let delivered = ack.delivered as f64;
        let mut expected =
            (bandwidth * ack.now.saturating_since(self.epoch_start).as_secs_f64()).floor();
        if self.epoch_acked <= expected || self.epoch_acked + delivered >= EPOCH_RESET_THRESHOLD {
            (self.epoch_start, self.epoch_acked, expected) = (ack.now, 0.0, 0.0);
        }
        self.epoch_acked += delivered;
        let extra = (self.epoch_acked - expected).min(cwnd.floor());
        self.extra_acked[0] = self.extra_acked[0].max(extra);
    }

    /// Starts a new epoch, for example after an idle period.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch_start, self.epoch_acked) = (now, 0.0);
    }

    /// The addition to the window, in segments.
    pub(super) fn cwnd_addition(&self, bandwidth: f64) -> f64 {
        self.extra_acked[0].max(self.extra_acked[1]).min((bandwidth * MAX_SECONDS).floor())
    }
}
