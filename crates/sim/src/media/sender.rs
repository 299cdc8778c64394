//! The sending end of one direction: source, packets, pacing, retransmissions, reports, and the
//! controller that sets their rates.

use super::allocation::Allocation;
use super::circuit_breaker::{Breaker, CircuitBreaker, SentMedia};
use super::fec::{Circumstances, FecEncoder, Parity};
use super::frame_buffer::Counted;
use super::history::History;
use super::media_timeout::MediaTimeout;
use super::pacer::{Backlog, Grant, Grouping, Pacer};
use super::packetizer::{MAX_PACKET, Packetizer, Part};
use super::protection::ProtectionShare;
use super::report_timer::ReportTimer;
use super::transport_log::TransportLog;
use super::{
    AMR_PAYLOAD_TYPE, DEFAULT_RTT, EndReason, FEC_PAYLOAD_TYPE, OPUS_PAYLOAD_TYPE, Outbox,
    RTX_PAYLOAD_TYPE, Show, Sources, VIDEO_PAYLOAD_TYPE, earlier,
};
use crate::codec::{AudioCodec, AudioFrame, AudioSource, Encoder};
use crate::payload::{FramePart, ReportBlock, Rtcp, Rtp, SenderReport};
use crate::scenario::{CallConfig, Fec, VideoConfig};
use crate::wire;
use cc::{Feedback, MediaFrame, SentPacket};
use net::{Dscp, Ecn};
use std::collections::VecDeque;
use units::{Bytes, Duration, Seed, Time};

/// A sender report that is due within this time is sent before a key frame (libwebrtc
/// `modules/rtp_rtcp/source/rtcp_sender.cc`, `RTCP_SEND_BEFORE_KEY_FRAME`).
const BEFORE_KEY_FRAME: Duration = Duration::from_millis(100);

/// The pacer's interval if neither the call nor the controller has one (draft-ietf-rmcat-gcc-02 §
/// 4).
const BURST_TIME: Duration = Duration::from_millis(5);

/// Sends one direction of a call.
pub(crate) struct MediaSender {
    video: Option<VideoSender>,
    audio: Option<AudioSender>,
    /// The pauses that are not over, in order of time: begin and end of each.
    pauses: VecDeque<(Time, Time)>,
    ended: Option<(Time, EndReason)>,
    /// A BYE must still be sent to the other end.
    bye_pending: bool,
}

struct AudioSender {
    ssrc: u32,
    dscp: Dscp,
    payload_type: u8,
    source: AudioSource,
    sent: Counted,
}

struct VideoSender {
    sources: Sources,
    dscp: Dscp,
    breaker: Option<CircuitBreaker>,
    timeout: Option<MediaTimeout>,
    start: Time,
    encoder: Encoder,
    controller: Box<dyn cc::Sender>,
    grouping: Grouping,
    pacer: Pacer,
    packetizer: Packetizer,
    /// The packets of the packetizer and of parity that wait.
    backlog: Backlog,
    resend: VecDeque<u64>,
    history: History,
    log: TransportLog,
    media: Counted,
    retransmitted: Counted,
    report: ReportTimer,
    reference: Option<(Time, Time)>,
    frames: u64,
    keys: u64,
    frames_at_sample: u64,
    reported: Reported,
    protection: ProtectionShare,
    fec: Option<FecEncoder>,
    allocation: Allocation,
    /// The header bytes below RTP that count for each packet.
    below_rtp: Bytes,
}

/// The contents of the newest receiver report, and the round-trip times and losses of all reports.
#[derive(Default)]
pub(crate) struct Reported {
    rtt: Option<Duration>,
    fraction_lost: f64,
    cumulative_lost: i64,
    pub(crate) rtts: Vec<(Time, f64)>,
    pub(crate) fractions: Vec<(Time, f64)>,
}

