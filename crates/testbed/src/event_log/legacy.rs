//! The legacy form (libwebrtc `logging/rtc_event_log/rtc_event_log.proto`): one message per event,
//! with the header of each RTP packet as bytes.

use super::columns::MessageError;
use super::delta::DeltaError;
use super::log::{
    AlrChange, DelayBasedUpdate, DetectorState, EventLog, LossBasedUpdate, ProbeRequest,
    ProbeResult, RtcpPacket, RtpPacket, Stream, StreamKind,
};
use prost::Message;
use std::collections::BTreeMap;
use units::{Bitrate, Bytes, Time};

/// The number of the top-level field of all events.
pub(super) const FIELD: u32 = 1;
/// The name of the extension with the transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 § 2).
const TRANSPORT_SEQUENCE: &str =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
/// The RTP header without CSRC and extensions (RFC 3550 § 5.1).
const RTP_HEADER: usize = 12;
/// The profile of extensions with headers of one byte (RFC 8285 § 4.2).
const ONE_BYTE_PROFILE: u16 = 0xbede;

/// `EventType` of the events that are used.
mod kind {
    pub(super) const BEGIN: u32 = 1;
    pub(super) const END: u32 = 2;
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(int64, optional, tag = "1")]
    timestamp_us: Option<i64>,
    #[prost(uint32, tag = "2")]
    kind: u32,
    #[prost(message, optional, tag = "3")]
    rtp: Option<Rtp>,
    #[prost(message, optional, tag = "4")]
    rtcp: Option<Rtcp>,
    #[prost(message, optional, tag = "6")]
    loss_based: Option<Numbers>,
    #[prost(message, optional, tag = "7")]
    delay_based: Option<Numbers>,
    #[prost(message, optional, tag = "9")]
    video_sent: Option<VideoSent>,
    #[prost(message, optional, tag = "11")]
    audio_sent: Option<AudioSent>,
    #[prost(message, optional, tag = "17")]
    probe_cluster: Option<Numbers>,
    #[prost(message, optional, tag = "18")]
    probe_result: Option<Numbers>,
    #[prost(message, optional, tag = "19")]
    alr: Option<Numbers>,
}

#[derive(Clone, PartialEq, Message)]
struct Rtp {
    #[prost(bool, tag = "1")]
    incoming: bool,
    #[prost(uint32, tag = "3")]
    packet_length: u32,
    #[prost(bytes = "vec", tag = "4")]
    header: Vec<u8>,
    #[prost(int32, optional, tag = "5")]
    probe_cluster_id: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct Rtcp {
    #[prost(bool, tag = "1")]
    incoming: bool,
    #[prost(bytes = "vec", tag = "3")]
    packet_data: Vec<u8>,
}

/// The messages that have only numbers, in the order of their fields.
#[derive(Clone, PartialEq, Message)]
struct Numbers {
    #[prost(uint32, tag = "1")]
    first: u32,
    #[prost(uint32, tag = "2")]
    second: u32,
    #[prost(uint32, tag = "3")]
    third: u32,
    #[prost(uint32, tag = "4")]
    fourth: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Extension {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "2")]
    id: i32,
}

