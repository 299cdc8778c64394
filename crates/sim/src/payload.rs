//! Packet payloads: RTP media and compound RTCP, as plain structs. They are encoded as bytes only
//! for a capture, by the laboratory's export. Their sizes are computed by [`crate::wire`].

use cc::CustomFeedback;
use net::Ecn;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Time};

/// An RTP packet (RFC 3550 § 5.1) with the header extensions that WebRTC negotiates here:
/// transport-wide sequence number and abs-send-time (one-byte form, RFC 8285 § 4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rtp {
    /// Synchronisation source.
    pub ssrc: u32,
    /// Payload type.
    pub payload_type: u8,
    /// Sequence number, unwrapped; its lower 16 bits go on the wire.
    pub sequence: u64,
    /// RTP timestamp, unwrapped: 90 kHz for video, 48 kHz for Opus, 8 kHz for AMR.
    pub rtp_timestamp: u64,
    /// Set on the last packet of a video frame and on the first of a talk-spurt (RFC 3551 § 4.1).
    pub marker: bool,
    /// Payload bytes, without header and extensions.
    pub payload: Bytes,
    /// Transport-wide sequence number, unwrapped, if the packet is under congestion control.
    pub transport_sequence: Option<u64>,
    /// When the packet left the pacer (abs-send-time).
    pub sent: Time,
    /// In a retransmission (RFC 4588): the original's sequence number, carried in two bytes before
    /// the payload.
    pub retransmission_of: Option<u64>,
    /// The probe cluster of the packet; not on the wire.
    pub probe: Option<u32>,
    /// Padding only (RFC 3550 § 5.1, P bit), as a probe cluster without media sends.
    pub padding: bool,
    /// In a parity packet (RFC 5109 § 7.3): the packets that it protects.
    pub fec: Option<FecGroup>,
    /// The ECN field, in the IP header: on departure what the sender chose, on arrival what the
    /// network left of it.
    pub ecn: Ecn,
    /// The frame that the packet is a part of; not on the wire (a real receiver reads the payload
    /// descriptor). An audio packet is a whole frame: only its capture time is used, and its
    /// `count` is 0.
    pub frame: FramePart,
}

/// The packets that a parity packet protects: first, first + step, … (the base and the mask of RFC
/// 5109 §§ 7.3 and 7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FecGroup {
    /// The sequence number of the first packet, unwrapped.
    pub first: u64,
    /// The distance between consecutive packets, at least 1.
    pub step: u64,
    /// The positions of the packets in their frames, at least one; not on the wire (a real receiver
    /// reads them in the restored packets).
    pub parts: Arc<[FramePart]>,
}

impl FecGroup {
    /// The sequence number of the protected packet with this index.
    #[must_use]
    pub fn sequence(&self, index: usize) -> u64 {
        self.first + index as u64 * self.step
    }

    /// The sequence numbers of the protected packets.
    pub fn sequences(&self) -> impl Iterator<Item = u64> {
        (0..self.parts.len()).map(|index| self.sequence(index))
    }

    /// The length of the mask, from the first packet to the last.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.parts.len().saturating_sub(1) as u64 * self.step + 1
    }
}

/// The position of a packet in its frame, as in the payload descriptor (RFC 7741 § 4.2 for VP8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FramePart {
    /// The frame's number, from 0.
    pub frame: u64,
    /// The packet's index in the frame, from 0.
    pub index: u16,
    /// The number of packets in the frame.
    pub count: u16,
    /// Whether the frame is a key frame.
    pub key: bool,
    /// The picture's width in pixels.
    pub width: u16,
    /// The picture's height in pixels.
    pub height: u16,
    /// When the frame was captured, for the frame's delay.
    pub captured: Time,
}

/// A sender report's time stamps and counts (RFC 3550 § 6.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderReport {
    /// When the report was sent, on the sender's clock (the NTP time stamp).
    pub sent: Time,
    /// RTP timestamp of that instant.
    pub rtp_timestamp: u64,
    /// Packets sent so far.
    pub packets: u64,
    /// Payload bytes sent so far.
    pub bytes: Bytes,
}

/// A report block (RFC 3550 § 6.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportBlock {
    /// The source that the block reports on.
    pub ssrc: u32,
    /// Fraction lost since the last report, in 256ths.
    pub fraction_lost: u8,
    /// Packets lost since the start; negative if there were duplicates.
    pub cumulative_lost: i64,
    /// Highest sequence number received, unwrapped.
    pub highest_sequence: u64,
    /// Interarrival jitter in RTP timestamp units.
    pub jitter: u64,
    /// The NTP time stamp of the last sender report, if one arrived.
    pub last_sender_report: Option<Time>,
    /// The time since that report arrived.
    pub delay_since_last: Duration,
    /// Packets expected since the last block; not on the wire (a sender derives it from
    /// highest_sequence).
    pub expected: u64,
}

/// Feedback per packet: arrival times of consecutive sequence numbers. Transport-wide feedback
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 § 3.1), or if ECN-capable packets arrived
/// congestion control feedback (RFC 8888).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportFeedback {
    /// The first sequence number reported on, unwrapped.
    pub base_sequence: u64,
    /// Counts feedback packets.
    pub count: u8,
    /// Arrival times of base, base + 1, … on the receiver's clock; `None` if not received.
    pub arrivals: Vec<Option<Time>>,
    /// The ECN field of each packet; empty in transport-wide feedback, which carries none.
    pub ecn: Vec<Ecn>,
    /// When the message was made.
    pub reported: Time,
}

/// A compound RTCP packet: the parts that are present, in their order on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rtcp {
    /// The source of the packet's sender.
    pub ssrc: u32,
    /// Sender report.
    pub sender_report: Option<SenderReport>,
    /// Report block: in the sender report if there is one, else in a receiver report.
    pub report: Option<ReportBlock>,
    /// Receiver reference time (RFC 3611 § 4.4).
    pub reference_time: Option<Time>,
    /// DLRR (RFC 3611 § 4.5): the last reference time received, and the time since its arrival.
    pub dlrr: Option<(Time, Duration)>,
    /// Receiver estimated maximum bitrate (draft-alvestrand-rmcat-remb-03).
    pub remb: Option<Bitrate>,
    /// The controller's own feedback message, in an APP packet ([`crate::wire::app`]).
    pub custom: Option<CustomFeedback>,
    /// The media source that feedback (REMB, the custom message, NACK, PLI, transport feedback) is
    /// about.
    pub media_ssrc: u32,
    /// Generic NACK (RFC 4585 § 6.2.1): the requested sequence numbers, ascending, unwrapped.
    pub nack: Vec<u64>,
    /// Picture loss indication (RFC 4585 § 6.3.1).
    pub pli: bool,
    /// Transport-wide feedback; `arrivals` is empty if there is none.
    pub transport: TransportFeedback,
    /// The sender of this packet leaves the call (BYE, RFC 3550 § 6.6).
    pub bye: bool,
}