impl MediaSender {
    pub(crate) fn new(
        sources: Sources,
        call: &CallConfig,
        video: Option<(&VideoConfig, Box<dyn cc::Sender>, bool)>,
        seed: Seed,
        name: &str,
    ) -> Self {
        let video = video.map(|(config, controller, transport_feedback)| {
            let log = TransportLog::new(transport_feedback);
            VideoSender::new(sources, call, config, (controller, log), seed, name)
        });
        let audio = call.audio.as_ref().map(|config| AudioSender {
            ssrc: sources.audio,
            dscp: call.dscp.audio,
            payload_type: match config.codec {
                AudioCodec::Opus => OPUS_PAYLOAD_TYPE,
                AudioCodec::Amr => AMR_PAYLOAD_TYPE,
            },
            source: AudioSource::new(config.clone(), seed.stream(&format!("{name}.audio"))),
            sent: Counted::default(),
        });
        let pauses = call.pauses.iter().copied().collect();
        Self { video, audio, pauses, ended: None, bye_pending: false }
    }

    /// A compound RTCP packet from the receiver arrived.
    pub(crate) fn on_rtcp(&mut self, now: Time, packet: &Rtcp) {
        if self.ended.is_some() {
            return;
        }
        if packet.bye {
            self.hang_up(now);
        } else if let Some(end_reason) =
            self.video.as_mut().and_then(|video| video.on_rtcp(now, packet))
        {
            self.end(now, end_reason);
        }
    }

    /// The call has ended: the other end left, or the reverse direction ended.
    pub(crate) fn hang_up(&mut self, now: Time) {
        self.ended.get_or_insert((now, EndReason::Left));
    }

    fn end(&mut self, now: Time, end_reason: EndReason) {
        self.ended = Some((now, end_reason));
        self.bye_pending = true;
    }

    /// When and why this end ended the call.
    pub(crate) fn ended(&self) -> Option<(Time, EndReason)> {
        self.ended
    }

    /// Handles everything that is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        if self.ended.is_none()
            && let Some(end_reason) = self.video.as_ref().and_then(|video| video.overdue(now))
        {
            self.end(now, end_reason);
        }
        if self.ended.is_some() {
            if let Some(video) = self.video.as_ref().filter(|_| self.bye_pending) {
                // A compound packet starts with a report (RFC 3550 § 6.1).
                out.rtcp(now, Rtcp { bye: true, ..video.sender_report(now) });
            }
            self.bye_pending = false;
            return;
        }
        self.pause(now);
        if let Some(audio) = &mut self.audio {
            let estimator = self.video.as_mut().filter(|video| video.allocation.has_audio());
            audio.wake(now, estimator, out);
        }
        if let Some(video) = &mut self.video {
            video.wake(now, out);
        }
    }

    /// Stops the sources until the end of a pause that has begun.
    fn pause(&mut self, now: Time) {
        let Some((begin, resume)) = self.pauses.front().copied() else { return };
        if begin > now {
            return;
        }
        self.pauses.pop_front();
        if let Some(audio) = &mut self.audio {
            audio.source.pause(resume);
        }
        if let Some(video) = &mut self.video {
            video.encoder.pause(resume);
        }
    }

    /// When the next call of `wake` is due.
    pub(crate) fn next_wake(&self) -> Option<Time> {
        if let Some((at, _)) = self.ended {
            return self.bye_pending.then_some(at);
        }
        let audio = self.audio.as_ref().map(|audio| audio.source.next_capture());
        earlier(audio, self.video.as_ref().and_then(VideoSender::next_wake))
    }

    /// Shows the outbound-rtp, candidate-pair and remote-inbound-rtp members of the video, and the
    /// controller's signals.
    pub(crate) fn show_video(&mut self, since_last: Duration, show: &mut Show<'_>) {
        if let Some(video) = &mut self.video {
            video.show(since_last, show);
        }
    }

    /// Shows the outbound-rtp members of the audio.
    pub(crate) fn show_audio(&self, show: &mut Show<'_>) {
        if let Some(audio) = &self.audio {
            audio.sent.show_sent(show);
        }
    }

    /// The contents of the receiver reports so far; `None` without video.
    pub(crate) fn reported(&self) -> Option<&Reported> {
        self.video.as_ref().map(|video| &video.reported)
    }
}

