//! Hybrid FEC and NACK for video (Janczukowicz 2017 § 2.3.3, after Holmer et al. 2013, "Handling
//! packet loss in WebRTC"). With a short round-trip time retransmission alone is fast enough. Above
//! that, parity packets are sent with the media, and retransmission repairs what they cannot.
//!
//! The code is RFC 5109's with one level. A block is one frame or several: it ends with the frame
//! at which its parity costs not much more than wanted, and at the latest after the frames of two
//! round-trip times (libwebrtc `modules/rtp_rtcp/source/ulpfec_generator.cc`, since 2012
//! `producer_fec.cc`, and `modules/video_coding/media_opt_util.cc`, VCMNackFecMethod). A block of k
//! packets gets m = round(factor · k) parity packets, and at least one if the factor is not 0.
//! Parity packet j is the XOR of the packets i ≡ j (mod m), and restores one of them if only that
//! one is missing.
//!
//! Parity packets are a separate stream with its own SSRC and sequence numbers (RFC 5109 § 14.1;
//! FlexFEC, RFC 8627, does the same), so that RTCP's loss and NACK concern media only. To RTCP a
//! restored packet remains lost (RFC 3550 § 6.4.1: the network lost it).
//!
//! Missing packets are requested at once, without waiting for parity (as in libwebrtc
//! `modules/video_coding/nack_requester.cc`), unless parity has already restored them.
//!
//! Differences from libwebrtc:
//!
//! | | here | libwebrtc |
//! |---|---|---|
//! | factor by loss and bits per frame | a closed form | `modules/video_coding/fec_rate_table.h`: of ten of its rows the form differs by 3.6 of 255 on average, and by at most 33 |
//! | key frames | twice the bits per frame | the bits times the ratio of the packets of key frames and others, at least twice |
//! | groups | every m-th packet | masks for random loss, which overlap |
//! | on the wire | a separate stream | in RED (RFC 2198) within the media's stream, which costs a byte per packet |

use super::Show;
use super::frame_buffer::Counted;
use super::packetizer::Part;
use crate::payload::{FecGroup, FramePart, Rtp};
use crate::wire;
use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration, Time};

/// Below this round-trip time only key frames are protected (`kLowRttNackMs`, libwebrtc
/// `modules/video_coding/media_opt_util.h`).
const LOW_RTT: Duration = Duration::from_millis(20);
/// The loss is the maximum of the reports in this window (`kMaxFilter` over `kLossPrHistorySize`
/// times `kLossPrShortFilterWinMs`, 10 · 1000 ms: same file, and
/// `modules/video_coding/fec_controller_default.cc`).
const LOSS_WINDOW: Duration = Duration::from_secs(10);
/// Reports of fewer packets are combined, because one loss among three packets says little (20:
/// `kLimitNumPackets`, libwebrtc `goog_cc/send_side_bandwidth_estimation.cc`).
const MIN_EXPECTED: u64 = 20;
/// The unit of losses and shares: 255 is one (`modules/video_coding/media_opt_util.cc`, for all
/// constants up to [`MAX_BLOCK_FRAMES`]).
const ONE: f64 = 255.0;
/// The maximum share of parity in all packets, and the maximum loss considered
/// (`kPacketLossMax` − 1).
const MAX_SHARE: f64 = 128.0;
/// The maximum share that the table contains.
const MAX_TABLE: f64 = 127.0;
/// The minimum share with any loss, if a frame has more than one packet on average
/// (`firstPartitionProt`, 20 %).
const FIRST_PARTITION: f64 = 51.0;
/// The packet size with which packets per frame are estimated, bits (`_maxPayloadSize`, 1460
/// bytes).
const PAYLOAD_BITS: f64 = 11_680.0;
/// The picture size at which the effective rate is the rate, pixels (704×576).
const REFERENCE_PIXELS: f64 = 405_504.0;
/// The exponent of the picture size in the effective rate (`resolnFac`).
const PIXELS_EXPONENT: f64 = 0.3;
/// The width of a row of the table, effective kbit per frame (`ratePar1`).
const ROW: f64 = 5.0;
/// The last row of the table (`ratePar2`).
const LAST_ROW: f64 = 49.0;
/// The first row: from this loss on, 255ths, this share (`modules/video_coding/fec_rate_table.h`).
const FIRST_ROW: [(f64, f64); 3] = [(96.0, 51.0), (48.0, 39.0), (33.0, 11.0)];
/// In row r at the loss l, both as in the table, the share is about 6.5 · √(r · l), and at most 26
/// · √l. Fitted to ten rows of the table.
const PER_ROOT: f64 = 6.5;
/// See [`PER_ROOT`].
const MAX_PER_ROOT: f64 = 26.0;
/// The multiple of share and bits per frame for a key frame (`_scaleProtKey`, `boostRateKey`).
const KEY_BOOST: f64 = 2.0;
/// Nothing is protected below this round-trip time if frames are small (`kMaxRttTurnOffFec`).
const SMALL_FRAME_RTT: Duration = Duration::from_millis(200);
/// A block has at most this many frames (`kUpperLimitFramesFec`).
const MAX_BLOCK_FRAMES: f64 = 6.0;
/// A block ends if its parity, per media packet in 256ths, exceeds the wanted share by less than
/// this (`kMaxExcessOverhead`, `modules/rtp_rtcp/source/ulpfec_generator.cc`, as the following
/// three).
const MAX_EXCESS: u64 = 50;
/// With a factor above this a block has at least [`MIN_PACKETS`] (`kHighProtectionThreshold`).
const HIGH_FACTOR: u64 = 80;
/// See [`HIGH_FACTOR`] (`kMinMediaPackets`).
const MIN_PACKETS: u64 = 4;
/// With at least this many packets per frame a block has one packet more
/// (`kMinMediaPacketsAdaptationThreshold`).
const PACKETS_PER_FRAME: u64 = 2;

