//! The form with columns (libwebrtc `logging/rtc_event_log/rtc_event_log2.proto`): the fields that
//! are used, and their conversion to events.
//!
//! A message has the values of its first event, the number of further events, and one column with
//! the differences of each field. prost skips other fields.

use super::delta::{DeltaError, decode_blobs, decode_deltas};
use super::log::{
    AlrChange, DelayBasedUpdate, DetectorState, EventLog, LossBasedUpdate, ProbeRequest,
    ProbeResult, RouteChange, RtcpPacket, RtpPacket, ScreamUpdate, Stream, StreamKind,
};
use prost::Message;
use units::{Bitrate, Bytes, Time};

/// Numbers of the top-level fields (`EventStream`).
mod field {
    pub(super) const INCOMING_RTP: u32 = 2;
    pub(super) const OUTGOING_RTP: u32 = 3;
    pub(super) const INCOMING_RTCP: u32 = 4;
    pub(super) const OUTGOING_RTCP: u32 = 5;
    pub(super) const BEGIN: u32 = 16;
    pub(super) const END: u32 = 17;
    pub(super) const LOSS_BASED: u32 = 18;
    pub(super) const DELAY_BASED: u32 = 19;
    pub(super) const PROBE_CLUSTER: u32 = 21;
    pub(super) const PROBE_SUCCESS: u32 = 22;
    pub(super) const PROBE_FAILURE: u32 = 23;
    pub(super) const ALR: u32 = 24;
    pub(super) const ROUTE: u32 = 32;
    pub(super) const SCREAM: u32 = 35;
    pub(super) const AUDIO_RECEIVED: u32 = 101;
    pub(super) const AUDIO_SENT: u32 = 102;
    pub(super) const VIDEO_RECEIVED: u32 = 103;
    pub(super) const VIDEO_SENT: u32 = 104;
}

/// The field of the begin of the log, with which a log begins.
pub(super) const BEGIN: u32 = field::BEGIN;
/// The most further events of a batch. libwebrtc writes a batch when it has 10,000 events of all
/// kinds (`logging/rtc_event_log/rtc_event_log_impl.h`, kMaxEventsInHistory).
const MAX_BATCH: u32 = 10_000;

/// `IncomingRtpPackets` and `OutgoingRtpPackets`.
#[derive(Clone, PartialEq, Message)]
struct RtpBatch {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(bool, optional, tag = "2")]
    marker: Option<bool>,
    #[prost(uint32, optional, tag = "3")]
    payload_type: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    sequence_number: Option<u32>,
    #[prost(fixed32, optional, tag = "5")]
    rtp_timestamp: Option<u32>,
    #[prost(fixed32, optional, tag = "6")]
    ssrc: Option<u32>,
    #[prost(uint32, optional, tag = "8")]
    payload_size: Option<u32>,
    #[prost(uint32, optional, tag = "9")]
    header_size: Option<u32>,
    #[prost(uint32, optional, tag = "10")]
    padding_size: Option<u32>,
    #[prost(uint32, tag = "11")]
    number_of_deltas: u32,
    #[prost(uint32, optional, tag = "15")]
    transport_sequence_number: Option<u32>,
    #[prost(bytes = "vec", tag = "101")]
    timestamp_ms_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "102")]
    marker_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "103")]
    payload_type_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "104")]
    sequence_number_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "105")]
    rtp_timestamp_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "106")]
    ssrc_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "108")]
    payload_size_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "109")]
    header_size_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "110")]
    padding_size_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "115")]
    transport_sequence_number_deltas: Vec<u8>,
}

/// `IncomingRtcpPackets` and `OutgoingRtcpPackets`.
#[derive(Clone, PartialEq, Message)]
struct RtcpBatch {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(bytes = "vec", tag = "2")]
    raw_packet: Vec<u8>,
    #[prost(uint32, tag = "3")]
    number_of_deltas: u32,
    #[prost(bytes = "vec", tag = "101")]
    timestamp_ms_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "102")]
    raw_packet_blobs: Vec<u8>,
}

