//! The sender's record of what left under which transport-wide sequence number, so that feedback
//! can be turned into packet results.

use crate::payload::TransportFeedback;
use cc::{PacketResult, SentPacket};

/// How many packets are kept: over 5 s at 30 Mbit/s.
const CAPACITY: u64 = 16_384;

#[derive(Default)]
pub(crate) struct TransportLog {
    /// As long as packets were sent, up to the capacity.
    ring: Vec<SentPacket>,
    next: u64,
    /// Everything before has been reported.
    reported: u64,
    results: Vec<PacketResult>,
}

impl TransportLog {
    /// The number that the next packet gets.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next
    }

    pub(crate) fn insert(&mut self, packet: SentPacket) {
        debug_assert_eq!(packet.sequence, self.next, "numbers are given in order");
        match self.ring.get_mut((packet.sequence % CAPACITY) as usize) {
            Some(slot) => *slot = packet,
            None => self.ring.push(packet),
        }
        self.next = packet.sequence + 1;
    }

    /// What a feedback packet says of packets not reported before. Numbers skipped between two
    /// feedback packets (the feedback itself was lost) are left out, as libwebrtc's transport
    /// feedback adapter does.
    pub(crate) fn results(&mut self, feedback: &TransportFeedback) -> &[PacketResult] {
        self.results.clear();
        for (sequence, &arrival) in (feedback.base_sequence..self.next).zip(&feedback.arrivals) {
            let packet = self.ring[(sequence % CAPACITY) as usize];
            if sequence >= self.reported && packet.sequence == sequence {
                self.results.push(PacketResult { packet, arrival });
            }
        }
        self.reported = self.reported.max(feedback.base_sequence + feedback.arrivals.len() as u64);
        &self.results
    }
}
