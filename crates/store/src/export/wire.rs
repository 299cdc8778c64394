//! RTP and RTCP in wire format. The crates `rtc-rtp` and `rtc-rtcp` encode them; this module maps
//! the fields of simulated packets to them. Unwrapped values of the simulation are truncated to the
//! width of their field.

use super::PacketError;
use bytes::{Bytes, BytesMut};
use rtc_rtcp::extended_report::ExtendedReport;
use rtc_rtcp::extended_report::dlrr::{DLRRReport, DLRRReportBlock};
use rtc_rtcp::extended_report::rrt::ReceiverReferenceTimeReportBlock;
use rtc_rtcp::goodbye::Goodbye;
use rtc_rtcp::packet::Packet;
use rtc_rtcp::payload_feedbacks::picture_loss_indication::PictureLossIndication;
use rtc_rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc_rtcp::raw_packet::RawPacket;
use rtc_rtcp::receiver_report::ReceiverReport;
use rtc_rtcp::reception_report::ReceptionReport;
use rtc_rtcp::sender_report::SenderReport;
use rtc_rtcp::transport_feedbacks::transport_layer_cc::{
    PacketStatusChunk, RecvDelta, RunLengthChunk, StatusChunkTypeTcc, StatusVectorChunk,
    SymbolSizeTypeTcc, SymbolTypeTcc, TransportLayerCc,
};
use rtc_rtcp::transport_feedbacks::transport_layer_nack::{NackPair, TransportLayerNack};
use rtc_shared::marshal::Marshal;
use sim::payload::{FecGroup, ReportBlock, Rtcp, Rtp, TransportFeedback};
use sim::wire::feedback::{
    Chunk, DELTA_NANOS, REFERENCE_DELTAS, Status, chunks, deltas, reference_ticks,
};
use units::{Duration, Time};

/// Identifiers of the header extensions. A session negotiates them; these are Chrome's defaults.
const ABS_SEND_TIME: u8 = 2;
const TRANSPORT_SEQUENCE: u8 = 3;
/// The profile of one-byte headers (RFC 8285 § 4.2).
const ONE_BYTE_FORM: u16 = 0xBEDE;

/// The size of a FEC header with a mask of 16 packets, in bytes. The L bit marks a longer mask
/// (RFC 5109 § 7.4).
const SHORT_FEC_HEADER: usize = 14;

/// Encodes an RTP packet. The payload is zeros. The original sequence number of a retransmission
/// and the FEC header of a parity packet precede it.
///
/// # Errors
/// If the packet does not fit the format.
pub fn encode_rtp(packet: &Rtp) -> Result<BytesMut, PacketError> {
    let mut header = rtc_rtp::header::Header {
        version: 2,
        marker: packet.marker,
        payload_type: packet.payload_type & 0x7f,
        sequence_number: low16(packet.sequence),
        timestamp: low32(packet.rtp_timestamp),
        ssrc: packet.ssrc,
        ..Default::default()
    };
    if let Some(sequence) = packet.transport_sequence {
        header.extension = true;
        header.extension_profile = ONE_BYTE_FORM;
        let send_time = sim::wire::abs_send_time(packet.sent);
        let extensions: [(u8, &[u8]); 2] =
            [(ABS_SEND_TIME, &send_time), (TRANSPORT_SEQUENCE, &low16(sequence).to_be_bytes())];
        for (id, payload) in extensions {
            header.set_extension(id, Bytes::copy_from_slice(payload))?;
        }
    }
    let mut payload = BytesMut::new();
    if let Some(original) = packet.retransmission_of {
        payload.extend_from_slice(&low16(original).to_be_bytes());
    }
    if let Some(group) = &packet.fec {
        fec_header(group, packet.payload.get(), &mut payload);
    }
    let length = usize::try_from(packet.payload.get()).unwrap_or(usize::MAX).min(65_000);
    payload.resize(payload.len() + length, 0);
    rtc_rtp::packet::Packet { header, payload: payload.freeze() }
        .marshal()
        .map_err(PacketError::from)
}

