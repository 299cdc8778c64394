//! R: the received rate over a sliding window of buckets of 1 ms (libwebrtc
//! `base/rate_statistics.cc`).

use super::words::Divisor;
use std::collections::VecDeque;
use units::Duration;

/// Initial capacity in buckets.
const INITIAL_CAPACITY: usize = 2048;

/// Counts the bytes that arrived within the window.
pub(super) struct IncomingRate {
    divisor: Divisor,
    /// Length of the window, ms. The window has one bucket more.
    window: i64,
    buckets: VecDeque<(i64, u64)>,
    bytes: u64,
    /// Time of the window's first bucket.
    oldest: Option<i64>,
}

impl IncomingRate {
    pub(super) fn new(window: Duration, divisor: Divisor) -> Self {
        Self {
            divisor,
            window: window.as_millis().max(1) as i64,
            buckets: VecDeque::with_capacity(INITIAL_CAPACITY),
            bytes: 0,
            oldest: None,
        }
    }

    pub(super) fn on_packet(&mut self, now: i64, size: u64) {
        if self.oldest.is_some_and(|oldest| now < oldest) {
            return;
        }
        self.forget(now);
        if self.buckets.is_empty() {
            self.oldest = Some(now);
        }
        match self.buckets.back_mut() {
            Some((time, bytes)) if *time == now => *bytes += size,
            _ => self.buckets.push_back((now, size)),
        }
        self.bytes += size;
    }

    /// The rate at `now`, bit/s.
    pub(super) fn rate(&mut self, now: i64) -> u32 {
        self.forget(now);
        let time = match (self.divisor, self.oldest) {
            (Divisor::Elapsed, Some(oldest)) => now - oldest + 1,
            _ => self.window,
        };
        (self.bytes as f64 * 8000.0 / time.max(1) as f64 + 0.5) as u32
    }

    fn forget(&mut self, now: i64) {
        let first = now - self.window;
        while let Some(&(time, bytes)) = self.buckets.front()
            && time < first
        {
            self.buckets.pop_front();
            self.bytes -= bytes;
        }
        self.oldest = self.oldest.map(|oldest| oldest.max(first));
    }
}
