//! The sending end of a call in `rtc`'s chain: what the seam for controllers leaves out, counters,
//! and sender reports.

use crate::Controller;
use crate::clock::Clock;
use crate::counted::{Counted, Report, Seen};
use crate::ntp;
use crate::packets::{abs_send_time_id, cumulative_lost, is_video};
use crate::receiver::REPORT_INTERVAL;
use crate::sender::Probed;
use crate::stage::{Out, Stage, Staged};
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

/// Tells a [`Controller`] of receiver reports, REMB, custom feedback and departures, stamps
/// departing packets with the absolute send time if that was negotiated, and sends sender reports
/// (RFC 3550 § 6.4.1), at random times about a second apart (§ 6.2) and unpaced, as libwebrtc does.
/// Requests for key frames are passed on to the application.
///
/// It belongs between `Slot::CongestionControl` and `Slot::TwccSender`: at [`Reports::SLOT`], with
/// no other that sends sender reports.
pub struct Reports {
    controller: Controller,
    counted: Counted,
    report: ReportTimer,
    stream: Option<Stream>,
}

/// The stream that is sent.
struct Stream {
    ssrc: u32,
    clock_rate: u32,
    abs_send_time: Option<u8>,
    /// The extended highest sequence number of the last report.
    highest: Option<u32>,
    /// The timestamp of the newest packet, and when it left.
    newest: Option<(u32, Time)>,
    /// The other end's reference time (the middle 32 bits), whose it is, and when it came.
    reference: Option<(u32, u32, Time)>,
    packets: u32,
    octets: u32,
}

impl Reports {
    /// Its place in the chain.
    pub const SLOT: usize = 1_500;

    /// Reports to `controller`; `seed` is of the reports' times.
    #[must_use]
    pub fn new(controller: Controller, seed: Seed) -> Staged<Self> {
        Self::counting(controller, seed, Counted::default())
    }

    pub(crate) fn counting(controller: Controller, seed: Seed, counted: Counted) -> Staged<Self> {
        let report = ReportTimer::new(Time::ZERO, REPORT_INTERVAL, seed.stream("sender.reports"));
        Staged::new(Self { controller, counted, report, stream: None })
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
        let expected = stream.highest.map_or(0, |before| highest.wrapping_sub(before));
        stream.highest = Some(highest);
        let (new, rtt) = measured(report, stream.clock_rate, time);
        let fraction_lost = new.fraction_lost;
        let mut streams = self.counted.streams();
        let outbound = streams.outbound(report.ssrc);
        outbound.report = Some(Report::next(outbound.report, new, rtt));
        drop(streams);
        self.controller
            .on_feedback(now, Feedback::Report { fraction_lost, expected: expected.into(), rtt });
    }

    /// Whether it asks for a key frame.
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
        let mut streams = self.counted.streams();
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
        let probe = message.message.custom::<Probed>().map(|probed| probed.0);
        let again = message.message.get(&Attribute::Retransmission).is_some();
        let Packet::Rtp(packet) = &mut message.message.packet else { return };
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.ssrc == packet.header.ssrc)
        else {
            return;
        };
        if let Some(id) = stream.abs_send_time {
            let stamp = Bytes::copy_from_slice(&sim::wire::abs_send_time(time));
            // Refused only for an identifier that the header's profile can't say, and that was
            // negotiated.
            if let Err(error) = packet.header.set_extension(id, stamp) {
                debug_assert!(false, "absolute send time: {error}");
            }
        }
        let (size, payload) = (packet.marshal_size(), packet.payload.len());
        let timestamp = packet.header.timestamp;
        if !again {
            stream.newest = Some((timestamp, time));
            // The remainder of 32 bits is meant (RFC 3550 § 6.4.1).
            stream.packets = stream.packets.wrapping_add(1);
            stream.octets = stream.octets.wrapping_add(payload as u32);
        }
        let ssrc = stream.ssrc;
        let seen = Seen { timestamp, payload, headers: size - payload, again };
        self.counted.streams().outbound(ssrc).on_packet(&seen);
        self.controller.on_sent(message.now, units::Bytes::new(size as u64), probe);
    }

    fn sender_report(&self, now: Time) -> Option<Vec<Box<dyn rtc::rtcp::Packet>>> {
        let stream = self.stream.as_ref()?;
        let counts = (stream.packets, stream.octets);
        let report = sender_report(stream.ssrc, stream.clock_rate, stream.newest?, counts, now);
        let mut compound: Vec<Box<dyn rtc::rtcp::Packet>> = vec![Box::new(report)];
        if let Some((ssrc, last_rr, came)) = stream.reference {
            let report = DLRRReport { ssrc, last_rr, dlrr: ntp::short(now.saturating_since(came)) };
            let reports: Vec<Box<dyn rtc::rtcp::Packet>> =
                vec![Box::new(DLRRReportBlock { reports: vec![report] })];
            compound.push(Box::new(ExtendedReport { sender_ssrc: stream.ssrc, reports }));
        }
        Some(compound)
    }
}

/// What a report block says, and the round trip that it measured.
pub(crate) fn measured(
    block: &ReceptionReport,
    clock_rate: u32,
    now: Time,
) -> (Report, Option<Duration>) {
    // RFC 3550 § 6.4.1: zero if no sender report has come yet.
    let last = Some(block.last_sender_report).filter(|last| *last != 0);
    let rtt = last.map(|last| ntp::round_trip(ntp::stamp(now), last, block.delay));
    let report = Report {
        at: now,
        fraction_lost: f64::from(block.fraction_lost) / 256.0,
        packets_lost: cumulative_lost(block.total_lost),
        jitter: f64::from(block.jitter) / f64::from(clock_rate.max(1)),
        ..Report::default()
    };
    (report, rtt)
}

/// A report on a stream of which `newest` is the newest packet's timestamp and when it left, after
/// so many packets and octets.
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

impl Stage for Reports {
    fn read(&mut self, mut message: TaggedPacket, out: &mut Out) {
        if let Packet::Rtcp(packets) = &message.message.packet {
            let mut key_frame = false;
            for packet in packets {
                key_frame |= self.on_rtcp(message.now, packet.as_ref());
            }
            // The chain's own controller tells the pacer after per-packet feedback only, and before
            // this.
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

    fn write(&mut self, mut message: TaggedPacket, out: &mut Out) {
        self.on_departure(&mut message);
        out.write.push_back(message);
    }

    fn timeout(&mut self, now: Instant, out: &mut Out) {
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
        self.stream = Some(Stream {
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
