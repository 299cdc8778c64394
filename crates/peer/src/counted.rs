//! What is counted of a call's streams, by whichever stack carries them (W3C webrtc-stats § 7).

use crate::frames::Frames;
use crate::packets::Unwrapped;
use sim::Reception;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Bytes, Duration, Time};

/// One of each kind of media.
#[derive(Clone, Copy, Default)]
pub(crate) struct Media<T> {
    pub(crate) video: T,
    pub(crate) audio: T,
}

/// The counters of one end's video or audio, which its parts share.
#[derive(Clone, Default)]
pub(crate) struct Counted(Arc<Mutex<Streams>>);

impl Counted {
    pub(crate) fn streams(&self) -> MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The streams of a call: one each way.
#[derive(Default)]
pub(crate) struct Streams {
    pub(crate) sent: Option<Outbound>,
    pub(crate) received: Option<Inbound>,
}

/// An RTP packet as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) timestamp: u32,
    /// Without padding.
    pub(crate) payload: usize,
    /// With padding.
    pub(crate) headers: usize,
    /// Whether its payload has been sent before (RFC 4588, or the packet itself once more).
    pub(crate) again: bool,
}

/// `RTCOutboundRtpStreamStats`, and `RTCRemoteInboundRtpStreamStats`.
pub(crate) struct Outbound {
    pub(crate) ssrc: u32,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) headers: u64,
    pub(crate) packets_again: u64,
    pub(crate) bytes_again: u64,
    pub(crate) nacks: u64,
    pub(crate) plis: u64,
    pub(crate) firs: u64,
    pub(crate) report: Option<Report>,
}

/// What the newest receiver report said, and of all the round-trip times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) at: Time,
    pub(crate) fraction_lost: f64,
    pub(crate) packets_lost: i64,
    /// Seconds.
    pub(crate) jitter: f64,
    pub(crate) rtt: Option<Duration>,
    pub(crate) total_rtt: Duration,
    pub(crate) measurements: u64,
}

impl Report {
    /// The next report, with what it measured of the round trip.
    pub(crate) fn next(before: Option<Self>, new: Self, rtt: Option<Duration>) -> Self {
        let before = before.unwrap_or_default();
        Self {
            rtt: rtt.or(before.rtt),
            total_rtt: before.total_rtt + rtt.unwrap_or(Duration::ZERO),
            measurements: before.measurements + u64::from(rtt.is_some()),
            ..new
        }
    }
}

/// `RTCInboundRtpStreamStats`.
pub(crate) struct Inbound {
    pub(crate) ssrc: u32,
    pub(crate) reception: Reception,
    sequence: Unwrapped,
    timestamp: Unwrapped,
    pub(crate) packets_again: u64,
    pub(crate) bytes_again: u64,
    pub(crate) headers_again: u64,
    pub(crate) last: Time,
    pub(crate) nacks: u64,
    pub(crate) plis: u64,
    pub(crate) frames: Frames,
}

impl Streams {
    /// The stream that is sent, from its first packet on.
    pub(crate) fn outbound(&mut self, ssrc: u32) -> &mut Outbound {
        self.sent.get_or_insert(Outbound {
            ssrc,
            packets: 0,
            bytes: 0,
            headers: 0,
            packets_again: 0,
            bytes_again: 0,
            nacks: 0,
            plis: 0,
            firs: 0,
            report: None,
        })
    }

    /// The stream that is received, from its first packet on; `clock_rate` is that of its
    /// timestamps.
    pub(crate) fn inbound(&mut self, ssrc: u32, clock_rate: u32) -> &mut Inbound {
        self.received.get_or_insert_with(|| Inbound {
            ssrc,
            reception: Reception::new(ssrc, clock_rate.into()),
            sequence: Unwrapped::new(1 << 16),
            timestamp: Unwrapped::new(1 << 32),
            packets_again: 0,
            bytes_again: 0,
            headers_again: 0,
            last: Time::ZERO,
            nacks: 0,
            plis: 0,
            frames: Frames::default(),
        })
    }
}

impl Outbound {
    pub(crate) fn on_packet(&mut self, packet: &Seen) {
        self.packets += 1;
        self.bytes += packet.payload as u64;
        self.headers += packet.headers as u64;
        if packet.again {
            self.packets_again += 1;
            self.bytes_again += packet.payload as u64;
        }
    }
}

impl Inbound {
    /// Whether any packet has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.reception.received > 0 || self.packets_again > 0
    }

    /// A sequence number, unwrapped.
    pub(crate) fn unwrapped(&mut self, sequence: u16) -> u64 {
        self.sequence.next(sequence.into())
    }

    /// Counts a packet; `sequence` is its number, unwrapped, which does not matter if it was sent
    /// again.
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Seen, sequence: u64) {
        self.last = now;
        if packet.again {
            self.packets_again += 1;
            self.bytes_again += packet.payload as u64;
            self.headers_again += packet.headers as u64;
            return;
        }
        let timestamp = self.timestamp.next(packet.timestamp.into());
        let [payload, headers] =
            [packet.payload, packet.headers].map(|size| Bytes::new(size as u64));
        self.reception.on_packet(now, sequence, timestamp, payload, headers);
    }
}