/// The sender's side: determines the protection and holds the parity packets that wait to be sent.
#[derive(Default)]
pub(crate) struct FecEncoder {
    loss: LossFilter,
    block: Block,
    waiting: VecDeque<Parity>,
    pub(crate) sent: Counted,
}

/// What the protection depends on, apart from the loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    /// The rate of media and its protection, without headers.
    pub(crate) rate: Bitrate,
    /// Frames per second.
    pub(crate) frame_rate: f64,
    /// Width times height of the picture.
    pub(crate) pixels: f64,
    /// The round-trip time of the newest report.
    pub(crate) rtt: Duration,
}

/// The media packets since the last parity packet, as far as a mask reaches.
#[derive(Default)]
struct Block {
    /// The sequence number of the first packet.
    first: u64,
    packets: Vec<(FramePart, Bytes)>,
    /// The number of complete frames.
    frames: u64,
    has_key: bool,
    protection: Protection,
}

/// How much is protected: parity packets per media packet in 256ths, and the frames of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Protection {
    delta: u64,
    key: u64,
    frames: u64,
}

/// A parity packet that waits to be sent: the packets that it protects, and the largest of their
/// sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parity {
    pub(crate) group: FecGroup,
    /// The first protected packet.
    pub(crate) part: FramePart,
    pub(crate) rtp_timestamp: u64,
    pub(crate) payload: Bytes,
    /// When the packet was made.
    pub(crate) made: Time,
    /// Frames before this one are sent first.
    before_frame: u64,
}

impl FecEncoder {
    /// A receiver report arrived.
    pub(crate) fn on_report(&mut self, now: Time, fraction_lost: f64, expected: u64) {
        self.loss.add(now, fraction_lost, expected);
    }

    /// A packet of media is sent for the first time. The parity packets that it completes are sent
    /// before the frame `before_frame`. Returns their number and the sum of their payloads.
    pub(crate) fn on_media(
        &mut self,
        now: Time,
        (sequence, part): (u64, &Part),
        before_frame: u64,
        circumstances: &Circumstances,
    ) -> (u64, Bytes) {
        let block = &mut self.block;
        if block.packets.is_empty() {
            block.first = sequence;
            block.protection = Protection::new(self.loss.filtered(now), circumstances);
        }
        block.has_key |= part.part.key;
        if (block.packets.len() as u64) < wire::FEC_MASK {
            block.packets.push((part.part, part.payload));
        }
        if part.part.index + 1 < part.part.count {
            return (0, Bytes::ZERO);
        }
        block.frames += 1;
        if !block.is_complete() {
            return (0, Bytes::ZERO);
        }
        let before = self.waiting.len();
        for mut parity in block.parities(now, part.rtp_timestamp) {
            parity.before_frame = before_frame;
            self.waiting.push_back(parity);
        }
        block.packets.clear();
        (block.frames, block.has_key) = (0, false);
        let made = self.waiting.range(before..);
        (made.len() as u64, made.map(|parity| parity.payload).sum())
    }

