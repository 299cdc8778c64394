//! Hybrid FEC and NACK for video (Janczukowicz 2017 § 2.3.3, after Holmer et al. 2013, "Handling
//! packet loss in WebRTC"). With a short round-trip time retransmission alone is fast enough. Above
//! that, parity packets are sent with every frame, and retransmission repairs what they cannot.
//!
//! The code is RFC 5109's with one level. A frame of k packets (or each block of 48, the longest
//! mask, of a larger frame) gets m = round(factor · k) parity packets. Parity packet j is the XOR
//! of the packets i ≡ j (mod m), and restores one of them if only that one is missing.
//!
//! Parity packets are a separate stream with its own SSRC and sequence numbers (RFC 5109 § 14.1;
//! FlexFEC, RFC 8627, does the same), so that RTCP's loss and NACK concern media only. To RTCP a
//! restored packet remains lost (RFC 3550 § 6.4.1: the network lost it).
//!
//! Missing packets are requested at once, without waiting for parity (as in libwebrtc
//! `modules/video_coding/nack_requester.cc`), unless parity has already restored them.
//!
//! Differences from libwebrtc (`modules/video_coding/media_opt_util.cc`, VCMFecMethod and
//! VCMNackFecMethod):
//!
//! | | here | libwebrtc |
//! |---|---|---|
//! | factor, relative to the media packets | twice the filtered loss, from a fifth to a half | `kFecRateTable` by loss and bits per frame, from 20 % to 50 % of all packets |
//! | key frames | twice that, up to a half | twice that or the table's value; also below the minimum round-trip time |
//! | small frames | no parity if the frame's share rounds to zero | no parity below 400 to 1000 bytes per frame and 200 ms; otherwise parity over up to 6 frames |
//! | groups | every m-th packet | masks for random or for bursty loss |
//! | frames over 48 packets | in blocks | the first 48 packets |
//! | on the wire | a separate stream | in RED (RFC 2198) within the media's stream |

use super::Show;
use super::frame_buffer::Counted;
use super::packetizer::Part;
use crate::payload::{FecGroup, FramePart, Rtp};
use crate::wire;
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// Below this round-trip time only NACK is used (`kLowRttNackMs`, libwebrtc
/// `modules/video_coding/media_opt_util.h`).
const LOW_RTT: Duration = Duration::from_millis(20);
/// The loss is the maximum of the reports in this window (`kMaxFilter` over `kLossPrHistorySize`
/// times `kLossPrShortFilterWinMs`, 10 · 1000 ms: same file, and
/// `modules/video_coding/fec_controller_default.cc`).
const LOSS_WINDOW: Duration = Duration::from_secs(10);
/// Reports of fewer packets are combined, because one loss among three packets says little (20:
/// `kLimitNumPackets`, libwebrtc `goog_cc/send_side_bandwidth_estimation.cc`).
const MIN_EXPECTED: u64 = 20;
/// The ratio of parity to loss. Weir's own choice: a group then loses one packet every second time,
/// and two packets one time in ten.
const FACTOR_PER_LOSS: f64 = 2.0;
/// Minimum factor with any loss (`firstPartitionProt`, 20 %:
/// `modules/video_coding/media_opt_util.cc`).
const MIN_FACTOR: f64 = 0.2;
/// Maximum factor (50 %: same file).
const MAX_FACTOR: f64 = 0.5;
/// The factor's multiple for a key frame (`_scaleProtKey`: same file).
const KEY_BOOST: f64 = 2.0;
/// From this factor on, a frame whose share rounds to zero gets one parity packet
/// (`minProtLevelFec`, 85 of 255: same file).
const AT_LEAST_ONE_FACTOR: f64 = 1.0 / 3.0;

/// The sender's side: determines the protection and holds the parity packets that wait to be sent.
#[derive(Default)]
pub(crate) struct FecEncoder {
    loss: LossFilter,
    waiting: VecDeque<Parity>,
    /// The number of parity packets at the end of `waiting` whose block is not yet completely sent.
    open: usize,
    pub(crate) sent: Counted,
}

/// A parity packet that waits to be sent: the packets that it protects, and the largest of their
/// sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parity {
    pub(crate) group: FecGroup,
    /// The frame, with the index of the first protected packet.
    pub(crate) part: FramePart,
    pub(crate) rtp_timestamp: u64,
    pub(crate) payload: Bytes,
}

impl FecEncoder {
    /// A receiver report arrived.
    pub(crate) fn on_report(&mut self, now: Time, fraction_lost: f64, expected: u64) {
        self.loss.add(now, fraction_lost, expected);
    }

