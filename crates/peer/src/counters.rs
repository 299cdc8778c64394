//! Counters of the streams of a call, for every stack (W3C webrtc-stats § 7).

use crate::frames::Frames;
use crate::packets::Unwrapper;
use sim::Reception;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Bytes, Duration, Time};

/// One value per kind of media.
#[derive(Clone, Copy, Default)]
pub(crate) struct Media<T> {
    pub(crate) video: T,
    pub(crate) audio: T,
}

/// The counters of the video or the audio of one endpoint, which its parts share.
#[derive(Clone, Default)]
pub(crate) struct Counters(Arc<Mutex<Streams>>);

impl Counters {
    pub(crate) fn streams(&self) -> MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The streams of a call, one per direction.
#[derive(Default)]
pub(crate) struct Streams {
    pub(crate) sent: Option<Outbound>,
    pub(crate) received: Option<Inbound>,
}

/// The properties of an RTP packet that are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedPacket {
    pub(crate) timestamp: u32,
    /// The size of the payload without padding, bytes.
    pub(crate) payload: usize,
    /// The size of the header and of the padding, bytes.
    pub(crate) headers: usize,
    /// Whether the payload was sent before (RTX of RFC 4588, or the same packet again).
    pub(crate) retransmitted: bool,
}

/// The counters of `RTCOutboundRtpStreamStats` and `RTCRemoteInboundRtpStreamStats`.
pub(crate) struct Outbound {
    pub(crate) ssrc: u32,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) headers: u64,
    pub(crate) retransmitted_packets: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) nacks: u64,
    pub(crate) plis: u64,
    pub(crate) firs: u64,
    pub(crate) report: Option<RemoteReport>,
}

/// The newest report block from the remote endpoint, and the sum of all round-trip times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RemoteReport {
    pub(crate) at: Time,
    pub(crate) fraction_lost: f64,
    pub(crate) packets_lost: i64,
    /// In seconds.
    pub(crate) jitter: f64,
    pub(crate) rtt: Option<Duration>,
    pub(crate) total_rtt: Duration,
    pub(crate) measurements: u64,
}

impl RemoteReport {
    /// The next report, with the round-trip time that it measured.
    pub(crate) fn next(previous: Option<Self>, new: Self, rtt: Option<Duration>) -> Self {
        let previous = previous.unwrap_or_default();
        Self {
            rtt: rtt.or(previous.rtt),
            total_rtt: previous.total_rtt + rtt.unwrap_or(Duration::ZERO),
            measurements: previous.measurements + u64::from(rtt.is_some()),
            ..new
        }
    }
}

/// The counters of `RTCInboundRtpStreamStats`.
pub(crate) struct Inbound {
    pub(crate) ssrc: u32,
    pub(crate) reception: Reception,
    sequence: Unwrapper,
    timestamp: Unwrapper,
    pub(crate) retransmitted_packets: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) retransmitted_headers: u64,
    pub(crate) last: Time,
    pub(crate) nacks: u64,
    pub(crate) plis: u64,
    pub(crate) frames: Frames,
}

impl Streams {
    /// The stream that is sent; created with its first packet.
    pub(crate) fn outbound(&mut self, ssrc: u32) -> &mut Outbound {
        self.sent.get_or_insert(Outbound {
            ssrc,
            packets: 0,
            bytes: 0,
            headers: 0,
            retransmitted_packets: 0,
            retransmitted_bytes: 0,
            nacks: 0,
            plis: 0,
            firs: 0,
            report: None,
        })
    }

    /// The stream that is received; created with its first packet. `clock_rate` is the RTP clock
    /// rate.
    pub(crate) fn inbound(&mut self, ssrc: u32, clock_rate: u32) -> &mut Inbound {
        self.received.get_or_insert_with(|| Inbound {
            ssrc,
            reception: Reception::new(ssrc, clock_rate.into()),
            sequence: Unwrapper::new(1 << 16),
            timestamp: Unwrapper::new(1 << 32),
            retransmitted_packets: 0,
            retransmitted_bytes: 0,
            retransmitted_headers: 0,
            last: Time::ZERO,
            nacks: 0,
            plis: 0,
            frames: Frames::default(),
        })
    }
}

impl Outbound {
    pub(crate) fn on_packet(&mut self, packet: &CountedPacket) {
        self.packets += 1;
        self.bytes += packet.payload as u64;
        self.headers += packet.headers as u64;
        if packet.retransmitted {
            self.retransmitted_packets += 1;
            self.retransmitted_bytes += packet.payload as u64;
        }
    }
}

impl Inbound {
    /// Whether any packet has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        self.reception.received > 0 || self.retransmitted_packets > 0
    }

    /// Unwraps a sequence number.
    pub(crate) fn unwrapped(&mut self, sequence: u16) -> u64 {
        self.sequence.next(sequence.into())
    }

    /// Counts a packet. `sequence` is its unwrapped sequence number, which is not used for a
    /// retransmission.
    pub(crate) fn on_packet(&mut self, now: Time, packet: &CountedPacket, sequence: u64) {
        self.last = now;
        if packet.retransmitted {
            self.retransmitted_packets += 1;
            self.retransmitted_bytes += packet.payload as u64;
            self.retransmitted_headers += packet.headers as u64;
            return;
        }
        let timestamp = self.timestamp.next(packet.timestamp.into());
        let [payload, headers] =
            [packet.payload, packet.headers].map(|size| Bytes::new(size as u64));
        self.reception.on_packet(now, sequence, timestamp, payload, headers);
    }
}
