//! The receiving end of a call in `rtc`'s chain: counters, frames, receiver reports, requests, and
//! the receiver's half of a controller.

use crate::assembly::Assembler;
use crate::clock::Clock;
use crate::counted::{Counted, Seen};
use crate::ntp;
use crate::packets::{Unwrapped, abs_send_time_id, is_video, send_times, sent};
use crate::stage::{Out, Stage, Staged};
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

/// Time between receiver reports of video (1 s: libwebrtc
/// `modules/rtp_rtcp/source/rtcp_sender.cc`), give or take a half (RFC 3550 § 6.2).
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Round-trip time assumed before any was measured (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// No packet is asked for again sooner (20 ms: libwebrtc `modules/video_coding/nack_requester.cc`,
/// the interval of its timer).
const MIN_RETRY: Duration = Duration::from_millis(20);
/// Without a decodable frame for this long, a key frame is asked for (3 s: libwebrtc
/// `video/video_receive_stream2.cc`)…
const STALL: Duration = Duration::from_secs(3);
/// …or this long while the first key frame is missing (200 ms: the same file).
const STALL_BEFORE_KEY: Duration = Duration::from_millis(200);
/// Shortest time between requests for key frames: one round trip, at least this (300 ms: libwebrtc
/// `video/encoder_rtcp_feedback.cc`).
const KEY_REQUEST_INTERVAL: Duration = Duration::from_millis(300);

/// Receives a stream of video as the simulator's receiver does: reports (RFC 3550 § 6.4.2) with
/// reference times (RFC 3611 § 4.4), asks for lost packets and for key frames, and feeds a
/// `cc::Receiver` with packets that carry the absolute send time; what that says goes out as REMB
/// (draft-alvestrand-rmcat-remb-03) or as an APP packet ([`sim::wire::app`]), in a
/// compound packet with a report (RFC 4585 § 3.1).
///
/// It makes packets, so it belongs above the pacer and before whatever holds arrivals: at
/// [`MediaReceiver::SLOT`], with no other that asks or reports.
pub struct MediaReceiver {
    /// Never shared: the chain wants `Sync`, which a lock gives.
    controller: Mutex<Option<Box<dyn cc::Receiver>>>,
    clock: Clock,
    counted: Counted,
    /// The source of the reports.
    ssrc: u32,
    report: ReportTimer,
    rtt: Option<Duration>,
    stream: Option<Stream>,
}

/// The stream that is received.
struct Stream {
    ssrc: u32,
    clock_rate: u32,
    abs_send_time: Option<u8>,
    send_times: Unwrapped,
    timestamp: Unwrapped,
    sequence: Unwrapped,
    /// The middle 32 bits of the newest sender report's NTP time stamp.
    sender_report: u32,
    nack: NackList,
    ask: Vec<u64>,
    frames: Assembler,
    last_decoded: Time,
    last_key_request: Option<Time>,
}

impl MediaReceiver {
    /// Its place in the chain.
    pub const SLOT: usize = 8_500;

    /// `start` is the zero of the controller's time; `seed` is of the reports' source and times.
    #[must_use]
    pub fn new(
        controller: Option<Box<dyn cc::Receiver>>,
        start: Instant,
        seed: Seed,
    ) -> Staged<Self> {
        Self::counting(controller, Clock::new(start), seed, Counted::default())
    }

    pub(crate) fn counting(
        controller: Option<Box<dyn cc::Receiver>>,
        clock: Clock,
        seed: Seed,
        counted: Counted,
    ) -> Staged<Self> {
        // The lower half of 64 random bits.
        let ssrc = seed.stream("receiver.ssrc").next_u64() as u32;
        let report = ReportTimer::new(Time::ZERO, REPORT_INTERVAL, seed.stream("receiver.reports"));
        let (controller, rtt, stream) = (Mutex::new(controller), None, None);
        Staged::new(Self { controller, clock, counted, ssrc, report, rtt, stream })
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
        let mut streams = self.counted.streams();
        let inbound = streams.inbound(stream.ssrc, stream.clock_rate);
        let sequence = inbound.unwrapped(header.sequence_number);
        // Without RTX (RFC 4588) a packet that was asked for takes the place of the lost one. It
        // does not undo the loss in reports: with RTX it would not either, and controllers are made
        // for that.
        let again = stream.nack.is_missing(sequence);
        // Before it ICE and DTLS took their time, which is no stall.
        if !inbound.has_begun() {
            stream.last_decoded = now;
        }
        let (timestamp, headers) = (header.timestamp, packet.marshal_size() - payload);
        inbound.on_packet(now, &Seen { timestamp, payload, headers, again }, sequence);
        drop(streams);
        let want_key = stream.nack.on_packet(now, sequence, &mut stream.ask);
        stream.frames.on_packet(sequence, timestamp, header.marker, &packet.payload);
        self.show(now);
        if let Some(arrived) = self.arrived(now, packet) {
            let rtt = self.rtt;
            if let Some(controller) = self.controller() {
                controller.on_packet(&arrived, rtt);
            }
            self.answer(now, out);
        }
        self.request(now, want_key, out);
    }

    fn arrived(&mut self, now: Time, packet: &rtc::rtp::Packet) -> Option<ArrivedPacket> {
        let (header, stream) = (&packet.header, self.stream.as_mut()?);
        Some(ArrivedPacket {
            sent: sent(&mut stream.send_times, &header.get_extension(stream.abs_send_time?)?)?,
            sequence: stream.sequence.next(header.sequence_number.into()),
            arrival: now,
            size: Bytes::new(packet.marshal_size() as u64),
            rtp_timestamp: stream.timestamp.next(header.timestamp.into()),
            probe: None,
        })
    }

    /// Counts the frames that can be shown now.
    fn show(&mut self, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        let mut streams = self.counted.streams();
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
            let mut streams = self.counted.streams();
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

    /// What the controller wants to say now, if anything.
    fn answer(&mut self, now: Time, out: &mut Vec<Message>) {
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
            // `rtc` has no APP packets of its own.
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

    /// A receiver report and the reference time that its round trip is measured by.
    fn report(&mut self, now: Time) -> Message {
        let block = self.stream.as_ref().and_then(|stream| {
            let mut streams = self.counted.streams();
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

    /// Asks for lost packets and, if wanted, for a key frame.
    fn request(&mut self, now: Time, want_key: bool, out: &mut Vec<Message>) {
        let interval = self.rtt.unwrap_or(DEFAULT_RTT).max(KEY_REQUEST_INTERVAL);
        let (sender_ssrc, Some(stream)) = (self.ssrc, &mut self.stream) else { return };
        let may_ask =
            stream.last_key_request.is_none_or(|last| now.saturating_since(last) >= interval);
        let mut streams = self.counted.streams();
        let inbound = streams.inbound(stream.ssrc, stream.clock_rate);
        if !stream.ask.is_empty() {
            stream.ask.sort_unstable();
            // The remainder of 16 bits is meant: sequence numbers wrap.
            let wrapped: Vec<u16> = stream.ask.drain(..).map(|sequence| sequence as u16).collect();
            let nacks = nack_pairs_from_sequence_numbers(&wrapped);
            inbound.nacks += 1;
            out.push(vec![Box::new(TransportLayerNack {
                sender_ssrc,
                media_ssrc: stream.ssrc,
                nacks,
            })]);
        }
        if want_key && may_ask {
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
            self.answer(now, out);
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
            want_key |= stream.nack.retry(now, rtt, &mut stream.ask);
        }
        self.request(now, want_key, out);
    }
}

/// A compound RTCP packet.
type Message = Vec<Box<dyn rtc::rtcp::Packet>>;

fn push(now: Instant, messages: Vec<Message>, out: &mut Out) {
    out.write.extend(messages.into_iter().map(|message| TaggedPacket {
        now,
        transport: TransportContext::default(),
        message: AttributedPacket::new(Packet::Rtcp(message)),
    }));
}

/// RFC 3550 § 6.4.1.
pub(crate) fn reception_report(block: &ReportBlock, last_sender_report: u32) -> ReceptionReport {
    ReceptionReport {
        ssrc: block.ssrc,
        fraction_lost: block.fraction_lost,
        // 24 bits; losses below zero (duplicates) are clamped.
        total_lost: u32::try_from(block.cumulative_lost.clamp(0, 0x7f_ffff)).unwrap_or(0),
        // The remainder of 32 bits is meant.
        last_sequence_number: block.highest_sequence as u32,
        jitter: block.jitter as u32,
        last_sender_report,
        delay: ntp::short(block.delay_since_last),
    }
}

impl Stage for MediaReceiver {
    fn read(&mut self, message: TaggedPacket, out: &mut Out) {
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

    fn timeout(&mut self, now: Instant, out: &mut Out) {
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
        self.stream = Some(Stream {
            ssrc: stream.ssrc,
            clock_rate: stream.clock_rate,
            abs_send_time: abs_send_time_id(stream),
            send_times: send_times(),
            timestamp: Unwrapped::new(1 << 32),
            sequence: Unwrapped::new(1 << 16),
            sender_report: 0,
            nack: NackList::default(),
            ask: Vec::new(),
            frames: Assembler::default(),
            last_decoded: Time::ZERO,
            last_key_request: None,
        });
    }

    fn unbind_remote(&mut self, stream: &StreamInfo) {
        self.stream.take_if(|known| known.ssrc == stream.ssrc);
    }
}
