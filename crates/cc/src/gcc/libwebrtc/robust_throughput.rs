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
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::new(1000);

    /// Packets of 1000 B, numbered from `from` to `to`, sent every `sent` ms and received every
    /// `arrived` ms.
    fn feed(robust: &mut RobustThroughput, from: u64, to: u64, sent: u64, arrived: u64) {
        for k in from..to {
            robust.on_packet(Time::from_millis(sent * k), Time::from_millis(arrived * k), SIZE);
        }
        robust.on_feedback_end();
    }

    fn estimator() -> RobustThroughput {
        RobustThroughput::new(&LibwebrtcConfig::default())
    }

    fn kbps(robust: &RobustThroughput) -> Option<u64> {
        robust.rate().map(|rate| rate.as_bps() / 1000)
    }

    #[test]
    fn ten_packets_are_needed() {
        let mut robust = estimator();
        feed(&mut robust, 0, 9, 10, 10);
        assert_eq!(kbps(&robust), None);
        feed(&mut robust, 9, 10, 10, 10);
        assert_eq!(kbps(&robust), Some(800), "9 kB in 90 ms");
    }

    #[test]
    fn the_lower_of_both_rates_counts() {
        let mut slow_path = estimator();
        feed(&mut slow_path, 0, 20, 10, 20);
        assert_eq!(kbps(&slow_path), Some(400));
        let mut slow_source = estimator();
        feed(&mut slow_source, 0, 20, 20, 10);
        assert_eq!(kbps(&slow_source), Some(400));
    }

    #[test]
    fn one_delay_spike_does_not_count() {
        let mut robust = estimator();
        for k in 0..20 {
            let late = if k >= 10 { 300 } else { 0 };
            robust.on_packet(Time::from_millis(10 * k), Time::from_millis(10 * k + late), SIZE);
        }
        robust.on_feedback_end();
        assert_eq!(kbps(&robust), Some(800));
    }

    #[test]
    fn packets_that_arrive_at_once_count_at_the_sending_rate() {
        let mut robust = estimator();
        for k in 0..20 {
            robust.on_packet(Time::from_millis(10 * k), Time::from_millis(500), SIZE);
        }
        robust.on_feedback_end();
        assert_eq!(kbps(&robust), Some(800));
    }

    #[test]
    fn the_window_holds_a_second_and_then_follows() {
        let mut robust = estimator();
        feed(&mut robust, 0, 200, 10, 10);
        assert_eq!(robust.window.len(), 101);
        let mut many = estimator();
        feed(&mut many, 0, 2000, 1, 1);
        assert_eq!(many.window.len(), 500, "at most 500 packets");
        let mut few = estimator();
        feed(&mut few, 0, 40, 400, 400);
        assert_eq!(few.window.len(), 13, "at most 5 s, also with fewer than 20 packets");
    }

    #[test]
    fn packets_are_sorted_by_arrival() {
        let (mut sorted, mut mixed) = (estimator(), estimator());
        feed(&mut sorted, 0, 20, 10, 10);
        for k in (0..20).map(|k| k ^ 1) {
            mixed.on_packet(Time::from_millis(10 * k), Time::from_millis(10 * k), SIZE);
        }
        mixed.on_feedback_end();
        assert_eq!(mixed.rate(), sorted.rate());
    }

    #[test]
    fn a_packet_sent_long_ago_does_not_lower_the_sending_rate() {
        let mut robust = estimator();
        feed(&mut robust, 100, 300, 10, 10);
        let before = kbps(&robust);
        robust.on_packet(Time::ZERO, Time::from_millis(3000), SIZE);
        robust.on_feedback_end();
        assert_eq!((before, kbps(&robust)), (Some(800), Some(800)));
    }

    #[test]
    fn the_window_is_cleared_when_the_clock_of_the_receiver_changes() {
        let mut robust = estimator();
        feed(&mut robust, 200, 300, 10, 10);
        robust.on_packet(Time::from_millis(3000), Time::from_millis(1000), SIZE);
        robust.on_feedback_end();
        assert_eq!(kbps(&robust), None);
    }
}
