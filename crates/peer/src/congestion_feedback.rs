//! The messages of RFC 8888 that answer received video, with the ECN field of each packet.
//!
//! `rtc` has an interceptor for them, which reports every packet as Not-ECT because it does not read
//! the ECN field of the transport. This one does; the log and the message are those of `rtc`.

use crate::clock::Clock;
use crate::interceptor::{HandlerInterceptor, OutputQueues, PacketHandler};
use crate::ntp;
use crate::packets::{has_congestion_feedback, is_video};
use rtc::interceptor::{
    AttributedPacket, CcFeedbackRecorder, Packet, RFC8888_DEFAULT_MAX_REPORT_SIZE, StreamInfo,
    TaggedPacket,
};
use rtc::rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use rtc::shared::{EcnCodepoint, TransportContext};
use std::time::Instant;
use units::{Duration, Time};

/// The interval of the messages: 50 ms, as that of `str0m` for transport-wide feedback. RFC 8888 § 2
/// leaves the interval to the congestion control; SCReAM's authors use at most 50 ms.
const INTERVAL: Duration = Duration::from_millis(50);

/// Answers streams of video for which `ack ccfb` was negotiated.
pub(crate) struct CongestionFeedback {
    clock: Clock,
    /// The SSRC of the reports.
    ssrc: u32,
    recorder: CcFeedbackRecorder,
    streams: Vec<u32>,
    due: Option<Time>,
}

impl CongestionFeedback {
    pub(crate) fn new(clock: Clock, ssrc: u32) -> HandlerInterceptor<Self> {
        let (recorder, streams, due) = (CcFeedbackRecorder::new(), Vec::new(), None);
        HandlerInterceptor::new(Self { clock, ssrc, recorder, streams, due })
    }
}

impl PacketHandler for CongestionFeedback {
    fn read(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        if let Packet::Rtp(packet) = &message.message.packet
            && self.streams.contains(&packet.header.ssrc)
        {
            let ecn = match message.transport.ecn {
                None => Ecn::NotEct,
                Some(EcnCodepoint::Ect0) => Ecn::Ect0,
                Some(EcnCodepoint::Ect1) => Ecn::Ect1,
                Some(EcnCodepoint::Ce) => Ecn::Ce,
            };
            let (ssrc, sequence) = (packet.header.ssrc, packet.header.sequence_number);
            self.recorder.add_packet(message.now, ssrc, sequence, ecn);
            let now = self.clock.time(message.now);
            self.due.get_or_insert(now + INTERVAL);
        }
        out.read.push_back(message);
    }

    fn timeout(&mut self, now: Instant, out: &mut OutputQueues) {
        let time = self.clock.time(now);
        if self.due.is_none_or(|due| time < due) {
            return;
        }
        // The next packet that arrives starts the interval again.
        self.due = None;
        let timestamp = ntp::middle(ntp::stamp(time));
        let size = RFC8888_DEFAULT_MAX_REPORT_SIZE;
        let report = self.recorder.build_report(now, self.ssrc, timestamp, size);
        if !report.report_blocks.is_empty() {
            out.write.push_back(TaggedPacket {
                now,
                transport: TransportContext::default(),
                message: AttributedPacket::new(Packet::Rtcp(vec![Box::new(report)])),
            });
        }
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.due.map(|due| self.clock.instant(due))
    }

    fn bind_remote(&mut self, stream: &StreamInfo) {
        if is_video(stream) && has_congestion_feedback(stream) {
            self.streams.push(stream.ssrc);
        }
    }

    fn unbind_remote(&mut self, stream: &StreamInfo) {
        self.streams.retain(|&ssrc| ssrc != stream.ssrc);
        self.recorder.remove_stream(stream.ssrc);
    }
}

/// The ECN field of a datagram for `rtc`.
pub(crate) fn codepoint(ecn: cc::Ecn) -> Option<EcnCodepoint> {
    match ecn {
        cc::Ecn::NotEct => None,
        cc::Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        cc::Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        cc::Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}
