//! A bandwidth state as an application-defined RTCP packet (RFC 3550 § 6.7): the state has no
//! format of its own anywhere.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P|   0     |   PT=204      |             length=5          |
//! |                     SSRC of the packet sender                 |
//! |                      name: "BWST"                             |
//! |                     SSRC of the media source                  |
//! |O|                       reserved                              |
//! |                loss event rate, in 2^-32                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! O is set while the path is over-used. A rate of 1 is sent as the largest number below it.

use cc::BandwidthState;
use units::Ratio;

/// Bytes of the packet.
pub const SIZE: usize = 24;

/// Version 2, no padding, subtype 0; the packet type; and the length in words less one.
const HEADER: [u8; 4] = [0x80, 204, 0, 5];
/// Assigned by nobody: names are the application's.
const NAME: [u8; 4] = *b"BWST";
/// The bit O.
const OVERUSING: u8 = 0x80;
/// The unit of the loss event rate is one part of these.
const PARTS: f64 = 4_294_967_296.0;

/// The packet of `ssrc` about the media source `media_ssrc`.
#[must_use]
pub fn encode(ssrc: u32, media_ssrc: u32, state: BandwidthState) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    // `as` saturates.
    let rate = (state.loss_event_rate.as_f64() * PARTS + 0.5) as u32;
    let words =
        [HEADER, ssrc.to_be_bytes(), NAME, media_ssrc.to_be_bytes(), [0; 4], rate.to_be_bytes()];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word);
    }
    bytes[16] = if state.overusing { OVERUSING } else { 0 };
    bytes
}

/// The media source and the state; `None` if it is another packet.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<(u32, BandwidthState)> {
    let bytes: &[u8; SIZE] = bytes.try_into().ok()?;
    let word = |place: usize| [bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3]];
    if word(0) != HEADER || word(8) != NAME {
        return None;
    }
    let overusing = bytes[16] & OVERUSING != 0;
    let loss_event_rate = Ratio::from_f64(f64::from(u32::from_be_bytes(word(20))) / PARTS);
    Some((u32::from_be_bytes(word(12)), BandwidthState { overusing, loss_event_rate }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_back() {
        for (overusing, rate) in [(true, 0.0), (false, 1.0), (true, 0.1), (false, 1e-9)] {
            let state = BandwidthState { overusing, loss_event_rate: Ratio::from_f64(rate) };
            assert_eq!(decode(&encode(0x1003, 0x1000, state)), Some((0x1000, state)));
        }
    }

    #[test]
    fn other_packets_are_none() {
        let state = BandwidthState { overusing: true, loss_event_rate: Ratio::ZERO };
        let bytes = encode(0x1003, 0x1000, state);
        assert_eq!(bytes[..4], [0x80, 0xcc, 0, 5]);
        assert_eq!(decode(&bytes[..23]), None);
        let mut other = bytes;
        other[8] = b'X';
        assert_eq!(decode(&other), None);
        other = bytes;
        other[1] = 203;
        assert_eq!(decode(&other), None);
    }
}
