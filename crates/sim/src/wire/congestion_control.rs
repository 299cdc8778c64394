//! The wire format of congestion control feedback (RFC 8888 § 3.1): arrival times and ECN fields.
//!
//! Packets are counted by their transport-wide sequence numbers, in one block; RFC 8888 counts the
//! packets of each source by their RTP sequence numbers.

use crate::payload::TransportFeedback;
use net::Ecn;

/// Payload type of transport layer feedback, and its format (RFC 8888 § 3.1).
const RTPFB: u8 = 205;
const CCFB: u8 = 11;
/// The version of RTCP (RFC 3550 § 6.4.1), and the bit of padding, in the first byte.
const VERSION: u8 = 2;
const PADDING: u8 = 0x20;
/// The greatest arrival time offset that is an offset, and what stands for a greater one and for an
/// unknown one (§ 3.1).
const MAX_OFFSET: u16 = 0x1ffd;
const TOO_GREAT: u16 = 0x1ffe;
const UNKNOWN: u16 = 0x1fff;
/// The bit of a packet that was received.
const RECEIVED: u16 = 0x8000;
/// The most packets of a block (§ 3.1).
pub const MAX_PACKETS: usize = 16_384;

/// A message of congestion control feedback (RFC 8888 § 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The source that sends the message.
    pub sender: u32,
    /// The sources that it reports.
    pub blocks: Vec<Block>,
    /// The time of the report: the middle 32 bits of an NTP time stamp.
    pub timestamp: u32,
}

/// The packets of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The source.
    pub source: u32,
    /// The sequence number of the first packet; the others follow modulo 65,536.
    pub begin: u16,
    /// The packets in order of their numbers, at most [`MAX_PACKETS`]; `None` for one that has not
    /// arrived.
    pub packets: Vec<Option<Arrived>>,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The ECN field with which it arrived.
    pub ecn: Ecn,
    /// How long before the report.
    pub offset: Offset,
}

/// The time from an arrival to the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// Units of 1/1024 s, at most 8189.
    Units(u16),
    /// More than 8189/1024 s.
    TooGreat,
    /// Not measured, or after the report.
    Unknown,
}

/// Why bytes are not a message of RFC 8888.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Version, payload type or format are of another message.
    #[error("the header is not that of congestion control feedback (RFC 8888)")]
    Header,
    /// The length in the header, the padding and the blocks do not fit the bytes.
    #[error("the lengths in the message do not fit its {0} bytes")]
    Length(usize),
    /// A block has more packets than § 3.1 allows.
    #[error("a block reports {0} packets, but at most 16384 are allowed")]
    TooManyPackets(u16),
}

impl Report {
    /// Reads a message. The bytes end with it.
    ///
    /// # Errors
    /// If the bytes are another message or damaged.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let damaged = ParseError::Length(bytes.len());
        let (&[first, kind, high, low], _) = bytes.split_first_chunk().ok_or(damaged)?;
        if first >> 6 != VERSION || first & 0x1f != CCFB || kind != RTPFB {
            return Err(ParseError::Header);
        }
        if (usize::from(u16::from_be_bytes([high, low])) + 1) * 4 != bytes.len() {
            return Err(damaged);
        }
        let padding =
            if first & PADDING == 0 { 0 } else { bytes.last().map_or(0, |n| (*n).into()) };
        let end = bytes.len().checked_sub(padding).filter(|end| end % 4 == 0).ok_or(damaged)?;
        let mut words = bytes[4..end.max(4)].as_chunks::<4>().0.iter().copied();
        let mut next = || words.next().ok_or(damaged);
        let sender = u32::from_be_bytes(next()?);
        let mut blocks = Vec::new();
        loop {
            // The last word is the time of the report.
            let word = u32::from_be_bytes(next()?);
            let Ok([begin_high, begin_low, count_high, count_low]) = next() else {
                return Ok(Self { sender, blocks, timestamp: word });
            };
            let count = u16::from_be_bytes([count_high, count_low]);
            if usize::from(count) > MAX_PACKETS {
                return Err(ParseError::TooManyPackets(count));
            }
            let mut packets = Vec::new();
            while packets.len() < usize::from(count) {
                let [a, b, c, d] = next()?;
                packets.extend([[a, b], [c, d]].map(|field| arrived(u16::from_be_bytes(field))));
            }
            packets.truncate(count.into());
            let begin = u16::from_be_bytes([begin_high, begin_low]);
            blocks.push(Block { source: word, begin, packets });
        }
    }

    /// The bytes of the message. A block is cut off after [`MAX_PACKETS`].
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION << 6 | CCFB, RTPFB, 0, 0];
        bytes.extend(self.sender.to_be_bytes());
        for block in &self.blocks {
            let packets = &block.packets[..block.packets.len().min(MAX_PACKETS)];
            bytes.extend(block.source.to_be_bytes());
            bytes.extend(block.begin.to_be_bytes());
            bytes.extend((packets.len() as u16).to_be_bytes());
            packets.iter().for_each(|packet| bytes.extend(field(packet.as_ref()).to_be_bytes()));
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes.extend(self.timestamp.to_be_bytes());
        let words = (bytes.len() / 4 - 1) as u16;
        bytes[2..4].copy_from_slice(&words.to_be_bytes());
        bytes
    }
}

