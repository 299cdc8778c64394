//! The sending half of a call as an interceptor of `rtc`: the information that the trait
//! `BandwidthEstimator` leaves out, counters, and sender reports.

use crate::Controller;
use crate::clock::Clock;
use crate::counters::{CountedPacket, Counters, RemoteReport};
use crate::interceptor::{HandlerInterceptor, OutputQueues, PacketHandler};
use crate::ntp;
use crate::packets::{abs_send_time_id, cumulative_lost, is_video};
use crate::receiver::REPORT_INTERVAL;
use crate::sender::ProbeCluster;
use bytes::Bytes;
use cc::Feedback;
use rtc::interceptor::{
    Attribute, AttributedPacket, BandwidthEstimator, Packet, StreamInfo, TaggedPacket,
};
use rtc::rtcp::extended_report::{
    DLRRReport, DLRRReportBlock, ExtendedReport, ReceiverReferenceTimeReportBlock,
};
use rtc::rtcp::payload_feedbacks::full_intra_request::FullIntraRequest;
use rtc::rtcp::payload_feedbacks::picture_loss_indication::PictureLossIndication;
use rtc::rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc::rtcp::raw_packet::RawPacket;
use rtc::rtcp::receiver_report::ReceiverReport;
use rtc::rtcp::reception_report::ReceptionReport;
use rtc::rtcp::sender_report::SenderReport;
use rtc::rtcp::transport_feedbacks::transport_layer_nack::TransportLayerNack;
use rtc::shared::TransportContext;
use rtc::shared::marshal::MarshalSize;
use sim::ReportTimer;
use std::time::Instant;
use units::{Bitrate, Duration, Seed, Time};

/// Passes receiver reports, REMB, custom feedback and departures to a [`Controller`]. Writes the
/// absolute send time into departing packets if it was negotiated. Sends sender reports (RFC 3550 §
/// 6.4.1) unpaced, at random times about a second apart (§ 6.2), as libwebrtc does. Passes requests
/// for key frames on to the application.
///
/// It belongs between `Slot::CongestionControl` and `Slot::TwccSender`: at [`Reports::SLOT`]. The
/// chain must have no other interceptor that sends sender reports.
pub struct Reports {
    controller: Controller,
    counters: Counters,
    report: ReportTimer,
    stream: Option<SentStream>,
}

/// The stream that is sent.
struct SentStream {
    ssrc: u32,
    clock_rate: u32,
    abs_send_time: Option<u8>,
    /// The extended highest sequence number of the last report.
    highest: Option<u32>,
    /// The RTP timestamp of the newest packet, and when the packet left.
    newest: Option<(u32, Time)>,
    /// The reference time of the remote endpoint: its SSRC, the middle 32 bits, and when it
    /// arrived.
    reference: Option<(u32, u32, Time)>,
    packets: u32,
    octets: u32,
}

impl Reports {
    /// The slot in the chain.
    pub const SLOT: usize = 1_500;

    /// Passes feedback to `controller`; `seed` determines the times of the sender reports.
    #[must_use]
    pub fn new(controller: Controller, seed: Seed) -> HandlerInterceptor<Self> {
        Self::with_counters(controller, seed, Counters::default())
    }

    pub(crate) fn with_counters(
        controller: Controller,
        seed: Seed,
        counters: Counters,
    ) -> HandlerInterceptor<Self> {
        let report = ReportTimer::new(Time::ZERO, REPORT_INTERVAL, seed.stream("sender.reports"));
        HandlerInterceptor::new(Self { controller, counters, report, stream: None })
    }

    const fn clock(&self) -> Clock {
        self.controller.clock()
    }