    /// A packet of media is sent for the first time.
    pub(crate) fn on_media(
        &mut self,
        now: Time,
        sequence: u64,
        part: &Part,
        rtt: Option<Duration>,
    ) {
        let position = u64::from(part.part.index) % wire::FEC_MASK;
        if position == 0 {
            let rest = u64::from(part.part.count - part.part.index).min(wire::FEC_MASK);
            let factor =
                factor(self.loss.filtered(now), rtt.unwrap_or(Duration::ZERO), part.part.key);
            self.begin(sequence, part, rest, parity_packets(factor, rest));
        }
        if self.open > 0 {
            let newest = self.waiting.len() - self.open;
            let parity = &mut self.waiting[newest + position as usize % self.open];
            parity.payload = parity.payload.max(wire::FEC_PROTECTED_HEADER + part.payload);
        }
        if part.part.index + 1 == part.part.count || position + 1 == wire::FEC_MASK {
            self.open = 0;
        }
    }

    /// Starts a block of `packets` packets that is protected by `parity` packets.
    fn begin(&mut self, sequence: u64, part: &Part, packets: u64, parity: u64) {
        self.open = parity as usize;
        for offset in 0..parity {
            let count = (packets - offset).div_ceil(parity);
            let group =
                FecGroup { first: sequence + offset, step: narrow(parity), count: narrow(count) };
            let part = Part {
                part: FramePart { index: part.part.index + narrow(offset), ..part.part },
                ..*part
            };
            let (rtp_timestamp, payload) = (part.rtp_timestamp, Bytes::ZERO);
            self.waiting.push_back(Parity { group, part: part.part, rtp_timestamp, payload });
        }
    }

    /// Whether no parity packet is ready to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.len() == self.open
    }

    /// The next parity packet. It follows the last packet of its block.
    pub(crate) fn pop(&mut self) -> Option<Parity> {
        if self.is_empty() { None } else { self.waiting.pop_front() }
    }
}

/// The protection factor: parity packets per media packet.
fn factor(loss: f64, rtt: Duration, key: bool) -> f64 {
    if loss <= 0.0 || rtt < LOW_RTT {
        return 0.0;
    }
    let delta = (FACTOR_PER_LOSS * loss).clamp(MIN_FACTOR, MAX_FACTOR);
    if key { (KEY_BOOST * delta).min(MAX_FACTOR) } else { delta }
}

fn parity_packets(factor: f64, packets: u64) -> u64 {
    let share = (factor * packets as f64).round() as u64;
    share.max(u64::from(factor >= AT_LEAST_ONE_FACTOR)).min(packets)
}

/// Converts a count within a block, which is at most 48.
fn narrow(count: u64) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
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
    part: FramePart,
}

