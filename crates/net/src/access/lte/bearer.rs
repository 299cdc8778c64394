//! One direction of a bearer: its buffer, and the segmentation and reassembly of packets (PDCP
//! 36.323, RLC 36.322).
//!
//! `packet ─▶ queue ─▶ byte stream ─▶ pieces, one per transport block ─▶ packets in order`
//!
//! The byte stream is the sequence of packets with their headers; a piece is a range of it.

use super::config::{BearerConfig, RlcMode};
use crate::packet::{DropReason, Packet};
use crate::queue::{Drops, Queue, Streams};
use std::collections::VecDeque;
use units::{Bitrate, Duration, Time};

/// The headers per packet: PDCP with a sequence number of 12 bits (36.323 § 6.2.3), 2 bytes, and
/// the length field in the RLC header (36.322 § 6.2.1.3), 1.5 bytes, rounded up.
const PACKET_HEADER: u64 = 4;

/// The headers per piece: the fixed part of the RLC header (36.322 § 6.2.1.3) and a MAC subheader
/// (36.321 § 6.2.1), 2 bytes each.
pub(super) const PIECE_HEADER: u64 = 4;

/// The most transmissions of a piece by RLC, each with all its HARQ retransmissions, before it is
/// given up (maxRetxThreshold, 36.331 § 6.3.2: t1 to t32).
const MAX_ATTEMPTS: u8 = 8;

/// The averaging window of a guaranteed bit rate (23.501 table 5.7.4-1: 2000 ms).
const AVERAGING: Duration = Duration::from_secs(2);

/// A packet of the byte stream.
struct Sdu {
    packet: Packet,
    came: Time,
    /// The offset of its end in the stream.
    end: u64,
    /// Whether a piece with a part of it was given up.
    damaged: bool,
}

/// The state of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceState {
    InFlight,
    Arrived,
    GivenUp,
}

struct Piece {
    start: u64,
    end: u64,
    attempts: u8,
    state: PieceState,
}

/// One direction of a bearer.
pub(super) struct Bearer {
    queue: Queue,
    discard_timer: Option<Duration>,
    mode: RlcMode,
    sdus: VecDeque<Sdu>,
    /// The length of the stream: the end of its last packet.
    end: u64,
    /// The offset up to which the stream has been sent once.
    sent: u64,
    pieces: VecDeque<Piece>,
    /// The starts of pieces to retransmit, and the sum of their bytes.
    again: VecDeque<u64>,
    again_bytes: u64,
    guarantee: Option<Guarantee>,
}

/// The unused part of a guaranteed bit rate: a token bucket.
struct Guarantee {
    rate: Bitrate,
    tokens: f64,
    since: Time,
}

impl Guarantee {
    fn tokens(&mut self, now: Time) -> u64 {
        let rate = self.rate.as_bps_f64() / 8.0;
        self.tokens += rate * now.saturating_since(self.since).as_secs_f64();
        self.tokens = self.tokens.min(rate * AVERAGING.as_secs_f64());
        self.since = now;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative, and `as` saturates"
        )]
        let whole = self.tokens as u64;
        whole
    }
}

/// Receives the packets that arrive.
pub(super) trait Receiver: Drops {
    fn arrived(&mut self, packet: Packet, sojourn: Duration);
}

