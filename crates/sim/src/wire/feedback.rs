//! The wire format of transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §
//! 3.1): status chunks and receive deltas.

use super::congestion_control;
use crate::payload::TransportFeedback;
use units::Time;

/// Statuses in a chunk of one-bit symbols (§ 3.1.4).
const ONE_BIT: usize = 14;
/// Statuses in a chunk of two-bit symbols (§ 3.1.4).
const TWO_BIT: usize = 7;
/// The maximum number of statuses in a run-length chunk, 13 bits (§ 3.1.3).
const RUN: usize = (1 << 13) - 1;

/// The unit of receive deltas, 250 µs (§ 3.1.5), in nanoseconds.
pub const DELTA_NANOS: u64 = 250_000;
/// The unit of the reference time, 64 ms (§ 3.1), in receive deltas.
pub const REFERENCE_DELTAS: i64 = 256;

/// The status of a packet (§ 3.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The packet was not received.
    #[default]
    NotReceived,
    /// The packet arrived 0 to 63.75 ms after the previous one: a delta of one byte.
    SmallDelta,
    /// The packet arrived later than that, or before the previous one: a delta of two bytes.
    LargeDelta,
}

impl Status {
    /// The status of a packet with this delta in multiples of 250 µs; `None` if not received.
    #[must_use]
    pub fn of(delta: Option<i64>) -> Self {
        match delta {
            None => Self::NotReceived,
            Some(0..=255) => Self::SmallDelta,
            Some(_) => Self::LargeDelta,
        }
    }

    /// The size of the delta in bytes.
    fn delta_size(self) -> u64 {
        self as u64
    }
}

/// A packet status chunk, two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// This many packets of the same status (§ 3.1.3).
    Run(Status, u16),
    /// Up to 14 packets, none with a large delta; the rest is padding (§ 3.1.4).
    OneBit([Status; 14]),
    /// Up to 7 packets; the rest is padding (§ 3.1.4).
    TwoBit([Status; 7]),
}

/// The size of a feedback packet in bytes: that of RFC 8888 if it carries ECN, else 20 of header
/// and fixed part, 2 per chunk, 1 or 2 per delta, padded to a multiple of 4. Zero if it reports on
/// no packet.
pub(super) fn transport_size(feedback: &TransportFeedback) -> u64 {
    if feedback.arrivals.is_empty() {
        return 0;
    }
    if !feedback.ecn.is_empty() {
        return congestion_control::size(feedback);
    }
    let chunks = chunks(feedback).count() as u64;
    let deltas: u64 = deltas(feedback).map(|delta| Status::of(delta).delta_size()).sum();
    (20 + 2 * chunks + deltas).next_multiple_of(4)
}

/// For each packet its arrival time minus that of the previous received packet, in multiples of 250
/// µs (§ 3.1.5). The first delta is relative to the reference time.
pub fn deltas(feedback: &TransportFeedback) -> impl Iterator<Item = Option<i64>> + '_ {
    let mut last = reference_ticks(feedback);
    feedback.arrivals.iter().map(move |arrival| {
        let ticks = delta_ticks((*arrival)?);
        let delta = ticks - last;
        last = ticks;
        Some(delta)
    })
}

/// The reference time in multiples of 250 µs: the first arrival, rounded down to 64 ms.
#[must_use]
pub fn reference_ticks(feedback: &TransportFeedback) -> i64 {
    let first = feedback.arrivals.iter().flatten().next().copied().unwrap_or(Time::ZERO);
    delta_ticks(first) / REFERENCE_DELTAS * REFERENCE_DELTAS
}

/// An instant in multiples of 250 µs.
fn delta_ticks(at: Time) -> i64 {
    (at.as_nanos() / DELTA_NANOS).cast_signed()
}

/// The status chunks. The draft leaves the choice of chunks to the receiver. This is libwebrtc's
/// choice (`modules/rtp_rtcp/source/rtcp_packet/transport_feedback.cc`, `LastChunk`): a run while
/// all statuses are equal, else one-bit symbols while there is no large delta, else two-bit
/// symbols.
pub fn chunks(feedback: &TransportFeedback) -> impl Iterator<Item = Chunk> + '_ {
    let mut statuses = deltas(feedback).map(Status::of);
    let mut pending = Pending::default();
    std::iter::from_fn(move || {
        for status in statuses.by_ref() {
            if !pending.has_room(status) {
                let chunk = pending.emit(false);
                pending.push(status);
                return Some(chunk);
            }
            pending.push(status);
        }
        (pending.len > 0).then(|| pending.emit(true))
    })
}