    /// Whether no parity packet waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next parity packet, if it is sent before the frame `next_frame`, which is the next one
    /// of the media; `None` if no media wait.
    pub(crate) fn pop(&mut self, next_frame: Option<u64>) -> Option<Parity> {
        let first = self.waiting.front()?;
        let ready = next_frame.is_none_or(|next| next >= first.before_frame);
        ready.then(|| self.waiting.pop_front()).flatten()
    }
}

impl Block {
    fn factor(&self) -> u64 {
        if self.has_key { self.protection.key } else { self.protection.delta }
    }

    /// Whether the block ends with the frame that is its newest.
    fn is_complete(&self) -> bool {
        let (factor, packets) = (self.factor(), self.packets.len() as u64);
        let overhead = (parity_packets(factor, packets) << 8) / packets;
        let least = if factor > HIGH_FACTOR { MIN_PACKETS } else { 1 };
        let least = least + u64::from(packets >= PACKETS_PER_FRAME * self.frames);
        self.frames >= self.protection.frames
            || (overhead < factor + MAX_EXCESS && packets >= least)
    }

    fn parities(&self, now: Time, rtp_timestamp: u64) -> impl Iterator<Item = Parity> {
        let count = parity_packets(self.factor(), self.packets.len() as u64);
        (0..count).map(move |offset| {
            let protected = || self.packets[offset as usize..].iter().step_by(count as usize);
            let parts: Vec<FramePart> = protected().map(|&(part, _)| part).collect();
            let largest = protected().map(|&(_, payload)| payload).max().unwrap_or_default();
            Parity {
                part: parts[0],
                group: FecGroup { first: self.first + offset, step: count, parts: parts.into() },
                rtp_timestamp,
                payload: wire::FEC_PROTECTED_HEADER + largest,
                made: now,
                before_frame: 0,
            }
        })
    }
}

impl Protection {
    /// The protection against the loss `loss`, 0 to 1.
    fn new(loss: f64, circumstances: &Circumstances) -> Self {
        let &Circumstances { rate, frame_rate, pixels, rtt } = circumstances;
        let frames = (2.0 * frame_rate * rtt.as_secs_f64() + 0.5).floor();
        let frames = frames.clamp(1.0, MAX_BLOCK_FRAMES) as u64;
        let kbit = (rate.as_bps_f64() / 1e3 / frame_rate.max(1.0)).floor();
        let loss = (ONE * loss).floor().min(MAX_SHARE);
        if loss == 0.0 || (kbit * 125.0 < small_frame(pixels) && rtt < SMALL_FRAME_RTT) {
            return Self { delta: 0, key: 0, frames };
        }
        let effective = (kbit * libm::pow(REFERENCE_PIXELS / pixels, PIXELS_EXPONENT)).floor();
        let row = ((effective - ROW) / ROW).trunc().clamp(0.0, LAST_ROW);
        let least = if kbit >= PAYLOAD_BITS / 2e3 { FIRST_PARTITION } else { 0.0 };
        let delta = table(row, loss).max(least).min(MAX_SHARE);
        let key_row = (1.0 + ((KEY_BOOST * effective - ROW) / ROW).trunc()).clamp(0.0, LAST_ROW);
        let key = (KEY_BOOST * delta).min(MAX_SHARE).max(table(key_row, loss)).max(loss);
        let delta = if rtt < LOW_RTT { 0.0 } else { delta };
        Self { delta: per_media(delta), key: per_media(key.min(MAX_SHARE)), frames }
    }
}

/// The share of parity in all packets by row and loss.
fn table(row: f64, loss: f64) -> f64 {
    if row == 0.0 {
        return FIRST_ROW.iter().find(|(from, _)| loss >= *from).map_or(0.0, |&(_, share)| share);
    }
    (loss.sqrt() * (PER_ROOT * row.sqrt()).min(MAX_PER_ROOT)).min(MAX_TABLE).floor()
}

/// Converts a share of all packets to one of the media packets (`ConvertFECRate`).
fn per_media(share: f64) -> u64 {
    (0.5 + ONE * share / (ONE - share)).min(ONE) as u64
}

