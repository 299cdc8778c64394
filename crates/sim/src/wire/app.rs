//! A controller's own feedback message as an application-defined RTCP packet (APP, RFC 3550 § 6.7).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|   0     |   PT=204      |             length            |
//! |                     SSRC of the packet sender                 |
//! |                      name (ASCII)                             |
//! |                     SSRC of the media source                  |
//! |                   the controller's data, 0 to 32 bytes       ...
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The SSRC of the media source is the first word of the application-dependent data.

use cc::CustomFeedback;

/// Bytes before the controller's data.
const HEADER: usize = 16;
/// Version 2, no padding, subtype 0; and the packet type.
const START: [u8; 2] = [0x80, 204];

/// Length of the packet that carries `message`, in bytes.
#[must_use]
pub fn size(message: &CustomFeedback) -> usize {
    HEADER + message.data().len()
}

/// The packet that `ssrc` sends about the media source `media_ssrc`.
#[must_use]
pub fn encode(ssrc: u32, media_ssrc: u32, message: &CustomFeedback) -> Vec<u8> {
    // RFC 3550 § 6.4.1: in 32-bit words, minus one.
    let length = (size(message) / 4 - 1) as u16;
    let mut bytes = Vec::with_capacity(size(message));
    bytes.extend(START);
    bytes.extend(length.to_be_bytes());
    bytes.extend(ssrc.to_be_bytes());
    bytes.extend(message.name());
    bytes.extend(media_ssrc.to_be_bytes());
    bytes.extend(message.data());
    bytes
}

/// The media source and the message; `None` if the packet is not an APP packet of this form.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<(u32, CustomFeedback)> {
    let (header, data) = bytes.split_first_chunk::<HEADER>()?;
    let word = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header[..2] != START || bytes.len() != 4 * (length + 1) {
        return None;
    }
    Some((u32::from_be_bytes(word(12)), CustomFeedback::from_slice(word(8), data)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back() {
        let messages = [
            CustomFeedback::new(*b"NONE", []),
            CustomFeedback::new(*b"BWST", [0x80, 0, 0, 0, 1, 2, 3, 4]),
            CustomFeedback::new(*b"LONG", [7; CustomFeedback::MAX_DATA]),
        ];
        for message in messages {
            let bytes = encode(0x1003, 0x1000, &message);
            assert_eq!(bytes.len(), size(&message));
            assert_eq!(decode(&bytes), Some((0x1000, message)));
        }
    }

    #[test]
    fn the_bytes_are_those_of_an_app_packet() {
        let message = CustomFeedback::new(*b"BWST", [0x80, 0, 0, 0, 1, 2, 3, 4]);
        let expected = *b"\x80\xcc\x00\x05\x00\x00\x10\x03BWST\x00\x00\x10\x00\x80\x00\x00\x00\x01\x02\x03\x04";
        assert_eq!(encode(0x1003, 0x1000, &message), expected);
    }

    #[test]
    fn other_packets_are_none() {
        let bytes = encode(0x1003, 0x1000, &CustomFeedback::new(*b"BWST", [0; 8]));
        assert_eq!(decode(&bytes[..23]), None);
        assert_eq!(decode(&bytes[..12]), None);
        let mut other = bytes.clone();
        other[1] = 203;
        assert_eq!(decode(&other), None);
        // A subtype, and a length that is not the packet's.
        for (index, value) in [(0, 0x81), (3, 6)] {
            other = bytes.clone();
            other[index] = value;
            assert_eq!(decode(&other), None);
        }
        // More data than a message holds.
        let mut long = [bytes, vec![0; CustomFeedback::MAX_DATA]].concat();
        long[3] += 8;
        assert_eq!(decode(&long), None);
    }
}