    fn on_report(&mut self, now: Instant, report: &ReceptionReport) {
        let time = self.clock().time(now);
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.ssrc == report.ssrc) else {
            return;
        };
        let highest = report.last_sequence_number;
        let expected = stream.highest.map_or(0, |previous| highest.wrapping_sub(previous));
        stream.highest = Some(highest);
        let (new, rtt) = measured(report, stream.clock_rate, time);
        let fraction_lost = new.fraction_lost;
        let mut streams = self.counters.streams();
        let outbound = streams.outbound(report.ssrc);
        outbound.report = Some(RemoteReport::next(outbound.report, new, rtt));
        drop(streams);
        self.controller
            .on_feedback(now, Feedback::Report { fraction_lost, expected: expected.into(), rtt });
    }

    /// Processes an RTCP packet. Returns whether it requests a key frame.
    fn on_rtcp(&mut self, now: Instant, packet: &dyn rtc::rtcp::Packet) -> bool {
        let packet = packet.as_any();
        let reports = packet.downcast_ref::<ReceiverReport>().map(|packet| &packet.reports);
        let reports =
            reports.or_else(|| packet.downcast_ref::<SenderReport>().map(|packet| &packet.reports));
        for report in reports.into_iter().flatten() {
            self.on_report(now, report);
        }
        if let Some(remb) = packet.downcast_ref::<ReceiverEstimatedMaximumBitrate>() {
            let rate = Bitrate::from_bps_f64(remb.bitrate.into());
            self.controller.on_feedback(now, Feedback::Remb { rate });
        }
        if let Some(raw) = packet.downcast_ref::<RawPacket>() {
            self.on_application(now, raw);
        }
        if let Some(extended) = packet.downcast_ref::<ExtendedReport>() {
            self.on_extended(now, extended);
        }
        self.on_request(packet)
    }

    fn on_application(&self, now: Instant, packet: &RawPacket) {
        let Some((ssrc, message)) = sim::wire::app::decode(&packet.0) else { return };
        if self.stream.as_ref().is_some_and(|stream| stream.ssrc == ssrc) {
            self.controller.on_feedback(now, Feedback::Custom(message));
        }
    }

    fn on_extended(&mut self, now: Instant, extended: &ExtendedReport) {
        let (now, Some(stream)) = (self.controller.clock().time(now), &mut self.stream) else {
            return;
        };
        for block in &extended.reports {
            if let Some(reference) =
                block.as_any().downcast_ref::<ReceiverReferenceTimeReportBlock>()
            {
                stream.reference =
                    Some((extended.sender_ssrc, ntp::middle(reference.ntp_timestamp), now));
            }
        }
    }

    fn on_request(&self, packet: &dyn std::any::Any) -> bool {
        let Some(stream) = &self.stream else { return false };
        let mut streams = self.counters.streams();
        let outbound = streams.outbound(stream.ssrc);
        let nack = packet.downcast_ref::<TransportLayerNack>();
        outbound.nacks += u64::from(nack.is_some_and(|nack| nack.media_ssrc == stream.ssrc));
        let pli = packet.is::<PictureLossIndication>();
        let fir = packet.is::<FullIntraRequest>();
        outbound.plis += u64::from(pli);
        outbound.firs += u64::from(fir);
        pli || fir
    }

    fn on_departure(&mut self, message: &mut TaggedPacket) {
        let time = self.clock().time(message.now);
        let probe = message.message.custom::<ProbeCluster>().map(|probed| probed.0);
        let retransmitted = message.message.get(&Attribute::Retransmission).is_some();
        let Packet::Rtp(packet) = &mut message.message.packet else { return };
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.ssrc == packet.header.ssrc)
        else {
            return;
        };
        if let Some(id) = stream.abs_send_time {
            let stamp = Bytes::copy_from_slice(&sim::wire::abs_send_time(time));
            // This fails only for an identifier that the profile of the header cannot represent,
            // and such an identifier is not negotiated.
            if let Err(error) = packet.header.set_extension(id, stamp) {
                debug_assert!(false, "absolute send time: {error}");
            }
        }
        let (size, payload) = (packet.marshal_size(), packet.payload.len());
        let timestamp = packet.header.timestamp;
        if !retransmitted {
            stream.newest = Some((timestamp, time));
            // The counts wrap at 32 bits (RFC 3550 § 6.4.1).
            stream.packets = stream.packets.wrapping_add(1);
            stream.octets = stream.octets.wrapping_add(payload as u32);
        }
        let ssrc = stream.ssrc;
        let packet = CountedPacket { timestamp, payload, headers: size - payload, retransmitted };
        self.counters.streams().outbound(ssrc).on_packet(&packet);
        self.controller.on_sent(message.now, units::Bytes::new(size as u64), probe);
    }

    fn sender_report(&self, now: Time) -> Option<Vec<Box<dyn rtc::rtcp::Packet>>> {
        let stream = self.stream.as_ref()?;
        let counts = (stream.packets, stream.octets);
        let report = sender_report(stream.ssrc, stream.clock_rate, stream.newest?, counts, now);
        let mut compound: Vec<Box<dyn rtc::rtcp::Packet>> = vec![Box::new(report)];
        if let Some((ssrc, last_rr, arrived)) = stream.reference {
            let report =
                DLRRReport { ssrc, last_rr, dlrr: ntp::short(now.saturating_since(arrived)) };
            let reports: Vec<Box<dyn rtc::rtcp::Packet>> =
                vec![Box::new(DLRRReportBlock { reports: vec![report] })];
            compound.push(Box::new(ExtendedReport { sender_ssrc: stream.ssrc, reports }));
        }
        Some(compound)
    }
}

