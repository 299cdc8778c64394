//! Acknowledgements that come together: how much more than the rate explains (Linux
//! `bbr_update_ack_aggregation`; Cardwell et al., draft-cardwell-iccrg-bbr-congestion-control-01 §
//! 4.5.5, names it extra_acked).

use super::super::Ack;
use units::Time;

/// Rounds of each of the two windows whose maximum counts (Linux `bbr_extra_acked_win_rtts`).
const WINDOW_ROUNDS: u32 = 5;
/// An epoch does not go on beyond so many segments (Linux `bbr_ack_epoch_acked_reset_thresh`).
const LONGEST_EPOCH: f64 = (1u32 << 20) as f64;
/// What it adds to the window is at most what the rate sends in this time, seconds (Linux
/// `bbr_extra_acked_max_us`).
const MOST: f64 = 0.1;

/// The most that was acknowledged beyond what the rate explains, in the last five to ten rounds.
#[derive(Default)]
pub(super) struct Aggregation {
    epoch: Time,
    acked: f64,
    /// Of the window that is under way and of the one before, segments.
    extra: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// An acknowledgement that gives a sample; `bandwidth` in segments a second.
    pub(super) fn update(&mut self, ack: &Ack, round_starts: bool, bandwidth: f64, cwnd: f64) {
        if round_starts {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.extra = [0.0, self.extra[0]];
            }
        }
        let delivered = ack.delivered as f64;
        let mut expected = (bandwidth * ack.now.saturating_since(self.epoch).as_secs_f64()).floor();
        if self.acked <= expected || self.acked + delivered >= LONGEST_EPOCH {
            (self.epoch, self.acked, expected) = (ack.now, 0.0, 0.0);
        }
        self.acked += delivered;
        let extra = (self.acked - expected).min(cwnd.floor());
        self.extra[0] = self.extra[0].max(extra);
    }

    /// Begins anew, as after a rest.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch, self.acked) = (now, 0.0);
    }

    /// What it adds to the window, segments.
    pub(super) fn window(&self, bandwidth: f64) -> f64 {
        self.extra[0].max(self.extra[1]).min((bandwidth * MOST).floor())
    }
}
