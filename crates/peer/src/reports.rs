//! What the seam for controllers leaves out: RTCP other than per-packet feedback, and the instant at which a packet leaves.

use crate::Controller;
use crate::clock::span;
use crate::packets::{abs_send_time, abs_send_time_id};
use bytes::Bytes;
use cc::Feedback;
use rtc::interceptor::{Attribute, BandwidthEstimator, Interceptor, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp::payload_feedbacks::full_intra_request::FullIntraRequest;
use rtc::rtcp::payload_feedbacks::picture_loss_indication::PictureLossIndication;
use rtc::rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc::rtcp::receiver_report::ReceiverReport;
use rtc::rtcp::reception_report::ReceptionReport;
use rtc::rtcp::sender_report::SenderReport;
use rtc::sansio::Protocol;
use rtc::shared::error::Error;
use rtc::shared::marshal::MarshalSize;
use std::collections::{HashMap, VecDeque};
use std::time::Instant;
use units::{Bitrate, Duration};

/// How many sender reports a receiver report may be late for its round trip to be measured: their interval is about a second.
const SENDER_REPORTS: usize = 8;

/// Tells a [`Controller`] of receiver reports, REMB and departures, and stamps departing packets with the absolute send time if that was
/// negotiated. Requests for key frames are passed on to the application.
///
/// It belongs between `Slot::CongestionControl` and `Slot::TwccSender`: at [`Reports::SLOT`].
pub struct Reports {
    controller: Controller,
    streams: HashMap<u32, Stream>,
    /// The middle 32 bits of the NTP timestamps of sender reports, and when they left.
    sender_reports: VecDeque<(u32, Instant)>,
    read: VecDeque<TaggedPacket>,
    write: VecDeque<TaggedPacket>,
}

/// A stream that is sent.
#[derive(Default)]
struct Stream {
    abs_send_time: Option<u8>,
    /// The extended highest sequence number of the last report.
    highest: Option<u32>,
}

impl Reports {
    /// Its place in the chain.
    pub const SLOT: usize = 1_500;

    /// Reports to `controller`.
    #[must_use]
    pub fn new(controller: Controller) -> Self {
        let (read, write) = (VecDeque::new(), VecDeque::new());
        Self { controller, streams: HashMap::new(), sender_reports: VecDeque::new(), read, write }
    }

    /// RFC 3550 § 6.4.1.
    fn on_report(&mut self, now: Instant, report: &ReceptionReport) {
        let Some(stream) = self.streams.get_mut(&report.ssrc) else { return };
        let highest = report.last_sequence_number;
        let expected = stream.highest.map_or(0, |before| highest.wrapping_sub(before));
        stream.highest = Some(highest);
        let left = self.sender_reports.iter().find(|(ntp, _)| *ntp == report.last_sender_report);
        let rtt = left.map(|(_, left)| {
            let held = Duration::from_nanos(u64::from(report.delay) * 1_000_000_000 / 65_536);
            span(now.saturating_duration_since(*left)).saturating_sub(held)
        });
        let fraction_lost = f64::from(report.fraction_lost) / 256.0;
        self.controller.on_feedback(now, Feedback::Report { fraction_lost, expected: expected.into(), rtt });
    }

    /// Whether it asks for a key frame.
    fn on_rtcp(&mut self, now: Instant, packet: &dyn rtc::rtcp::Packet) -> bool {
        let packet = packet.as_any();
        let reports = packet.downcast_ref::<ReceiverReport>().map(|packet| &packet.reports);
        let reports = reports.or_else(|| packet.downcast_ref::<SenderReport>().map(|packet| &packet.reports));
        for report in reports.into_iter().flatten() {
            self.on_report(now, report);
        }
        if let Some(remb) = packet.downcast_ref::<ReceiverEstimatedMaximumBitrate>() {
            let rate = Bitrate::from_bps_f64(remb.bitrate.into());
            self.controller.on_feedback(now, Feedback::Remb { rate });
        }
        packet.is::<PictureLossIndication>() || packet.is::<FullIntraRequest>()
    }

    fn on_departure(&mut self, message: &mut TaggedPacket) {
        match &mut message.message.packet {
            Packet::Rtp(packet) => {
                let Some(stream) = self.streams.get(&packet.header.ssrc) else { return };
                if let Some(id) = stream.abs_send_time {
                    let stamp = abs_send_time(self.controller.clock().time(message.now));
                    // Refused only for an identifier that the header's profile can't say, and that was negotiated.
                    if let Err(error) = packet.header.set_extension(id, Bytes::copy_from_slice(&stamp)) {
                        debug_assert!(false, "absolute send time: {error}");
                    }
                }
                self.controller.on_sent(message.now, units::Bytes::new(packet.marshal_size() as u64));
            }
            Packet::Rtcp(packets) => {
                for report in
                    packets.iter().filter_map(|packet| packet.as_any().downcast_ref::<SenderReport>())
                {
                    self.sender_reports.truncate(SENDER_REPORTS - 1);
                    self.sender_reports.push_front(((report.ntp_time >> 16) as u32, message.now));
                }
            }
            _ => {}
        }
    }
}

impl Protocol<TaggedPacket, TaggedPacket, ()> for Reports {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, mut message: TaggedPacket) -> Result<(), Error> {
        if let Packet::Rtcp(packets) = &message.message.packet {
            let mut key_frame = false;
            for packet in packets {
                key_frame |= self.on_rtcp(message.now, packet.as_ref());
            }
            // The chain's own controller tells the pacer after per-packet feedback only, and before this.
            let bits_per_second = self.controller.target_bitrate();
            message.message.attributes.retain(|held| !matches!(held, Attribute::TargetBitrateChanged { .. }));
            message.message.add(Attribute::TargetBitrateChanged { bits_per_second });
            if key_frame {
                message.message.add(Attribute::DeliverToApplication);
            }
        }
        self.read.push_back(message);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.read.pop_front()
    }

    fn handle_write(&mut self, mut message: TaggedPacket) -> Result<(), Error> {
        self.on_departure(&mut message);
        self.write.push_back(message);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.write.pop_front()
    }

    fn handle_timeout(&mut self, _now: Instant) -> Result<(), Error> {
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        None
    }
}

impl Interceptor for Reports {
    fn bind_local_stream(&mut self, stream: &StreamInfo) {
        let abs_send_time = abs_send_time_id(stream);
        self.streams.insert(stream.ssrc, Stream { abs_send_time, highest: None });
    }

    fn unbind_local_stream(&mut self, stream: &StreamInfo) {
        self.streams.remove(&stream.ssrc);
    }

    fn bind_remote_stream(&mut self, _stream: &StreamInfo) {}

    fn unbind_remote_stream(&mut self, _stream: &StreamInfo) {}
}
