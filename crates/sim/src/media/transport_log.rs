//! The sender's record of the packets sent under each transport-wide sequence number. It turns
//! feedback into packet results.

use super::receiver::known;
use crate::payload::TransportFeedback;
use cc::{PacketResult, SentPacket};

/// The number of packets kept: over 5 s at 30 Mbit/s.
const CAPACITY: u64 = 16_384;

pub(crate) struct TransportLog {
    /// Whether feedback will ask for the packets; otherwise they are only counted.
    keeps: bool,
    /// Grows with the number of packets, up to `CAPACITY`.
    ring: Vec<SentPacket>,
    next: u64,
    /// Everything before this number has been reported.
    reported: u64,
    results: Vec<PacketResult>,
}

impl TransportLog {
    /// An empty log. `keeps`: the receiver sends transport-wide feedback.
    pub(crate) fn new(keeps: bool) -> Self {
        Self { keeps, ring: Vec::new(), next: 0, reported: 0, results: Vec::new() }
    }

    /// The sequence number of the next packet.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next
    }

    pub(crate) fn insert(&mut self, packet: SentPacket) {
        debug_assert_eq!(packet.sequence, self.next, "numbers are assigned in order");
        self.next = packet.sequence + 1;
        if self.keeps {
            match self.ring.get_mut((packet.sequence % CAPACITY) as usize) {
                Some(slot) => *slot = packet,
                None => self.ring.push(packet),
            }
        }
    }

    /// The results in a feedback packet for packets that were not reported before. Numbers between
    /// two feedback packets (because feedback was lost) are skipped, as in libwebrtc's transport
    /// feedback adapter.
    pub(crate) fn results(&mut self, feedback: &TransportFeedback) -> &[PacketResult] {
        self.results.clear();
        let ecn = feedback.ecn.iter().copied().map(known).chain(std::iter::repeat(cc::Ecn::NotEct));
        let packets = feedback.arrivals.iter().zip(ecn);
        for (sequence, (&arrival, ecn)) in (feedback.base_sequence..self.next).zip(packets) {
            let packet = self.ring[(sequence % CAPACITY) as usize];
            if sequence >= self.reported && packet.sequence == sequence {
                self.results.push(PacketResult { packet, arrival, ecn });
            }
        }
        self.reported = self.reported.max(feedback.base_sequence + feedback.arrivals.len() as u64);
        &self.results
    }
}