/// `LossBasedBweUpdates`.
#[derive(Clone, PartialEq, Message)]
struct LossBasedBatch {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(uint32, optional, tag = "2")]
    bitrate_bps: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    fraction_loss: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    total_packets: Option<u32>,
    #[prost(uint32, tag = "5")]
    number_of_deltas: u32,
    #[prost(bytes = "vec", tag = "101")]
    timestamp_ms_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "102")]
    bitrate_bps_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "103")]
    fraction_loss_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "104")]
    total_packets_deltas: Vec<u8>,
}

/// `DelayBasedBweUpdates`.
#[derive(Clone, PartialEq, Message)]
struct DelayBasedBatch {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(uint32, optional, tag = "2")]
    bitrate_bps: Option<u32>,
    /// `DetectorState`: 1 normal, 2 under-using, 3 over-using.
    #[prost(uint32, optional, tag = "3")]
    detector_state: Option<u32>,
    #[prost(uint32, tag = "4")]
    number_of_deltas: u32,
    #[prost(bytes = "vec", tag = "101")]
    timestamp_ms_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "102")]
    bitrate_bps_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "103")]
    detector_state_deltas: Vec<u8>,
}

/// `ScreamBweUpdates`.
#[derive(Clone, PartialEq, Message)]
struct ScreamBatch {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(uint32, optional, tag = "2")]
    ref_window_bytes: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    target_rate_kbps: Option<u32>,
    #[prost(uint32, tag = "7")]
    number_of_deltas: u32,
    #[prost(bytes = "vec", tag = "101")]
    timestamp_ms_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "102")]
    ref_window_bytes_deltas: Vec<u8>,
    #[prost(bytes = "vec", tag = "103")]
    target_rate_kbps_deltas: Vec<u8>,
}

/// `BeginLogEvent`, `EndLogEvent`, `AlrState` and `RouteChange`, whose fields have the same types.
#[derive(Clone, PartialEq, Message)]
struct Plain {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    /// Version, whether the sender is in an application-limited region, whether it is connected.
    #[prost(uint32, tag = "2")]
    value: u32,
    /// Milliseconds since 1970, or bytes per packet below RTP.
    #[prost(int64, optional, tag = "3")]
    number: Option<i64>,
}

/// `BweProbeCluster`, `BweProbeResultSuccess` and `BweProbeResultFailure`.
#[derive(Clone, PartialEq, Message)]
struct Probe {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(uint32, tag = "2")]
    id: u32,
    #[prost(uint32, tag = "3")]
    bitrate_bps: u32,
    #[prost(uint32, tag = "4")]
    min_packets: u32,
    #[prost(uint32, tag = "5")]
    min_bytes: u32,
}

/// `VideoSendStreamConfig` and `AudioSendStreamConfig`.
#[derive(Clone, PartialEq, Message)]
struct SentStream {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(uint32, tag = "2")]
    ssrc: u32,
    #[prost(uint32, optional, tag = "3")]
    rtx_ssrc: Option<u32>,
}

/// `VideoRecvStreamConfig` and `AudioRecvStreamConfig`.
#[derive(Clone, PartialEq, Message)]
struct ReceivedStream {
    #[prost(int64, optional, tag = "1")]
    timestamp_ms: Option<i64>,
    #[prost(uint32, tag = "2")]
    remote_ssrc: u32,
    #[prost(uint32, optional, tag = "4")]
    rtx_ssrc: Option<u32>,
}

