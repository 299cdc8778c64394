//! The retransmission queue with its scoreboard: segments that were sent and are not yet
//! acknowledged (RFC 6675 § 2; Linux's counters `packets_out`, `sacked_out`, `lost_out`,
//! `retrans_out`).

use super::delivery::Snapshot;
use super::segment::{MAX_SACK_BLOCKS, MAX_SEGMENT};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A segment under way. All segments but the last of a stream are full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) sequence: u64,
    pub(super) payload: Bytes,
    pub(super) fin: bool,
    /// The segment ended a burst (PSH).
    pub(super) push: bool,
    /// When it was last sent.
    pub(super) at: Time,
    /// The number of that transmission, because two may leave at the same instant.
    pub(super) transmission: u64,
    pub(super) snapshot: Snapshot,
    pub(super) sacked: bool,
    /// Its first or its newest transmission is marked as lost. If `retransmitted`, the newest is
    /// not lost.
    pub(super) lost: bool,
    /// A retransmission of the segment is under way.
    pub(super) retransmitted: bool,
    /// The segment was retransmitted at least once.
    pub(super) ever_retransmitted: bool,
}

impl Sent {
    pub(super) fn end(&self) -> u64 {
        self.sequence + self.payload.get()
    }
}

/// The retransmission queue.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    segments: VecDeque<Sent>,
    /// Transmissions by number, with the offset of their segment. Entries that are not the newest
    /// transmission of their segment are skipped.
    transmissions: VecDeque<(u64, u64)>,
    sent: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    bytes: Bytes,
    /// No segment before this offset needs retransmission.
    retransmit_from: u64,
    /// Ranges that are known to have arrived, because a receiver repeats SACK blocks (Linux
    /// `recv_sack_cache`).
    sack_cache: [(u64, u64); MAX_SACK_BLOCKS],
}

impl Outstanding {
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The number of segments that are not cumulatively acknowledged.
    pub(super) fn len(&self) -> u64 {
        self.segments.len() as u64
    }

    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Payload that is not cumulatively acknowledged.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The number of retransmissions under way.
    pub(super) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// The number of segments believed to be in the network.
    pub(super) fn in_flight(&self) -> u64 {
        debug_assert!(self.sacked + self.lost <= self.len() && self.retransmitted <= self.lost);
        self.len() - self.sacked - self.lost + self.retransmitted
    }