#[derive(Clone, PartialEq, Message)]
struct VideoSent {
    #[prost(uint32, repeated, packed = "false", tag = "1")]
    ssrcs: Vec<u32>,
    #[prost(message, repeated, tag = "2")]
    header_extensions: Vec<Extension>,
    #[prost(uint32, repeated, packed = "false", tag = "3")]
    rtx_ssrcs: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct AudioSent {
    #[prost(uint32, tag = "1")]
    ssrc: u32,
    #[prost(message, repeated, tag = "2")]
    header_extensions: Vec<Extension>,
}

/// Reads events. The configuration of a stream says which extension has the transport-wide sequence
/// number.
#[derive(Default)]
pub(super) struct Legacy {
    transport_extensions: BTreeMap<u32, u8>,
}

impl Legacy {
    /// Adds an event to the log. Returns false if nothing here uses it.
    pub(super) fn take(
        &mut self,
        log: &mut EventLog,
        message: &[u8],
    ) -> Result<bool, MessageError> {
        let event = Event::decode(message)?;
        let missing = MessageError::Column("timestamp_us", DeltaError::Missing);
        let micros = event.timestamp_us.ok_or(missing)?;
        let range = || DeltaError::Range(micros.cast_unsigned());
        let at = u64::try_from(micros).ok().filter(|micros| *micros <= u64::MAX / 1_000);
        let at = at.ok_or_else(|| MessageError::Column("timestamp_us", range()))?;
        let at = Time::from_micros(at);
        if let Some(rtp) = event.rtp {
            let incoming = rtp.incoming;
            let packet = self.packet(at, &rtp)?;
            if incoming { log.received.push(packet) } else { log.sent.push(packet) }
        } else if let Some(Rtcp { incoming, packet_data: bytes }) = event.rtcp {
            let packet = RtcpPacket { at, bytes };
            if incoming { log.rtcp_received.push(packet) } else { log.rtcp_sent.push(packet) }
        } else if let Some(Numbers { first, second, third, .. }) = event.loss_based {
            log.loss_based.push(LossBasedUpdate {
                at,
                rate: bps(first),
                fraction_lost: u8::try_from(second).unwrap_or(u8::MAX),
                packets: third,
            });
        } else if let Some(Numbers { first, second, .. }) = event.delay_based {
            let state = match second {
                0 => DetectorState::Normal,
                1 => DetectorState::Underusing,
                2 => DetectorState::Overusing,
                other => {
                    let range = DeltaError::Range(other.into());
                    return Err(MessageError::Column("detector_state", range));
                }
            };
            log.delay_based.push(DelayBasedUpdate { at, rate: bps(first), state });
        } else if let Some(Numbers { first, second, third, fourth }) = event.probe_cluster {
            log.probes.push(ProbeRequest {
                at,
                id: first,
                rate: bps(second),
                min_packets: third,
                min_bytes: Bytes::new(fourth.into()),
            });
        } else if let Some(Numbers { first, second, third, .. }) = event.probe_result {
            let rate = (second == 0).then(|| bps(third));
            log.probe_results.push(ProbeResult { at, id: first, rate });
        } else if let Some(Numbers { first, .. }) = event.alr {
            log.alr.push(AlrChange { at, in_alr: first != 0 });
        } else if let Some(stream) = event.video_sent {
            self.configure(&stream.ssrcs, &stream.rtx_ssrcs, &stream.header_extensions);
            for (index, &ssrc) in stream.ssrcs.iter().enumerate() {
                let rtx = stream.rtx_ssrcs.get(index).copied();
                log.streams.push(Stream { at, kind: StreamKind::Video, is_sent: true, ssrc, rtx });
            }
        } else if let Some(AudioSent { ssrc, header_extensions }) = event.audio_sent {
            self.configure(&[ssrc], &[], &header_extensions);
            let (kind, rtx) = (StreamKind::Audio, None);
            log.streams.push(Stream { at, kind, is_sent: true, ssrc, rtx });
        } else {
            match event.kind {
                kind::BEGIN => {
                    log.stated_begin.get_or_insert(at);
                }
                kind::END => log.end = Some(at),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn configure(&mut self, ssrcs: &[u32], rtx: &[u32], extensions: &[Extension]) {
        let id = extensions.iter().find(|extension| extension.name == TRANSPORT_SEQUENCE);
        let Some(id) = id.and_then(|extension| u8::try_from(extension.id).ok()) else { return };
        self.transport_extensions.extend(ssrcs.iter().chain(rtx).map(|&ssrc| (ssrc, id)));
    }

    fn packet(&self, at: Time, rtp: &Rtp) -> Result<RtpPacket, MessageError> {
        let cut = MessageError::Column("header", DeltaError::Cut { bits: 8 * rtp.header.len() });
        let header = rtp.header.first_chunk::<RTP_HEADER>().ok_or(cut)?;
        let [first, second, s0, s1, t0, t1, t2, t3, i0, i1, i2, i3] = *header;
        let ssrc = u32::from_be_bytes([i0, i1, i2, i3]);
        let id = self.transport_extensions.get(&ssrc);
        let sequence = id.and_then(|&id| extension(&rtp.header, first, id));
        let payload =
            rtp.packet_length.saturating_sub(u32::try_from(rtp.header.len()).unwrap_or(0));
        Ok(RtpPacket {
            at,
            ssrc,
            size: Bytes::new(rtp.packet_length.into()),
            payload: Bytes::new(payload.into()),
            sequence: u16::from_be_bytes([s0, s1]),
            rtp_timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
            payload_type: second & 0x7f,
            marker: second & 0x80 != 0,
            transport_sequence: sequence,
            probe: rtp.probe_cluster_id.and_then(|id| u32::try_from(id).ok()).filter(|id| *id > 0),
        })
    }
}

/// The two bytes of the extension with this identifier (RFC 8285 § 4.2).
fn extension(header: &[u8], first: u8, wanted: u8) -> Option<u16> {
    if first & 0x10 == 0 {
        return None;
    }
    let rest = header.get(RTP_HEADER + 4 * usize::from(first & 0x0f)..)?;
    let ([p0, p1, l0, l1], rest) = rest.split_first_chunk()?;
    if u16::from_be_bytes([*p0, *p1]) != ONE_BYTE_PROFILE {
        return None;
    }
    let words = usize::from(u16::from_be_bytes([*l0, *l1]));
    let mut rest = rest.get(..4 * words)?;
    while let Some((&byte, after)) = rest.split_first() {
        let (id, length) = (byte >> 4, usize::from(byte & 0x0f) + 1);
        if byte == 0 {
            rest = after;
            continue;
        }
        let (data, after) = after.split_at_checked(length)?;
        if id == wanted {
            return data.try_into().ok().map(u16::from_be_bytes);
        }
        rest = after;
    }
    None
}

fn bps(rate: u32) -> Bitrate {
    Bitrate::from_bps(rate.into())
}