/// Appends the FEC header and the level header of a parity packet (RFC 5109 §§ 7.3 and 7.4). The
/// base sequence number, the protection length and the mask are those of the protected packets. The
/// recovery fields are zero, like the payload.
fn fec_header(group: &FecGroup, protected: u64, out: &mut BytesMut) {
    let size = usize::try_from(sim::wire::fec_header_size(group).get()).unwrap_or(usize::MAX);
    let long = size > SHORT_FEC_HEADER;
    let mut header = [0; 18];
    header[0] = if long { 0x40 } else { 0 };
    header[2..4].copy_from_slice(&low16(group.first).to_be_bytes());
    header[10..12].copy_from_slice(&low16(protected).to_be_bytes());
    let packets = group.sequences().map(|sequence| sequence - group.first);
    let mask = packets.fold(0u64, |mask, offset| mask | 1 << 63 >> offset);
    header[12..18].copy_from_slice(&mask.to_be_bytes()[..6]);
    out.extend_from_slice(&header[..size.min(header.len())]);
}

/// Encodes a compound RTCP packet.
///
/// # Errors
/// If a part does not fit the format.
pub fn encode_rtcp(packet: &Rtcp) -> Result<BytesMut, PacketError> {
    rtc_rtcp::packet::marshal(&parts(packet)).map_err(PacketError::from)
}

/// Decodes the parts of a compound RTCP packet.
///
/// # Errors
/// If the bytes are not RTCP.
pub fn decode_rtcp(bytes: &[u8]) -> Result<Vec<Box<dyn Packet>>, PacketError> {
    rtc_rtcp::packet::unmarshal(&mut &bytes[..]).map_err(PacketError::from)
}

fn parts(packet: &Rtcp) -> Vec<Box<dyn Packet>> {
    let mut parts: Vec<Box<dyn Packet>> = Vec::new();
    let (sender_ssrc, media_ssrc) = (packet.ssrc, packet.media_ssrc);
    let reports: Vec<ReceptionReport> =
        packet.report.as_ref().map(report_block).into_iter().collect();
    if let Some(report) = &packet.sender_report {
        parts.push(Box::new(SenderReport {
            ssrc: sender_ssrc,
            ntp_time: ntp(report.sent),
            rtp_time: low32(report.rtp_timestamp),
            packet_count: low32(report.packets),
            octet_count: low32(report.bytes.get()),
            reports,
            ..Default::default()
        }));
    } else if !reports.is_empty() {
        parts.push(Box::new(ReceiverReport { ssrc: sender_ssrc, reports, ..Default::default() }));
    }
    let mut extended: Vec<Box<dyn Packet>> = Vec::new();
    if let Some(reference) = packet.reference_time {
        extended.push(Box::new(ReceiverReferenceTimeReportBlock { ntp_timestamp: ntp(reference) }));
    }
    if let Some((last, delay)) = packet.dlrr {
        let report =
            DLRRReport { ssrc: media_ssrc, last_rr: ntp_middle(last), dlrr: ntp_short(delay) };
        extended.push(Box::new(DLRRReportBlock { reports: vec![report] }));
    }
    if !extended.is_empty() {
        parts.push(Box::new(ExtendedReport { sender_ssrc, reports: extended }));
    }
    if let Some(rate) = packet.remb {
        let bitrate = rate.as_bps() as f32;
        parts.push(Box::new(ReceiverEstimatedMaximumBitrate {
            sender_ssrc,
            bitrate,
            ssrcs: vec![media_ssrc],
        }));
    }
    if let Some(message) = packet.custom {
        // `rtc-rtcp` has no APP packets.
        let bytes = sim::wire::app::encode(sender_ssrc, media_ssrc, &message);
        parts.push(Box::new(RawPacket(Bytes::from(bytes))));
    }
    if !packet.nack.is_empty() {
        let pair = |(first, lost_packets)| NackPair { packet_id: low16(first), lost_packets };
        let nacks = sim::wire::nack_items(&packet.nack).map(pair).collect();
        parts.push(Box::new(TransportLayerNack { sender_ssrc, media_ssrc, nacks }));
    }
    if packet.pli {
        parts.push(Box::new(PictureLossIndication { sender_ssrc, media_ssrc }));
    }
    if packet.bye {
        parts.push(Box::new(Goodbye { sources: vec![sender_ssrc], reason: Bytes::new() }));
    }
    if !packet.transport.arrivals.is_empty() {
        if packet.transport.ecn.is_empty() {
            parts.push(Box::new(transport_feedback(packet, &packet.transport)));
        } else {
            // `rtc-rtcp` has no congestion control feedback.
            let encode = sim::wire::congestion_control::encode;
            let bytes = encode(sender_ssrc, media_ssrc, &packet.transport);
            parts.push(Box::new(RawPacket(Bytes::from(bytes))));
        }
    }
    parts
}

