//! Sent packets that the receiver may request again (RFC 4585, RFC 4588).

use crate::media::packetizer::Part;
use units::{Duration, Time};

/// The number of packets kept. libwebrtc keeps at least one second; 1024 packets are over one
/// second at 9 Mbit/s.
const CAPACITY: u64 = 1024;

struct Kept {
    sequence: u64,
    part: Part,
    resent: Option<Time>,
}

/// A ring of the newest packets by sequence number.
#[derive(Default)]
pub(crate) struct History {
    /// Grows with the number of packets, up to `CAPACITY`.
    ring: Vec<Option<Kept>>,
    newest: Option<u64>,
}

impl History {
    pub(crate) fn insert(&mut self, sequence: u64, part: Part) {
        let slot = slot(sequence);
        if self.ring.len() <= slot {
            self.ring.resize_with(slot + 1, || None);
        }
        self.ring[slot] = Some(Kept { sequence, part, resent: None });
        self.newest = Some(sequence);
    }

    /// Returns the packet if it is still kept and was not retransmitted within the last round-trip
    /// time (libwebrtc `modules/rtp_rtcp/source/rtp_packet_history.cc`), and records its
    /// retransmission at `now`.
    pub(crate) fn resend(&mut self, now: Time, sequence: u64, rtt: Duration) -> Option<Part> {
        let kept =
            self.ring.get_mut(slot(sequence))?.as_mut().filter(|kept| kept.sequence == sequence)?;
        if kept.resent.is_some_and(|at| now.saturating_since(at) < rtt) {
            return None;
        }
        kept.resent = Some(now);
        Some(kept.part)
    }

    /// The newest packet, which is sent again as padding.
    pub(crate) fn newest(&self) -> Option<(u64, Part)> {
        let sequence = self.newest?;
        self.ring[slot(sequence)].as_ref().map(|kept| (sequence, kept.part))
    }
}

fn slot(sequence: u64) -> usize {
    (sequence % CAPACITY) as usize
}