impl AudioSender {
    /// Sends the packets that are due. `estimator` is the video sender if its estimate covers
    /// audio.
    fn wake(&mut self, now: Time, mut estimator: Option<&mut VideoSender>, out: &mut impl Outbox) {
        while self.source.next_capture() <= now {
            let AudioFrame { size: payload, rtp_timestamp, begins_spurt } =
                self.source.capture(now);
            let packet = Rtp {
                ssrc: self.ssrc,
                payload_type: self.payload_type,
                sequence: self.sent.packets,
                rtp_timestamp,
                marker: begins_spurt,
                payload,
                transport_sequence: estimator.as_ref().map(|video| video.log.next_sequence()),
                sent: now,
                retransmission_of: None,
                probe: None,
                padding: false,
                fec: None,
                ecn: Ecn::NotEct,
                frame: FramePart { captured: now, ..FramePart::default() },
            };
            self.sent.add(payload, wire::rtp_header_size(&packet));
            if let Some(video) = &mut estimator {
                let size = video.account(now, &packet);
                video.pacer.charge(now, size);
            }
            out.rtp(now, &packet, self.dscp);
        }
    }
}

impl VideoSender {
    fn new(
        sources: Sources,
        call: &CallConfig,
        config: &VideoConfig,
        (mut controller, log): (Box<dyn cc::Sender>, TransportLog),
        seed: Seed,
        name: &str,
    ) -> Self {
        let (start, allocation) = (call.start, Allocation::new(call, config));
        controller.on_allocation(start, allocation.limits());
        let (grouping, burst) = match (config.burst_time, controller.pacing_burst()) {
            (None, Some(burst)) => (Grouping::Paid, burst),
            (burst, _) => (Grouping::Grid, burst.unwrap_or(BURST_TIME)),
        };
        let target = allocation.video_payload(controller.decision().target_rate);
        let mut sender = Self {
            sources,
            dscp: call.dscp.video,
            breaker: config.circuit_breaker.then(|| {
                CircuitBreaker::new(start, config.encoder.source.interval(), config.report_interval)
            }),
            timeout: call
                .media_timeout
                .map(|limit| MediaTimeout::of_reports(limit, config.report_interval)),
            start,
            encoder: Encoder::new(
                config.encoder.clone(),
                seed.stream(&format!("{name}.video")),
                target,
            ),
            controller,
            grouping,
            pacer: Pacer::new(grouping, burst),
            packetizer: Packetizer::default(),
            backlog: Backlog::default(),
            resend: VecDeque::new(),
            history: History::default(),
            log,
            media: Counted::default(),
            retransmitted: Counted::default(),
            report: ReportTimer::new(
                start,
                config.report_interval,
                seed.stream(&format!("{name}.sender.reports")),
            ),
            reference: None,
            frames: 0,
            keys: 0,
            frames_at_sample: 0,
            reported: Reported::default(),
            protection: ProtectionShare::new(start),
            fec: (config.fec == Fec::Hybrid).then(FecEncoder::default),
            allocation,
            below_rtp: config.estimate.below_rtp(),
        };
        sender.apply_decision(start);
        sender
    }

    /// Applies the controller's decision to encoder and pacer.
    fn apply_decision(&mut self, now: Time) {
        let decision = self.controller.decision();
        let payload = self.allocation.video_payload(decision.target_rate);
        let target = payload.scale(1.0 - self.protection.share());
        self.encoder.set_rates(now, target, self.controller.frame_reduction());
        self.pacer.set_rate(now, decision.pacing_rate, &self.backlog);
        self.pacer.set_padding_rate(now, self.controller.padding_rate());
        if let Some(cluster) = decision.probe {
            self.pacer.start_probe(now, cluster);
        }
    }

