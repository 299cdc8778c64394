//! The sending engine in `rtc`'s chain: pacing, retransmissions, probe clusters.

use crate::Controller;
use crate::descriptor::Descriptor;
use crate::packets::is_video;
use crate::stage::{Out, Stage, Staged};
use rtc::interceptor::{Attribute, AttributedPacket, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp::transport_feedbacks::transport_layer_nack::{NackPair, TransportLayerNack};
use rtc::shared::TransportContext;
use rtc::shared::marshal::MarshalSize;
use sim::{Grant, Pacer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use units::{Bytes, Duration, Time};

/// Groups of packets leave this far apart (draft-ietf-rmcat-gcc-02 § 4).
const BURST: Duration = Duration::from_millis(5);

/// Packets that can be sent again (libwebrtc keeps at least a second; 1024 are over a second at 9
/// Mbit/s).
const HISTORY: usize = 1_024;

/// Round-trip time assumed before any was measured (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// A packet of 1200 B (libwebrtc `media/base/media_constants.h`) without the 12 of its header and
/// the extensions.
const MAX_PAYLOAD: usize = 1_200 - 12 - EXTENSIONS;

/// The probe cluster that a packet belongs to.
pub(crate) struct Probed(pub(crate) u32);

/// Paces video by the rules of the simulator's pacer: groups of 5 ms, retransmissions before media,
/// probe clusters at the rate that the controller asks for, with filler where media is short. It
/// numbers packets as they leave, and answers requests for lost ones.
///
/// Filler goes before the last packet of a frame and makes it longer, which no decoder minds: a VP8
/// decoder reads no more of a partition than it needs (RFC 6386 § 7). `rtc` writes no more than 4
/// bytes of RTP padding, and has no transport-wide numbers for RTX (RFC 4588), in which libwebrtc
/// pads.
///
/// What else is sent (audio, RTCP) passes at once and uncounted: the pacing rate is of the video
/// (`sim::Estimate::Video`). It belongs at `Slot::Pacer`, with no other that paces or answers NACK.
pub struct MediaSender {
    controller: Controller,
    pacer: Pacer,
    ssrc: Option<u32>,
    queue: VecDeque<rtc::rtp::Packet>,
    queued: Bytes,
    resend: VecDeque<u16>,
    history: VecDeque<Sent>,
    next: u16,
}

struct Sent {
    packet: rtc::rtp::Packet,
    again: Option<Time>,
}

impl MediaSender {
    /// At the rates that `controller` decides; sequence numbers begin with `first` (at random: RFC
    /// 3550 § 5.1).
    #[must_use]
    pub fn new(controller: Controller, first: u16) -> Staged<Self> {
        Staged::new(Self {
            controller,
            pacer: Pacer::new(BURST),
            ssrc: None,
            queue: VecDeque::new(),
            queued: Bytes::ZERO,
            resend: VecDeque::new(),
            history: VecDeque::with_capacity(HISTORY),
            next: first,
        })
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.resend.is_empty()
    }

    /// Puts the controller's decision into force.
    fn obey(&mut self, now: Time) {
        let decision = self.controller.decision();
        self.pacer.set_rate(now, decision.pacing_rate, self.queued);
        if let Some(cluster) = decision.probe {
            self.pacer.start_probe(now, cluster);
        }
    }

    /// Sends one packet: a retransmission first, else media, in a probe cluster with filler before
    /// the last. None if there is nothing.
    fn send(&mut self, now: Time, probe: Option<u32>) -> Option<AttributedPacket> {
        while let Some(sequence) = self.resend.pop_front() {
            if let Some(packet) = self.again(now, sequence) {
                return Some(
                    AttributedPacket::new(Packet::Rtp(packet)).with(Attribute::Retransmission),
                );
            }
        }
        if let Some(filler) = probe.and_then(|_| self.filler()) {
            return Some(AttributedPacket::new(Packet::Rtp(self.number(filler))));
        }
        let packet = self.queue.pop_front()?;
        self.queued = self.queued.saturating_sub(size(&packet));
        Some(AttributedPacket::new(Packet::Rtp(self.number(packet))))
    }

    /// A packet more for a frame of which only the last packet waits, as long as the frame's
    /// newest.
    fn filler(&self) -> Option<rtc::rtp::Packet> {
        let last = self.queue.front().filter(|last| last.header.marker && self.queue.len() == 1)?;
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
        self.history.push_back(Sent { packet: packet.clone(), again: None });
        packet
    }

    /// The packet of this number, unless it was sent again within the last round trip.
    fn again(&mut self, now: Time, sequence: u16) -> Option<rtc::rtp::Packet> {
        let back = usize::from(self.next.wrapping_sub(sequence));
        let place = self.history.len().checked_sub(back)?;
        let rtt = self.controller.rtt().unwrap_or(DEFAULT_RTT);
        let sent = self.history.get_mut(place)?;
        if sent.again.is_some_and(|last| now.saturating_since(last) < rtt) {
            return None;
        }
        sent.again = Some(now);
        Some(sent.packet.clone())
    }

    /// Lets go what the pacer grants.
    fn release(&mut self, now: Instant, out: &mut Out) {
        let time = self.controller.clock().time(now);
        self.obey(time);
        let mut queued = self.queued;
        while let Some(grant) = self.pacer.grant(time, self.is_empty(), false, queued) {
            let probe = match grant {
                Grant::Media => None,
                Grant::Probe(id) => Some(id),
            };
            let Some(mut message) = self.send(time, probe) else { break };
            if let Packet::Rtp(packet) = &message.packet {
                self.pacer.sent(time, size(packet));
            }
            if let Some(id) = probe {
                message.add(Attribute::Custom(Arc::new(Probed(id))));
            }
            out.write.push_back(TaggedPacket {
                now,
                transport: TransportContext::default(),
                message,
            });
            queued = self.queued;
        }
    }
}

/// A frame of one packet in two, so that there is a place for filler.
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

/// With the header extensions that the chain adds below.
fn size(packet: &rtc::rtp::Packet) -> Bytes {
    Bytes::new((packet.marshal_size() + EXTENSIONS) as u64)
}

/// The transport-wide sequence number or the absolute send time, with the header of extensions (RFC
/// 8285 § 4.2).
pub(crate) const EXTENSIONS: usize = 8;

impl Stage for MediaSender {
    fn read(&mut self, message: TaggedPacket, out: &mut Out) {
        if let Packet::Rtcp(packets) = &message.message.packet {
            let nacks = packets
                .iter()
                .filter_map(|packet| packet.as_any().downcast_ref::<TransportLayerNack>());
            for nack in nacks.filter(|nack| Some(nack.media_ssrc) == self.ssrc) {
                for sequence in nack.nacks.iter().flat_map(NackPair::packet_list) {
                    // There is nothing older to send again.
                    if self.resend.len() < HISTORY && !self.resend.contains(&sequence) {
                        self.resend.push_back(sequence);
                    }
                }
            }
            let now = self.controller.clock().time(message.now);
            if !self.resend.is_empty() {
                self.pacer.wake(now, self.queued);
            }
            self.obey(now);
        }
        out.read.push_back(message);
    }

    fn write(&mut self, message: TaggedPacket, out: &mut Out) {
        let now = self.controller.clock().time(message.now);
        match message.message.packet {
            Packet::Rtp(packet) if Some(packet.header.ssrc) == self.ssrc => {
                self.obey(now);
                let halves = Some(&packet).filter(|_| self.pacer.is_probing()).and_then(halves);
                for packet in halves.map_or(vec![packet], Vec::from) {
                    self.queued += size(&packet);
                    self.queue.push_back(packet);
                }
                self.pacer.wake(now, self.queued);
            }
            _ => out.write.push_back(message),
        }
    }

    fn timeout(&mut self, now: Instant, out: &mut Out) {
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
    fn a_frame_of_one_packet_makes_room_for_filler() {
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
        assert!(halves(&second).is_none() && halves(&first).is_none(), "neither is a frame");
    }
}
