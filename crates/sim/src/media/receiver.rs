//! The receiving end of one direction: statistics, retransmission requests, frames, and feedback.

use super::fec::FecDecoder;
use super::frame_buffer::{Counted, FrameBuffer};
use super::media_timeout::MediaTimeout;
use super::nack::NackList;
use super::reception::Reception;
use super::report_timer::ReportTimer;
use super::{DEFAULT_RTT, EndReason, Outbox, Show, Sources};
use crate::codec::AudioCodec;
use crate::payload::{FramePart, Rtcp, Rtp, TransportFeedback};
use crate::scenario::{CallConfig, Fec, Sfu};
use crate::wire;
use cc::{ArrivedPacket, ReceiverFeedback};
use net::Ecn;
use units::{Bytes, Duration, Seed, Time};

/// If no frame can be decoded for this long, a key frame is requested (3 s: libwebrtc
/// `video/video_receive_stream2.cc`).
const STALL: Duration = Duration::from_secs(3);
/// The same while the first key frame is missing (200 ms: same file).
const STALL_BEFORE_KEY: Duration = Duration::from_millis(200);
/// Minimum time between key-frame requests, if the round-trip time is not longer (300 ms: libwebrtc
/// `video/encoder_rtcp_feedback.cc`).
const KEY_REQUEST_INTERVAL: Duration = Duration::from_millis(300);

/// Receives one direction of a call.
pub(crate) struct MediaReceiver {
    sources: Sources,
    video: Reception,
    audio: Reception,
    retransmitted: Counted,
    /// Whether this end decodes video, and so requests key frames itself; a forwarding unit does
    /// not.
    decodes: bool,
    nack: Option<NackList>,
    fec: Option<FecDecoder>,
    frames: FrameBuffer,
    controller: Option<Box<dyn cc::Receiver>>,
    /// The header bytes below RTP that count for each packet.
    below_rtp: Bytes,
    feedback: Option<Feedback>,
    report: ReportTimer,
    timeout: Option<MediaTimeout>,
    ended: Option<(Time, EndReason)>,
    rtt: Option<Duration>,
    last_decoded: Time,
    /// The times of key-frame requests.
    pub(crate) key_requests: Vec<Time>,
    nacks_sent: u64,
    decoded_at_sample: u64,
    nack_requests: Vec<u64>,
    /// (time, seconds since capture) of each video frame when it could be decoded.
    pub(crate) frame_delays: Vec<(Time, f64)>,
    /// The payload of each of these frames, without packets that parity restored.
    frame_sizes: Vec<Bytes>,
    /// Packets that are not audio and arrived with ECT(1), and with CE.
    ect1_packets: u64,
    ce_packets: u64,
    /// The compound RTCP packets that this end sent, and their size without UDP and IP headers.
    rtcp_packets: u64,
    rtcp_bytes: Bytes,
    /// (arrival time, seconds since capture) of each audio packet, including silence descriptors.
    pub(crate) audio_delays: Vec<(Time, f64)>,
}

/// The transport-wide feedback that will be sent next.
struct Feedback {
    interval: Duration,
    due: Time,
    base: u64,
    count: u8,
    arrivals: Vec<Option<Time>>,
    ecn: Vec<Ecn>,
    /// An ECN-capable packet arrived, so the message is one of RFC 8888.
    carries_ecn: bool,
}

impl MediaReceiver {
    pub(crate) fn new(
        sources: Sources,
        call: &CallConfig,
        controllers: (Option<Box<dyn cc::Receiver>>, bool),
        seed: Seed,
        name: &str,
    ) -> Self {
        let (controller, transport_feedback) = controllers;
        let (start, video) = (call.start, call.video.as_ref());
        let clock_rate =
            call.audio.as_ref().map_or(AudioCodec::Opus, |audio| audio.codec).clock_rate();
        let report_interval = video.map_or(Duration::from_secs(5), |video| video.report_interval);
        let feedback = video.filter(|_| transport_feedback).map(|video| Feedback {
            interval: video.feedback_interval,
            due: start + video.feedback_interval,
            base: 0,
            count: 0,
            arrivals: Vec::new(),
            ecn: Vec::new(),
            carries_ecn: false,
        });
        Self {
            sources,
            ect1_packets: 0,
            ce_packets: 0,
            rtcp_packets: 0,
            rtcp_bytes: Bytes::ZERO,
            video: Reception::new(sources.video, 90_000),
            audio: Reception::new(sources.audio, clock_rate.into()),
            retransmitted: Counted::default(),
            decodes: !matches!(call.sfu, Some(Sfu::Publish { .. })),
            nack: video.filter(|video| video.nack).map(|_| NackList::default()),
            fec: video.filter(|video| video.fec == Fec::Hybrid).map(|_| FecDecoder::new()),
            frames: FrameBuffer::new(),
            controller,
            below_rtp: video.map_or(Bytes::ZERO, |video| video.estimate.below_rtp()),
            feedback,
            report: ReportTimer::new(
                start,
                report_interval,
                seed.stream(&format!("{name}.receiver.reports")),
            ),
            timeout: call.media_timeout.map(MediaTimeout::new),
            ended: None,
            rtt: None,
            last_decoded: start,
            key_requests: Vec::new(),
            nacks_sent: 0,
            decoded_at_sample: 0,
            nack_requests: Vec::new(),
            frame_delays: Vec::new(),
            frame_sizes: Vec::new(),
            audio_delays: Vec::new(),
        }
    }