    /// Processes a compound packet from the receiver. Returns why the call must end, if it must.
    fn on_rtcp(&mut self, now: Time, packet: &Rtcp) -> Option<EndReason> {
        if let Some(timeout) = &mut self.timeout {
            timeout.on_packet(now);
        }
        let mut end_reason = None;
        if let Some(reference) = packet.reference_time {
            self.reference = Some((reference, now));
        }
        if let Some(block) = &packet.report {
            let measured = self.reported.on_block(now, block);
            let fraction_lost = self.reported.fraction_lost;
            end_reason = self.end_reason_of_report(now, block, measured);
            if let Some(fec) = &mut self.fec {
                fec.on_report(now, fraction_lost, block.expected);
            }
            let protection = self.retransmitted.payload + self.parity().payload;
            self.protection.update(now, self.media.payload, protection);
            let report =
                Feedback::Report { fraction_lost, expected: block.expected, rtt: measured };
            self.controller.on_feedback(now, report);
        }
        if let Some(rate) = packet.remb {
            self.controller.on_feedback(now, Feedback::Remb { rate });
        }
        if let Some(message) = packet.custom {
            self.controller.on_feedback(now, Feedback::Custom(message));
        }
        if !packet.transport.arrivals.is_empty() {
            let results = self.log.results(&packet.transport);
            self.controller.on_feedback(now, Feedback::Packets { results, rtt: self.reported.rtt });
        }
        self.resend.extend(&packet.nack);
        if !packet.nack.is_empty() {
            self.pacer.wake(now, &self.backlog);
        }
        if packet.pli {
            self.encoder.request_key_frame();
        }
        self.apply_decision(now);
        end_reason
    }

    /// Why a report ends the call, if it does.
    fn end_reason_of_report(
        &mut self,
        now: Time,
        report: &ReportBlock,
        rtt: Option<Duration>,
    ) -> Option<EndReason> {
        let sent = SentMedia { packets: self.media.packets, bytes: self.media.payload };
        if let Some(breaker) = &mut self.breaker
            && let Some(breaker) = breaker.on_report(now, report, rtt.or(self.reported.rtt), sent)
        {
            return Some(EndReason::CircuitBreaker(breaker));
        }
        let rtt = rtt?;
        let timeout = self.timeout.as_ref()?;
        timeout.is_too_long(rtt).then_some(EndReason::MediaTimeout(rtt))
    }

    /// Why the call ends at `now` because nothing arrived for too long, if it does.
    fn overdue(&self, now: Time) -> Option<EndReason> {
        if self.breaker.as_ref().is_some_and(|breaker| breaker.deadline() <= now) {
            return Some(EndReason::CircuitBreaker(Breaker::RtcpTimeout));
        }
        let timeout = self.timeout.as_ref()?;
        timeout
            .deadline()
            .is_some_and(|at| at <= now)
            .then(|| EndReason::MediaTimeout(timeout.limit()))
    }

    fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        if self.controller.next_timeout().is_some_and(|at| at <= now) {
            self.controller.on_timeout(now);
            self.apply_decision(now);
        }
        // Reports are not paced (libwebrtc `modules/rtp_rtcp/source/rtp_rtcp_impl2.cc`,
        // MaybeSendRtcpAtOrAfterTimestamp).
        if self.report.due() <= now {
            self.send_report(now, out);
        }
        if self.encoder.next_capture() <= now {
            self.capture(now, out);
        }
        let mut sent = false;
        while self.window_is_open()
            && let Some(grant) =
                self.pacer.grant(now, self.queue_empty(), self.can_pad(), &self.backlog)
        {
            sent |= self.send(now, grant, out);
        }
        if sent {
            self.apply_decision(now);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        let pacer = self.pacer.next_wake(self.queue_empty(), self.can_pad());
        let pacer = pacer.filter(|_| self.window_is_open());
        let breaker = self.breaker.as_ref().map(CircuitBreaker::deadline);
        let limits = earlier(breaker, self.timeout.and_then(|timeout| timeout.deadline()));
        let source = self.encoder.next_capture().min(self.report.due());
        let media = earlier(earlier(pacer, self.controller.next_timeout()), Some(source));
        earlier(media, limits)
    }

