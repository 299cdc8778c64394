//! What was sent and is not acknowledged yet: the retransmission queue with its scoreboard (RFC
//! 6675 § 2; Linux's counters `packets_out`, `sacked_out`, `lost_out`, `retrans_out`).

use super::delivery::Snapshot;
use super::segment::{MAX_SACK_BLOCKS, MAX_SEGMENT};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A segment under way. All but the last of a stream are full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) sequence: u64,
    pub(super) payload: Bytes,
    pub(super) fin: bool,
    /// When it was last sent.
    pub(super) at: Time,
    /// The number of that transmission: two may leave in the same instant.
    pub(super) transmission: u64,
    pub(super) snapshot: Snapshot,
    pub(super) sacked: bool,
    /// Its first or its newest transmission is taken for lost; while `retransmitted`, the newest is
    /// not.
    pub(super) lost: bool,
    /// A retransmission of it is under way.
    pub(super) retransmitted: bool,
    /// It was ever retransmitted.
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
    /// Transmissions by number, with their segment's offset; one that is no longer the segment's
    /// newest is passed over.
    transmissions: VecDeque<(u64, u64)>,
    sent: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    bytes: Bytes,
    /// No segment before this offset waits for retransmission.
    retransmit_from: u64,
    /// Ranges that are known to have arrived: a receiver repeats them (Linux `recv_sack_cache`).
    known: [(u64, u64); MAX_SACK_BLOCKS],
}

impl Outstanding {
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments that are not acknowledged.
    pub(super) fn len(&self) -> u64 {
        self.segments.len() as u64
    }

    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Payload that is not acknowledged.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Retransmissions that are under way.
    pub(super) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Segments that are believed to be in the network.
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
        fin: bool,
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

    /// The place of the segment that begins at `sequence`.
    fn place(&self, sequence: u64) -> Option<usize> {
        let first = self.segments.front()?.sequence;
        let place = usize::try_from(sequence.checked_sub(first)? / MAX_SEGMENT.get()).ok()?;
        self.segments.get(place).filter(|sent| sent.sequence == sequence).map(|_| place)
    }

    /// Everything before `upto` is acknowledged: hands over each segment, in order.
    pub(super) fn acknowledge(&mut self, upto: u64, mut each: impl FnMut(&Sent)) {
        while let Some(sent) = self.segments.front().copied()
            && sent.end() <= upto
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

    /// The range arrived: hands over each segment of it that was not known to have arrived.
    pub(super) fn sack(&mut self, from: u64, upto: u64, mut each: impl FnMut(&Sent)) {
        let Some(first) = self.segments.front().map(|sent| sent.sequence) else { return };
        let from = self.unknown_part(from, upto);
        let skipped = from.saturating_sub(first).div_ceil(MAX_SEGMENT.get());
        let start = usize::try_from(skipped).unwrap_or(usize::MAX).min(self.segments.len());
        for sent in self.segments.range_mut(start..) {
            if sent.end() > upto {
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

    /// Where the part of a range begins that is not known to have arrived; it is from now on.
    fn unknown_part(&mut self, from: u64, upto: u64) -> u64 {
        let same = self.known.iter().position(|&(start, end)| start == from && end <= upto);
        let begin = same.map_or(from, |place| self.known[place].1);
        let place = same.unwrap_or(MAX_SACK_BLOCKS - 1);
        self.known[..=place].rotate_right(1);
        self.known[0] = (from, upto);
        begin
    }

    /// Goes through the transmissions under way from the oldest on. For each, `lost` says whether
    /// it is lost, or that neither it nor any later one is. Returns how many are lost.
    pub(super) fn find_lost(&mut self, mut lost: impl FnMut(&Sent) -> Verdict) -> u64 {
        let mut found = 0;
        let mut index = 0;
        while let Some(&(number, sequence)) = self.transmissions.get(index) {
            let newest = |sent: &Sent| {
                sent.transmission == number && !sent.sacked && (!sent.lost || sent.retransmitted)
            };
            let place = self.place(sequence).filter(|&place| newest(&self.segments[place]));
            let verdict = place.map_or(Verdict::Lost, |place| lost(&self.segments[place]));
            match verdict {
                Verdict::Lost => {
                    if let Some(place) = place {
                        found += 1;
                        self.lose(place);
                    }
                    if index == 0 {
                        self.transmissions.pop_front();
                    } else {
                        index += 1;
                    }
                }
                Verdict::NotYet => index += 1,
                Verdict::NoMore => break,
            }
        }
        found
    }

    fn lose(&mut self, place: usize) {
        let sent = &mut self.segments[place];
        self.retransmitted -= u64::from(sent.retransmitted);
        self.lost += u64::from(!sent.lost);
        (sent.lost, sent.retransmitted) = (true, false);
        self.retransmit_from = self.retransmit_from.min(sent.sequence);
    }

    /// The first segment is lost.
    pub(super) fn lose_first(&mut self) {
        if self.first().is_some_and(|sent| !sent.sacked && (!sent.lost || sent.retransmitted)) {
            self.lose(0);
        }
    }

    /// Nothing is lost after all.
    pub(super) fn forget_losses(&mut self) {
        for sent in self.segments.iter_mut().filter(|sent| sent.lost) {
            if !sent.retransmitted {
                self.transmissions.push_back((sent.transmission, sent.sequence));
            }
            (sent.lost, sent.retransmitted) = (false, false);
        }
        (self.lost, self.retransmitted) = (0, 0);
        // Only what was wrongly taken for lost disturbs the order: rare.
        self.transmissions.make_contiguous().sort_unstable();
    }

    /// The first segment that is lost and not retransmitted.
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
        debug_assert!(found.is_some(), "a lost segment lies before the mark");
        self.retransmit_from = found.map_or(0, |sent| sent.sequence);
        found
    }

    /// The segment at `sequence` is sent again.
    pub(super) fn retransmit(&mut self, sequence: u64, now: Time, snapshot: Snapshot) {
        let Some(place) = self.place(sequence) else { return };
        let sent = &mut self.segments[place];
        // A probe repeats what is not known to be lost: the second transmission stands for both.
        if sent.lost {
            self.retransmitted += u64::from(!sent.retransmitted);
            sent.retransmitted = true;
        }
        sent.ever_retransmitted = true;
        (sent.at, sent.snapshot, sent.transmission) = (now, snapshot, self.sent + 1);
        self.note_transmission(sequence);
    }
}

/// What becomes of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is lost.
    Lost,
    /// It may yet arrive.
    NotYet,
    /// It may yet arrive, and so may all that were sent later.
    NoMore,
}
