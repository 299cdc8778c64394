//! When an estimate is sent to the sender (libwebrtc `video_engine/vie_remb.cc`).

use units::Duration;

/// An estimate below this share of the last one sent leaves at once, in percent (`vie_remb.cc`:
/// 97).
const THRESHOLD_PERCENT: i64 = 97;

/// Decides which estimates are sent.
pub(super) struct Remb {
    interval: i64,
    /// The last estimate that was sent, bit/s; 0: none.
    sent: i64,
    /// The estimate before the newest one.
    previous: i64,
    /// When the interval began, ms.
    since: Option<i64>,
}

impl Remb {
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval: interval.as_millis() as i64, sent: 0, previous: 0, since: None }
    }

    /// The call began at `now`, ms: the first interval begins.
    pub(super) fn start(&mut self, now: i64) {
        self.since.get_or_insert(now);
    }

    /// There is a new estimate at `now`, ms. Returns whether to send it: once per interval, or at
    /// once if the estimate has fallen.
    pub(super) fn on_estimate(&mut self, now: i64, rate: u32) -> bool {
        let rate = i64::from(rate);
        let new = self.sent - self.previous + rate;
        let fallen = self.sent > 0 && (0..THRESHOLD_PERCENT * self.sent / 100).contains(&new);
        self.previous = rate;
        let due = self.since.is_none_or(|since| now - since >= self.interval);
        if !fallen && !due {
            return false;
        }
        self.since = Some(now);
        self.sent = rate;
        true
    }
}