/// Statuses that are not yet in a chunk.
#[derive(Default)]
struct Pending {
    /// The first statuses; padding after `len`.
    first: [Status; ONE_BIT],
    /// The number of statuses. It exceeds the length of `first` only while all are equal.
    len: usize,
}

impl Pending {
    fn has_large(&self) -> bool {
        self.first[..self.len.min(ONE_BIT)].contains(&Status::LargeDelta)
    }

    fn has_room(&self, status: Status) -> bool {
        self.len < TWO_BIT
            || self.len < ONE_BIT && !self.has_large() && status != Status::LargeDelta
            || self.len < RUN && self.first[0] == status && all_equal(&self.first, self.len)
    }

    fn push(&mut self, status: Status) {
        if let Some(slot) = self.first.get_mut(self.len) {
            *slot = status;
        }
        self.len += 1;
    }

    /// Removes a chunk of the first statuses. `last` means that no more will follow. Statuses that
    /// do not fit stay pending.
    fn emit(&mut self, last: bool) -> Chunk {
        let Self { first, len } = std::mem::take(self);
        let (now, later) = first.split_at(TWO_BIT);
        if all_equal(&first, len) {
            return Chunk::Run(first[0], u16::try_from(len).unwrap_or(u16::MAX));
        }
        if len == ONE_BIT || last && len > TWO_BIT {
            return Chunk::OneBit(first);
        }
        later[..len.saturating_sub(TWO_BIT)].iter().for_each(|&status| self.push(status));
        let mut symbols = [Status::NotReceived; TWO_BIT];
        symbols.copy_from_slice(now);
        Chunk::TwoBit(symbols)
    }
}

fn all_equal(first: &[Status; ONE_BIT], len: usize) -> bool {
    first[..len.min(ONE_BIT)].windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{LargeDelta as L, NotReceived as N, SmallDelta as S};

    /// The chunks of feedback with these statuses; large deltas are 100 ms.
    fn chunks_of(statuses: &[Status]) -> Vec<Chunk> {
        let mut at = 1_000_000_000;
        let arrival = |status: &Status| {
            at += [0, 1_000_000, 100_000_000][*status as usize];
            (*status != N).then(|| Time::from_nanos(at))
        };
        let mut arrivals: Vec<Option<Time>> = statuses.iter().map(arrival).collect();
        arrivals.insert(0, Some(Time::from_nanos(1_000_000_000)));
        chunks(&TransportFeedback { arrivals, ..Default::default() }).collect()
    }

    #[test]
    fn equal_statuses_make_a_run() {
        assert_eq!(chunks_of(&[S; 99]), [Chunk::Run(S, 100)]);
        assert_eq!(chunks_of(&[S; RUN]), [Chunk::Run(S, 8191), Chunk::Run(S, 1)]);
    }

    #[test]
    fn losses_make_one_bit_symbols() {
        let fourteen = [S, N, S, S, S, S, S, S, S, S, S, S, S, S];
        assert_eq!(chunks_of(&fourteen[1..]), [Chunk::OneBit(fourteen)]);
        let nine = [S, N, S, S, S, S, S, S, S, N, N, N, N, N];
        assert_eq!(chunks_of(&nine[1..9]), [Chunk::OneBit(nine)]);
    }

    #[test]
    fn large_deltas_make_two_bit_symbols() {
        assert_eq!(chunks_of(&[L, S]), [Chunk::TwoBit([S, L, S, N, N, N, N])]);
        let later = [N, S, S, S, S, S, S, S, L];
        let first = Chunk::TwoBit([S, N, S, S, S, S, S]);
        assert_eq!(chunks_of(&later), [first, Chunk::TwoBit([S, S, L, N, N, N, N])]);
    }

    #[test]
    fn losses_in_the_middle_make_a_run() {
        let mut statuses = [S; 60];
        statuses[6..40].fill(N);
        let mut first = [S; 14];
        first[7..].fill(N);
        assert_eq!(
            chunks_of(&statuses),
            [Chunk::OneBit(first), Chunk::Run(N, 27), Chunk::Run(S, 20)]
        );
    }
}
