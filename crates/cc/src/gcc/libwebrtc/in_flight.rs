//! Bytes that were sent and not reported (libwebrtc
//! `congestion_controller/rtp/transport_feedback_adapter.cc`). A report about a packet also ends
//! the flight of all packets before it. Later reports about these packets change nothing: a packet
//! that was reported lost can be reported as received.

use crate::SentPacket;
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// Packets without a report leave after this time (libwebrtc
/// `congestion_controller/rtp/transport_feedback_adapter.cc`: 60 s).
const MAX_AGE: Duration = Duration::from_secs(60);
/// Maximum number of packets in flight: almost 10 MB. Then the oldest leaves.
const CAPACITY: usize = 8192;
/// Packets without reallocation.
const INITIAL_CAPACITY: usize = 1024;

/// Counts the bytes in flight on the current route.
pub(super) struct InFlight {
    /// Sequence number, sending time and size, in order.
    packets: VecDeque<(u64, Time, Bytes)>,
    bytes: Bytes,
    /// The first sequence number that was neither sent nor reported.
    next: u64,
    /// The first sequence number after the newest report.
    unreported: u64,
    /// The first sequence number on the current route.
    route: u64,
    /// A recorded value, which replaces the count.
    #[cfg(test)]
    pub(super) recorded: Option<Bytes>,
}

impl InFlight {
    pub(super) fn new() -> Self {
        Self {
            packets: VecDeque::with_capacity(INITIAL_CAPACITY),
            bytes: Bytes::ZERO,
            next: 0,
            unreported: 0,
            route: 0,
            #[cfg(test)]
            recorded: None,
        }
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let old = |sent: &Time| packet.sent.saturating_since(*sent) > MAX_AGE;
        while self.packets.front().is_some_and(|(_, sent, _)| old(sent))
            || self.packets.len() == CAPACITY
        {
            self.remove_oldest();
        }
        self.next = self.next.max(packet.sequence + 1);
        if packet.sequence >= self.unreported {
            self.packets.push_back((packet.sequence, packet.sent, packet.size));
            self.bytes += packet.size;
        }
    }

    /// The packet was reported as received or lost.
    pub(super) fn on_reported(&mut self, sequence: u64) {
        self.unreported = self.unreported.max(sequence + 1);
        self.next = self.next.max(self.unreported);
        while self.packets.front().is_some_and(|(oldest, ..)| *oldest < self.unreported) {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        if let Some((_, _, size)) = self.packets.pop_front() {
            self.bytes = self.bytes.saturating_sub(size);
        }
    }

    /// Packets that are sent from now on take another route, on which nothing is in flight.
    pub(super) fn on_route_change(&mut self) {
        self.packets.clear();
        self.bytes = Bytes::ZERO;
        self.route = self.next;
    }

    /// Whether the packet was sent on the current route.
    pub(super) fn is_on_route(&self, packet: &SentPacket) -> bool {
        packet.sequence >= self.route
    }

    pub(super) fn bytes(&self) -> Bytes {
        #[cfg(test)]
        if let Some(recorded) = self.recorded {
            return recorded;
        }
        self.bytes
    }

    /// The count, also if there is a recorded value.
    #[cfg(test)]
    pub(super) fn counted(&self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u64) -> SentPacket {
        let sent = Time::from_secs(sequence);
        SentPacket { sequence, sent, size: Bytes::new(100 + sequence), probe: None }
    }

    fn sent(count: u64) -> InFlight {
        let mut flight = InFlight::new();
        (0..count).for_each(|sequence| flight.on_sent(&packet(sequence)));
        flight
    }

    #[test]
    fn a_report_ends_the_flight_of_the_packet_and_of_those_before_it() {
        let mut flight = sent(4);
        assert_eq!(flight.bytes(), Bytes::new(100 + 101 + 102 + 103));
        flight.on_reported(0);
        assert_eq!(flight.bytes(), Bytes::new(101 + 102 + 103));
        flight.on_reported(2);
        assert_eq!(flight.bytes(), Bytes::new(103), "the feedback about 1 was lost");
    }

    #[test]
    fn a_packet_that_is_reported_again_changes_nothing() {
        let mut flight = sent(4);
        flight.on_reported(2);
        flight.on_reported(1);
        flight.on_reported(2);
        assert_eq!(flight.bytes(), Bytes::new(103));
    }

    #[test]
    fn packets_leave_after_a_minute() {
        let mut flight = sent(61);
        let all = flight.bytes().get();
        flight.on_sent(&packet(61));
        assert_eq!(flight.bytes().get(), all + 161 - 100);
    }

    #[test]
    fn memory_is_bounded() {
        let mut flight = InFlight::new();
        for sequence in 0..10_000 {
            flight.on_sent(&SentPacket { sequence, ..packet(0) });
        }
        assert_eq!(flight.bytes(), Bytes::new(100 * 8192));
    }

    #[test]
    fn nothing_is_in_flight_on_a_new_route() {
        let mut flight = sent(4);
        flight.on_route_change();
        assert_eq!(flight.bytes(), Bytes::ZERO);
        flight.on_sent(&packet(4));
        flight.on_reported(3);
        assert_eq!(flight.bytes(), Bytes::new(104));
        assert!(flight.is_on_route(&packet(4)) && !flight.is_on_route(&packet(3)));
    }
}
