//! One direction of a call: what its sender and its receiver do, each sans-IO. A packet comes in
//! with a time, packets go out through [`Outbox`], and `next_wake` says when the next thing is due.

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
pub use pacer::{Grant, Pacer};
pub use protection::ProtectionShare;
pub(crate) use receiver::MediaReceiver;
pub use reception::Reception;
pub use report_timer::ReportTimer;
pub(crate) use room::Room;
pub(crate) use sender::{MediaSender, Reported};

use crate::payload::{Rtcp, Rtp};
use circuit_breaker::Breaker;
use net::Dscp;
use units::{Duration, Time};

/// Where an endpoint puts what it wants sent; the simulation turns it into packets of the network.
pub(crate) trait Outbox {
    /// Sends an RTP packet.
    fn rtp(&mut self, now: Time, packet: Rtp, dscp: Dscp);
    /// Sends a compound RTCP packet.
    fn rtcp(&mut self, now: Time, packet: Rtcp);
}

/// Why an end gave the call up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// A circuit breaker tripped (RFC 8083).
    CircuitBreaker(Breaker),
    /// Nothing came for this long, or a round trip took as long.
    MediaTimeout(Duration),
    /// The other end left (RFC 3550 § 6.6), or the call's other direction was given up.
    Left,
}

/// A counter or signal shown to whoever samples.
pub(crate) type Show<'a> = dyn FnMut(&'static str, f64) + 'a;

/// Payload types on the wire (dynamic range of RFC 3551 § 3; the numbers are Chrome's, Jansen 2016
/// § 7-2-2).
pub(crate) const VIDEO_PAYLOAD_TYPE: u8 = 100;
/// Retransmissions (RFC 4588).
pub(crate) const RTX_PAYLOAD_TYPE: u8 = 96;
/// Parity (RFC 5109).
pub(crate) const FEC_PAYLOAD_TYPE: u8 = 117;
/// Opus.
pub(crate) const OPUS_PAYLOAD_TYPE: u8 = 111;
/// AMR, which browsers do not have: any of the dynamic range that is free.
pub(crate) const AMR_PAYLOAD_TYPE: u8 = 97;

/// The synchronisation sources of one direction: video, its retransmissions, audio, the receiver's
/// own, and parity over video.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) video: u32,
    pub(crate) rtx: u32,
    pub(crate) audio: u32,
    pub(crate) receiver: u32,
    pub(crate) fec: u32,
}

impl Sources {
    /// The sources of the run's leg with the given place.
    pub(crate) fn of_place(leg: usize) -> Self {
        let leg = u32::try_from(leg).unwrap_or(u32::MAX);
        let base = 0x1000 + leg * 0x10;
        Self { video: base, rtx: base + 1, audio: base + 2, receiver: base + 3, fec: base + 4 }
    }
}

/// The earlier of two optional instants.
pub(crate) fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Round-trip time assumed before any was measured (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
pub(crate) const DEFAULT_RTT: Duration = Duration::from_millis(200);