    /// Whether the controller's window for sending has room for a packet.
    fn window_is_open(&self) -> bool {
        self.controller.send_window().is_none_or(|window| window >= MAX_PACKET)
    }

    fn queue_empty(&self) -> bool {
        let no_parity = self.fec.as_ref().is_none_or(FecEncoder::is_empty);
        self.packetizer.is_empty() && self.resend.is_empty() && no_parity
    }

    /// Counters of the sent parity packets.
    fn parity(&self) -> Counted {
        self.fec.as_ref().map_or(Counted::default(), |fec| fec.sent)
    }

    fn can_pad(&self) -> bool {
        self.history.newest().is_some()
    }

    /// Adds a packet of media that is sent now to its block of parity. Parity waits behind the
    /// media that were queued before it was made: since 2020 when the last packet of its block
    /// leaves (libwebrtc `modules/pacing/pacing_controller.cc`, FetchFec), before that when that
    /// packet was queued (`modules/rtp_rtcp/source/rtp_sender_video.cc`).
    fn protect(&mut self, now: Time, part: &Part) {
        let Some(fec) = &mut self.fec else { return };
        let before_frame = match self.grouping {
            Grouping::Grid => part.part.frame + 1,
            Grouping::Paid => self.packetizer.next_frame(),
        };
        let (width, height) = self.encoder.resolution();
        let circumstances = Circumstances {
            rate: self.allocation.video_payload(self.controller.decision().target_rate),
            frame_rate: self.encoder.frame_rate(),
            pixels: f64::from(width) * f64::from(height),
            rtt: self.reported.rtt.unwrap_or(Duration::ZERO),
        };
        let media = (self.media.packets, part);
        let (packets, bytes) = fec.on_media(now, media, before_frame, &circumstances);
        self.enqueue(now, packets, bytes);
    }

    /// Counts packets that wait for the pacer with the headers below RTP, but without those of RTP
    /// (libwebrtc `modules/pacing/pacing_controller.cc`, QueueSizeData).
    fn enqueue(&mut self, now: Time, packets: u64, payload: Bytes) {
        self.backlog.push(now, packets, payload + self.below_rtp * packets);
    }

    /// Captures a frame. A sender report that is due soon is sent before the packets of a key
    /// frame, so that it does not wait behind them (libwebrtc
    /// `modules/rtp_rtcp/source/rtp_rtcp_impl2.cc`, OnSendingRtpFrame).
    fn capture(&mut self, now: Time, out: &mut impl Outbox) {
        let Some(frame) = self.encoder.capture(now) else { return };
        if frame.key && self.report.due() <= now + BEFORE_KEY_FRAME {
            self.send_report(now, out);
        }
        self.frames += 1;
        self.keys += u64::from(frame.key);
        // Parity packets are longer than the packets that they protect, and must also fit.
        let spare = if self.fec.is_some() { wire::FEC_OVERHEAD } else { Bytes::ZERO };
        let before = self.packetizer.bytes();
        let packets = self.packetizer.push(now, frame, wire::VIDEO_HEADER + spare);
        let queued = self.packetizer.bytes();
        let frame = MediaFrame { size: queued.saturating_sub(before), queued };
        self.enqueue(now, u64::from(packets), frame.size);
        self.controller.on_frame(now, &frame);
        self.pacer.wake(now, &self.backlog);
    }

    fn send_report(&mut self, now: Time, out: &mut impl Outbox) {
        self.report.restart(now);
        let report = self.sender_report(now);
        out.rtcp(now, report);
    }

