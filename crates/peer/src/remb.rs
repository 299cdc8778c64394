//! The receiver's half of a controller in `rtc`'s chain: arrivals in, REMB out.

use crate::clock::Clock;
use crate::packets::{Unwrapped, abs_send_time_id, send_times, sent};
use cc::ArrivedPacket;
use rtc::interceptor::{AttributedPacket, Interceptor, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc::sansio::Protocol;
use rtc::shared::TransportContext;
use rtc::shared::error::Error;
use rtc::shared::marshal::MarshalSize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use units::Bytes;

/// Feeds a `cc::Receiver` with the packets of all streams received that carry the absolute send time, and sends what it allows as REMB
/// (draft-alvestrand-rmcat-remb-03). The receiver's round-trip time is not known: there are no extended reports (RFC 3611).
///
/// It makes packets, so it belongs above the pacer and before whatever holds arrivals: at [`Remb::SLOT`].
pub struct Remb {
    /// Never shared: the chain wants `Sync`, which a lock gives.
    receiver: Mutex<Box<dyn cc::Receiver>>,
    clock: Clock,
    streams: BTreeMap<u32, Stream>,
    send_times: Unwrapped,
    read: VecDeque<TaggedPacket>,
    write: VecDeque<TaggedPacket>,
}

/// A stream that is received.
struct Stream {
    abs_send_time: u8,
    sequence: Unwrapped,
    timestamp: Unwrapped,
}

impl Remb {
    /// Its place in the chain.
    pub const SLOT: usize = 8_500;

    /// `start` is the zero of the receiver's time.
    #[must_use]
    pub fn new(receiver: Box<dyn cc::Receiver>, start: Instant) -> Self {
        Self {
            receiver: Mutex::new(receiver),
            clock: Clock::new(start),
            streams: BTreeMap::new(),
            send_times: send_times(),
            read: VecDeque::new(),
            write: VecDeque::new(),
        }
    }

    fn arrived(&mut self, now: Instant, packet: &rtc::rtp::Packet) -> Option<ArrivedPacket> {
        let header = &packet.header;
        let stream = self.streams.get_mut(&header.ssrc)?;
        Some(ArrivedPacket {
            sent: sent(&mut self.send_times, &header.get_extension(stream.abs_send_time)?)?,
            sequence: stream.sequence.next(header.sequence_number.into()),
            arrival: self.clock.time(now),
            size: Bytes::new(packet.marshal_size() as u64),
            rtp_timestamp: stream.timestamp.next(header.timestamp.into()),
            probe: None,
        })
    }

    fn send(&mut self, now: Instant) {
        let time = self.clock.time(now);
        let Some(rate) = self.receiver().poll_remb(time) else { return };
        let remb = ReceiverEstimatedMaximumBitrate {
            sender_ssrc: 0,
            bitrate: rate.as_bps_f64() as f32,
            ssrcs: self.streams.keys().copied().collect(),
        };
        let message = AttributedPacket::new(Packet::Rtcp(vec![Box::new(remb)]));
        self.write.push_back(TaggedPacket { now, transport: TransportContext::default(), message });
    }

    fn receiver(&mut self) -> &mut dyn cc::Receiver {
        self.receiver.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }
}

impl Protocol<TaggedPacket, TaggedPacket, ()> for Remb {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, message: TaggedPacket) -> Result<(), Error> {
        if let Packet::Rtp(packet) = &message.message.packet
            && let Some(arrived) = self.arrived(message.now, packet)
        {
            self.receiver().on_packet(&arrived, None);
            self.send(message.now);
        }
        self.read.push_back(message);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.read.pop_front()
    }

    fn handle_write(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.write.push_back(message);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.write.pop_front()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        let time = self.clock.time(now);
        let receiver = self.receiver();
        if receiver.next_timeout().is_some_and(|due| due <= time) {
            receiver.on_timeout(time);
            self.send(now);
        }
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let due = self.receiver().next_timeout()?;
        Some(self.clock.instant(due))
    }
}

impl Interceptor for Remb {
    fn bind_local_stream(&mut self, _stream: &StreamInfo) {}

    fn unbind_local_stream(&mut self, _stream: &StreamInfo) {}

    fn bind_remote_stream(&mut self, stream: &StreamInfo) {
        if let Some(abs_send_time) = abs_send_time_id(stream) {
            let (sequence, timestamp) = (Unwrapped::new(1 << 16), Unwrapped::new(1 << 32));
            self.streams.insert(stream.ssrc, Stream { abs_send_time, sequence, timestamp });
        }
    }

    fn unbind_remote_stream(&mut self, stream: &StreamInfo) {
        self.streams.remove(&stream.ssrc);
    }
}
