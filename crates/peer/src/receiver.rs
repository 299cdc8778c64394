//! The receiving half of a call as an interceptor of `rtc`: counters, frames, receiver reports,
//! requests, and the receiver half of a controller.

use crate::assembly::Assembler;
use crate::clock::Clock;
use crate::counters::{CountedPacket, Counters};
use crate::interceptor::{HandlerInterceptor, OutputQueues, PacketHandler};
use crate::ntp;
use crate::packets::{
    Unwrapper, abs_send_time, abs_send_time_id, abs_send_time_unwrapper, is_video,
};
use bytes::Bytes as Octets;
use cc::{ArrivedPacket, ReceiverFeedback};
use rtc::interceptor::{AttributedPacket, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp::extended_report::{
    DLRRReportBlock, ExtendedReport, ReceiverReferenceTimeReportBlock,
};
use rtc::rtcp::payload_feedbacks::picture_loss_indication::PictureLossIndication;
use rtc::rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc::rtcp::raw_packet::RawPacket;
use rtc::rtcp::receiver_report::ReceiverReport;
use rtc::rtcp::reception_report::ReceptionReport;
use rtc::rtcp::sender_report::SenderReport;
use rtc::rtcp::transport_feedbacks::transport_layer_nack::{
    TransportLayerNack, nack_pairs_from_sequence_numbers,
};
use rtc::shared::TransportContext;
use rtc::shared::marshal::MarshalSize;
use sim::payload::ReportBlock;
use sim::{NackList, ReportTimer};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// The mean time between receiver reports of video (1 s: libwebrtc
/// `modules/rtp_rtcp/source/rtcp_sender.cc`); each interval is random within ±50 % (RFC 3550 §
/// 6.2).
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The round-trip time that is assumed before the first measurement (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// The shortest time between two requests for one packet (20 ms: libwebrtc
/// `modules/video_coding/nack_requester.cc`, the interval of its timer).
const MIN_RETRY: Duration = Duration::from_millis(20);
/// The time without a decodable frame after which a key frame is requested (3 s: libwebrtc
/// `video/video_receive_stream2.cc`).
const STALL: Duration = Duration::from_secs(3);
/// The same time while the first key frame is missing (200 ms: the same file).
const STALL_BEFORE_KEY: Duration = Duration::from_millis(200);
/// The lower bound of the time between requests for key frames, which is one round trip (300 ms:
/// libwebrtc `video/encoder_rtcp_feedback.cc`).
const KEY_REQUEST_INTERVAL: Duration = Duration::from_millis(300);

/// Receives a stream of video as the receiver of the simulator does. Sends reports (RFC 3550 §
/// 6.4.2) with reference times (RFC 3611 § 4.4), and requests lost packets and key frames. Passes
/// packets with an absolute send time to a `cc::Receiver`, and sends its feedback as REMB
/// (draft-alvestrand-rmcat-remb-03) or as an APP packet ([`sim::wire::app`]), in a
/// compound packet with a report (RFC 4585 § 3.1).
///
/// It creates packets, so it belongs above the pacer, and nearer to the network than anything that
/// delays arrivals: at [`MediaReceiver::SLOT`]. The chain must have no other interceptor that sends
/// requests or reports.
pub struct MediaReceiver {
    /// A lock only because the chain requires `Sync`; it is never contended.
    controller: Mutex<Option<Box<dyn cc::Receiver>>>,
    clock: Clock,
    counters: Counters,
    /// The SSRC of the reports.
    ssrc: u32,
    report: ReportTimer,
    /// The newest round-trip time, from DLRR.
    rtt: Option<Duration>,
    stream: Option<ReceivedStream>,
}

/// The stream that is received.
struct ReceivedStream {
    ssrc: u32,
    clock_rate: u32,
    abs_send_time: Option<u8>,
    send_times: Unwrapper,
    timestamp: Unwrapper,
    sequence: Unwrapper,
    /// The middle 32 bits of the NTP timestamp of the newest sender report; 0 before the first.
    sender_report: u32,
    nack: NackList,
    /// Sequence numbers to request.
    requests: Vec<u64>,
    frames: Assembler,
    last_decoded: Time,
    last_key_request: Option<Time>,
}

impl MediaReceiver {
    /// The slot in the chain.
    pub const SLOT: usize = 8_500;

    /// `start` is the zero of the controller's time; `seed` determines the SSRC and the times of
    /// the reports.
    #[must_use]
    pub fn new(
        controller: Option<Box<dyn cc::Receiver>>,
        start: Instant,
        seed: Seed,
    ) -> HandlerInterceptor<Self> {
        Self::with_counters(controller, Clock::new(start), seed, Counters::default())
    }

    pub(crate) fn with_counters(
        controller: Option<Box<dyn cc::Receiver>>,
        clock: Clock,
        seed: Seed,
        counters: Counters,
    ) -> HandlerInterceptor<Self> {
        // The low 32 of 64 random bits.
        let ssrc = seed.stream("receiver.ssrc").next_u64() as u32;
        let report = ReportTimer::new(Time::ZERO, REPORT_INTERVAL, seed.stream("receiver.reports"));
        let (controller, rtt, stream) = (Mutex::new(controller), None, None);
        HandlerInterceptor::new(Self { controller, clock, counters, ssrc, report, rtt, stream })
    }

    fn controller(&mut self) -> Option<&mut Box<dyn cc::Receiver>> {
        self.controller.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }

    fn on_rtp(&mut self, now: Time, packet: &rtc::rtp::Packet, out: &mut Vec<Message>) {
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.ssrc == packet.header.ssrc)
        else {
            return;
        };
        let (header, payload) = (&packet.header, packet.payload.len());
        let mut streams = self.counters.streams();
        let inbound = streams.inbound(stream.ssrc, stream.clock_rate);
        let sequence = inbound.unwrapped(header.sequence_number);
        // Without RTX (RFC 4588), a retransmission has the sequence number of the lost packet. It
        // does not undo the loss in reports: with RTX it would not either, and controllers are
        // designed for that.
        let retransmitted = stream.nack.is_missing(sequence);
        // The time before the first packet, which ICE and DTLS took, is not a stall.
        if !inbound.has_begun() {
            stream.last_decoded = now;
        }
        let (timestamp, headers) = (header.timestamp, packet.marshal_size() - payload);
        inbound.on_packet(
            now,
            &CountedPacket { timestamp, payload, headers, retransmitted },
            sequence,
        );
        drop(streams);
        let want_key = stream.nack.on_packet(now, sequence, &mut stream.requests);
        stream.frames.on_packet(sequence, timestamp, header.marker, &packet.payload);
        self.count_frames(now);
        if let Some(arrived) = self.arrived(now, packet) {
            let rtt = self.rtt;
            if let Some(controller) = self.controller() {
                controller.on_packet(&arrived, rtt);
            }
            self.send_feedback(now, out);
        }
        self.request(now, want_key, out);
    }

    fn arrived(&mut self, now: Time, packet: &rtc::rtp::Packet) -> Option<ArrivedPacket> {
        let (header, stream) = (&packet.header, self.stream.as_mut()?);
        Some(ArrivedPacket {
            sent: abs_send_time(
                &mut stream.send_times,
                &header.get_extension(stream.abs_send_time?)?,
            )?,
            sequence: stream.sequence.next(header.sequence_number.into()),
            arrival: now,
            size: Bytes::new(packet.marshal_size() as u64),
            rtp_timestamp: stream.timestamp.next(header.timestamp.into()),
            probe: None,
            ecn: cc::Ecn::NotEct,
        })
    }

    /// Counts the frames that are complete now.
    fn count_frames(&mut self, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        let mut streams = self.counters.streams();
        let inbound = streams.inbound(stream.ssrc, stream.clock_rate);
        while let Some(frame) = stream.frames.next() {
            if inbound.frames.on_frame(now, &frame.start, frame.follows) {
                stream.last_decoded = now;
            }
        }
    }

    fn on_rtcp(&mut self, now: Time, packet: &dyn rtc::rtcp::Packet) {
        let (packet, Some(stream)) = (packet.as_any(), &mut self.stream) else { return };
        if let Some(report) =
            packet.downcast_ref::<SenderReport>().filter(|report| report.ssrc == stream.ssrc)
        {
            stream.sender_report = ntp::middle(report.ntp_time);
            let mut streams = self.counters.streams();
            streams.inbound(stream.ssrc, stream.clock_rate).reception.on_sender_report(now, now);
        }
        let extended = packet.downcast_ref::<ExtendedReport>().map(|extended| &extended.reports);
        for block in extended.into_iter().flatten() {
            let blocks =
                block.as_any().downcast_ref::<DLRRReportBlock>().map(|block| &block.reports);
            for answer in blocks.into_iter().flatten().filter(|answer| answer.ssrc == self.ssrc) {
                self.rtt = Some(ntp::round_trip(ntp::stamp(now), answer.last_rr, answer.dlrr));
            }
        }
    }

    /// Sends the feedback of the controller, if it has any now.
    fn send_feedback(&mut self, now: Time, out: &mut Vec<Message>) {
        let Some(feedback) = self.controller().and_then(|controller| controller.poll(now)) else {
            return;
        };
        let (sender_ssrc, Some(stream)) = (self.ssrc, &self.stream) else { return };
        let packet: Box<dyn rtc::rtcp::Packet> = match feedback {
            ReceiverFeedback::Remb(rate) => Box::new(ReceiverEstimatedMaximumBitrate {
                sender_ssrc,
                bitrate: rate.min(Bitrate::from_bps(u64::from(u32::MAX))).as_bps_f64() as f32,
                ssrcs: vec![stream.ssrc],
            }),
            // `rtc` has no type for APP packets.
            ReceiverFeedback::Custom(message) => {
                let packet = sim::wire::app::encode(sender_ssrc, stream.ssrc, &message);
                Box::new(RawPacket(Octets::from(packet)))
            }
        };
        let mut compound = self.report(now);
        compound.push(packet);
        self.report.skip(now);
        out.push(compound);
    }

    /// A receiver report, and the reference time from which the round-trip time is measured.
    fn report(&mut self, now: Time) -> Message {
        let block = self.stream.as_ref().and_then(|stream| {
            let mut streams = self.counters.streams();
            let block = streams.inbound(stream.ssrc, stream.clock_rate).reception.report(now)?;
            Some(reception_report(&block, stream.sender_report))
        });
        let report = ReceiverReport {
            ssrc: self.ssrc,
            reports: block.into_iter().collect(),
            ..Default::default()
        };
        let reference = ReceiverReferenceTimeReportBlock { ntp_timestamp: ntp::stamp(now) };
        let extended =
            ExtendedReport { sender_ssrc: self.ssrc, reports: vec![Box::new(reference)] };
        vec![Box::new(report), Box::new(extended)]
    }

    /// Requests lost packets and, if `want_key`, a key frame.
    fn request(&mut self, now: Time, want_key: bool, out: &mut Vec<Message>) {
        let interval = self.rtt.unwrap_or(DEFAULT_RTT).max(KEY_REQUEST_INTERVAL);
        let (sender_ssrc, Some(stream)) = (self.ssrc, &mut self.stream) else { return };
        let may_request_key =
            stream.last_key_request.is_none_or(|last| now.saturating_since(last) >= interval);
        let mut streams = self.counters.streams();
        let inbound = streams.inbound(stream.ssrc, stream.clock_rate);
        if !stream.requests.is_empty() {
            stream.requests.sort_unstable();
            // Sequence numbers wrap at 16 bits.
            let wrapped: Vec<u16> =
                stream.requests.drain(..).map(|sequence| sequence as u16).collect();
            let nacks = nack_pairs_from_sequence_numbers(&wrapped);
            inbound.nacks += 1;
            out.push(vec![Box::new(TransportLayerNack {
                sender_ssrc,
                media_ssrc: stream.ssrc,
                nacks,
            })]);
        }
        if want_key && may_request_key {
            stream.last_key_request = Some(now);
            inbound.plis += 1;
            out.push(vec![Box::new(PictureLossIndication {
                sender_ssrc,
                media_ssrc: stream.ssrc,
            })]);
        }
    }

    fn retry_interval(&self) -> Duration {
        self.rtt.unwrap_or(DEFAULT_RTT).max(MIN_RETRY)
    }

    fn stall_at(&self) -> Option<Time> {
        let stream = self.stream.as_ref().filter(|stream| stream.frames.is_stalled())?;
        let is_begun = stream.frames.is_begun();
        Some(stream.last_decoded + if is_begun { STALL } else { STALL_BEFORE_KEY })
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Message>) {
        if let Some(controller) = self.controller()
            && controller.next_timeout().is_some_and(|at| at <= now)
        {
            controller.on_timeout(now);
            self.send_feedback(now, out);
        }
        if self.report.due() <= now {
            self.report.restart(now);
            if self.stream.is_some() {
                let report = self.report(now);
                out.push(report);
            }
        }
        let (rtt, is_stalled) =
            (self.retry_interval(), self.stall_at().is_some_and(|at| at <= now));
        let Some(stream) = &mut self.stream else { return };
        let mut want_key = is_stalled;
        if is_stalled {
            stream.last_decoded = now;
        }
        if stream.nack.next_wake(rtt).is_some_and(|at| at <= now) {
            want_key |= stream.nack.retry(now, rtt, &mut stream.requests);
        }
        self.request(now, want_key, out);
    }
}

/// A compound RTCP packet.
type Message = Vec<Box<dyn rtc::rtcp::Packet>>;

fn push(now: Instant, messages: Vec<Message>, out: &mut OutputQueues) {
    out.write.extend(messages.into_iter().map(|message| TaggedPacket {
        now,
        transport: TransportContext::default(),
        message: AttributedPacket::new(Packet::Rtcp(message)),
    }));
}

/// The report block of RFC 3550 § 6.4.1.
pub(crate) fn reception_report(block: &ReportBlock, last_sender_report: u32) -> ReceptionReport {
    ReceptionReport {
        ssrc: block.ssrc,
        fraction_lost: block.fraction_lost,
        // The field has 24 bits. A negative loss, from duplicates, is clamped to 0.
        total_lost: u32::try_from(block.cumulative_lost.clamp(0, 0x7f_ffff)).unwrap_or(0),
        // The number wraps at 32 bits.
        last_sequence_number: block.highest_sequence as u32,
        jitter: block.jitter as u32,
        last_sender_report,
        delay: ntp::short(block.delay_since_last),
    }
}

impl PacketHandler for MediaReceiver {
    fn read(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        let (now, mut messages) = (self.clock.time(message.now), Vec::new());
        match &message.message.packet {
            Packet::Rtp(packet) => self.on_rtp(now, packet, &mut messages),
            Packet::Rtcp(packets) => {
                packets.iter().for_each(|packet| self.on_rtcp(now, packet.as_ref()));
            }
            _ => {}
        }
        push(message.now, messages, out);
        out.read.push_back(message);
    }

    fn timeout(&mut self, now: Instant, out: &mut OutputQueues) {
        let mut messages = Vec::new();
        self.wake(self.clock.time(now), &mut messages);
        push(now, messages, out);
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        let controller = self.controller().and_then(|controller| controller.next_timeout());
        let retry = self.retry_interval();
        let nack = self.stream.as_ref().and_then(|stream| stream.nack.next_wake(retry));
        let due = [controller, nack, self.stall_at(), Some(self.report.due())]
            .into_iter()
            .flatten()
            .min()?;
        Some(self.clock.instant(due))
    }

    fn bind_remote(&mut self, stream: &StreamInfo) {
        if !is_video(stream) {
            return;
        }
        self.stream = Some(ReceivedStream {
            ssrc: stream.ssrc,
            clock_rate: stream.clock_rate,
            abs_send_time: abs_send_time_id(stream),
            send_times: abs_send_time_unwrapper(),
            timestamp: Unwrapper::new(1 << 32),
            sequence: Unwrapper::new(1 << 16),
            sender_report: 0,
            nack: NackList::default(),
            requests: Vec::new(),
            frames: Assembler::default(),
            last_decoded: Time::ZERO,
            last_key_request: None,
        });
    }

    fn unbind_remote(&mut self, stream: &StreamInfo) {
        self.stream.take_if(|known| known.ssrc == stream.ssrc);
    }
}