    /// An RTP packet arrived.
    pub(crate) fn on_rtp(&mut self, now: Time, packet: &Rtp, out: &mut impl Outbox) {
        if self.ended.is_some() {
            return;
        }
        if let Some(timeout) = &mut self.timeout {
            timeout.on_packet(now);
        }
        let header = wire::rtp_header_size(packet);
        self.watch(now, packet, out);
        if packet.ssrc == self.sources.audio {
            self.audio.on_packet(
                now,
                packet.sequence,
                packet.rtp_timestamp,
                packet.payload,
                header,
            );
            let delay = now.saturating_since(packet.frame.captured);
            self.audio_delays.push((now, delay.as_secs_f64()));
            return;
        }
        if packet.fec.is_some() {
            self.restore(now, packet);
            return;
        }
        let mut want_key = false;
        if let Some(original) = packet.retransmission_of {
            self.retransmitted.add(packet.payload, header);
            if let Some(nack) = &mut self.nack {
                nack.on_recovered(original);
            }
        } else {
            self.video.on_packet(
                now,
                packet.sequence,
                packet.rtp_timestamp,
                packet.payload,
                header,
            );
            if let Some(nack) = &mut self.nack {
                want_key = nack.on_packet(now, packet.sequence, &mut self.nack_requests);
            }
        }
        let sequence = packet.retransmission_of.unwrap_or(packet.sequence);
        self.take_part(now, sequence, &packet.frame, packet.payload);
        self.restore(now, packet);
        self.request(now, want_key && self.decodes, out);
    }

    /// The frames that could be decoded, from the frame with this index on: (time, delay since
    /// capture in seconds, payload).
    pub(crate) fn decoded(&self, from: usize) -> impl Iterator<Item = (Time, f64, Bytes)> {
        let frames = self.frame_delays.iter().zip(&self.frame_sizes).skip(from);
        frames.map(|(&(at, delay), &payload)| (at, delay, payload))
    }

    fn take_part(&mut self, now: Time, sequence: u64, part: &FramePart, payload: Bytes) {
        let (delays, last) = (&mut self.frame_delays, &mut self.last_decoded);
        let sizes = &mut self.frame_sizes;
        self.frames.on_part(now, sequence, (part, payload), |delay, payload| {
            delays.push((now, delay.as_secs_f64()));
            sizes.push(payload);
            *last = now;
        });
    }

    /// Processes the packet that parity restores because of `packet`, if any.
    fn restore(&mut self, now: Time, packet: &Rtp) {
        let next_frame = self.frames.next_frame();
        let restored = self.fec.as_mut().and_then(|fec| fec.on_packet(now, packet, next_frame));
        if let Some((sequence, part)) = restored {
            if let Some(nack) = &mut self.nack {
                nack.on_restored(sequence, &mut self.nack_requests);
            }
            self.take_part(now, sequence, &part, Bytes::ZERO);
        }
    }

    /// Reports the packet to the controller and to transport-wide feedback.
    fn watch(&mut self, now: Time, packet: &Rtp, out: &mut impl Outbox) {
        if packet.ssrc != self.sources.audio {
            self.ect1_packets += u64::from(packet.ecn == Ecn::Ect1);
            self.ce_packets += u64::from(packet.ecn == Ecn::Ce);
        }
        let Some(sequence) = packet.transport_sequence else { return };
        if let Some(feedback) = &mut self.feedback {
            feedback.on_packet(now, sequence, packet.ecn);
        }
        if let Some(controller) = &mut self.controller {
            let arrived = ArrivedPacket {
                sequence,
                sent: packet.sent,
                arrival: now,
                size: wire::rtp_size(packet) + self.below_rtp,
                rtp_timestamp: packet.rtp_timestamp,
                probe: packet.probe,
                ecn: known(packet.ecn),
            };
            controller.on_packet(&arrived, self.rtt);
            self.answer(now, out);
        }
    }

