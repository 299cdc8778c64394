//! What clients and servers tell, a JSON object a line.

use emulator::TcpInfo;
use serde::Serialize;

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// How a client comes along.
    Sender(SenderSample),
    /// How a server comes along with a client.
    Receiver(ReceiverSample),
    /// Something that happened.
    Event(EventLine),
}

/// A client's connection at a time, named and measured as the columns of TCP in `docs/COLUMNS.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SenderSample {
    /// CLOCK_MONOTONIC in ns.
    pub at: u64,
    /// Payload, with retransmissions, in bytes.
    pub bytes_sent: u64,
    /// Segments with data, with retransmissions.
    pub packets_sent: u64,
    /// Payload that was retransmitted, in bytes.
    pub retransmitted_bytes_sent: u64,
    /// Segments that were retransmitted.
    pub retransmitted_packets_sent: u64,
    /// Payload that is acknowledged in order, in bytes.
    pub bytes_acknowledged: u64,
    /// In bytes.
    pub congestion_window: u64,
    /// In bytes; none before the first reduction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_threshold: Option<u64>,
    /// Believed in the network, in bytes.
    pub bytes_in_flight: u64,
    /// Sent and not acknowledged in order, in bytes.
    pub unack_data: u64,
    /// In bytes.
    pub receiver_window: u64,
    /// In seconds; the kernel tells the smoothed one alone.
    pub round_trip_time: f64,
    /// In seconds.
    pub smoothed_round_trip_time: f64,
    /// In seconds.
    pub retransmission_timeout: f64,
    /// In bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate: Option<u64>,
    /// Retransmission timeouts that expired; from Linux 6.7 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u16>,
}

impl SenderSample {
    /// What the kernel tells of a connection on which `written` bytes were written.
    pub(super) fn new(at: u64, info: &TcpInfo, written: u64) -> Self {
        /// Linux's `TCP_INFINITE_SSTHRESH`.
        const INFINITE: u32 = 0x7fff_ffff;
        let segment = u64::from(info.segment_bytes);
        let segments = |count: u32| u64::from(count) * segment;
        let seconds = |micros: u32| f64::from(micros) / 1e6;
        // SYN counts as one, and so does FIN.
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

/// A server's connection with one client at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventLine {
    /// CLOCK_MONOTONIC in ns.
    pub at: u64,
    /// `listening` of a server; `connected`; at the end `completed` (of a client the seconds since
    /// it began to connect, of a server the bytes), `incomplete` or `timedOut` (the bytes
    /// acknowledged, of a server those received), `ended` (likewise, of what has no end); `stopped`
    /// of a server (the clients that it served).
    pub event: &'static str,
    /// Its own address and port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The other end's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The size of an event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Bytes, or clients.
    Count(u64),
    /// A time.
    Seconds(f64),
}

impl EventLine {
    pub(super) const fn new(at: u64, event: &'static str, value: Option<Value>) -> Self {
        Self { at, event, address: None, peer: None, value }
    }
}
