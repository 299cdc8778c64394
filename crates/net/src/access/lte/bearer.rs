//! One way of a bearer: its buffer, and its packets in pieces until they have arrived (PDCP 36.323,
//! RLC 36.322).
//!
//! `packet ─▶ queue ─▶ a stream of bytes ─▶ pieces, one a transport block ─▶ what arrived, in
//! order`
//!
//! The stream has each packet with its headers, one after the other; a piece is a range of it.

use super::config::{BearerConfig, RlcMode};
use crate::packet::{DropReason, Packet};
use crate::queue::{Drops, Queue, Streams};
use std::collections::VecDeque;
use units::{Bitrate, Duration, Time};

/// What a packet has in front of it: PDCP with a sequence number of 12 bits (36.323 § 6.2.3), 2
/// bytes, and its length in the RLC header (36.322 § 6.2.1.3), 1.5 bytes, rounded up.
const PACKET_HEADER: u64 = 4;

/// What a piece has in front of it: the fixed part of the RLC header (36.322 § 6.2.1.3) and a MAC
/// subheader (36.321 § 6.2.1), 2 bytes each.
pub(super) const PIECE_HEADER: u64 = 4;

/// How often a piece is sent anew, each time with all its repetitions, before it is given up
/// (maxRetxThreshold, 36.331 § 6.3.2: t1 to t32).
const MAX_ATTEMPTS: u8 = 8;

/// Over which time a guaranteed bit rate is averaged (23.501 table 5.7.4-1: 2000 ms).
const AVERAGING: Duration = Duration::from_secs(2);

/// A packet of the stream.
struct Sdu {
    packet: Packet,
    came: Time,
    /// Where it ends in the stream.
    end: u64,
    /// A piece with a part of it was given up.
    damaged: bool,
}

/// What became of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Arrived,
    GivenUp,
}

struct Piece {
    start: u64,
    end: u64,
    attempts: u8,
    state: State,
}

/// One way of a bearer.
pub(super) struct Bearer {
    queue: Queue,
    discard_timer: Option<Duration>,
    mode: RlcMode,
    sdus: VecDeque<Sdu>,
    /// Where the last packet of the stream ends.
    end: u64,
    /// Up to where the stream has been sent once.
    sent: u64,
    pieces: VecDeque<Piece>,
    /// The starts of pieces that are to be sent anew, and their bytes together.
    again: VecDeque<u64>,
    again_bytes: u64,
    guarantee: Option<Guarantee>,
}

/// What is left of a guaranteed bit rate: a token bucket.
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

/// Told of packets that come out.
pub(super) trait Receiver: Drops {
    fn arrived(&mut self, packet: Packet, sojourn: Duration);
}