/// The missing packets of a group.
#[derive(Debug, PartialEq, Eq)]
enum Missing {
    None,
    One(u64),
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
        if let Some(group) = packet.fec {
            self.received.add(packet.payload, wire::rtp_header_size(packet));
            if self.waiting.len() == MAX_WAITING {
                self.waiting.pop_front();
                self.discarded += 1;
            }
            self.waiting.push_back(ReceivedParity { at: now, group, part: packet.frame });
        } else {
            self.mark(packet.retransmission_of.unwrap_or(packet.sequence));
        }
        self.restore(now, next_frame)
    }

    /// Tries the waiting parity packets, and keeps those that may still restore a packet.
    fn restore(&mut self, now: Time, next_frame: u64) -> Option<(u64, FramePart)> {
        let (mut restored, mut index) = (None, 0);
        while let Some(parity) = self.waiting.get(index) {
            let late = parity.part.frame < next_frame || now.saturating_since(parity.at) > KEEP;
            match self.missing(&parity.group) {
                Missing::More if !late => {
                    index += 1;
                    continue;
                }
                Missing::One(sequence) if !late => {
                    let index = parity.part.index + narrow(sequence - parity.group.first);
                    restored = Some((sequence, FramePart { index, ..parity.part }));
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
        let mut absent = group
            .sequences()
            .filter(|&sequence| self.seen[(sequence % PACKETS) as usize] != sequence);
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

    const RTT: Option<Duration> = Some(Duration::from_millis(100));

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

    /// Sends a frame of `count` packets at 5 % loss. Returns its parity packets.
    fn protect(count: u16, key: bool) -> Vec<Parity> {
        let mut encoder = FecEncoder::default();
        encoder.on_report(Time::ZERO, 0.05, 100);
        let mut parities = Vec::new();
        for index in 0..count {
            let payload = Bytes::new(1000 + u64::from(index == 1));
            let part = Part {
                part: FramePart { key, ..part(7, index, count) },
                rtp_timestamp: 9,
                payload,
            };
            encoder.on_media(Time::ZERO, 100 + u64::from(index), &part, RTT);
            parities.extend(std::iter::from_fn(|| encoder.pop()));
            assert!(
                index + 1 == count || u64::from(index + 1) >= wire::FEC_MASK || parities.is_empty()
            );
        }
        assert!(encoder.is_empty());
        parities
    }

    /// Receives packets in the given order: 0 to 5 are the media packets of one frame, 10 and 11
    /// the two parity packets that protect it.
    fn receive(order: &[u64]) -> (Vec<u64>, FecDecoder) {
        let (mut decoder, mut restored) = (FecDecoder::new(), Vec::new());
        for &number in order {
            let packet = if number < 10 {
                packet(number, part(0, narrow(number), 6), None)
            } else {
                let first = number - 10;
                packet(
                    first,
                    part(0, narrow(first), 6),
                    Some(FecGroup { first, step: 2, count: 3 }),
                )
            };
            if let Some((sequence, part)) = decoder.on_packet(Time::ZERO, &packet, 0) {
                assert_eq!(u64::from(part.index), sequence);
                restored.push(sequence);
            }
        }
        (restored, decoder)
    }

    #[test]
    fn round_trip_time_and_loss_determine_the_factor() {
        let ms = Duration::from_millis;
        assert_eq!(factor(0.05, ms(19), true), 0.0);
        assert_eq!(factor(0.0, ms(200), true), 0.0);
        assert_eq!(factor(0.01, ms(20), false), 0.2);
        assert_eq!(factor(0.15, ms(20), false), 0.3);
        assert_eq!(factor(0.5, ms(20), false), 0.5);
        assert_eq!(factor(0.01, ms(20), true), 0.4);
        assert_eq!(factor(0.15, ms(20), true), 0.5);
    }

    #[test]
    fn parity_is_rounded_and_at_least_one_from_a_third_on() {
        assert_eq!([1, 2, 3, 8].map(|k| parity_packets(0.2, k)), [0, 0, 1, 2]);
        assert_eq!([1, 2, 3, 8].map(|k| parity_packets(0.4, k)), [1, 1, 1, 3]);
        assert_eq!([1, 2, 3, 8].map(|k| parity_packets(0.5, k)), [1, 1, 2, 4]);
        assert_eq!(parity_packets(0.0, 48), 0);
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
    fn parity_follows_its_frame_and_has_the_size_of_the_largest_packet() {
        let parities = protect(8, false);
        let groups: Vec<_> =
            parities.iter().map(|p| p.group.sequences().collect::<Vec<_>>()).collect();
        assert_eq!(groups, [[100, 102, 104, 106], [101, 103, 105, 107]]);
        assert_eq!(parities.iter().map(|p| p.payload.get()).collect::<Vec<_>>(), [1012, 1013]);
        assert_eq!(parities.iter().map(|p| p.part.index).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(protect(8, true).len(), 3, "a key frame gets twice the factor");
    }

    #[test]
    fn a_large_frame_is_protected_in_blocks_that_fit_a_mask() {
        let parities = protect(100, false);
        assert_eq!(parities.len(), 10 + 10 + 1);
        assert!(parities.iter().all(|p| p.group.span() <= wire::FEC_MASK));
        let mut protected: Vec<u64> = parities.iter().flat_map(|p| p.group.sequences()).collect();
        protected.sort_unstable();
        assert!(protected.into_iter().eq(100..200), "each packet is protected once");
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
        let group = Some(FecGroup { first: 0, step: 1, count: 3 });
        let (mut passed, mut old) = (FecDecoder::new(), FecDecoder::new());
        for decoder in [&mut passed, &mut old] {
            decoder.on_packet(Time::ZERO, &packet(0, part(0, 0, 3), group), 0);
            assert_eq!(decoder.waiting.len(), 1);
        }
        passed.on_packet(Time::ZERO, &packet(3, part(1, 0, 1), None), 1);
        old.on_packet(Time::from_secs(4), &packet(3, part(1, 0, 1), None), 0);
        assert!(passed.waiting.is_empty() && old.waiting.is_empty());
        for number in 0..1000 {
            let group = Some(FecGroup { first: 10 * number, step: 1, count: 3 });
            old.on_packet(Time::ZERO, &packet(number, part(number, 0, 3), group), 0);
        }
        assert_eq!(old.waiting.len(), MAX_WAITING);
    }
}