/// The 16 bits of a packet.
fn field(packet: Option<&Arrived>) -> u16 {
    packet.map_or(0, |Arrived { ecn, offset }| {
        let offset = match *offset {
            Offset::Units(units) => units.min(MAX_OFFSET),
            Offset::TooGreat => TOO_GREAT,
            Offset::Unknown => UNKNOWN,
        };
        RECEIVED | ecn_bits(*ecn) << 13 | offset
    })
}

/// The packet of 16 bits; `None` if it has not arrived.
fn arrived(field: u16) -> Option<Arrived> {
    if field & RECEIVED == 0 {
        return None;
    }
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(field >> 13 & 3)];
    let offset = match field & UNKNOWN {
        UNKNOWN => Offset::Unknown,
        TOO_GREAT => Offset::TooGreat,
        units => Offset::Units(units),
    };
    Some(Arrived { ecn, offset })
}

/// The two bits of an ECN field (RFC 3168 § 5).
const fn ecn_bits(ecn: Ecn) -> u16 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

/// The size of the message in bytes: header, source and time stamp, and a block of 8 bytes with 2
/// for each packet, padded to a multiple of 4.
pub(super) fn size(feedback: &TransportFeedback) -> u64 {
    20 + (2 * feedback.arrivals.len() as u64).next_multiple_of(4)
}

/// The bytes of the message from `sender` about `media`. `feedback` has an ECN field for each
/// packet.
#[must_use]
pub fn encode(sender: u32, media: u32, feedback: &TransportFeedback) -> Vec<u8> {
    let packet = |(arrival, &ecn): (&Option<units::Time>, &Ecn)| {
        arrival.map(|arrival| {
            let before = feedback.reported.saturating_since(arrival).as_nanos();
            let units = u16::try_from(u128::from(before) * 1024 / 1_000_000_000).ok();
            let small = units.filter(|units| *units <= MAX_OFFSET);
            Arrived { ecn, offset: small.map_or(Offset::TooGreat, Offset::Units) }
        })
    };
    let packets = feedback.arrivals.iter().zip(&feedback.ecn).map(packet).collect();
    let block = Block { source: media, begin: feedback.base_sequence as u16, packets };
    let nanos = u128::from(feedback.reported.as_nanos());
    let timestamp = ((nanos << 16) / 1_000_000_000) as u32;
    Report { sender, blocks: vec![block], timestamp }.encode()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    #[test]
    fn a_message_has_a_block_of_two_bytes_per_packet() {
        let feedback = TransportFeedback {
            base_sequence: 0x1_0005,
            count: 0,
            arrivals: vec![Some(Time::from_millis(1_500)), None, Some(Time::from_secs(2))],
            ecn: vec![Ecn::Ce, Ecn::NotEct, Ecn::Ect1],
            reported: Time::from_secs(2),
        };
        let bytes = encode(1, 2, &feedback);
        assert_eq!(bytes.len() as u64, size(&feedback));
        let expected: [u8; 28] = [
            0x8b, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 3, // header, sources, numbers
            0xe2, 0x00, 0, 0, 0xa0, 0x00, 0, 0, // CE 512/1024 s before, lost, ECT(1), padding
            0, 2, 0, 0, // 2 s
        ];
        assert_eq!(bytes, expected);
        let report = Report::parse(&bytes).unwrap();
        let ce = Arrived { ecn: Ecn::Ce, offset: Offset::Units(512) };
        let ect1 = Arrived { ecn: Ecn::Ect1, offset: Offset::Units(0) };
        let block = Block { source: 2, begin: 5, packets: vec![Some(ce), None, Some(ect1)] };
        assert_eq!(report, Report { sender: 1, blocks: vec![block], timestamp: 2 << 16 });
        let late = TransportFeedback { reported: Time::from_secs(60), ..feedback };
        assert_eq!(encode(1, 2, &late)[16..18], [0xff, 0xfe], "too long ago");
    }

    #[test]
    fn several_blocks_and_padding_are_read_and_damage_is_refused() {
        let unknown = Some(Arrived { ecn: Ecn::Ect0, offset: Offset::Unknown });
        let report = Report {
            sender: 7,
            blocks: vec![
                Block { source: 8, begin: 0xffff, packets: vec![None, unknown] },
                Block { source: 9, begin: 3, packets: Vec::new() },
            ],
            timestamp: 0xdead_beef,
        };
        let bytes = report.encode();
        assert_eq!(Report::parse(&bytes), Ok(report.clone()));
        let mut padded = bytes.clone();
        padded.extend([0, 0, 0, 4]);
        (padded[0], padded[3]) = (padded[0] | PADDING, padded[3] + 1);
        assert_eq!(Report::parse(&padded), Ok(report));
        for cut in 1..bytes.len() {
            assert!(Report::parse(&bytes[..cut]).is_err(), "{cut}");
        }
        let with = |index: usize, value: u8| {
            let mut wrong = bytes.clone();
            wrong[index] = value;
            Report::parse(&wrong)
        };
        assert_eq!(with(1, 206), Err(ParseError::Header));
        assert_eq!(with(3, 1), Err(ParseError::Length(bytes.len())));
        assert_eq!(with(15, 99), Err(ParseError::Length(bytes.len())));
        assert_eq!(with(14, 0x50), Err(ParseError::TooManyPackets(0x5002)));
    }
}