/// Why a message is not used.
pub(super) enum MessageError {
    /// It is not a message of this field.
    Message(prost::DecodeError),
    /// A column is damaged.
    Column(&'static str, DeltaError),
}

impl From<prost::DecodeError> for MessageError {
    fn from(error: prost::DecodeError) -> Self {
        Self::Message(error)
    }
}

/// The number of further events of a batch, checked.
struct Count(usize);

impl Count {
    fn of(number_of_deltas: u32) -> Result<Self, MessageError> {
        let (count, allowed) = (number_of_deltas, MAX_BATCH);
        if count > allowed {
            return Err(MessageError::Column(
                "number_of_deltas",
                DeltaError::TooMany { count, allowed },
            ));
        }
        Ok(Self(count as usize))
    }

    /// The values of all events, which may be missing.
    fn optional<T: TryFrom<u64>>(
        &self,
        name: &'static str,
        base: Option<u64>,
        column: &[u8],
    ) -> Result<Vec<Option<T>>, MessageError> {
        let deltas = decode_deltas(column, base, self.0)
            .map_err(|error| MessageError::Column(name, error))?;
        let number = |value: u64| {
            T::try_from(value).map_err(|_| MessageError::Column(name, DeltaError::Range(value)))
        };
        let all = std::iter::once(base).chain(deltas);
        all.map(|value| value.map(number).transpose()).collect()
    }

    /// The values of all events.
    fn required<T: TryFrom<u64>>(
        &self,
        name: &'static str,
        base: Option<u32>,
        column: &[u8],
    ) -> Result<Vec<T>, MessageError> {
        let missing = || MessageError::Column(name, DeltaError::Missing);
        let all = self.optional(name, base.map(u64::from), column)?;
        all.into_iter().map(|value| value.ok_or_else(missing)).collect()
    }

