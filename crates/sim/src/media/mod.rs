//! One direction of a call: its sender and its receiver, both sans-IO. Packets come in with a time,
//! packets go out through [`Outbox`], and `next_wake` returns when the next call of `wake` is due.

mod allocation;
mod circuit_breaker;
mod fec;
mod forwarder;
mod frame_buffer;
mod history;
mod media_timeout;
mod nack;
mod pacer;
mod packetizer;
mod protection;
mod receiver;
mod reception;
mod report_timer;
mod room;
mod sender;
mod transport_log;

pub(crate) use forwarder::Forwarder;
pub use nack::NackList;
pub use pacer::{Backlog, Grant, Grouping, Pacer};
pub use protection::ProtectionShare;
pub(crate) use receiver::MediaReceiver;
pub use reception::Reception;
pub use report_timer::ReportTimer;
pub(crate) use room::Room;
pub(crate) use sender::{MediaSender, Reported};

pub(crate) use crate::endpoint::{Show, earlier};
use crate::payload::{Rtcp, Rtp};
use circuit_breaker::Breaker;
use net::Dscp;
use units::{Duration, Time};

/// Takes the packets that an endpoint sends. The simulation turns them into packets of the network.
pub(crate) trait Outbox {
    /// Sends an RTP packet.
    fn rtp(&mut self, now: Time, packet: &Rtp, dscp: Dscp);
    /// Sends a compound RTCP packet.
    fn rtcp(&mut self, now: Time, packet: Rtcp);
}

/// Why an end ended the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// A circuit breaker tripped (RFC 8083).
    CircuitBreaker(Breaker),
    /// Nothing arrived for this long, or a round trip took this long.
    MediaTimeout(Duration),
    /// The other end left (BYE, RFC 3550 § 6.6), or the reverse direction of the call ended.
    Left,
}

/// The payload type of video on the wire (dynamic range of RFC 3551 § 3; the numbers are Chrome's,
/// Jansen 2016 § 7-2-2).
pub(crate) const VIDEO_PAYLOAD_TYPE: u8 = 100;
/// Retransmissions (RFC 4588).
pub(crate) const RTX_PAYLOAD_TYPE: u8 = 96;
/// Parity (RFC 5109).
pub(crate) const FEC_PAYLOAD_TYPE: u8 = 117;
/// Opus.
pub(crate) const OPUS_PAYLOAD_TYPE: u8 = 111;
/// AMR, which browsers do not support: a free number of the dynamic range.
pub(crate) const AMR_PAYLOAD_TYPE: u8 = 97;

/// The synchronisation sources (SSRCs) of one direction: video, its retransmissions, audio, the
/// receiver's own, and parity over video.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) video: u32,
    pub(crate) rtx: u32,
    pub(crate) audio: u32,
    pub(crate) receiver: u32,
    pub(crate) fec: u32,
}

impl Sources {
    /// The SSRCs of the session with this index.
    pub(crate) fn of_session(session: usize) -> Self {
        let session = u32::try_from(session).unwrap_or(u32::MAX);
        let base = 0x1000 + session * 0x10;
        Self { video: base, rtx: base + 1, audio: base + 2, receiver: base + 3, fec: base + 4 }
    }
}

/// The round-trip time assumed before the first measurement (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
pub(crate) const DEFAULT_RTT: Duration = Duration::from_millis(200);