    fn sender_report(&self, now: Time) -> Rtcp {
        let rtp_timestamp = now.saturating_since(self.start).as_nanos() / 100 * 9 / 1_000;
        let report = SenderReport {
            sent: now,
            rtp_timestamp,
            packets: self.media.packets,
            bytes: self.media.payload,
        };
        let dlrr = self.reference.map(|(stamp, arrived)| (stamp, now.saturating_since(arrived)));
        let ssrc = self.sources.video;
        Rtcp { ssrc, sender_report: Some(report), dlrr, media_ssrc: ssrc, ..Rtcp::default() }
    }

    /// Sends the packet that the pacer granted: a retransmission if there is one, else parity whose
    /// turn it is, else media, else padding. Returns false if there was nothing to send.
    fn send(&mut self, now: Time, grant: Grant, out: &mut impl Outbox) -> bool {
        let probe = match grant {
            Grant::Media | Grant::Padding => None,
            Grant::Probe(id) => Some(id),
        };
        let rtt = self.reported.rtt.unwrap_or(DEFAULT_RTT);
        while let Some(sequence) = self.resend.pop_front() {
            if let Some(part) = self.history.resend(now, sequence, rtt) {
                self.send_packet(now, part, Some(sequence), probe, false, out);
                return true;
            }
        }
        let next_frame = self.packetizer.front();
        if let Some(parity) = self.fec.as_mut().and_then(|fec| fec.pop(next_frame)) {
            self.backlog.pop(parity.made, parity.payload + self.below_rtp);
            self.send_parity(now, parity, probe, out);
            return true;
        }
        if let Some(part) = self.packetizer.pop() {
            self.backlog.pop(part.part.captured, part.payload + self.below_rtp);
            self.history.insert(self.media.packets, part);
            self.protect(now, &part);
            self.send_packet(now, part, None, probe, false, out);
            return true;
        }
        // Padding is copies of the newest packet (libwebrtc pads with retransmissions).
        if grant != Grant::Media
            && let Some((sequence, part)) = self.history.newest()
        {
            self.send_packet(now, part, Some(sequence), probe, true, out);
            return true;
        }
        false
    }

    fn send_packet(
        &mut self,
        now: Time,
        part: Part,
        retransmission_of: Option<u64>,
        probe: Option<u32>,
        padding: bool,
        out: &mut impl Outbox,
    ) {
        let (is_retransmission, ecn) = (retransmission_of.is_some(), self.ecn());
        let counted = if is_retransmission { &mut self.retransmitted } else { &mut self.media };
        let packet = Rtp {
            ssrc: if is_retransmission { self.sources.rtx } else { self.sources.video },
            payload_type: if is_retransmission { RTX_PAYLOAD_TYPE } else { VIDEO_PAYLOAD_TYPE },
            sequence: counted.packets,
            rtp_timestamp: part.rtp_timestamp,
            marker: part.part.index + 1 == part.part.count,
            payload: part.payload,
            transport_sequence: Some(self.log.next_sequence()),
            sent: now,
            retransmission_of,
            probe,
            padding,
            fec: None,
            ecn,
            frame: part.part,
        };
        counted.add(part.payload, wire::rtp_header_size(&packet));
        self.leave(now, &packet, out);
    }

    /// Sends a parity packet with the time stamp of its frame (as in libwebrtc
    /// `modules/rtp_rtcp/source/ulpfec_generator.cc`).
    fn send_parity(
        &mut self,
        now: Time,
        parity: Parity,
        probe: Option<u32>,
        out: &mut impl Outbox,
    ) {
        let ecn = self.ecn();
        let Some(fec) = &mut self.fec else { return };
        let packet = Rtp {
            ssrc: self.sources.fec,
            payload_type: FEC_PAYLOAD_TYPE,
            sequence: fec.sent.packets,
            rtp_timestamp: parity.rtp_timestamp,
            marker: false,
            payload: parity.payload,
            transport_sequence: Some(self.log.next_sequence()),
            sent: now,
            retransmission_of: None,
            probe,
            padding: false,
            fec: Some(parity.group),
            ecn,
            frame: parity.part,
        };
        fec.sent.add(parity.payload, wire::rtp_header_size(&packet));
        self.leave(now, &packet, out);
    }

