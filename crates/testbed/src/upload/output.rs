//! The output of upload clients and servers: one JSON object per line.

use emulator::TcpInfo;
use schemars::JsonSchema;
use serde::Serialize;

/// One line of output.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum UploadLine {
    /// A sample of a client.
    Sender(SenderSample),
    /// A sample of a server, for one client.
    Receiver(ReceiverSample),
    /// An event.
    Event(UploadEvent),
}

/// A sample of a client's connection. The members are named and measured like the columns of TCP in
/// `docs/COLUMNS.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SenderSample {
    /// CLOCK_MONOTONIC in ns.
    pub at: u64,
    /// Payload with retransmissions, in bytes.
    pub bytes_sent: u64,
    /// Segments with data, with retransmissions.
    pub packets_sent: u64,
    /// Retransmitted payload, in bytes.
    pub retransmitted_bytes_sent: u64,
    /// Retransmitted segments.
    pub retransmitted_packets_sent: u64,
    /// Payload acknowledged in order, in bytes.
    pub bytes_acknowledged: u64,
    /// In bytes.
    pub congestion_window: u64,
    /// In bytes; absent before the first reduction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_threshold: Option<u64>,
    /// Estimated bytes in the network.
    pub bytes_in_flight: u64,
    /// Bytes that were sent and are not acknowledged in order.
    pub unack_data: u64,
    /// In bytes.
    pub receiver_window: u64,
    /// In seconds; the kernel reports only the smoothed value.
    pub round_trip_time: f64,
    /// In seconds.
    pub smoothed_round_trip_time: f64,
    /// In seconds.
    pub retransmission_timeout: f64,
    /// In bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate: Option<u64>,
    /// Expired retransmission timeouts; since Linux 6.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u16>,
}

impl SenderSample {
    /// The sample of a connection on which `written` bytes were written.
    pub(super) fn new(at: u64, info: &TcpInfo, written: u64) -> Self {
        /// Linux's `TCP_INFINITE_SSTHRESH`.
        const INFINITE: u32 = 0x7fff_ffff;
        let segment = u64::from(info.segment_bytes);
        let segments = |count: u32| u64::from(count) * segment;
        let seconds = |micros: u32| f64::from(micros) / 1e6;
        // The kernel counts SYN and FIN as one byte each.
        let acknowledged = info.bytes_acked.saturating_sub(1).min(written);
        let sent_once = info.bytes_sent.saturating_sub(info.bytes_retransmitted);
        let in_flight = (info.unacked + info.retransmitted).saturating_sub(info.sacked + info.lost);
        let threshold = info.slow_start_threshold;
        Self {
            at,
            bytes_sent: info.bytes_sent,
            packets_sent: u64::from(info.data_segments_out),
            retransmitted_bytes_sent: info.bytes_retransmitted,
            retransmitted_packets_sent: u64::from(info.total_retransmitted),
            bytes_acknowledged: acknowledged,
            congestion_window: segments(info.congestion_window),
            slow_start_threshold: (threshold < INFINITE).then(|| segments(threshold)),
            bytes_in_flight: segments(in_flight),
            unack_data: sent_once.saturating_sub(acknowledged),
            receiver_window: u64::from(info.receiver_window),
            round_trip_time: seconds(info.smoothed_rtt_us),
            smoothed_round_trip_time: seconds(info.smoothed_rtt_us),
            retransmission_timeout: seconds(info.retransmission_timeout_us),
            pacing_rate: (info.pacing_rate < u64::MAX).then(|| info.pacing_rate.saturating_mul(8)),
            timeouts: info.timeouts,
        }
    }
}

/// A sample of a server's connection with one client.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReceiverSample {
    /// CLOCK_MONOTONIC in ns.
    pub at: u64,
    /// The client's address and port.
    pub peer: String,
    /// Payload that was read, in bytes.
    pub bytes_received: u64,
    /// Segments with data that arrived.
    pub packets_received: u64,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UploadEvent {
    /// CLOCK_MONOTONIC in ns.
    pub at: u64,
    /// The name of the event. `listening` (server); `connected`; at the end `completed` (client:
    /// seconds since the connection attempt; server: bytes), `incomplete` or `timedOut` (client:
    /// bytes acknowledged; server: bytes received), `ended` (likewise, for a source without an
    /// end); `stopped` (server: number of clients served).
    pub event: &'static str,
    /// The local address and port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The remote address and port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// The value of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The value of an event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Bytes, or clients.
    Count(u64),
    /// A time in seconds.
    Seconds(f64),
}

impl UploadEvent {
    pub(super) const fn new(at: u64, event: &'static str, value: Option<Value>) -> Self {
        Self { at, event, address: None, peer: None, value }
    }
}