/// Frames of fewer bytes are small, depending on the size of the picture
/// (`kMaxBytesPerFrameForFec`, up to 352×288 `…Low`, above 640×480 `…High`:
/// `modules/video_coding/media_opt_util.h`).
fn small_frame(pixels: f64) -> f64 {
    match pixels {
        ..=101_376.0 => 400.0,
        ..=307_200.0 => 700.0,
        _ => 1000.0,
    }
}

/// The number of parity packets for a factor in 256ths (libwebrtc
/// `modules/rtp_rtcp/source/forward_error_correction.cc`, NumFecPackets).
fn parity_packets(factor: u64, packets: u64) -> u64 {
    let share = (factor * packets + 128) >> 8;
    share.max(u64::from(factor > 0)).min(packets)
}

/// The maximum loss of the recent reports.
#[derive(Default)]
struct LossFilter {
    samples: VecDeque<(Time, f64)>,
    expected: u64,
    lost: f64,
}

impl LossFilter {
    fn add(&mut self, now: Time, fraction: f64, expected: u64) {
        self.expected += expected;
        self.lost += fraction * expected as f64;
        if self.expected >= MIN_EXPECTED {
            self.samples.push_back((now, self.lost / self.expected as f64));
            (self.expected, self.lost) = (0, 0.0);
        }
        while self.samples.front().is_some_and(|&(at, _)| now.saturating_since(at) > LOSS_WINDOW) {
            self.samples.pop_front();
        }
    }

    fn filtered(&self, now: Time) -> f64 {
        let recent =
            self.samples.iter().filter(|&&(at, _)| now.saturating_since(at) <= LOSS_WINDOW);
        recent.fold(0.0, |max, &(_, loss)| loss.max(max))
    }
}

/// The number of media packets remembered: as many as in the frame buffer.
const PACKETS: u64 = 8192;
/// The maximum number of parity packets that wait for their group: as many as libwebrtc keeps
/// (`kUlpfecMaxMediaPackets`, `modules/rtp_rtcp/source/forward_error_correction_internal.h`).
const MAX_WAITING: usize = 48;
/// The maximum time for which they wait; after that, a key frame has been requested.
const KEEP: Duration = Duration::from_secs(3);

/// The receiver's side: records which packets arrived, and holds the parity packets that may still
/// restore one.
pub(crate) struct FecDecoder {
    seen: Vec<u64>,
    waiting: VecDeque<ReceivedParity>,
    pub(crate) received: Counted,
    /// Parity packets that restored nothing: either no packet was missing, or too many until it was
    /// too late.
    pub(crate) discarded: u64,
    /// The number of restored packets.
    pub(crate) restored: u64,
}

/// A received parity packet.
struct ReceivedParity {
    at: Time,
    group: FecGroup,
}

/// The missing packets of a group; of one, the index in the group.
#[derive(Debug, PartialEq, Eq)]
enum Missing {
    None,
    One(usize),
    More,
}

impl FecDecoder {
    pub(crate) fn new() -> Self {
        Self {
            seen: vec![u64::MAX; PACKETS as usize],
            waiting: VecDeque::new(),
            received: Counted::default(),
            discarded: 0,
            restored: 0,
        }
    }

    /// Processes a media packet, a retransmission or a parity packet; `next_frame` is the next
    /// frame to be decoded. Returns the packet that is restored as a result. There is at most one,
    /// because groups have no packet in common.
    pub(crate) fn on_packet(
        &mut self,
        now: Time,
        packet: &Rtp,
        next_frame: u64,
    ) -> Option<(u64, FramePart)> {
        if let Some(group) = &packet.fec {
            self.received.add(packet.payload, wire::rtp_header_size(packet));
            if self.waiting.len() == MAX_WAITING {
                self.waiting.pop_front();
                self.discarded += 1;
            }
            self.waiting.push_back(ReceivedParity { at: now, group: group.clone() });
        } else {
            self.mark(packet.retransmission_of.unwrap_or(packet.sequence));
        }
        self.restore(now, next_frame)
    }

    /// Tries the waiting parity packets, and keeps those that may still restore a packet.
    fn restore(&mut self, now: Time, next_frame: u64) -> Option<(u64, FramePart)> {
        let (mut restored, mut index) = (None, 0);
        while let Some(parity) = self.waiting.get(index) {
            let decoded = parity.group.parts.iter().all(|part| part.frame < next_frame);
            let late = decoded || now.saturating_since(parity.at) > KEEP;
            match self.missing(&parity.group) {
                Missing::More if !late => {
                    index += 1;
                    continue;
                }
                Missing::One(index) if !late => {
                    let sequence = parity.group.sequence(index);
                    restored = Some((sequence, parity.group.parts[index]));
                    self.restored += 1;
                    self.mark(sequence);
                }
                Missing::None | Missing::One(_) | Missing::More => self.discarded += 1,
            }
            self.waiting.remove(index);
        }
        restored
    }