    pub(super) fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(super) fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }

    /// A new segment was sent.
    pub(super) fn push(
        &mut self,
        sequence: u64,
        payload: Bytes,
        (fin, push): (bool, bool),
        at: Time,
        snapshot: Snapshot,
    ) {
        debug_assert!(
            self.last().is_none_or(|last| last.end() == sequence),
            "the stream has no holes"
        );
        self.bytes += payload;
        self.segments.push_back(Sent {
            sequence,
            payload,
            fin,
            push,
            at,
            transmission: self.sent + 1,
            snapshot,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
        });
        self.note_transmission(sequence);
    }

    fn note_transmission(&mut self, sequence: u64) {
        self.sent += 1;
        self.transmissions.push_back((self.sent, sequence));
    }

    /// The index of the segment that starts at `sequence`.
    fn index(&self, sequence: u64) -> Option<usize> {
        let first = self.segments.front()?.sequence;
        let index = usize::try_from(sequence.checked_sub(first)? / MAX_SEGMENT.get()).ok()?;
        self.segments.get(index).filter(|sent| sent.sequence == sequence).map(|_| index)
    }

    /// Everything before `up_to` is acknowledged. Calls `each` with each newly acknowledged
    /// segment, in order.
    pub(super) fn acknowledge(&mut self, up_to: u64, mut each: impl FnMut(&Sent)) {
        while let Some(sent) = self.segments.front().copied()
            && sent.end() <= up_to
        {
            self.segments.pop_front();
            self.bytes -= sent.payload;
            self.sacked -= u64::from(sent.sacked);
            self.lost -= u64::from(sent.lost);
            self.retransmitted -= u64::from(sent.retransmitted);
            each(&sent);
        }
        if self.segments.is_empty() {
            self.transmissions.clear();
        }
    }

    /// The range `from..up_to` arrived. Calls `each` with each of its segments that was not known
    /// to have arrived.
    pub(super) fn sack(&mut self, from: u64, up_to: u64, mut each: impl FnMut(&Sent)) {
        let Some(first) = self.segments.front().map(|sent| sent.sequence) else { return };
        let from = self.unknown_part(from, up_to);
        let skipped = from.saturating_sub(first).div_ceil(MAX_SEGMENT.get());
        let start = usize::try_from(skipped).unwrap_or(usize::MAX).min(self.segments.len());
        for sent in self.segments.range_mut(start..) {
            if sent.end() > up_to {
                break;
            }
            if sent.sacked {
                continue;
            }
            each(sent);
            self.sacked += 1;
            self.lost -= u64::from(sent.lost);
            self.retransmitted -= u64::from(sent.retransmitted);
            (sent.sacked, sent.lost, sent.retransmitted) = (true, false, false);
        }
    }

    /// The start of the part of a range that is not yet known to have arrived. Records the range as
    /// known.
    fn unknown_part(&mut self, from: u64, up_to: u64) -> u64 {
        let same = self.sack_cache.iter().position(|&(start, end)| start == from && end <= up_to);
        let begin = same.map_or(from, |index| self.sack_cache[index].1);
        let index = same.unwrap_or(MAX_SACK_BLOCKS - 1);
        self.sack_cache[..=index].rotate_right(1);
        self.sack_cache[0] = (from, up_to);
        begin
    }

    /// Goes through the transmissions under way, oldest first. `lost` decides whether each is lost,
    /// or that neither it nor any later one is. Returns how many are newly lost.
    pub(super) fn find_lost(&mut self, mut lost: impl FnMut(&Sent) -> Verdict) -> u64 {
        let mut found = 0;
        let mut position = 0;
        while let Some(&(number, sequence)) = self.transmissions.get(position) {
            let newest = |sent: &Sent| {
                sent.transmission == number && !sent.sacked && (!sent.lost || sent.retransmitted)
            };
            let index = self.index(sequence).filter(|&index| newest(&self.segments[index]));
            let verdict = index.map_or(Verdict::Lost, |index| lost(&self.segments[index]));
            match verdict {
                Verdict::Lost => {
                    if let Some(index) = index {
                        found += 1;
                        self.mark_lost(index);
                    }
                    if position == 0 {
                        self.transmissions.pop_front();
                    } else {
                        position += 1;
                    }
                }
                Verdict::NotYet => position += 1,
                Verdict::NoMore => break,
            }
        }
        found
    }

    fn mark_lost(&mut self, index: usize) {
        let sent = &mut self.segments[index];
        self.retransmitted -= u64::from(sent.retransmitted);
        self.lost += u64::from(!sent.lost);
        (sent.lost, sent.retransmitted) = (true, false);
        self.retransmit_from = self.retransmit_from.min(sent.sequence);
    }

    /// Marks the first segment as lost.
    pub(super) fn mark_first_lost(&mut self) {
        if self.first().is_some_and(|sent| !sent.sacked && (!sent.lost || sent.retransmitted)) {
            self.mark_lost(0);
        }
    }

    /// Removes all loss marks: the losses were spurious.
    pub(super) fn clear_losses(&mut self) {
        for sent in self.segments.iter_mut().filter(|sent| sent.lost) {
            if !sent.retransmitted {
                self.transmissions.push_back((sent.transmission, sent.sequence));
            }
            (sent.lost, sent.retransmitted) = (false, false);
        }
        (self.lost, self.retransmitted) = (0, 0);
        // Only spurious losses disturb the order, which is rare.
        self.transmissions.make_contiguous().sort_unstable();
    }

    /// The first segment that is lost and has no retransmission under way.
    pub(super) fn next_lost(&mut self) -> Option<&Sent> {
        let first = self.segments.front()?.sequence;
        if self.lost == self.retransmitted {
            self.retransmit_from = u64::MAX;
            return None;
        }
        let skipped = self.retransmit_from.saturating_sub(first) / MAX_SEGMENT.get();
        let start = usize::try_from(skipped).unwrap_or(usize::MAX).min(self.segments.len());
        let waits = |sent: &&Sent| sent.lost && !sent.retransmitted;
        let found = self.segments.range(start..).find(waits);
        debug_assert!(found.is_some(), "a lost segment lies before retransmit_from");
        self.retransmit_from = found.map_or(0, |sent| sent.sequence);
        found
    }

    /// The segment that starts at `sequence` is retransmitted.
    pub(super) fn retransmit(&mut self, sequence: u64, now: Time, snapshot: Snapshot) {
        let Some(index) = self.index(sequence) else { return };
        let sent = &mut self.segments[index];
        // A tail loss probe repeats a segment that is not known to be lost; the second transmission
        // then counts for both.
        if sent.lost {
            self.retransmitted += u64::from(!sent.retransmitted);
            sent.retransmitted = true;
        }
        sent.ever_retransmitted = true;
        (sent.at, sent.snapshot, sent.transmission) = (now, snapshot, self.sent + 1);
        self.note_transmission(sequence);
    }
}

/// Whether a transmission is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The transmission is lost.
    Lost,
    /// The transmission may still arrive.
    NotYet,
    /// The transmission may still arrive, and so may all later ones.
    NoMore,
}