    /// The ECN field that the controller asks for.
    fn ecn(&self) -> Ecn {
        match self.controller.ecn() {
            cc::Ecn::NotEct => Ecn::NotEct,
            cc::Ecn::Ect1 => Ecn::Ect1,
            cc::Ecn::Ect0 => Ecn::Ect0,
            cc::Ecn::Ce => Ecn::Ce,
        }
    }

    /// Sends a packet, and reports it to the log, the controller and the pacer.
    fn leave(&mut self, now: Time, packet: &Rtp, out: &mut impl Outbox) {
        let size = self.account(now, packet);
        self.pacer.sent(now, size);
        out.rtp(now, packet, self.dscp);
    }

    /// Reports a packet that leaves now to the log and the controller. Returns the size that counts
    /// for them.
    fn account(&mut self, now: Time, packet: &Rtp) -> Bytes {
        let size = wire::rtp_size(packet) + self.below_rtp;
        let sent =
            SentPacket { sequence: self.log.next_sequence(), sent: now, size, probe: packet.probe };
        self.log.insert(sent);
        self.controller.on_sent(&sent);
        size
    }

    fn show(&mut self, since_last: Duration, show: &mut Show<'_>) {
        let decision = self.controller.decision();
        let (rtx, fec) = (self.retransmitted, self.parity());
        show("bytesSent", (self.media.payload + rtx.payload + fec.payload).get() as f64);
        show("headerBytesSent", (self.media.headers + rtx.headers + fec.headers).get() as f64);
        show("packetsSent", (self.media.packets + rtx.packets + fec.packets) as f64);
        show("mediaPacketsSent", self.media.packets as f64);
        show("retransmittedPacketsSent", self.retransmitted.packets as f64);
        show("retransmittedBytesSent", self.retransmitted.payload.get() as f64);
        show("framesEncoded", self.frames as f64);
        show("keyFramesEncoded", self.keys as f64);
        let frames = self.frames - self.frames_at_sample;
        show("framesPerSecondSent", frames as f64 / since_last.as_secs_f64());
        self.frames_at_sample = self.frames;
        let (width, height) = self.encoder.resolution();
        show("frameWidthSent", f64::from(width));
        show("frameHeightSent", f64::from(height));
        show("targetBitrate", self.encoder.target().as_bps_f64());
        show("availableOutgoingBitrate", decision.target_rate.as_bps_f64());
        show("pacingRate", decision.pacing_rate.as_bps_f64());
        self.reported.show(show);
        if self.fec.is_some() {
            show("fecPacketsSent", fec.packets as f64);
            show("fecBytesSent", fec.payload.get() as f64);
        }
        self.controller.signals(show);
    }
}

impl Reported {
    /// Processes a report block. Returns the round-trip time that it measures, if any (RFC 3550 §
    /// 6.4.1).
    pub(super) fn on_block(&mut self, now: Time, block: &ReportBlock) -> Option<Duration> {
        let rtt = block
            .last_sender_report
            .map(|stamp| now.saturating_since(stamp).saturating_sub(block.delay_since_last));
        self.fraction_lost = f64::from(block.fraction_lost) / 256.0;
        self.cumulative_lost = block.cumulative_lost;
        self.fractions.push((now, self.fraction_lost));
        if let Some(rtt) = rtt {
            self.rtt = Some(rtt);
            self.rtts.push((now, rtt.as_secs_f64()));
        }
        rtt
    }

    /// Shows the remote-inbound-rtp members.
    pub(super) fn show(&self, show: &mut Show<'_>) {
        show("roundTripTime", self.rtt.map_or(f64::NAN, Duration::as_secs_f64));
        show("fractionLost", self.fraction_lost);
        show("packetsLostReported", self.cumulative_lost as f64);
    }
}
