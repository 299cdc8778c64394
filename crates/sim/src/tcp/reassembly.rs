//! Reassembly of data that arrives out of order, and its report: selective acknowledgements (RFC
//! 2018) and duplicates (RFC 2883).

use super::segment::{MAX_SACK_BLOCKS, SackBlock};

/// The receiver's view of the stream.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// Everything before this offset has arrived.
    next: u64,
    /// Ranges that arrived beyond `next`, ascending. They neither overlap nor touch.
    out_of_order: Vec<SackBlock>,
    /// Ranges in the order in which they last grew, newest first.
    recent: Vec<SackBlock>,
}

/// The effect of an arriving segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The number of bytes that are new.
    pub(super) new_bytes: u64,
    /// The part of the segment that had arrived before.
    pub(super) duplicate: Option<SackBlock>,
    /// The segment arrived in order, and nothing waits behind a hole.
    pub(super) in_order: bool,
}

impl Reassembly {
    /// The next offset expected in order.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds the bytes `from..up_to`.
    pub(super) fn arrive(&mut self, from: u64, up_to: u64) -> Arrival {
        let known: u64 =
            self.out_of_order.iter().map(|block| overlap(*block, (from, up_to))).sum::<u64>()
                + overlap((0, self.next), (from, up_to));
        let new_bytes = (up_to - from) - known;
        let duplicate = self.duplicate(from, up_to);
        if new_bytes == 0 {
            // The range that contains a duplicate is the second block of the report (RFC 2883 § 4).
            if let Some(index) =
                self.recent.iter().position(|&(start, end)| start <= from && up_to <= end)
            {
                self.recent[..=index].rotate_right(1);
            }
            return Arrival { new_bytes, duplicate, in_order: false };
        }
        let in_order = from <= self.next && self.out_of_order.is_empty();
        if from <= self.next {
            self.next = self.next.max(up_to);
        } else {
            self.insert(from, up_to);
        }
        while let Some(&(start, end)) = self.out_of_order.first()
            && start <= self.next
        {
            self.next = self.next.max(end);
            self.out_of_order.remove(0);
        }
        let next = self.next;
        self.recent.retain(|&(start, _)| start > next);
        Arrival { new_bytes, duplicate, in_order }
    }

    fn insert(&mut self, from: u64, up_to: u64) {
        let touches = |&(start, end): &SackBlock| start <= up_to && from <= end;
        let grown = self.out_of_order.iter().filter(|block| touches(block));
        let grown = grown
            .fold((from, up_to), |(from, up_to), &(start, end)| (from.min(start), up_to.max(end)));
        self.out_of_order.retain(|block| !touches(block));
        let index = self.out_of_order.partition_point(|&(start, _)| start < grown.0);
        self.out_of_order.insert(index, grown);
        self.recent.retain(|&(start, end)| end < grown.0 || start > grown.1);
        self.recent.insert(0, grown);
        self.recent.truncate(MAX_SACK_BLOCKS);
    }

    /// The first part of a range that had arrived before (RFC 2883 § 4).
    fn duplicate(&self, from: u64, up_to: u64) -> Option<SackBlock> {
        let arrived = std::iter::once((0, self.next)).chain(self.out_of_order.iter().copied());
        arrived
            .map(|(start, end)| (start.max(from), end.min(up_to)))
            .find(|(start, end)| start < end)
    }

    /// The SACK blocks for an acknowledgement: a duplicate first, then the ranges that grew last
    /// (RFC 2018 § 4).
    pub(super) fn blocks(
        &self,
        duplicate: Option<SackBlock>,
    ) -> [Option<SackBlock>; MAX_SACK_BLOCKS] {
        let mut blocks = [None; MAX_SACK_BLOCKS];
        let ranges = duplicate.into_iter().chain(self.recent.iter().copied());
        for (slot, range) in blocks.iter_mut().zip(ranges) {
            *slot = Some(range);
        }
        blocks
    }
}

fn overlap((a, b): SackBlock, (c, d): SackBlock) -> u64 {
    b.min(d).saturating_sub(a.max(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holes_are_reported_newest_first_and_close() {
        let mut stream = Reassembly::default();
        assert!(stream.arrive(0, 10).in_order);
        for from in [20, 40, 60, 80] {
            assert!(!stream.arrive(from, from + 10).in_order);
        }
        assert_eq!(stream.blocks(None), [Some((80, 90)), Some((60, 70)), Some((40, 50))]);
        let repeated = stream.arrive(40, 50);
        assert_eq!((repeated.new_bytes, repeated.duplicate), (0, Some((40, 50))));
        assert_eq!(
            stream.blocks(repeated.duplicate),
            [Some((40, 50)), Some((40, 50)), Some((80, 90))]
        );
        stream.arrive(50, 60);
        assert_eq!(stream.blocks(None)[0], Some((40, 70)), "two ranges became one");
        stream.arrive(10, 20);
        assert_eq!(stream.next(), 30);
        stream.arrive(30, 40);
        assert_eq!((stream.next(), stream.blocks(None)[0]), (70, Some((80, 90))));
    }

    proptest! {
        /// In whatever order the pieces arrive, each byte is new once, and together they make up
        /// the whole stream.
        #[test]
        fn every_byte_is_new_once(mut order in Just((0u64..40).collect::<Vec<_>>()).prop_shuffle(),
                                  repeated in proptest::collection::vec(0u64..40, 0..40)) {
            order.extend(repeated);
            let mut stream = Reassembly::default();
            let mut new_bytes = 0;
            for piece in order {
                let arrival = stream.arrive(piece * 7, piece * 7 + 7);
                new_bytes += arrival.new_bytes;
                prop_assert_eq!(arrival.new_bytes + arrival.duplicate.map_or(0, |(a, b)| b - a), 7);
                let blocks = stream.blocks(None);
                prop_assert!(blocks.iter().flatten().all(|&(from, up_to)| stream.next() < from && from < up_to));
            }
            prop_assert_eq!((new_bytes, stream.next()), (280, 280));
        }
    }
}
