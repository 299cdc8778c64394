//! HyStart ends slow start before it causes losses (Ha, Rhee: Taming the elephants, Computer
//! Networks 55(9), 2011). Constants and names are those of Linux `net/ipv4/tcp_cubic.c`.

use super::Ack;
use units::{Duration, Time};

/// HyStart is not active below this window, in segments (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements that follow each other within this time form a train (`hystart_ack_delta_us`).
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Added to the minimum delay in the limit of a train's length (`hystart_ack_delay`).
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Delay samples per round (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// Limits of the delay increase that ends slow start, which is an eighth of the minimum delay
/// (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);

/// What was observed in the current round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    delay_min: Option<Duration>,
    /// The round ends when this offset is acknowledged.
    end_seq: Option<u64>,
    round_start: Time,
    last_ack: Time,
    /// The minimum delay of the round's first samples.
    curr_rtt: Option<Duration>,
    sample_count: u32,
    /// HyStart has ended slow start; only a time-out makes it active again.
    found: bool,
}

impl HyStart {
    /// Whether the spacing of acknowledgements or their delay shows that the path is full.
    pub(super) fn ends_slow_start(&mut self, ack: &Ack, cwnd: f64) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let delay_min = self.delay_min.map_or(rtt, |delay_min| delay_min.min(rtt));
        self.delay_min = Some(delay_min);
        if self.end_seq.is_none_or(|end| ack.acknowledged > end) {
            *self = Self {
                delay_min: self.delay_min,
                end_seq: Some(ack.next),
                round_start: ack.now,
                last_ack: ack.now,
                found: self.found,
                ..Self::default()
            };
        }
        if self.found || cwnd < LOW_WINDOW {
            return false;
        }
        self.found = self.train_is_long(ack.now, delay_min) || self.delay_increased(rtt, delay_min);
        self.found
    }

    fn train_is_long(&mut self, now: Time, delay_min: Duration) -> bool {
        if now.saturating_since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        now.saturating_since(self.round_start) > (delay_min + ACK_DELAY) / 2
    }

    fn delay_increased(&mut self, rtt: Duration, delay_min: Duration) -> bool {
        let curr_rtt = self.curr_rtt.map_or(rtt, |curr_rtt| curr_rtt.min(rtt));
        self.curr_rtt = Some(curr_rtt);
        if self.sample_count < MIN_SAMPLES {
            self.sample_count += 1;
            return false;
        }
        curr_rtt > delay_min + (delay_min / 8).max(DELAY_MIN).min(DELAY_MAX)
    }
}