impl Bearer {
    pub(super) fn new(
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
            guarantee: config.gbr.map(|rate| Guarantee { rate, tokens: 0.0, since: Time::ZERO }),
        }
    }

    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        self.queue.enqueue(now, packet, drops);
    }

    /// Bytes that wait to be sent, with the headers of packets but not of pieces.
    pub(super) fn backlog(&self) -> u64 {
        let queued = self.queue.bytes().get() + PACKET_HEADER * self.queue.packets() as u64;
        queued + (self.end - self.sent) + self.again_bytes
    }

    /// How much of the backlog has a bit rate guaranteed to it now.
    pub(super) fn guaranteed(&mut self, now: Time) -> u64 {
        let backlog = self.backlog();
        self.guarantee.as_mut().map_or(0, |guarantee| guarantee.tokens(now).min(backlog))
    }

    /// Fills up to `room` bytes of a transport block: with a piece that is to be sent anew, or a
    /// new one. Returns where the piece starts and what it takes with its header.
    pub(super) fn fill(
        &mut self,
        now: Time,
        room: u64,
        drops: &mut impl Drops,
    ) -> Option<(u64, u64)> {
        let room = room.checked_sub(PIECE_HEADER).filter(|&room| room > 0)?;
        let (start, bytes) = self.repeat(room).or_else(|| self.first(now, room, drops))?;
        if let Some(guarantee) = &mut self.guarantee {
            guarantee.tokens = (guarantee.tokens - bytes as f64).max(0.0);
        }
        Some((start, bytes + PIECE_HEADER))
    }

    fn repeat(&mut self, room: u64) -> Option<(u64, u64)> {
        let start = self.again.pop_front()?;
        let place = self.place(start)?;
        let Piece { end, attempts, .. } = self.pieces[place];
        let bytes = (end - start).min(room);
        if bytes < end - start {
            // What does not fit is a piece of its own (re-segmentation, 36.322 § 5.2.1).
            let rest = Piece { start: start + bytes, end, attempts, state: State::UnderWay };
            self.pieces[place].end = start + bytes;
            self.pieces.insert(place + 1, rest);
            self.again.push_front(start + bytes);
        }
        self.again_bytes -= bytes;
        Some((start, bytes))
    }

    fn first(&mut self, now: Time, room: u64, drops: &mut impl Drops) -> Option<(u64, u64)> {
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
        self.pieces.push_back(Piece { start, end: self.sent, attempts: 1, state: State::UnderWay });
        Some((start, bytes))
    }

    /// The place of the piece under way that starts there; none if it is over.
    fn place(&self, start: u64) -> Option<usize> {
        self.pieces.binary_search_by_key(&start, |piece| piece.start).ok()
    }

    /// A piece arrived.
    pub(super) fn arrived(&mut self, now: Time, start: u64, out: &mut impl Receiver) {
        self.conclude(now, start, State::Arrived, out);
    }

    /// The transport block of a piece was given up; `counts` as an attempt unless a handover cut it
    /// short. Returns whether the piece is to be [sent anew](Self::send_anew).
    pub(super) fn failed(
        &mut self,
        now: Time,
        start: u64,
        counts: bool,
        out: &mut impl Receiver,
    ) -> bool {
        let Some(place) = self.place(start) else { return false };
        let piece = &mut self.pieces[place];
        if self.mode == RlcMode::Acknowledged && piece.attempts < MAX_ATTEMPTS {
            piece.attempts += u8::from(counts);
            return true;
        }
        self.conclude(now, start, State::GivenUp, out);
        false
    }

    /// The sender knows that a piece is missing.
    pub(super) fn send_anew(&mut self, start: u64) {
        if let Some(place) = self.place(start) {
            self.again_bytes += self.pieces[place].end - start;
            self.again.push_back(start);
        }
    }

    fn conclude(&mut self, now: Time, start: u64, state: State, out: &mut impl Receiver) {
        let Some(place) = self.place(start) else { return };
        self.pieces[place].state = state;
        // In order: what came later waits for what is still under way (36.322 § 5.1.2.2, §
        // 5.1.3.2).
        while let Some(&Piece { start, end, state, .. }) = self.pieces.front()
            && state != State::UnderWay
        {
            self.pieces.pop_front();
            if state == State::GivenUp {
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

    /// Packets that are not through.
    #[cfg(test)]
    pub(super) fn packets(&self) -> usize {
        self.queue.packets() + self.sdus.len()
    }
}

/// The size of a packet's part of the stream.
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
        Bearer::new(&config, &QueueConfig::Unlimited, &Streams::new(Seed(1), "queue"))
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
    fn packets_arrive_in_order_when_all_their_pieces_have() {
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
    fn without_acknowledgements_a_lost_piece_takes_its_packets_along() {
        let (mut bearer, mut log) = fed(RlcMode::Unacknowledged, 4);
        while bearer.fill(NOW, 1_504, &mut log).is_some() {}
        bearer.arrived(NOW, 1_500, &mut log);
        assert!(!bearer.failed(NOW, 0, true, &mut log));
        assert_eq!(log.dropped, [(0, DropReason::RetryLimit), (1, DropReason::RetryLimit)]);
        bearer.arrived(NOW, 3_000, &mut log);
        assert_eq!(log.arrived, [2, 3]);
    }

    #[test]
    fn with_acknowledgements_a_lost_piece_is_sent_anew_and_may_be_split() {
        let (mut bearer, mut log) = fed(RlcMode::Acknowledged, 2);
        assert_eq!(bearer.fill(NOW, 1_504, &mut log), Some((0, 1_504)));
        assert!(bearer.failed(NOW, 0, true, &mut log));
        bearer.send_anew(0);
        assert_eq!(bearer.backlog(), 2_000);
        assert_eq!(bearer.fill(NOW, 1_004, &mut log), Some((0, 1_004)), "before what is new");
        assert_eq!(bearer.fill(NOW, 1_004, &mut log), Some((1_000, 504)));
        assert_eq!(bearer.fill(NOW, 1_004, &mut log), Some((1_500, 504)));
        for start in [1_500, 1_000, 0] {
            bearer.arrived(NOW, start, &mut log);
        }
        assert_eq!((log.arrived, log.dropped), (vec![0, 1], vec![]));
    }

    #[test]
    fn a_piece_is_given_up_in_the_end() {
        let (mut bearer, mut log) = fed(RlcMode::Acknowledged, 1);
        let mut attempts = 0;
        while bearer.fill(NOW, 2_000, &mut log).is_some() {
            attempts += 1;
            if bearer.failed(NOW, 0, true, &mut log) {
                bearer.send_anew(0);
            }
        }
        assert_eq!((attempts, log.dropped), (MAX_ATTEMPTS, vec![(0, DropReason::RetryLimit)]));
    }

    #[test]
    fn what_waited_too_long_is_discarded_unless_a_part_is_under_way() {
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
    fn a_guarantee_is_earned_over_time_and_used_up() {
        let config = BearerConfig { gbr: Some(Bitrate::from_kbps(800)), ..BearerConfig::default() };
        let mut bearer =
            Bearer::new(&config, &QueueConfig::Unlimited, &Streams::new(Seed(1), "queue"));
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
