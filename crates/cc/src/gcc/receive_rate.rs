//! R, the received rate over a sliding window (Jansen 2016 § 5-1: the last 500 ms).

use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration, Time};

/// Initial capacity in packets: 500 ms at 40 Mbit/s without reallocation.
const INITIAL_CAPACITY: usize = 2048;

/// Counts the bytes that arrived within the window.
pub(crate) struct ReceiveRate {
    window: Duration,
    packets: VecDeque<(Time, Bytes)>,
    bytes: Bytes,
    first: Option<Time>,
}

impl ReceiveRate {
    pub(crate) fn new(window: Duration) -> Self {
        Self {
            window,
            packets: VecDeque::with_capacity(INITIAL_CAPACITY),
            bytes: Bytes::ZERO,
            first: None,
        }
    }

    pub(crate) fn on_packet(&mut self, now: Time, size: Bytes) {
        self.first.get_or_insert(now);
        self.forget(now);
        self.packets.push_back((now, size));
        self.bytes += size;
    }

    /// The rate over the window that ends at `now`; `None` before a whole window has passed.
    pub(crate) fn rate(&mut self, now: Time) -> Option<Bitrate> {
        self.forget(now);
        let whole = self.first.is_some_and(|first| now.saturating_since(first) >= self.window);
        if whole { self.bytes.per(self.window) } else { None }
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(at, size)) = self.packets.front()
            && now.saturating_since(at) >= self.window
        {
            self.packets.pop_front();
            self.bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_counts_the_bytes_within_the_window() {
        let mut rate = ReceiveRate::new(Duration::from_millis(500));
        for k in 0..100 {
            rate.on_packet(Time::from_millis(10 * k), Bytes::new(1250));
        }
        assert_eq!(rate.rate(Time::from_millis(990)), Some(Bitrate::from_mbps(1)));
        assert_eq!(rate.rate(Time::from_millis(1240)), Some(Bitrate::from_kbps(500)));
        assert_eq!(rate.rate(Time::from_secs(9)), Some(Bitrate::ZERO));
    }

    #[test]
    fn there_is_no_rate_before_a_whole_window() {
        let mut rate = ReceiveRate::new(Duration::from_millis(500));
        rate.on_packet(Time::from_secs(1), Bytes::new(1250));
        assert_eq!(rate.rate(Time::from_millis(1499)), None);
    }
}
