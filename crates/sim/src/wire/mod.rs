//! The sizes of RTP and RTCP packets on the wire. The bytes are made only for captures, by the
//! laboratory's export; a test there checks that the sizes agree.
//!
//! SRTP and SRTCP (RFC 3711) would add 10 to 14 bytes of authentication. They are not counted,
//! because the papers and webrtc-stats do not count them.

pub mod app;
pub mod congestion_control;
pub mod feedback;
mod size;

pub use size::{FEC_MASK, fec_header_size, nack_items, rtcp_size, rtp_header_size, rtp_size};

use units::{Bytes, Time};

/// The headers of UDP (RFC 768: 8 bytes) and IPv4 without options (RFC 791: 20 bytes).
pub const UDP_IPV4_OVERHEAD: Bytes = Bytes::new(28);

/// The RTP header of a first transmission of video: 12 bytes, plus 12 of header extensions.
pub const VIDEO_HEADER: Bytes = Bytes::new(24);

/// The RTP header of audio under congestion control: the same as for video.
pub const AUDIO_HEADER: Bytes = VIDEO_HEADER;

/// The part of a video packet's header that parity protects: the extensions, which count as payload
/// (RFC 5109 § 7.3, length recovery).
pub const FEC_PROTECTED_HEADER: Bytes = Bytes::new(12);

/// The maximum by which a parity packet exceeds the longest packet that it protects: the FEC header
/// with the long mask, and the protected header extensions.
pub const FEC_OVERHEAD: Bytes = Bytes::new(30);

/// Ticks per second of the absolute send time: 6.18 bit fixed point
/// (<https://webrtc.googlesource.com/src/+/main/docs/native-code/rtp-hdrext/abs-send-time>).
pub const ABS_SEND_TIME_SECOND: u64 = 1 << 18;

/// The absolute send time of a packet that leaves at `sent`, modulo 64 s.
#[must_use]
pub fn abs_send_time(sent: Time) -> [u8; 3] {
    let ticks = u128::from(sent.as_nanos()) * u128::from(ABS_SEND_TIME_SECOND) / 1_000_000_000;
    let [.., high, middle, low] = ticks.to_be_bytes();
    [high, middle, low]
}
