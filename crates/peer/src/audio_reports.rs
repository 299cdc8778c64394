//! Counters and RTCP reports of audio, as an interceptor of `rtc`.

use crate::audio::CLOCK_RATE;
use crate::clock::Clock;
use crate::counters::{CountedPacket, Counters, RemoteReport};
use crate::interceptor::{HandlerInterceptor, OutputQueues, PacketHandler};
use crate::ntp;
use crate::packets::is_video;
use crate::receiver::reception_report;
use crate::reports::{measured, sender_report};
use rtc::interceptor::{AttributedPacket, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp::receiver_report::ReceiverReport;
use rtc::rtcp::reception_report::ReceptionReport;
use rtc::rtcp::sender_report::SenderReport;
use rtc::shared::TransportContext;
use rtc::shared::marshal::MarshalSize;
use sim::ReportTimer;
use std::time::Instant;
use units::{Duration, Seed, Time};

/// The mean time between reports of audio (5 s: libwebrtc
/// `modules/rtp_rtcp/source/rtcp_sender.cc`); each interval is random within ±50 % (RFC 3550 §
/// 6.2).
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// Counts the audio that is sent and received, and sends reports: a sender report with a report
/// block of the received stream, or a receiver report if nothing is sent (RFC 3550 § 6.4).
pub(crate) struct AudioReports {
    clock: Clock,
    counters: Counters,
    /// The SSRC of the reports while nothing is sent.
    ssrc: u32,
    report: ReportTimer,
    sent: Option<SentAudio>,
    received: Option<ReceivedAudio>,
}

/// The stream that is sent.
struct SentAudio {
    ssrc: u32,
    /// The RTP timestamp of the newest packet, and when the packet left.
    newest: Option<(u32, Time)>,
}

/// The stream that is received.
struct ReceivedAudio {
    ssrc: u32,
    /// The middle 32 bits of the NTP timestamp of the newest sender report; 0 before the first.
    sender_report: u32,
}

impl AudioReports {
    /// The slot in the chain: above the pacer, because it creates packets.
    pub(crate) const SLOT: usize = 8_600;

    /// `seed` determines the SSRC and the times of the reports.
    pub(crate) fn new(clock: Clock, seed: Seed, counters: Counters) -> HandlerInterceptor<Self> {
        // The low 32 of 64 random bits.
        let ssrc = seed.stream("audio.receiver.ssrc").next_u64() as u32;
        let report = ReportTimer::new(Time::ZERO, REPORT_INTERVAL, seed.stream("audio.reports"));
        HandlerInterceptor::new(Self { clock, counters, ssrc, report, sent: None, received: None })
    }

    fn on_rtp(&mut self, now: Time, packet: &rtc::rtp::Packet) {
        let header = &packet.header;
        if self.received.as_ref().is_none_or(|received| received.ssrc != header.ssrc) {
            return;
        }
        let mut streams = self.counters.streams();
        let inbound = streams.inbound(header.ssrc, CLOCK_RATE);
        let sequence = inbound.unwrapped(header.sequence_number);
        inbound.on_packet(now, &counted_packet(packet), sequence);
    }

    fn on_rtcp(&mut self, now: Time, packet: &dyn rtc::rtcp::Packet) {
        let packet = packet.as_any();
        let sender = packet.downcast_ref::<SenderReport>();
        let blocks = packet.downcast_ref::<ReceiverReport>().map(|report| &report.reports);
        for block in blocks.or_else(|| sender.map(|report| &report.reports)).into_iter().flatten() {
            self.on_block(now, block);
        }
        if let (Some(report), Some(received)) = (sender, &mut self.received)
            && report.ssrc == received.ssrc
        {
            received.sender_report = ntp::middle(report.ntp_time);
            self.counters
                .streams()
                .inbound(report.ssrc, CLOCK_RATE)
                .reception
                .on_sender_report(now, now);
        }
    }

    fn on_block(&self, now: Time, block: &ReceptionReport) {
        if self.sent.as_ref().is_none_or(|sent| sent.ssrc != block.ssrc) {
            return;
        }
        let (report, rtt) = measured(block, CLOCK_RATE, now);
        let mut streams = self.counters.streams();
        let outbound = streams.outbound(block.ssrc);
        outbound.report = Some(RemoteReport::next(outbound.report, report, rtt));
    }

    /// The report on both streams; `None` if nothing was sent or received.
    fn report(&self, now: Time) -> Option<Box<dyn rtc::rtcp::Packet>> {
        let mut streams = self.counters.streams();
        let block = self.received.as_ref().and_then(|received| {
            let block = streams.inbound(received.ssrc, CLOCK_RATE).reception.report(now)?;
            Some(reception_report(&block, received.sender_report))
        });
        let reports: Vec<_> = block.into_iter().collect();
        if let Some((sent, newest)) = self.sent.as_ref().and_then(|sent| Some((sent, sent.newest?)))
        {
            let outbound = streams.outbound(sent.ssrc);
            // The counts wrap at 32 bits (RFC 3550 § 6.4.1).
            let counts = (outbound.packets as u32, outbound.bytes as u32);
            return Some(Box::new(SenderReport {
                reports,
                ..sender_report(sent.ssrc, CLOCK_RATE, newest, counts, now)
            }));
        }
        let ssrc = self.ssrc;
        (!reports.is_empty()).then(|| -> Box<dyn rtc::rtcp::Packet> {
            Box::new(ReceiverReport { ssrc, reports, ..Default::default() })
        })
    }
}

impl PacketHandler for AudioReports {
    fn read(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        let now = self.clock.time(message.now);
        match &message.message.packet {
            Packet::Rtp(packet) => self.on_rtp(now, packet),
            Packet::Rtcp(packets) => {
                packets.iter().for_each(|packet| self.on_rtcp(now, packet.as_ref()));
            }
            _ => {}
        }
        out.read.push_back(message);
    }

    fn write(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        if let (Packet::Rtp(packet), Some(sent)) = (&message.message.packet, &mut self.sent)
            && packet.header.ssrc == sent.ssrc
        {
            sent.newest = Some((packet.header.timestamp, self.clock.time(message.now)));
            self.counters.streams().outbound(sent.ssrc).on_packet(&counted_packet(packet));
        }
        out.write.push_back(message);
    }

    fn timeout(&mut self, now: Instant, out: &mut OutputQueues) {
        let time = self.clock.time(now);
        if self.report.due() > time {
            return;
        }
        self.report.restart(time);
        if let Some(report) = self.report(time) {
            let message = AttributedPacket::new(Packet::Rtcp(vec![report]));
            out.write.push_back(TaggedPacket {
                now,
                transport: TransportContext::default(),
                message,
            });
        }
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        Some(self.clock.instant(self.report.due()))
    }

    fn bind_local(&mut self, stream: &StreamInfo) {
        if !is_video(stream) {
            self.sent = Some(SentAudio { ssrc: stream.ssrc, newest: None });
        }
    }

    fn unbind_local(&mut self, stream: &StreamInfo) {
        self.sent.take_if(|sent| sent.ssrc == stream.ssrc);
    }

    fn bind_remote(&mut self, stream: &StreamInfo) {
        if !is_video(stream) {
            self.received = Some(ReceivedAudio { ssrc: stream.ssrc, sender_report: 0 });
        }
    }

    fn unbind_remote(&mut self, stream: &StreamInfo) {
        self.received.take_if(|received| received.ssrc == stream.ssrc);
    }
}

fn counted_packet(packet: &rtc::rtp::Packet) -> CountedPacket {
    let payload = packet.payload.len();
    let headers = packet.marshal_size() - payload;
    CountedPacket { timestamp: packet.header.timestamp, payload, headers, retransmitted: false }
}
