//! Detects lost packets (§ 3.2D; RFC 5348 § 5.1).

use units::Time;

/// Maximum number of later packets after which a missing packet is lost.
pub(crate) const MAX_LATER: usize = 8;

/// A packet that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) sequence: u64,
    pub(crate) at: Time,
}

/// The lost packets between two packets that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The packet just before the first lost packet.
    pub(crate) before: Arrival,
    /// The packet just after the last lost packet.
    pub(crate) after: Arrival,
}

/// Finds gaps in the sequence numbers. A missing packet counts as lost after enough later packets
/// have arrived.
pub(crate) struct LossDetector {
    later: usize,
    /// The newest packet up to which every packet has arrived or is lost.
    settled: Option<Arrival>,
    /// Packets that arrived after the first undecided gap, in order of sequence number.
    ahead: [Arrival; MAX_LATER],
    count: usize,
}

impl LossDetector {
    /// `later` is the number of later packets, 1 to [`MAX_LATER`].
    pub(crate) fn new(later: usize) -> Self {
        Self { later, settled: None, ahead: [Arrival::default(); MAX_LATER], count: 0 }
    }

    /// Processes a packet and passes every gap that is now lost to `lost`.
    pub(crate) fn on_packet(&mut self, packet: Arrival, mut lost: impl FnMut(Gap)) {
        let Some(mut settled) = self.settled else {
            self.settled = Some(packet);
            return;
        };
        let index =
            self.ahead[..self.count].partition_point(|known| known.sequence < packet.sequence);
        let known = self.ahead[..self.count]
            .get(index)
            .is_some_and(|known| known.sequence == packet.sequence);
        if known || packet.sequence <= settled.sequence {
            return;
        }
        self.ahead.copy_within(index..self.count, index + 1);
        self.ahead[index] = packet;
        self.count += 1;
        let mut taken = 0;
        for &after in &self.ahead[..self.count] {
            if after.sequence > settled.sequence + 1 {
                if self.count - taken < self.later {
                    break;
                }
                lost(Gap { before: settled, after });
            }
            settled = after;
            taken += 1;
        }
        self.ahead.copy_within(taken..self.count, 0);
        self.count -= taken;
        self.settled = Some(settled);
    }

    /// The highest sequence number up to which every packet has arrived or is lost.
    pub(crate) fn settled(&self) -> Option<u64> {
        self.settled.map(|settled| settled.sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps as the sequence numbers around them.
    fn gaps(later: usize, sequences: &[u64]) -> Vec<(u64, u64)> {
        let mut detector = LossDetector::new(later);
        let mut gaps = Vec::new();
        for &sequence in sequences {
            let packet = Arrival { sequence, at: Time::from_millis(sequence) };
            detector.on_packet(packet, |gap| gaps.push((gap.before.sequence, gap.after.sequence)));
        }
        gaps
    }

    #[test]
    fn a_packet_is_lost_after_three_later_ones() {
        assert_eq!(gaps(3, &[1, 2, 4, 5]), []);
        assert_eq!(gaps(3, &[1, 2, 4, 5, 6]), [(2, 4)]);
        assert_eq!(gaps(1, &[1, 2, 4]), [(2, 4)], "with one later packet, at once");
    }

    #[test]
    fn packets_out_of_order_are_not_lost() {
        assert_eq!(gaps(3, &[1, 3, 4, 2, 5, 6, 7]), []);
        assert_eq!(gaps(3, &[1, 3, 3, 3, 3]), [], "a duplicate is not a later packet");
        assert_eq!(gaps(3, &[5, 2, 6, 7]), [], "packets before the first one are ignored");
    }

    #[test]
    fn each_gap_waits_for_its_own_later_packets() {
        assert_eq!(gaps(3, &[1, 3, 5, 6]), [(1, 3)]);
        assert_eq!(gaps(3, &[1, 3, 5, 6, 7]), [(1, 3), (3, 5)]);
    }

    #[test]
    fn a_late_packet_after_its_loss_changes_nothing() {
        assert_eq!(gaps(3, &[1, 3, 4, 5, 2, 6, 7, 8]), [(1, 3)]);
    }
}