/// The contents of a report block, and the round-trip time that it measures.
pub(crate) fn measured(
    block: &ReceptionReport,
    clock_rate: u32,
    now: Time,
) -> (RemoteReport, Option<Duration>) {
    // The field is zero before the first sender report (RFC 3550 § 6.4.1).
    let last = Some(block.last_sender_report).filter(|last| *last != 0);
    let rtt = last.map(|last| ntp::round_trip(ntp::stamp(now), last, block.delay));
    let report = RemoteReport {
        at: now,
        fraction_lost: f64::from(block.fraction_lost) / 256.0,
        packets_lost: cumulative_lost(block.total_lost),
        jitter: f64::from(block.jitter) / f64::from(clock_rate.max(1)),
        ..RemoteReport::default()
    };
    (report, rtt)
}

/// A sender report. `newest` is the RTP timestamp of the newest packet and when the packet left;
/// the counts are packets and octets.
pub(crate) fn sender_report(
    ssrc: u32,
    clock_rate: u32,
    newest: (u32, Time),
    (packet_count, octet_count): (u32, u32),
    now: Time,
) -> SenderReport {
    let (timestamp, left) = newest;
    let ticks = now.saturating_since(left).as_nanos() * u64::from(clock_rate) / 1_000_000_000;
    let rtp_time = timestamp.wrapping_add(ticks as u32);
    let ntp_time = ntp::stamp(now);
    SenderReport { ssrc, ntp_time, rtp_time, packet_count, octet_count, ..Default::default() }
}

impl PacketHandler for Reports {
    fn read(&mut self, mut message: TaggedPacket, out: &mut OutputQueues) {
        if let Packet::Rtcp(packets) = &message.message.packet {
            let mut key_frame = false;
            for packet in packets {
                key_frame |= self.on_rtcp(message.now, packet.as_ref());
            }
            // The interceptor for congestion control tells the pacer its rate only after per-packet
            // feedback, and before this point; so replace its attribute.
            let bits_per_second = self.controller.target_bitrate();
            message
                .message
                .attributes
                .retain(|held| !matches!(held, Attribute::TargetBitrateChanged { .. }));
            message.message.add(Attribute::TargetBitrateChanged { bits_per_second });
            if key_frame {
                message.message.add(Attribute::DeliverToApplication);
            }
        }
        out.read.push_back(message);
    }

    fn write(&mut self, mut message: TaggedPacket, out: &mut OutputQueues) {
        self.on_departure(&mut message);
        out.write.push_back(message);
    }

    fn timeout(&mut self, now: Instant, out: &mut OutputQueues) {
        let time = self.clock().time(now);
        if self.report.due() > time {
            return;
        }
        self.report.restart(time);
        if let Some(compound) = self.sender_report(time) {
            let message = AttributedPacket::new(Packet::Rtcp(compound));
            out.write.push_back(TaggedPacket {
                now,
                transport: TransportContext::default(),
                message,
            });
        }
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        Some(self.clock().instant(self.report.due()))
    }

    fn bind_local(&mut self, stream: &StreamInfo) {
        if !is_video(stream) {
            return;
        }
        self.stream = Some(SentStream {
            ssrc: stream.ssrc,
            clock_rate: stream.clock_rate,
            abs_send_time: abs_send_time_id(stream),
            highest: None,
            newest: None,
            reference: None,
            packets: 0,
            octets: 0,
        });
    }

    fn unbind_local(&mut self, stream: &StreamInfo) {
        self.stream.take_if(|known| known.ssrc == stream.ssrc);
    }
}
