//! Measured rates of media, sending and acknowledgements (§ 4.1.3), and the median of the media
//! rate.

use crate::scream_v2::ntp;

/// 200 ms in ticks (§ 4.1.3).
const INTERVAL: u64 = 13_107;
/// Samples in the median: more than 10 s (§ 4.1.1.2).
const SAMPLES: usize = 55;

/// In bit/s.
pub(super) struct Rates {
    bytes: [u64; 3],
    since: u64,
    history: [f64; SAMPLES],
    count: usize,
    pub(super) media: f64,
    pub(super) transmitted: f64,
    pub(super) acked: f64,
    pub(super) median: f64,
}

impl Rates {
    pub(super) fn new() -> Self {
        Self {
            bytes: [0; 3],
            since: 0,
            history: [0.0; SAMPLES],
            count: 0,
            media: 0.0,
            transmitted: 0.0,
            acked: 0.0,
            median: 0.0,
        }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.since = now;
    }

    pub(super) fn on_frame(&mut self, bytes: u64) {
        self.bytes[0] += bytes;
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.bytes[1] += bytes;
    }

    pub(super) fn on_acked(&mut self, bytes: u64) {
        self.bytes[2] += bytes;
    }

    /// Updates the rates once per interval.
    pub(super) fn update(&mut self, now: u64) {
        let span = now.saturating_sub(self.since);
        if span < INTERVAL {
            return;
        }
        let rates = self.bytes.map(|bytes| bytes as f64 * 8.0 / ntp::seconds(span));
        [self.media, self.transmitted, self.acked] = rates;
        self.bytes = [0; 3];
        self.since = now;
        self.history[self.count % SAMPLES] = self.media;
        self.count += 1;
        let mut sorted = self.history;
        let known = &mut sorted[..self.count.min(SAMPLES)];
        known.sort_unstable_by(f64::total_cmp);
        self.median = known[known.len() / 2];
    }

    /// `current_rate`: the greater of the transmitted and the acknowledged rate.
    pub(super) fn current(&self) -> f64 {
        self.transmitted.max(self.acked)
    }
}
