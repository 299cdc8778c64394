//! Which packets are lost, and around when (§ 3.2D; RFC 5348 § 5.1).

use units::Time;

/// The most later packets that a loss may wait for.
pub(crate) const MAX_LATER: usize = 8;

/// A packet that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) sequence: u64,
    pub(crate) at: Time,
}

/// Packets that are lost: those between two that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The one just before the first of them.
    pub(crate) before: Arrival,
    /// The one just after the last of them.
    pub(crate) after: Arrival,
}

/// Finds gaps in the sequence numbers. A packet that is missing counts as lost once enough later
/// ones have come.
pub(crate) struct LossDetector {
    later: usize,
    /// Up to here it is known what came and what did not.
    settled: Option<Arrival>,
    /// What came beyond, rising; there is a gap before the first.
    ahead: [Arrival; MAX_LATER],
    count: usize,
}

impl LossDetector {
    /// `later` is within 1 and [`MAX_LATER`].
    pub(crate) fn new(later: usize) -> Self {
        Self { later, settled: None, ahead: [Arrival::default(); MAX_LATER], count: 0 }
    }

    /// Takes in a packet and hands on the gaps that it makes certain.
    pub(crate) fn on_packet(&mut self, packet: Arrival, mut lost: impl FnMut(Gap)) {
        let Some(mut settled) = self.settled else {
            self.settled = Some(packet);
            return;
        };
        let place =
            self.ahead[..self.count].partition_point(|known| known.sequence < packet.sequence);
        let known = self.ahead[..self.count]
            .get(place)
            .is_some_and(|known| known.sequence == packet.sequence);
        if known || packet.sequence <= settled.sequence {
            return;
        }
        self.ahead.copy_within(place..self.count, place + 1);
        self.ahead[place] = packet;
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

    /// The highest sequence number up to which it is known what came.
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
        assert_eq!(gaps(1, &[1, 2, 4]), [(2, 4)], "without patience at once");
    }

    #[test]
    fn packets_out_of_order_are_not_lost() {
        assert_eq!(gaps(3, &[1, 3, 4, 2, 5, 6, 7]), []);
        assert_eq!(gaps(3, &[1, 3, 3, 3, 3]), [], "the same again is no later one");
        assert_eq!(gaps(3, &[5, 2, 6, 7]), [], "what is before the first is nothing");
    }

    #[test]
    fn each_of_several_gaps_waits_for_its_own() {
        assert_eq!(gaps(3, &[1, 3, 5, 6]), [(1, 3)]);
        assert_eq!(gaps(3, &[1, 3, 5, 6, 7]), [(1, 3), (3, 5)]);
    }

    #[test]
    fn a_late_packet_after_its_loss_changes_nothing() {
        assert_eq!(gaps(3, &[1, 3, 4, 5, 2, 6, 7, 8]), [(1, 3)]);
    }
}