    /// Sends the controller's feedback, if there is any, with a receiver report (RFC 4585 § 3.1:
    /// compound).
    fn answer(&mut self, now: Time, out: &mut impl Outbox) {
        if let Some(feedback) = self.controller.as_mut().and_then(|controller| controller.poll(now))
        {
            let mut packet = self.receiver_report(now);
            match feedback {
                ReceiverFeedback::Remb(rate) => packet.remb = Some(rate),
                ReceiverFeedback::Custom(message) => packet.custom = Some(message),
            }
            self.report.skip(now);
            self.send(now, packet, out);
        }
    }

    fn receiver_report(&mut self, now: Time) -> Rtcp {
        Rtcp { report: self.video.report(now), reference_time: Some(now), ..self.header() }
    }

    fn send(&mut self, now: Time, packet: Rtcp, out: &mut impl Outbox) {
        self.rtcp_packets += 1;
        self.rtcp_bytes += wire::rtcp_size(&packet);
        out.rtcp(now, packet);
    }

    fn header(&self) -> Rtcp {
        Rtcp { ssrc: self.sources.receiver, media_ssrc: self.sources.video, ..Rtcp::default() }
    }

    /// Requests a key frame for the receivers to which the stream is forwarded (RFC 5104 § 3.5.1),
    /// unless one was requested recently.
    pub(crate) fn relay_key_frame_request(&mut self, now: Time, out: &mut impl Outbox) {
        if self.ended.is_none() {
            self.request(now, true, out);
        }
    }

    /// Sends requests for retransmission and, if `want_key`, for a key frame.
    fn request(&mut self, now: Time, want_key: bool, out: &mut impl Outbox) {
        let interval = self.rtt.unwrap_or(DEFAULT_RTT).max(KEY_REQUEST_INTERVAL);
        let may_request =
            self.key_requests.last().is_none_or(|&last| now.saturating_since(last) >= interval);
        let pli = want_key && may_request;
        if pli {
            self.key_requests.push(now);
        }
        if pli || !self.nack_requests.is_empty() {
            self.nacks_sent += u64::from(!self.nack_requests.is_empty());
            self.nack_requests.sort_unstable();
            self.send(now, Rtcp { nack: self.nack_requests.clone(), pli, ..self.header() }, out);
            self.nack_requests.clear();
        }
    }

    /// A compound RTCP packet from the sender arrived.
    pub(crate) fn on_rtcp(&mut self, now: Time, packet: &Rtcp) {
        if packet.bye {
            self.hang_up(now);
        }
        if let Some(report) = &packet.sender_report {
            self.video.on_sender_report(now, report.sent);
        }
        if let Some((reference, delay)) = packet.dlrr {
            self.rtt = Some(now.saturating_since(reference).saturating_sub(delay));
        }
    }

    /// The call has ended: the other end left, or the reverse direction ended.
    pub(crate) fn hang_up(&mut self, now: Time) {
        self.ended.get_or_insert((now, EndReason::Left));
    }

    /// When and why this end ended the call.
    pub(crate) fn ended(&self) -> Option<(Time, EndReason)> {
        self.ended
    }

