//! HyStart: the end of slow start before it loses (Ha, Rhee: Taming the elephants, Computer
//! Networks 55(9), 2011), as in Linux `net/ipv4/tcp_cubic.c`, whose constants these are.

use super::Ack;
use units::{Duration, Time};

/// Below this window nothing is judged (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements that follow each other within this time are a train (`hystart_ack_delta_us`).
const ACK_SPACING: Duration = Duration::from_millis(2);
/// Allowed to a train beside half the least delay (`hystart_ack_delay`).
const TRAIN_SLACK: Duration = Duration::from_millis(1);
/// Round trips looked at in a round (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// How much the delay must rise: an eighth of the least one, within these (`HYSTART_DELAY_MIN`,
/// `HYSTART_DELAY_MAX`).
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);

/// What is seen of the current round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    least: Option<Duration>,
    /// The round ends when this is acknowledged.
    end: Option<u64>,
    round_start: Time,
    last_ack: Time,
    /// The least delay of the round's first samples.
    current: Option<Duration>,
    samples: u32,
    /// It has ended slow start; only a time-out makes it look again.
    found: bool,
}

impl HyStart {
    /// Whether the path is full, by the spacing of acknowledgements or by their delay.
    pub(super) fn ends_slow_start(&mut self, ack: &Ack, cwnd: f64) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.end.is_none_or(|end| ack.acknowledged > end) {
            *self = Self {
                least: self.least,
                end: Some(ack.next),
                round_start: ack.now,
                last_ack: ack.now,
                found: self.found,
                ..Self::default()
            };
        }
        if self.found || cwnd < LOW_WINDOW {
            return false;
        }
        self.found = self.train_is_long(ack.now, least) || self.delay_rose(rtt, least);
        self.found
    }

    fn train_is_long(&mut self, now: Time, least: Duration) -> bool {
        if now.saturating_since(self.last_ack) > ACK_SPACING {
            return false;
        }
        self.last_ack = now;
        now.saturating_since(self.round_start) > (least + TRAIN_SLACK) / 2
    }

    fn delay_rose(&mut self, rtt: Duration, least: Duration) -> bool {
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        current > least + (least / 8).max(MIN_RISE).min(MAX_RISE)
    }
}