    fn times(&self, base: Option<i64>, column: &[u8]) -> Result<Vec<Time>, MessageError> {
        let all = self.optional::<u64>("timestamp_ms", base.map(i64::cast_unsigned), column)?;
        all.into_iter().map(|millis| time(millis.map(u64::cast_signed))).collect()
    }
}

/// An instant of whole milliseconds, not before the clock's zero.
fn time(millis: Option<i64>) -> Result<Time, MessageError> {
    let column = |error| MessageError::Column("timestamp_ms", error);
    let millis = millis.ok_or(column(DeltaError::Missing))?;
    let range = column(DeltaError::Range(millis.cast_unsigned()));
    match u64::try_from(millis) {
        Ok(millis) if millis <= u64::MAX / 1_000_000 => Ok(Time::from_millis(millis)),
        _ => Err(range),
    }
}

fn bps(rate: u32) -> Bitrate {
    Bitrate::from_bps(rate.into())
}

fn bytes(size: u32) -> Bytes {
    Bytes::new(size.into())
}

/// Adds the events of a top-level message to the log. Returns false if nothing here uses the field.
pub(super) fn take(log: &mut EventLog, field: u32, message: &[u8]) -> Result<bool, MessageError> {
    match field {
        field::INCOMING_RTP => rtp(message, &mut log.received)?,
        field::OUTGOING_RTP => rtp(message, &mut log.sent)?,
        field::INCOMING_RTCP => rtcp(message, &mut log.rtcp_received)?,
        field::OUTGOING_RTCP => rtcp(message, &mut log.rtcp_sent)?,
        field::LOSS_BASED => loss_based(message, &mut log.loss_based)?,
        field::DELAY_BASED => delay_based(message, &mut log.delay_based)?,
        field::SCREAM => scream(message, &mut log.scream)?,
        field::BEGIN | field::END | field::ALR | field::ROUTE => plain(message, field, log)?,
        field::PROBE_CLUSTER | field::PROBE_SUCCESS | field::PROBE_FAILURE => {
            probe(message, field, log)?;
        }
        field::AUDIO_SENT | field::VIDEO_SENT => {
            let SentStream { timestamp_ms, ssrc, rtx_ssrc } = SentStream::decode(message)?;
            let kind = kind(field == field::VIDEO_SENT);
            let at = time(timestamp_ms)?;
            log.streams.push(Stream { at, kind, is_sent: true, ssrc, rtx: rtx_ssrc });
        }
        field::AUDIO_RECEIVED | field::VIDEO_RECEIVED => {
            let ReceivedStream { timestamp_ms, remote_ssrc: ssrc, rtx_ssrc } =
                ReceivedStream::decode(message)?;
            let kind = kind(field == field::VIDEO_RECEIVED);
            let at = time(timestamp_ms)?;
            log.streams.push(Stream { at, kind, is_sent: false, ssrc, rtx: rtx_ssrc });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn kind(is_video: bool) -> StreamKind {
    if is_video { StreamKind::Video } else { StreamKind::Audio }
}

fn rtp(message: &[u8], out: &mut Vec<RtpPacket>) -> Result<(), MessageError> {
    let batch = RtpBatch::decode(message)?;
    let count = Count::of(batch.number_of_deltas)?;
    let times = count.times(batch.timestamp_ms, &batch.timestamp_ms_deltas)?;
    let markers: Vec<u8> =
        count.required("marker", batch.marker.map(u32::from), &batch.marker_deltas)?;
    let types: Vec<u8> =
        count.required("payload_type", batch.payload_type, &batch.payload_type_deltas)?;
    let sequences: Vec<u16> =
        count.required("sequence_number", batch.sequence_number, &batch.sequence_number_deltas)?;
    let stamps: Vec<u32> =
        count.required("rtp_timestamp", batch.rtp_timestamp, &batch.rtp_timestamp_deltas)?;
    let ssrcs: Vec<u32> = count.required("ssrc", batch.ssrc, &batch.ssrc_deltas)?;
    let payloads: Vec<u32> =
        count.required("payload_size", batch.payload_size, &batch.payload_size_deltas)?;
    let headers: Vec<u32> =
        count.required("header_size", batch.header_size, &batch.header_size_deltas)?;
    let paddings: Vec<u32> =
        count.required("padding_size", batch.padding_size, &batch.padding_size_deltas)?;
    let transport: Vec<Option<u16>> = count.optional(
        "transport_sequence_number",
        batch.transport_sequence_number.map(u64::from),
        &batch.transport_sequence_number_deltas,
    )?;
    out.extend((0..times.len()).map(|index| RtpPacket {
        at: times[index],
        ssrc: ssrcs[index],
        size: bytes(payloads[index]) + bytes(headers[index]) + bytes(paddings[index]),
        payload: bytes(payloads[index]),
        sequence: sequences[index],
        rtp_timestamp: stamps[index],
        payload_type: types[index],
        marker: markers[index] == 1,
        transport_sequence: transport[index],
        probe: None,
    }));
    Ok(())
}

fn rtcp(message: &[u8], out: &mut Vec<RtcpPacket>) -> Result<(), MessageError> {
    let batch = RtcpBatch::decode(message)?;
    let count = Count::of(batch.number_of_deltas)?;
    let times = count.times(batch.timestamp_ms, &batch.timestamp_ms_deltas)?;
    let blobs = decode_blobs(&batch.raw_packet_blobs, count.0)
        .map_err(|error| MessageError::Column("raw_packet", error))?;
    let packets = std::iter::once(&batch.raw_packet[..]).chain(blobs);
    out.extend(
        times.into_iter().zip(packets).map(|(at, packet)| RtcpPacket { at, bytes: packet.into() }),
    );
    Ok(())
}

fn loss_based(message: &[u8], out: &mut Vec<LossBasedUpdate>) -> Result<(), MessageError> {
    let batch = LossBasedBatch::decode(message)?;
    let count = Count::of(batch.number_of_deltas)?;
    let times = count.times(batch.timestamp_ms, &batch.timestamp_ms_deltas)?;
    let rates: Vec<u32> =
        count.required("bitrate_bps", batch.bitrate_bps, &batch.bitrate_bps_deltas)?;
    let losses: Vec<u8> =
        count.required("fraction_loss", batch.fraction_loss, &batch.fraction_loss_deltas)?;
    let packets: Vec<u32> =
        count.required("total_packets", batch.total_packets, &batch.total_packets_deltas)?;
    out.extend((0..times.len()).map(|index| LossBasedUpdate {
        at: times[index],
        rate: bps(rates[index]),
        fraction_lost: losses[index],
        packets: packets[index],
    }));
    Ok(())
}

fn delay_based(message: &[u8], out: &mut Vec<DelayBasedUpdate>) -> Result<(), MessageError> {
    let batch = DelayBasedBatch::decode(message)?;
    let count = Count::of(batch.number_of_deltas)?;
    let times = count.times(batch.timestamp_ms, &batch.timestamp_ms_deltas)?;
    let rates: Vec<u32> =
        count.required("bitrate_bps", batch.bitrate_bps, &batch.bitrate_bps_deltas)?;
    let states: Vec<u64> =
        count.required("detector_state", batch.detector_state, &batch.detector_state_deltas)?;
    for ((at, rate), state) in times.into_iter().zip(rates).zip(states) {
        let state = match state {
            1 => DetectorState::Normal,
            2 => DetectorState::Underusing,
            3 => DetectorState::Overusing,
            other => return Err(MessageError::Column("detector_state", DeltaError::Range(other))),
        };
        out.push(DelayBasedUpdate { at, rate: bps(rate), state });
    }
    Ok(())
}

fn scream(message: &[u8], out: &mut Vec<ScreamUpdate>) -> Result<(), MessageError> {
    let batch = ScreamBatch::decode(message)?;
    let count = Count::of(batch.number_of_deltas)?;
    let times = count.times(batch.timestamp_ms, &batch.timestamp_ms_deltas)?;
    let windows: Vec<u32> = count.required(
        "ref_window_bytes",
        batch.ref_window_bytes,
        &batch.ref_window_bytes_deltas,
    )?;
    let targets: Vec<u32> = count.required(
        "target_rate_kbps",
        batch.target_rate_kbps,
        &batch.target_rate_kbps_deltas,
    )?;
    out.extend((0..times.len()).map(|index| ScreamUpdate {
        at: times[index],
        target: Bitrate::from_kbps(targets[index].into()),
        window: bytes(windows[index]),
    }));
    Ok(())
}

fn plain(message: &[u8], field: u32, log: &mut EventLog) -> Result<(), MessageError> {
    let Plain { timestamp_ms, value, number } = Plain::decode(message)?;
    let at = time(timestamp_ms)?;
    match field {
        field::BEGIN => {
            log.stated_begin.get_or_insert(at);
            log.begin_unix_millis = log.begin_unix_millis.or(number);
        }
        field::END => log.end = Some(at),
        field::ALR => log.alr.push(AlrChange { at, in_alr: value != 0 }),
        _ => {
            let overhead = u64::try_from(number.unwrap_or(0)).unwrap_or(0);
            let overhead = Bytes::new(overhead.min(u32::MAX.into()));
            log.routes.push(RouteChange { at, connected: value != 0, overhead });
        }
    }
    Ok(())
}

fn probe(message: &[u8], field: u32, log: &mut EventLog) -> Result<(), MessageError> {
    let Probe { timestamp_ms, id, bitrate_bps, min_packets, min_bytes } = Probe::decode(message)?;
    let (at, rate) = (time(timestamp_ms)?, bps(bitrate_bps));
    match field {
        field::PROBE_CLUSTER => {
            let min_bytes = bytes(min_bytes);
            log.probes.push(ProbeRequest { at, id, rate, min_packets, min_bytes });
        }
        // The third field of a failure is the reason.
        _ => {
            let rate = (field == field::PROBE_SUCCESS).then_some(rate);
            log.probe_results.push(ProbeResult { at, id, rate });
        }
    }
    Ok(())
}
