//! The sender's record of what left under which transport-wide sequence number, so that feedback can be
//! turned into packet results.

use crate::payload::TransportFeedback;
use cc::{PacketResult, SentPacket};
use units::{Bytes, Time};

/// How many packets are kept: over 5 s at 30 Mbit/s.
const CAPACITY: u64 = 16_384;

pub(crate) struct TransportLog {
    ring: Vec<SentPacket>,
    next: u64,
    /// Everything before has been reported.
    reported: u64,
    results: Vec<PacketResult>,
}

impl TransportLog {
    pub(crate) fn new() -> Self {
        let nothing = SentPacket { sequence: u64::MAX, sent: Time::ZERO, size: Bytes::ZERO, probe: None };
        Self { ring: vec![nothing; CAPACITY as usize], next: 0, reported: 0, results: Vec::new() }
    }

    /// The number that the next packet gets.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next
    }

    pub(crate) fn insert(&mut self, packet: SentPacket) {
        debug_assert_eq!(packet.sequence, self.next, "numbers are given in order");
        self.ring[(packet.sequence % CAPACITY) as usize] = packet;
        self.next = packet.sequence + 1;
    }

    /// What a feedback packet says of packets not reported before. Numbers skipped between two feedback
    /// packets (the feedback itself was lost) are left out, as libwebrtc's transport feedback adapter does.
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