impl Bearer {
    /// A bearer that exists from `now` on: its guaranteed bit rate is unused until then.
    pub(super) fn new(
        now: Time,
        config: &BearerConfig,
        queue: &crate::queue::QueueConfig,
        streams: &Streams,
    ) -> Self {
        Self {
            queue: Queue::new(queue, streams),
            discard_timer: config.discard_timer,
            mode: config.rlc,
            sdus: VecDeque::new(),
            end: 0,
            sent: 0,
            pieces: VecDeque::new(),
            again: VecDeque::new(),
            again_bytes: 0,
            guarantee: config.gbr.map(|rate| Guarantee { rate, tokens: 0.0, since: now }),
        }
    }

    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        self.queue.enqueue(now, packet, drops);
    }

    /// The bytes that wait to be sent, with the headers of packets but not of pieces.
    pub(super) fn backlog(&self) -> u64 {
        let queued = self.queue.bytes().get() + PACKET_HEADER * self.queue.packets() as u64;
        queued + (self.end - self.sent) + self.again_bytes
    }

    /// The part of the backlog that the guaranteed bit rate covers now.
    pub(super) fn guaranteed(&mut self, now: Time) -> u64 {
        let backlog = self.backlog();
        self.guarantee.as_mut().map_or(0, |guarantee| guarantee.tokens(now).min(backlog))
    }

    /// Fills up to `room` bytes of a transport block with a piece to retransmit or a new one.
    /// Returns the start of the piece and its bytes with header.
    pub(super) fn fill(
        &mut self,
        now: Time,
        room: u64,
        drops: &mut impl Drops,
    ) -> Option<(u64, u64)> {
        let room = room.checked_sub(PIECE_HEADER).filter(|&room| room > 0)?;
        let (start, bytes) =
            self.retransmission(room).or_else(|| self.new_piece(now, room, drops))?;
        if let Some(guarantee) = &mut self.guarantee {
            guarantee.tokens = (guarantee.tokens - bytes as f64).max(0.0);
        }
        Some((start, bytes + PIECE_HEADER))
    }

    fn retransmission(&mut self, room: u64) -> Option<(u64, u64)> {
        let start = self.again.pop_front()?;
        let index = self.piece_at(start)?;
        let Piece { end, attempts, .. } = self.pieces[index];
        let bytes = (end - start).min(room);
        if bytes < end - start {
            // The rest becomes a separate piece (re-segmentation, 36.322 § 5.2.1).
            let rest = Piece { start: start + bytes, end, attempts, state: PieceState::InFlight };
            self.pieces[index].end = start + bytes;
            self.pieces.insert(index + 1, rest);
            self.again.push_front(start + bytes);
        }
        self.again_bytes -= bytes;
        Some((start, bytes))
    }

    fn new_piece(&mut self, now: Time, room: u64, drops: &mut impl Drops) -> Option<(u64, u64)> {
        while self.end - self.sent < room
            && let Some((packet, sojourn)) = self.queue.dequeue(now, drops)
        {
            if self.discard_timer.is_some_and(|timer| sojourn > timer) {
                drops.drop(packet, DropReason::Discarded);
                continue;
            }
            self.end += packet.size.get() + PACKET_HEADER;
            self.sdus.push_back(Sdu {
                packet,
                came: now.saturating_sub(sojourn),
                end: self.end,
                damaged: false,
            });
        }
        let bytes = (self.end - self.sent).min(room);
        if bytes == 0 {
            return None;
        }
        let start = self.sent;
        self.sent += bytes;
        self.pieces.push_back(Piece {
            start,
            end: self.sent,
            attempts: 1,
            state: PieceState::InFlight,
        });
        Some((start, bytes))
    }

    /// The index of the piece that starts there; `None` if it is completed.
    fn piece_at(&self, start: u64) -> Option<usize> {
        self.pieces.binary_search_by_key(&start, |piece| piece.start).ok()
    }

    /// Notes that a piece arrived.
    pub(super) fn arrived(&mut self, now: Time, start: u64, out: &mut impl Receiver) {
        self.conclude(now, start, PieceState::Arrived, out);
    }

    /// Notes that the transport block of a piece was given up. `counts` tells whether that counts
    /// as an attempt; it does not if a handover interrupted it. Returns whether the piece is to be
    /// [retransmitted](Self::retransmit).
    pub(super) fn failed(
        &mut self,
        now: Time,
        start: u64,
        counts: bool,
        out: &mut impl Receiver,
    ) -> bool {
        let Some(index) = self.piece_at(start) else { return false };
        let piece = &mut self.pieces[index];
        if self.mode == RlcMode::Acknowledged && piece.attempts < MAX_ATTEMPTS {
            piece.attempts += u8::from(counts);
            return true;
        }
        self.conclude(now, start, PieceState::GivenUp, out);
        false
    }

    /// Schedules the retransmission of a piece.
    pub(super) fn retransmit(&mut self, start: u64) {
        if let Some(index) = self.piece_at(start) {
            self.again_bytes += self.pieces[index].end - start;
            self.again.push_back(start);
        }
    }

    fn conclude(&mut self, now: Time, start: u64, state: PieceState, out: &mut impl Receiver) {
        let Some(index) = self.piece_at(start) else { return };
        self.pieces[index].state = state;
        // Delivery is in order: later pieces wait for those in flight (36.322 § 5.1.2.2, §
        // 5.1.3.2).
        while let Some(&Piece { start, end, state, .. }) = self.pieces.front()
            && state != PieceState::InFlight
        {
            self.pieces.pop_front();
            if state == PieceState::GivenUp {
                let overlaps = |sdu: &&mut Sdu| {
                    sdu.end - sdu.packet.size.get() - PACKET_HEADER < end && start < sdu.end
                };
                self.sdus.iter_mut().filter(overlaps).for_each(|sdu| sdu.damaged = true);
            }
            while self.sdus.front().is_some_and(|sdu| sdu.end <= end) {
                let Some(sdu) = self.sdus.pop_front() else { return };
                if sdu.damaged {
                    out.drop(sdu.packet, DropReason::RetryLimit);
                } else {
                    out.arrived(sdu.packet, now.saturating_since(sdu.came));
                }
            }
        }
    }

    /// The number of packets that have neither arrived nor been dropped.
    #[cfg(test)]
    pub(super) fn packets(&self) -> usize {
        self.queue.packets() + self.sdus.len()
    }
}