    /// Shows the inbound-rtp members.
    pub(crate) fn show(&self, show: &mut Show<'_>) {
        show("fecPacketsReceived", self.received.packets as f64);
        show("fecBytesReceived", self.received.payload.get() as f64);
        show("fecPacketsDiscarded", self.discarded as f64);
        show("fecPacketsRecovered", self.restored as f64);
    }

    fn mark(&mut self, sequence: u64) {
        self.seen[(sequence % PACKETS) as usize] = sequence;
    }

    fn missing(&self, group: &FecGroup) -> Missing {
        let mut absent = (0..group.parts.len()).filter(|&index| {
            let sequence = group.sequence(index);
            self.seen[(sequence % PACKETS) as usize] != sequence
        });
        match (absent.next(), absent.next()) {
            (None, _) => Missing::None,
            (Some(one), None) => Missing::One(one),
            (Some(_), Some(_)) => Missing::More,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(frame: u64, index: u16, count: u16) -> FramePart {
        let (width, height, captured) = (1280, 720, Time::ZERO);
        FramePart { frame, index, count, key: false, width, height, captured }
    }

    /// A media packet, or a parity packet with its group.
    fn packet(sequence: u64, part: FramePart, fec: Option<FecGroup>) -> Rtp {
        Rtp {
            ssrc: 1,
            payload_type: 100,
            sequence,
            rtp_timestamp: 0,
            marker: false,
            payload: Bytes::new(1000),
            transport_sequence: None,
            sent: Time::ZERO,
            retransmission_of: None,
            probe: None,
            padding: false,
            fec,
            ecn: net::Ecn::NotEct,
            frame: part,
        }
    }

    /// What surrounds a call at `kbps` and 30 frames per second in 1280×720.
    fn at(kbps: u64, rtt_ms: u64) -> Circumstances {
        let (rate, rtt) = (Bitrate::from_kbps(kbps), Duration::from_millis(rtt_ms));
        Circumstances { rate, frame_rate: 30.0, pixels: 921_600.0, rtt }
    }

    /// Sends frames of the given numbers of packets, from packet 100 on. Returns, after each frame,
    /// the parity packets.
    fn send(loss: f64, at: Circumstances, frames: &[u16], key: bool) -> Vec<Vec<Parity>> {
        let mut encoder = FecEncoder::default();
        encoder.on_report(Time::ZERO, loss, 100);
        let mut sequence = 100;
        let mut send = |(frame, &count): (usize, &u16)| {
            for index in 0..count {
                assert!(encoder.is_empty(), "parity follows the end of a frame");
                let payload = Bytes::new(1000 + u64::from(index == 1));
                let part = FramePart { key, ..part(frame as u64, index, count) };
                let part = Part { part, rtp_timestamp: 9, payload };
                encoder.on_media(Time::ZERO, (sequence, &part), frame as u64 + 1, &at);
                sequence += 1;
            }
            std::iter::from_fn(|| encoder.pop(None)).collect()
        };
        frames.iter().enumerate().map(&mut send).collect()
    }

    fn sequences(parities: &[Parity]) -> Vec<Vec<u64>> {
        parities.iter().map(|parity| parity.group.sequences().collect()).collect()
    }

    fn group(first: u64, step: u64, parts: &[FramePart]) -> FecGroup {
        FecGroup { first, step, parts: parts.into() }
    }

    /// Receives packets in the given order: 0 to 5 are the media packets of one frame, 10 and 11
    /// the two parity packets that protect it.
    fn receive(order: &[u64]) -> (Vec<u64>, FecDecoder) {
        let (mut decoder, mut restored) = (FecDecoder::new(), Vec::new());
        for &number in order {
            let of_frame = |index| part(0, index, 6);
            let packet = if number < 10 {
                packet(number, of_frame(u16::try_from(number).unwrap()), None)
            } else {
                let first = u16::try_from(number - 10).unwrap();
                let parts = [first, first + 2, first + 4].map(of_frame);
                packet(number, parts[0], Some(group(u64::from(first), 2, &parts)))
            };
            if let Some((sequence, part)) = decoder.on_packet(Time::ZERO, &packet, 0) {
                assert_eq!(u64::from(part.index), sequence);
                restored.push(sequence);
            }
        }
        (restored, decoder)
    }

    #[test]
    fn round_trip_time_loss_and_rate_determine_the_protection() {
        let protection = |loss, kbps, rtt| {
            let Protection { delta, key, frames } = Protection::new(loss, &at(kbps, rtt));
            (delta, key, frames)
        };
        assert_eq!(protection(0.0, 1000, 100), (0, 0, 6));
        assert_eq!(protection(0.003, 1000, 100), (0, 0, 6), "less than 1 of 255");
        // A fifth of all packets is a quarter of the media packets: 64 of 256; for a key frame
        // two fifths, two thirds of the media packets.
        assert_eq!(protection(0.01, 1000, 100), (64, 170, 6));
        assert_eq!(protection(0.01, 1000, 19), (0, 170, 1), "key frames only");
        assert_eq!(protection(0.01, 1000, 45), (64, 170, 3));
        assert_eq!(protection(0.5, 2500, 45), (253, 255, 3), "as much parity as media");
        // 150 kbit/s are less than one packet per frame: the first row of the table.
        assert_eq!(protection(0.10, 150, 300), (0, 37, 6));
        assert_eq!(protection(0.14, 150, 300).0, 11);
        assert_eq!(protection(0.20, 150, 300).0, 46);
        assert_eq!(protection(0.40, 150, 300).0, 64);
        assert_eq!(protection(0.40, 150, 199), (0, 0, 6), "625 bytes per frame, fewer than 1000");
    }

    #[test]
    fn parity_is_rounded_and_at_least_one() {
        assert_eq!([1, 2, 3, 10].map(|k| parity_packets(64, k)), [1, 1, 1, 3]);
        assert_eq!([1, 2, 3, 10].map(|k| parity_packets(253, k)), [1, 2, 3, 10]);
        assert_eq!(parity_packets(0, 48), 0);
    }

    #[test]
    fn a_block_ends_when_its_overhead_is_near_the_wanted_one() {
        let complete = |parities: &[Vec<Parity>]| -> Vec<usize> {
            (0..parities.len()).filter(|&frame| !parities[frame].is_empty()).collect()
        };
        // A factor of 46 of 256: one for three packets costs 85, which is not 50 more.
        let small = send(0.2, at(150, 300), &[1; 7], false);
        assert_eq!(complete(&small), [2, 5]);
        assert_eq!(sequences(&small[2]), [[100, 101, 102]]);
        assert_eq!(small[2][0].group.parts.iter().map(|part| part.frame).max(), Some(2));
        // A factor of 11: five packets, but at most the frames of two round-trip times.
        assert_eq!(complete(&send(0.14, at(150, 300), &[1; 10], false)), [4, 9]);
        assert_eq!(complete(&send(0.14, at(150, 230), &[1; 4], false)), [] as [usize; 0]);
        assert_eq!(complete(&send(0.2, at(1000, 30), &[1; 4], false)), [1, 3], "two frames");
        // With a factor above 80 at least four packets, and five if frames have two or more.
        assert_eq!(complete(&send(0.2, at(1000, 100), &[1; 8], false)), [3, 7]);
        assert_eq!(complete(&send(0.2, at(1000, 100), &[2; 6], false)), [2, 5]);
        assert!(complete(&send(0.0, at(1000, 100), &[4; 9], false)).is_empty());
    }

    #[test]
    fn parity_waits_behind_the_media_that_were_queued_before() {
        let mut encoder = FecEncoder::default();
        encoder.on_report(Time::ZERO, 0.05, 100);
        for index in 0..5 {
            let part = Part { part: part(7, index, 5), rtp_timestamp: 9, payload: Bytes::new(9) };
            let (sequence, at) = (100 + u64::from(index), at(1000, 100));
            let (made, bytes) = encoder.on_media(Time::ZERO, (sequence, &part), 10, &at);
            assert_eq!((made, bytes.get()), if index == 4 { (1, 21) } else { (0, 0) });
        }
        assert!(encoder.pop(Some(8)).is_none() && encoder.pop(Some(9)).is_none());
        assert!(encoder.pop(Some(10)).is_some() && encoder.is_empty());
    }

    #[test]
    fn the_loss_is_the_maximum_of_ten_seconds_over_enough_packets() {
        let mut filter = LossFilter::default();
        filter.add(Time::from_secs(1), 0.5, 10);
        assert_eq!(filter.filtered(Time::from_secs(1)), 0.0, "ten packets are too few");
        filter.add(Time::from_secs(2), 0.0, 40);
        filter.add(Time::from_secs(3), 0.0, 100);
        assert_eq!(filter.filtered(Time::from_secs(12)), 0.1);
        assert_eq!(filter.filtered(Time::from_secs(13)), 0.0);
    }

    #[test]
    fn parity_has_the_size_of_the_largest_packet_and_every_packet_is_protected_once() {
        let parities = send(0.05, at(1000, 100), &[8], false).concat();
        assert_eq!(sequences(&parities), [[100, 102, 104, 106], [101, 103, 105, 107]]);
        assert_eq!(parities.iter().map(|p| p.payload.get()).collect::<Vec<_>>(), [1012, 1013]);
        assert_eq!(parities.iter().map(|p| p.part.index).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(send(0.05, at(1000, 100), &[8], true).concat().len(), 5, "a key frame");
        let parities = send(0.05, at(1000, 100), &[100], false).concat();
        assert_eq!(parities.len(), 12);
        assert!(parities.iter().all(|p| p.group.span() <= wire::FEC_MASK));
        let mut protected = sequences(&parities).concat();
        protected.sort_unstable();
        assert!(protected.into_iter().eq(100..148), "as far as a mask reaches");
    }

    #[test]
    fn a_frame_of_which_nothing_arrived_is_restored() {
        let parts = [part(0, 0, 1), part(1, 0, 1), part(2, 0, 1)];
        let mut decoder = FecDecoder::new();
        for (sequence, part) in [(0, parts[0]), (2, parts[2])] {
            assert_eq!(decoder.on_packet(Time::ZERO, &packet(sequence, part, None), 1), None);
        }
        let parity = packet(0, parts[0], Some(group(0, 1, &parts)));
        assert_eq!(decoder.on_packet(Time::ZERO, &parity, 1), Some((1, parts[1])));
    }

    #[test]
    fn one_loss_in_a_group_is_restored_and_two_are_not() {
        let (restored, decoder) = receive(&[0, 1, 3, 4, 5, 10, 11]);
        assert_eq!((restored, decoder.discarded), (vec![2], 1), "no packet of group 11 is missing");
        let (restored, decoder) = receive(&[1, 3, 4, 5, 10, 11]);
        assert_eq!((restored, decoder.waiting.len()), (vec![], 1));
        let (restored, _) = receive(&[0, 4, 5, 3, 10, 11]);
        assert_eq!(restored, [2, 1], "one in each group");
    }

    #[test]
    fn a_group_waits_for_later_packets() {
        let (restored, decoder) = receive(&[10, 11, 0, 1, 4, 5, 3]);
        assert_eq!(
            (restored, decoder.restored),
            (vec![2, 3], 2),
            "packet 3 itself arrives after its restoration"
        );
        assert!(decoder.waiting.is_empty());
    }

    #[test]
    fn duplicates_restore_nothing_twice() {
        let (restored, decoder) = receive(&[0, 0, 10, 10, 4, 4, 2, 10]);
        assert_eq!((restored, decoder.restored, decoder.discarded), (vec![2], 1, 2));
        assert_eq!(decoder.received.packets, 3);
    }

    #[test]
    fn parity_for_decoded_or_old_frames_is_discarded() {
        let parity = |frame| {
            let parts = [0, 1, 2].map(|index| part(frame, index, 3));
            packet(10 * frame, parts[0], Some(group(10 * frame, 1, &parts)))
        };
        let (mut passed, mut old) = (FecDecoder::new(), FecDecoder::new());
        for decoder in [&mut passed, &mut old] {
            decoder.on_packet(Time::ZERO, &parity(0), 0);
            assert_eq!(decoder.waiting.len(), 1);
        }
        passed.on_packet(Time::ZERO, &packet(3, part(1, 0, 1), None), 1);
        old.on_packet(Time::from_secs(4), &packet(3, part(1, 0, 1), None), 0);
        assert!(passed.waiting.is_empty() && old.waiting.is_empty());
        for frame in 1..1000 {
            old.on_packet(Time::ZERO, &parity(frame), 0);
        }
        assert_eq!(old.waiting.len(), MAX_WAITING);
    }
}
