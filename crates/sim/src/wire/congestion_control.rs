//! The wire format of congestion control feedback (RFC 8888 § 3.1): arrival times and ECN fields.
//!
//! Packets are counted by their transport-wide sequence numbers, in one block; RFC 8888 counts the
//! packets of each source by their RTP sequence numbers.

use crate::payload::TransportFeedback;
use net::Ecn;

/// Payload type of transport layer feedback, and its format (RFC 8888 § 3.1).
const RTPFB: u8 = 205;
const CCFB: u8 = 11;
/// The greatest arrival time offset that is an offset, and what stands for a greater one (§ 3.1).
const MAX_OFFSET: u64 = 0x1ffd;
const TOO_GREAT: u16 = 0x1ffe;
/// The bit of a packet that was received.
const RECEIVED: u16 = 0x8000;

/// The size of the message in bytes: header, source and time stamp, and a block of 8 bytes with 2
/// for each packet, padded to a multiple of 4.
pub(super) fn size(feedback: &TransportFeedback) -> u64 {
    20 + (2 * feedback.arrivals.len() as u64).next_multiple_of(4)
}

/// The bytes of the message from `sender` about `media`. `feedback` has an ECN field for each
/// packet.
#[must_use]
pub fn encode(sender: u32, media: u32, feedback: &TransportFeedback) -> Vec<u8> {
    let words = size(feedback) / 4 - 1;
    let mut bytes = vec![0x80 | CCFB, RTPFB];
    bytes.extend((words as u16).to_be_bytes());
    bytes.extend(sender.to_be_bytes());
    bytes.extend(media.to_be_bytes());
    bytes.extend((feedback.base_sequence as u16).to_be_bytes());
    bytes.extend((feedback.arrivals.len() as u16).to_be_bytes());
    for (arrival, &ecn) in feedback.arrivals.iter().zip(&feedback.ecn) {
        let block = arrival.map_or(0, |arrival| {
            let offset = feedback.reported.saturating_since(arrival).as_nanos();
            let offset = u128::from(offset) * 1024 / 1_000_000_000;
            let small = u64::try_from(offset).ok().filter(|offset| *offset <= MAX_OFFSET);
            RECEIVED | field(ecn) << 13 | small.map_or(TOO_GREAT, |offset| offset as u16)
        });
        bytes.extend(block.to_be_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let nanos = u128::from(feedback.reported.as_nanos());
    bytes.extend((((nanos << 16) / 1_000_000_000) as u32).to_be_bytes());
    bytes
}

/// The two bits of an ECN field (RFC 3168 § 5).
fn field(ecn: Ecn) -> u16 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
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
        let late = TransportFeedback { reported: Time::from_secs(60), ..feedback };
        assert_eq!(encode(1, 2, &late)[16..18], [0xff, 0xfe], "too long ago");
    }
}
