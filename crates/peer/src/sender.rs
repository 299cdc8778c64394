//! Pacing, retransmissions and probe clusters as an interceptor of `rtc`.

use crate::Controller;
use crate::descriptor::Descriptor;
use crate::interceptor::{HandlerInterceptor, OutputQueues, PacketHandler};
use crate::packets::is_video;
use rtc::interceptor::{Attribute, AttributedPacket, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp::transport_feedbacks::transport_layer_nack::{NackPair, TransportLayerNack};
use rtc::shared::TransportContext;
use rtc::shared::marshal::MarshalSize;
use sim::{Backlog, Grant, Grouping, Pacer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use units::{Bytes, Duration, Time};

/// The time between groups of packets if the controller has none (draft-ietf-rmcat-gcc-02 § 4).
const BURST: Duration = Duration::from_millis(5);

/// The number of packets that can be retransmitted: more than a second at 9 Mbit/s. libwebrtc keeps
/// at least a second.
const HISTORY: usize = 1_024;

/// The round-trip time that is assumed before the first measurement (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// The payload of a packet of 1200 bytes (libwebrtc `media/base/media_constants.h`), without the
/// RTP header of 12 bytes and the extensions.
const MAX_PAYLOAD: usize = 1_200 - 12 - EXTENSIONS;

/// The probe cluster that a packet belongs to.
pub(crate) struct ProbeCluster(pub(crate) u32);

/// Paces video as the simulator's pacer does: in groups, retransmissions before media,
/// and probe clusters at the rate that the controller requests, with filler where there is not
/// enough media. Sets the sequence numbers of packets when they leave, and answers NACK.
///
/// A filler packet is inserted before the last packet of a frame and makes the frame longer.
/// Decoders accept this, because a VP8 decoder reads no more of a partition than it needs (RFC 6386
/// § 7). `rtc` writes at most 4 bytes of RTP padding, and has no transport-wide sequence numbers
/// for RTX (RFC 4588), which libwebrtc uses for padding.
///
/// Audio and RTCP pass at once and are not counted, because the pacing rate covers only the video
/// (`sim::Estimate::Video`). It belongs at `Slot::Pacer`. The chain must have no other interceptor
/// that paces or answers NACK.
pub struct MediaSender {
    controller: Controller,
    pacer: Pacer,
    ssrc: Option<u32>,
    /// The packets with the times at which they were queued.
    queue: VecDeque<(Time, rtc::rtp::Packet)>,
    backlog: Backlog,
    /// The sequence numbers to retransmit.
    resend: VecDeque<u16>,
    history: VecDeque<HistoryEntry>,
    /// The sequence number of the next packet.
    next: u16,
}

/// A packet that can be retransmitted.
struct HistoryEntry {
    packet: rtc::rtp::Packet,
    /// When the packet was last retransmitted.
    retransmitted: Option<Time>,
}

impl MediaSender {
    /// Paces at the rates of `controller`. Sequence numbers begin with `first`, which should be
    /// random (RFC 3550 § 5.1).
    #[must_use]
    pub fn new(controller: Controller, first: u16) -> HandlerInterceptor<Self> {
        HandlerInterceptor::new(Self {
            pacer: match controller.pacing_burst() {
                Some(burst) => Pacer::new(Grouping::Paid, burst),
                None => Pacer::new(Grouping::Grid, BURST),
            },
            controller,
            ssrc: None,
            queue: VecDeque::new(),
            backlog: Backlog::default(),
            resend: VecDeque::new(),
            history: VecDeque::with_capacity(HISTORY),
            next: first,
        })
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.resend.is_empty()
    }

    /// Applies the decision of the controller to the pacer.
    fn apply_decision(&mut self, now: Time) {
        let decision = self.controller.decision();
        self.pacer.set_rate(now, decision.pacing_rate, &self.backlog);
        if let Some(cluster) = decision.probe {
            self.pacer.start_probe(now, cluster);
        }
    }

    /// Takes the next packet to send: a retransmission first, then media. In a probe cluster,
    /// filler goes before the last packet of a frame. `None` if nothing waits.
    fn send(&mut self, now: Time, probe: Option<u32>) -> Option<AttributedPacket> {
        while let Some(sequence) = self.resend.pop_front() {
            if let Some(packet) = self.retransmission(now, sequence) {
                return Some(
                    AttributedPacket::new(Packet::Rtp(packet)).with(Attribute::Retransmission),
                );
            }
        }
        if let Some(filler) = probe.and_then(|_| self.filler()) {
            return Some(AttributedPacket::new(Packet::Rtp(self.number(filler))));
        }
        let (queued, packet) = self.queue.pop_front()?;
        self.backlog.pop(queued, size(&packet));
        Some(AttributedPacket::new(Packet::Rtp(self.number(packet))))
    }

    /// A filler packet for a frame of which only the last packet waits. It is as long as a full
    /// packet.
    fn filler(&self) -> Option<rtc::rtp::Packet> {
        let last = self.queue.front().map(|(_, last)| last);
        let last = last.filter(|last| last.header.marker && self.queue.len() == 1)?;
        let newest = self.history.iter().rev().map(|sent| &sent.packet);
        let newest =
            newest.take_while(|sent| sent.header.timestamp == last.header.timestamp).next()?;
        let mut payload = Descriptor::read(&newest.payload)?.continued(&newest.payload);
        payload.resize(MAX_PAYLOAD, 0);
        Some(rtc::rtp::Packet { header: newest.header.clone(), payload: payload.freeze() })
    }

    fn number(&mut self, mut packet: rtc::rtp::Packet) -> rtc::rtp::Packet {
        packet.header.sequence_number = self.next;
        self.next = self.next.wrapping_add(1);
        if self.history.len() >= HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(HistoryEntry { packet: packet.clone(), retransmitted: None });
        packet
    }

    /// The packet with this sequence number, unless it was retransmitted within the last round-trip
    /// time.
    fn retransmission(&mut self, now: Time, sequence: u16) -> Option<rtc::rtp::Packet> {
        let back = usize::from(self.next.wrapping_sub(sequence));
        let index = self.history.len().checked_sub(back)?;
        let rtt = self.controller.rtt().unwrap_or(DEFAULT_RTT);
        let entry = self.history.get_mut(index)?;
        if entry.retransmitted.is_some_and(|last| now.saturating_since(last) < rtt) {
            return None;
        }
        entry.retransmitted = Some(now);
        Some(entry.packet.clone())
    }

    /// Sends the packets that the pacer permits.
    fn release(&mut self, now: Instant, out: &mut OutputQueues) {
        let time = self.controller.clock().time(now);
        self.apply_decision(time);
        while let Some(grant) = self.pacer.grant(time, self.is_empty(), false, &self.backlog) {
            let probe = match grant {
                Grant::Media | Grant::Padding => None,
                Grant::Probe(id) => Some(id),
            };
            let Some(mut message) = self.send(time, probe) else { break };
            if let Packet::Rtp(packet) = &message.packet {
                self.pacer.sent(time, size(packet));
            }
            if let Some(id) = probe {
                message.add(Attribute::Custom(Arc::new(ProbeCluster(id))));
            }
            out.write.push_back(TaggedPacket {
                now,
                transport: TransportContext::default(),
                message,
            });
        }
    }
}

/// Splits a frame of one packet into two, so that filler can go between them.
fn halves(packet: &rtc::rtp::Packet) -> Option<[rtc::rtp::Packet; 2]> {
    let descriptor = Descriptor::read(&packet.payload);
    let descriptor = descriptor.filter(|descriptor| descriptor.begins && packet.header.marker)?;
    let middle = (descriptor.size + packet.payload.len()) / 2;
    let mut second = descriptor.continued(&packet.payload);
    second.extend_from_slice(&packet.payload[middle..]);
    let header = rtc::rtp::header::Header { marker: false, ..packet.header.clone() };
    let first = rtc::rtp::Packet { header, payload: packet.payload.slice(..middle) };
    Some([first, rtc::rtp::Packet { header: packet.header.clone(), payload: second.freeze() }])
}

/// The size of a packet with the header extensions that the chain adds later.
fn size(packet: &rtc::rtp::Packet) -> Bytes {
    Bytes::new((packet.marshal_size() + EXTENSIONS) as u64)
}

/// The size of the header extensions, bytes: the transport-wide sequence number or the absolute
/// send time, and the extension header (RFC 8285 § 4.2).
pub(crate) const EXTENSIONS: usize = 8;

impl PacketHandler for MediaSender {
    fn read(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        if let Packet::Rtcp(packets) = &message.message.packet {
            let nacks = packets
                .iter()
                .filter_map(|packet| packet.as_any().downcast_ref::<TransportLayerNack>());
            for nack in nacks.filter(|nack| Some(nack.media_ssrc) == self.ssrc) {
                for sequence in nack.nacks.iter().flat_map(NackPair::packet_list) {
                    // The history has no older packets.
                    if self.resend.len() < HISTORY && !self.resend.contains(&sequence) {
                        self.resend.push_back(sequence);
                    }
                }
            }
            let now = self.controller.clock().time(message.now);
            if !self.resend.is_empty() {
                self.pacer.wake(now, &self.backlog);
            }
            self.apply_decision(now);
        }
        out.read.push_back(message);
    }

    fn write(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        let now = self.controller.clock().time(message.now);
        match message.message.packet {
            Packet::Rtp(packet) if Some(packet.header.ssrc) == self.ssrc => {
                self.apply_decision(now);
                let halves = Some(&packet).filter(|_| self.pacer.is_probing()).and_then(halves);
                for packet in halves.map_or(vec![packet], Vec::from) {
                    self.backlog.push(now, 1, size(&packet));
                    self.queue.push_back((now, packet));
                }
                self.pacer.wake(now, &self.backlog);
            }
            _ => out.write.push_back(message),
        }
    }

    fn timeout(&mut self, now: Instant, out: &mut OutputQueues) {
        self.release(now, out);
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        let due = self.pacer.next_wake(self.is_empty(), false)?;
        Some(self.controller.clock().instant(due))
    }

    fn bind_local(&mut self, stream: &StreamInfo) {
        if !is_video(stream) {
            return;
        }
        self.ssrc = Some(stream.ssrc);
    }

    fn unbind_local(&mut self, stream: &StreamInfo) {
        self.ssrc.take_if(|ssrc| *ssrc == stream.ssrc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_frame_of_one_packet_is_split_for_filler() {
        let payload = Bytes::from_static(&[0x90, 0x80, 0x11, 1, 2, 3, 4, 5]);
        let header = rtc::rtp::header::Header { marker: true, timestamp: 7, ..Default::default() };
        let packet = rtc::rtp::Packet { header, payload };
        let [first, second] = halves(&packet).unwrap();
        assert_eq!(
            (&first.payload[..], first.header.marker),
            (&[0x90, 0x80, 0x11, 1, 2][..], false)
        );
        assert_eq!(
            (&second.payload[..], second.header.marker),
            (&[0x80, 0x80, 0x11, 3, 4, 5][..], true)
        );
        assert!(
            halves(&second).is_none() && halves(&first).is_none(),
            "neither half is a whole frame"
        );
    }
}