/// The bytes of a packet in the stream.
#[cfg(test)]
pub(super) fn in_stream(size: units::Bytes) -> u64 {
    size.get() + PACKET_HEADER
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueConfig;
    use units::{Bytes, Seed};

    #[derive(Default)]
    struct Log {
        arrived: Vec<u64>,
        dropped: Vec<(u64, DropReason)>,
    }

    impl Drops for Log {
        fn drop(&mut self, packet: Packet, reason: DropReason) {
            self.dropped.push((packet.id, reason));
        }
    }

    impl Receiver for Log {
        fn arrived(&mut self, packet: Packet, _: Duration) {
            self.arrived.push(packet.id);
        }
    }

    fn bearer(rlc: RlcMode, discard_timer: Option<Duration>) -> Bearer {
        let config = BearerConfig { rlc, discard_timer, ..BearerConfig::default() };
        let streams = Streams::new(Seed(1), "queue");
        Bearer::new(Time::ZERO, &config, &QueueConfig::Unlimited, &streams)
    }

    fn fed(rlc: RlcMode, packets: u64) -> (Bearer, Log) {
        let (mut bearer, mut log) = (bearer(rlc, None), Log::default());
        for id in 0..packets {
            let packet = Packet { id, size: Bytes::new(996), ..Packet::default() };
            bearer.enqueue(Time::ZERO, packet, &mut log);
        }
        (bearer, log)
    }

    const NOW: Time = Time::from_millis(5);

    #[test]
    fn packets_arrive_in_order_once_all_their_pieces_arrived() {
        let (mut bearer, mut log) = fed(RlcMode::Acknowledged, 3);
        assert_eq!(bearer.backlog(), 3 * in_stream(Bytes::new(996)));
        let pieces: Vec<_> = std::iter::from_fn(|| bearer.fill(NOW, 704, &mut log)).collect();
        assert_eq!(pieces, [(0, 704), (700, 704), (1_400, 704), (2_100, 704), (2_800, 204)]);
        assert_eq!(bearer.backlog(), 0);
        for (start, arrived) in [(700, 0), (0, 1), (2_100, 1), (1_400, 2), (2_800, 3)] {
            bearer.arrived(NOW, start, &mut log);
            assert_eq!(log.arrived.len(), arrived);
        }
        assert_eq!((log.arrived, bearer.packets()), (vec![0, 1, 2], 0));
    }

    #[test]
    fn in_unacknowledged_mode_a_lost_piece_loses_its_packets() {
        let (mut bearer, mut log) = fed(RlcMode::Unacknowledged, 4);
        while bearer.fill(NOW, 1_504, &mut log).is_some() {}
        bearer.arrived(NOW, 1_500, &mut log);
        assert!(!bearer.failed(NOW, 0, true, &mut log));
        assert_eq!(log.dropped, [(0, DropReason::RetryLimit), (1, DropReason::RetryLimit)]);
        bearer.arrived(NOW, 3_000, &mut log);
        assert_eq!(log.arrived, [2, 3]);
    }

    #[test]
    fn in_acknowledged_mode_a_lost_piece_is_retransmitted_and_may_be_split() {
        let (mut bearer, mut log) = fed(RlcMode::Acknowledged, 2);
        assert_eq!(bearer.fill(NOW, 1_504, &mut log), Some((0, 1_504)));
        assert!(bearer.failed(NOW, 0, true, &mut log));
        bearer.retransmit(0);
        assert_eq!(bearer.backlog(), 2_000);
        assert_eq!(bearer.fill(NOW, 1_004, &mut log), Some((0, 1_004)), "before new pieces");
        assert_eq!(bearer.fill(NOW, 1_004, &mut log), Some((1_000, 504)));
        assert_eq!(bearer.fill(NOW, 1_004, &mut log), Some((1_500, 504)));
        for start in [1_500, 1_000, 0] {
            bearer.arrived(NOW, start, &mut log);
        }
        assert_eq!((log.arrived, log.dropped), (vec![0, 1], vec![]));
    }

    #[test]
    fn a_piece_is_given_up_after_the_last_attempt() {
        let (mut bearer, mut log) = fed(RlcMode::Acknowledged, 1);
        let mut attempts = 0;
        while bearer.fill(NOW, 2_000, &mut log).is_some() {
            attempts += 1;
            if bearer.failed(NOW, 0, true, &mut log) {
                bearer.retransmit(0);
            }
        }
        assert_eq!((attempts, log.dropped), (MAX_ATTEMPTS, vec![(0, DropReason::RetryLimit)]));
    }

    #[test]
    fn packets_that_waited_too_long_are_discarded_unless_partly_sent() {
        let mut bearer = bearer(RlcMode::Acknowledged, Some(Duration::from_millis(100)));
        let mut log = Log::default();
        for id in 0..3 {
            bearer.enqueue(
                Time::ZERO,
                Packet { id, size: Bytes::new(996), ..Packet::default() },
                &mut log,
            );
        }
        assert_eq!(bearer.fill(NOW, 504, &mut log), Some((0, 504)));
        assert_eq!(bearer.fill(Time::from_millis(101), 5_004, &mut log), Some((500, 504)));
        assert_eq!(log.dropped, [(1, DropReason::Discarded), (2, DropReason::Discarded)]);
    }

    #[test]
    fn a_guaranteed_bit_rate_is_earned_over_time_and_used_up() {
        let config = BearerConfig { gbr: Some(Bitrate::from_kbps(800)), ..BearerConfig::default() };
        let streams = Streams::new(Seed(1), "queue");
        let mut bearer = Bearer::new(Time::ZERO, &config, &QueueConfig::Unlimited, &streams);
        let mut log = Log::default();
        for id in 0..1_000 {
            bearer.enqueue(
                Time::ZERO,
                Packet { id, size: Bytes::new(996), ..Packet::default() },
                &mut log,
            );
        }
        assert_eq!(bearer.guaranteed(Time::from_millis(10)), 1_000);
        assert_eq!(bearer.fill(Time::from_millis(10), 604, &mut log), Some((0, 604)));
        assert_eq!(bearer.guaranteed(Time::from_millis(10)), 400);
        assert_eq!(bearer.guaranteed(Time::from_secs(100)), 200_000, "two seconds' worth");
    }
}