    /// Handles everything that is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        if self.ended.is_some() {
            return;
        }
        if let Some(timeout) = self.timeout
            && timeout.deadline().is_some_and(|at| at <= now)
        {
            self.ended = Some((now, EndReason::MediaTimeout(timeout.limit())));
            // A compound packet starts with a report (RFC 3550 § 6.1).
            let report = self.receiver_report(now);
            self.send(now, Rtcp { bye: true, ..report }, out);
            return;
        }
        if let Some(controller) = &mut self.controller
            && controller.next_timeout().is_some_and(|at| at <= now)
        {
            controller.on_timeout(now);
            self.answer(now, out);
        }
        if let Some(feedback) = &mut self.feedback
            && feedback.due <= now
            && let Some(transport) = feedback.take(now)
        {
            self.send(now, Rtcp { transport, ..self.header() }, out);
        }
        if self.report.due() <= now {
            self.report.restart(now);
            let report = self.receiver_report(now);
            self.send(now, report, out);
        }
        let rtt = self.retry_interval();
        let mut want_key = false;
        if let Some(nack) = &mut self.nack
            && nack.next_wake(rtt).is_some_and(|at| at <= now)
        {
            want_key = nack.retry(now, rtt, &mut self.nack_requests);
        }
        if self.stall_at().is_some_and(|at| at <= now) {
            self.last_decoded = now;
            want_key = true;
        }
        self.request(now, want_key && self.decodes, out);
    }

    fn retry_interval(&self) -> Duration {
        self.rtt.unwrap_or(DEFAULT_RTT).max(Duration::from_millis(20))
    }

    fn stall_at(&self) -> Option<Time> {
        let limit = if self.frames.awaiting_key() { STALL_BEFORE_KEY } else { STALL };
        (self.decodes && self.video.received > 0 && self.frames.stalled())
            .then(|| self.last_decoded + limit)
    }

    /// When the next call of `wake` is due.
    pub(crate) fn next_wake(&self) -> Option<Time> {
        if self.ended.is_some() {
            return None;
        }
        let controller = self.controller.as_ref().and_then(|controller| controller.next_timeout());
        let feedback = self.feedback.as_ref().map(|feedback| feedback.due);
        let nack = self.nack.as_ref().and_then(|nack| nack.next_wake(self.retry_interval()));
        let timeout = self.timeout.and_then(|timeout| timeout.deadline());
        let timers = [controller, feedback, nack, timeout, self.stall_at()];
        let report = self.report.due();
        Some(timers.into_iter().fold(report, |first, timer| first.min(timer.unwrap_or(Time::MAX))))
    }

    /// (end, length) of each freeze.
    pub(crate) fn freezes(&self) -> &[(Time, Duration)] {
        &self.frames.playout.freezes
    }

    /// Shows the inbound-rtp members of the video and the controller's signals.
    pub(crate) fn show_video(&mut self, since_last: Duration, show: &mut Show<'_>) {
        let playout = &self.frames.playout;
        let (rtx, fec) =
            (self.retransmitted, self.fec.as_ref().map_or(Counted::default(), |fec| fec.received));
        show("bytesReceived", (self.video.payload + rtx.payload + fec.payload).get() as f64);
        show("headerBytesReceived", (self.video.headers + rtx.headers + fec.headers).get() as f64);
        show("packetsReceived", (self.video.received + rtx.packets + fec.packets) as f64);
        show("packetsReceivedWithEct1", self.ect1_packets as f64);
        show("packetsReceivedWithCe", self.ce_packets as f64);
        show("retransmittedPacketsReceived", self.retransmitted.packets as f64);
        show("packetsLost", self.video.lost() as f64);
        show("jitter", self.video.jitter_secs());
        show("framesReceived", self.frames.frames_received as f64);
        show("framesDecoded", playout.decoded as f64);
        show("keyFramesDecoded", playout.keys as f64);
        let frames = playout.decoded - self.decoded_at_sample;
        show("framesPerSecond", frames as f64 / since_last.as_secs_f64());
        show("frameWidth", f64::from(playout.size.0));
        show("frameHeight", f64::from(playout.size.1));
        show("freezeCount", playout.freezes.len() as f64);
        show("totalFreezesDuration", playout.frozen.as_secs_f64());
        show("jitterBufferDelay", playout.buffered.as_secs_f64());
        show("nackCount", self.nacks_sent as f64);
        show("pliCount", self.key_requests.len() as f64);
        show("rtcpPacketsSent", self.rtcp_packets as f64);
        show("rtcpBytesSent", self.rtcp_bytes.get() as f64);
        self.decoded_at_sample = playout.decoded;
        if let Some(fec) = &self.fec {
            fec.show(show);
        }
        if let Some(controller) = &self.controller {
            controller.signals(show);
        }
    }

    /// Shows the inbound-rtp members of the audio.
    pub(crate) fn show_audio(&self, show: &mut Show<'_>) {
        show("bytesReceived", self.audio.payload.get() as f64);
        show("headerBytesReceived", self.audio.headers.get() as f64);
        show("packetsReceived", self.audio.received as f64);
        show("packetsLost", self.audio.lost() as f64);
        show("jitter", self.audio.jitter_secs());
    }
}

/// The ECN field as controllers know it.
pub(super) fn known(ecn: Ecn) -> cc::Ecn {
    match ecn {
        Ecn::NotEct => cc::Ecn::NotEct,
        Ecn::Ect1 => cc::Ecn::Ect1,
        Ecn::Ect0 => cc::Ecn::Ect0,
        Ecn::Ce => cc::Ecn::Ce,
    }
}

impl Feedback {
    fn on_packet(&mut self, now: Time, sequence: u64, ecn: Ecn) {
        let Some(index) = sequence.checked_sub(self.base) else { return };
        let index = index as usize;
        if self.arrivals.len() <= index {
            self.arrivals.resize(index + 1, None);
            self.ecn.resize(index + 1, Ecn::NotEct);
        }
        self.arrivals[index] = Some(now);
        self.ecn[index] = ecn;
        self.carries_ecn |= ecn != Ecn::NotEct;
    }

    /// The feedback that is due, if a packet arrived; starts the next one.
    fn take(&mut self, now: Time) -> Option<TransportFeedback> {
        self.due = now + self.interval;
        if self.arrivals.is_empty() {
            return None;
        }
        if !std::mem::take(&mut self.carries_ecn) {
            self.ecn.clear();
        }
        let feedback = TransportFeedback {
            base_sequence: self.base,
            count: self.count,
            arrivals: std::mem::take(&mut self.arrivals),
            ecn: std::mem::take(&mut self.ecn),
            reported: now,
        };
        self.base += feedback.arrivals.len() as u64;
        self.count = self.count.wrapping_add(1);
        Some(feedback)
    }
}
