//! The acknowledged rate since 2023: the lower of the rates at which a window of packets was sent
//! and received (libwebrtc `goog_cc/robust_throughput_estimator.cc`).

use super::config::LibwebrtcConfig;
use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration, Time};

/// A packet that arrives this much before the newest one means that the receiver's clock changed
/// (libwebrtc `goog_cc/robust_throughput_estimator.cc`: 1 s).
const MAX_REORDERING: Duration = Duration::from_secs(1);
/// Minimum duration of a window (libwebrtc `goog_cc/robust_throughput_estimator.cc`: 1 ms).
const MIN_DURATION: Duration = Duration::from_millis(1);
/// Packets of one feedback message for which there is room above `throughput.max_packets` without
/// reallocation.
const SPARE: usize = 1024;

/// A packet of the window.
#[derive(Clone, Copy, Debug)]
struct Received {
    sent: Time,
    arrival: Time,
    size: Bytes,
}

/// Estimates the rate at which packets arrive.
pub(super) struct RobustThroughput {
    packets: (usize, usize),
    durations: (Duration, Duration),
    required: usize,
    /// In order of arrival.
    window: VecDeque<Received>,
    /// The latest sending time of a packet that has left the window.
    discarded: Option<Time>,
}

impl RobustThroughput {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            packets: (config.throughput_packets, config.throughput_max_packets),
            durations: (config.throughput_window, config.throughput_max_window),
            required: config.throughput_required,
            window: VecDeque::with_capacity(config.throughput_max_packets + SPARE),
            discarded: None,
        }
    }

    /// A packet was reported. Calls are in order of arrival within one feedback message.
    pub(super) fn on_packet(&mut self, sent: Time, arrival: Time, size: Bytes) {
        let newest = self.window.back().map(|newest| newest.arrival);
        if newest.is_some_and(|newest| newest.saturating_since(arrival) > MAX_REORDERING) {
            self.window.clear();
            self.discarded = None;
            return;
        }
        self.window.push_back(Received { sent, arrival, size });
        let mut place = self.window.len() - 1;
        while place > 0 && self.window[place].arrival < self.window[place - 1].arrival {
            self.window.swap(place, place - 1);
            place -= 1;
        }
    }

    /// The feedback message is complete: old packets leave the window.
    pub(super) fn on_feedback_end(&mut self) {
        while self.is_oldest_outside() {
            if let Some(oldest) = self.window.pop_front() {
                self.discarded = self.discarded.max(Some(oldest.sent));
            }
        }
    }

    fn is_oldest_outside(&self) -> bool {
        let (Some(oldest), Some(newest)) = (self.window.front(), self.window.back()) else {
            return false;
        };
        let duration = newest.arrival.saturating_since(oldest.arrival);
        self.window.len() > self.packets.1
            || duration > self.durations.1
            || (self.window.len() > self.packets.0 && duration > self.durations.0)
    }

    /// The rate; `None` if the window has too few packets.
    pub(super) fn rate(&self) -> Option<Bitrate> {
        if self.window.len() < self.required.max(1) {
            return None;
        }
        let received = self.receive_rate()?;
        Some(self.send_rate().map_or(received, |sent| sent.min(received)))
    }

    /// The rate of arrival. The longest gap counts as long as the second longest, so that one pause
    /// of the network does not lower the rate. The first packet only marks the begin.
    fn receive_rate(&self) -> Option<Bitrate> {
        let (first, last) = (self.window.front()?, self.window.back()?);
        let (mut longest, mut second) = (Duration::ZERO, Duration::ZERO);
        let (mut bytes, mut before) = (Bytes::ZERO, first.arrival);
        for packet in &self.window {
            let gap = packet.arrival.saturating_since(before);
            if gap > longest {
                (longest, second) = (gap, longest);
            } else if gap > second {
                second = gap;
            }
            before = packet.arrival;
            bytes += packet.size;
        }
        let duration = last.arrival.saturating_since(first.arrival) - longest + second;
        bytes.saturating_sub(first.size).per(duration.max(MIN_DURATION))
    }

    /// The rate of departure; `None` if too few packets of the window were sent in order. The last
    /// packet only marks the end.
    fn send_rate(&self) -> Option<Bitrate> {
        let (mut first, mut last) = (Time::MAX, None);
        let (mut bytes, mut last_size, mut packets) = (Bytes::ZERO, Bytes::ZERO, 0);
        for packet in &self.window {
            // Packets that were sent before one that has left the window came late; their sending
            // time may be far in the past.
            if self.discarded.is_some_and(|discarded| packet.sent < discarded) {
                continue;
            }
            if last.is_none_or(|last| packet.sent > last) {
                (last, last_size) = (Some(packet.sent), packet.size);
            }
            first = first.min(packet.sent);
            bytes += packet.size;
            packets += 1;
        }
        let duration = last?.saturating_since(first).max(MIN_DURATION);
        bytes.saturating_sub(last_size).per(duration).filter(|_| packets >= self.required)
    }
}

#[cfg(test)]
mod tests;