fn report_block(block: &ReportBlock) -> ReceptionReport {
    ReceptionReport {
        ssrc: block.ssrc,
        fraction_lost: block.fraction_lost,
        // 24 bits. A negative number of lost packets (duplicates) is clamped (RFC 3550 § 6.4.1).
        total_lost: u32::try_from(block.cumulative_lost.clamp(0, 0x7f_ffff)).unwrap_or(0),
        last_sequence_number: low32(block.highest_sequence),
        jitter: low32(block.jitter),
        last_sender_report: block.last_sender_report.map_or(0, ntp_middle),
        delay: ntp_short(block.delay_since_last),
    }
}

fn transport_feedback(packet: &Rtcp, feedback: &TransportFeedback) -> TransportLayerCc {
    let recv_delta = |ticks: i64| {
        let type_tcc_packet = symbol(Status::of(Some(ticks)));
        let ticks = ticks.clamp(i64::from(i16::MIN), i64::from(i16::MAX));
        RecvDelta { type_tcc_packet, delta: (DELTA_NANOS / 1000).cast_signed() * ticks }
    };
    TransportLayerCc {
        sender_ssrc: packet.ssrc,
        media_ssrc: packet.media_ssrc,
        base_sequence_number: low16(feedback.base_sequence),
        packet_status_count: low16(feedback.arrivals.len() as u64),
        reference_time: low32((reference_ticks(feedback) / REFERENCE_DELTAS).cast_unsigned())
            & 0xff_ffff,
        fb_pkt_count: feedback.count,
        packet_chunks: chunks(feedback).map(chunk).collect(),
        recv_deltas: deltas(feedback).flatten().map(recv_delta).collect(),
    }
}

fn chunk(chunk: Chunk) -> PacketStatusChunk {
    let vector = |symbol_size, statuses: &[Status]| {
        PacketStatusChunk::StatusVectorChunk(StatusVectorChunk {
            type_tcc: StatusChunkTypeTcc::StatusVectorChunk,
            symbol_size,
            symbol_list: statuses.iter().copied().map(symbol).collect(),
        })
    };
    match chunk {
        Chunk::Run(status, run_length) => PacketStatusChunk::RunLengthChunk(RunLengthChunk {
            type_tcc: StatusChunkTypeTcc::RunLengthChunk,
            packet_status_symbol: symbol(status),
            run_length,
        }),
        Chunk::OneBit(statuses) => vector(SymbolSizeTypeTcc::OneBit, &statuses),
        Chunk::TwoBit(statuses) => vector(SymbolSizeTypeTcc::TwoBit, &statuses),
    }
}

fn symbol(status: Status) -> SymbolTypeTcc {
    match status {
        Status::NotReceived => SymbolTypeTcc::PacketNotReceived,
        Status::SmallDelta => SymbolTypeTcc::PacketReceivedSmallDelta,
        Status::LargeDelta => SymbolTypeTcc::PacketReceivedLargeDelta,
    }
}

/// An NTP time stamp: seconds and 2⁻³² seconds (RFC 5905 § 6). The epoch is the start of the run.
fn ntp(at: Time) -> u64 {
    let (seconds, nanos) = (at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000);
    (seconds << 32) | ((nanos << 32) / 1_000_000_000)
}

/// The middle 32 bits of an NTP time stamp (RFC 3550 § 4).
fn ntp_middle(at: Time) -> u32 {
    low32(ntp(at) >> 16)
}

/// A duration in units of 2⁻¹⁶ s (RFC 3550 § 6.4.1).
fn ntp_short(span: Duration) -> u32 {
    ntp_middle(Time::ZERO + span)
}

#[expect(clippy::cast_possible_truncation, reason = "the wire carries the low bits")]
fn low16(value: u64) -> u16 {
    value as u16
}

#[expect(clippy::cast_possible_truncation, reason = "the wire carries the low bits")]
fn low32(value: u64) -> u32 {
    value as u32
}
