//! Feedback from the RTCP packets of a log, as libwebrtc passes it to its controller.

use crate::event_log::RtcpPacket;
use cc::{Ecn, PacketResult, SentPacket};
use rtc_rtcp::payload_feedbacks::receiver_estimated_maximum_bitrate::ReceiverEstimatedMaximumBitrate;
use rtc_rtcp::receiver_report::ReceiverReport;
use rtc_rtcp::reception_report::ReceptionReport;
use rtc_rtcp::sender_report::SenderReport;
use rtc_rtcp::transport_feedbacks::cc_feedback_report::{self, CcFeedbackReport};
use rtc_rtcp::transport_feedbacks::transport_layer_cc::{
    PacketStatusChunk, SymbolTypeTcc, TransportLayerCc,
};
use std::collections::{BTreeMap, VecDeque};
use store::export::wire::decode_rtcp;
use units::{Bitrate, Duration, Time};

/// The time for which a sent packet waits for feedback (libwebrtc
/// `modules/congestion_controller/rtp/transport_feedback_adapter.cc`, kSendTimeHistoryWindow).
const HISTORY: Duration = Duration::from_secs(60);
/// The unit of the reference time of transport-wide feedback
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 § 3.1).
const REFERENCE: Duration = Duration::from_millis(64);
/// The reference time has this many values.
const REFERENCES: u32 = 1 << 24;
/// Sender reports that are kept to compute round-trip times; one is sent per stream and second.
const SENDER_REPORTS: usize = 64;

/// A number without wrapping, near the one before (RFC 1982).
#[derive(Clone, Copy, Default)]
pub(crate) struct Unwrapped(Option<u64>);

impl Unwrapped {
    pub(crate) fn next(&mut self, number: u16) -> u64 {
        // The first number is one cycle after zero, so that earlier ones may follow.
        let before = self.0.unwrap_or(u64::from(number) + (1 << 16));
        let ahead = number.wrapping_sub(before as u16).cast_signed();
        let next = before.saturating_add_signed(i64::from(ahead));
        self.0 = Some(self.0.map_or(next, |newest| newest.max(next)));
        next
    }
}

/// What a compound packet says to the controller.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Packets lost and expected since the reports before.
    pub(crate) loss: Option<(u64, u64)>,
    /// The round-trip time of a report.
    pub(crate) rtt: Option<Duration>,
    /// The limit of the receiver.
    pub(crate) remb: Option<Bitrate>,
    /// Each transport-wide feedback, and each congestion control feedback of RFC 8888.
    pub(crate) packets: Vec<Vec<PacketResult>>,
}

/// The source (SSRC) and the RTP sequence number of a packet.
pub(crate) type Source = (u32, u16);

/// The packets that are in flight, and the reports before.
#[derive(Default)]
pub(crate) struct Feedback {
    sent: BTreeMap<u64, (SentPacket, Source)>,
    /// The number of each packet in flight by its source.
    by_source: BTreeMap<Source, u64>,
    newest: u64,
    /// The receiver's clock: the reference time of the newest feedback, and the time that stands
    /// for it.
    clock: Option<(u32, Time)>,
    /// The same for the report time stamps of RFC 8888.
    stamps: Option<(u32, Time)>,
    /// Highest sequence number and lost packets of the newest report about each source.
    reports: BTreeMap<u32, (u32, u32)>,
    /// When each sender report was sent, by the middle of its NTP time (RFC 3550 § 4).
    sender_reports: VecDeque<(u32, Time)>,
    /// RTCP packets that could not be decoded.
    pub(crate) undecodable: u64,
}

impl Feedback {
    pub(crate) fn on_sent(&mut self, packet: SentPacket, source: Source) {
        self.newest = packet.sequence;
        let old = packet.sent.saturating_sub(HISTORY);
        while let Some(first) = self.sent.first_entry().filter(|first| first.get().0.sent < old) {
            let (number, (_, source)) = first.remove_entry();
            self.forget(number, source);
        }
        self.sent.insert(packet.sequence, (packet, source));
        self.by_source.insert(source, packet.sequence);
    }

    /// Removes the source of a packet, unless a later packet has the same.
    fn forget(&mut self, number: u64, source: Source) {
        if self.by_source.get(&source) == Some(&number) {
            self.by_source.remove(&source);
        }
    }

    /// A packet that is in flight; one that arrived is not in flight any more.
    fn result(&mut self, sequence: u64, arrival: Option<Time>, ecn: Ecn) -> Option<PacketResult> {
        let packet = match arrival {
            None => self.sent.get(&sequence)?.0,
            Some(_) => {
                let (packet, source) = self.sent.remove(&sequence)?;
                self.forget(sequence, source);
                packet
            }
        };
        Some(PacketResult { packet, arrival, ecn })
    }

    /// A compound packet that the endpoint sent.
    pub(crate) fn on_rtcp_sent(&mut self, packet: &RtcpPacket) {
        let Ok(blocks) = decode_rtcp(&packet.bytes) else { return };
        for block in blocks {
            if let Some(report) = block.as_any().downcast_ref::<SenderReport>() {
                if self.sender_reports.len() == SENDER_REPORTS {
                    self.sender_reports.pop_front();
                }
                self.sender_reports.push_back(((report.ntp_time >> 16) as u32, packet.at));
            }
        }
    }

    /// A compound packet that the endpoint received.
    pub(crate) fn on_rtcp(&mut self, packet: &RtcpPacket) -> Messages {
        let mut messages = Messages::default();
        let Ok(blocks) = decode_rtcp(&packet.bytes) else {
            self.undecodable += 1;
            return messages;
        };
        for block in blocks {
            let block = block.as_any();
            if let Some(feedback) = block.downcast_ref::<TransportLayerCc>() {
                messages.packets.push(self.results(packet.at, feedback));
            } else if let Some(feedback) = block.downcast_ref::<CcFeedbackReport>() {
                messages.packets.push(self.results_of_report(packet.at, feedback));
            } else if let Some(report) = block.downcast_ref::<ReceiverReport>() {
                self.on_reports(packet.at, &report.reports, &mut messages);
            } else if let Some(report) = block.downcast_ref::<SenderReport>() {
                self.on_reports(packet.at, &report.reports, &mut messages);
            } else if let Some(remb) = block.downcast_ref::<ReceiverEstimatedMaximumBitrate>() {
                messages.remb = Some(Bitrate::from_bps_f64(remb.bitrate.into()));
            }
        }
        messages
    }

    /// Loss in sum over the sources, from the second report about each (libwebrtc
    /// `call/rtp_transport_controller_send.cc`, OnReport), and the round-trip time (RFC 3550 §
    /// 6.4.1).
    fn on_reports(&mut self, now: Time, reports: &[ReceptionReport], messages: &mut Messages) {
        let (mut lost, mut expected) = (0i64, 0i64);
        for report in reports {
            let newest = (report.last_sequence_number, report.total_lost);
            if let Some((sequence, total)) = self.reports.insert(report.ssrc, newest) {
                expected += i64::from(newest.0.wrapping_sub(sequence).cast_signed());
                lost += i64::from(newest.1) - i64::from(total);
            }
            let sent = self.sender_reports.iter().rev();
            let sent = sent.clone().find(|(stamp, _)| *stamp == report.last_sender_report);
            if let Some((_, sent)) = sent.filter(|_| report.last_sender_report != 0) {
                let held = Duration::from_secs_f64(f64::from(report.delay) / 65_536.0);
                messages.rtt = Some(now.saturating_since(*sent).saturating_sub(held));
            }
        }
        // At least one packet must have arrived.
        if expected > 0 && expected - lost >= 1 {
            messages.loss = Some((lost.max(0).cast_unsigned(), expected.cast_unsigned()));
        }
    }

    /// The results of a feedback message about packets that are in flight. Arrival times are on the
    /// sender's clock, shifted by an unknown constant, in whole milliseconds after the reference
    /// time (`transport_feedback_adapter.cc`, ProcessTransportFeedback). A packet that was reported
    /// lost can be reported again.
    fn results(&mut self, now: Time, feedback: &TransportLayerCc) -> Vec<PacketResult> {
        let reference = match self.clock {
            None => now,
            Some((before, at)) => {
                let ahead = feedback.reference_time.wrapping_sub(before) % REFERENCES;
                if ahead < REFERENCES / 2 {
                    at + REFERENCE * u64::from(ahead)
                } else {
                    at.saturating_sub(REFERENCE * u64::from(REFERENCES - ahead))
                }
            }
        };
        self.clock = Some((feedback.reference_time, reference));
        let base = self.unwrapped(feedback.base_sequence_number);
        let mut deltas = feedback.recv_deltas.iter();
        let mut since = 0i64;
        let mut results = Vec::new();
        for (sequence, status) in (base..).zip(statuses(feedback)) {
            let arrival = match status {
                SymbolTypeTcc::PacketReceivedSmallDelta
                | SymbolTypeTcc::PacketReceivedLargeDelta => {
                    let Some(delta) = deltas.next() else { break };
                    since += delta.delta;
                    let millis = Duration::from_millis(since.unsigned_abs() / 1_000);
                    Some(if since < 0 {
                        reference.saturating_sub(millis)
                    } else {
                        reference + millis
                    })
                }
                _ => None,
            };
            results.extend(self.result(sequence, arrival, Ecn::NotEct));
        }
        results
    }

    /// The same for congestion control feedback (RFC 8888 § 3.1): packets by source and RTP number,
    /// arrivals in 1/1024 s before the report time stamp, the middle 32 bits of an NTP time. An
    /// offset of 8191 means that the arrival is unknown; such a packet is left out.
    fn results_of_report(&mut self, now: Time, report: &CcFeedbackReport) -> Vec<PacketResult> {
        const UNKNOWN: u16 = 0x1FFF;
        let ticks = |ticks: u32| Duration::from_nanos(u64::from(ticks) * 1_000_000_000 / 65_536);
        let stamp = report.report_timestamp;
        let at = self.stamps.map_or(now, |(before, at)| {
            let ahead = stamp.wrapping_sub(before);
            if ahead < u32::MAX / 2 {
                at + ticks(ahead)
            } else {
                at.saturating_sub(ticks(before.wrapping_sub(stamp)))
            }
        });
        self.stamps = Some((stamp, at));
        let mut results = Vec::new();
        for block in &report.report_blocks {
            for (index, metric) in (0u16..).zip(&block.metric_blocks) {
                let source = (block.media_ssrc, block.begin_sequence.wrapping_add(index));
                let Some(&sequence) = self.by_source.get(&source) else { continue };
                if metric.received && metric.arrival_time_offset == UNKNOWN {
                    continue;
                }
                let offset = ticks(u32::from(metric.arrival_time_offset) * 64);
                let arrival = metric.received.then(|| at.saturating_sub(offset));
                let ecn = match metric.ecn {
                    cc_feedback_report::Ecn::NotEct => Ecn::NotEct,
                    cc_feedback_report::Ecn::Ect0 => Ecn::Ect0,
                    cc_feedback_report::Ecn::Ect1 => Ecn::Ect1,
                    cc_feedback_report::Ecn::Ce => Ecn::Ce,
                };
                results.extend(self.result(sequence, arrival, ecn));
            }
        }
        results
    }

    /// The number near the newest sent packet.
    fn unwrapped(&self, number: u16) -> u64 {
        let ahead = number.wrapping_sub(self.newest as u16).cast_signed();
        self.newest.saturating_add_signed(i64::from(ahead))
    }
}

/// The status of each packet that the feedback covers.
fn statuses(feedback: &TransportLayerCc) -> impl Iterator<Item = SymbolTypeTcc> + '_ {
    let chunks = feedback.packet_chunks.iter();
    let symbols = chunks.flat_map(|chunk| match chunk {
        PacketStatusChunk::RunLengthChunk(run) => {
            vec![run.packet_status_symbol; run.run_length.into()]
        }
        PacketStatusChunk::StatusVectorChunk(vector) => vector.symbol_list.clone(),
    });
    symbols.take(feedback.packet_status_count.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtc_rtcp::transport_feedbacks::transport_layer_cc::{
        RecvDelta, RunLengthChunk, StatusChunkTypeTcc,
    };
    use units::Bytes;

    #[test]
    fn numbers_are_unwrapped() {
        let mut unwrapped = Unwrapped::default();
        let numbers: Vec<u64> = [65_534, 65_535, 0, 65_533, 1]
            .into_iter()
            .map(|number| unwrapped.next(number))
            .collect();
        assert_eq!(numbers, [131_070, 131_071, 131_072, 131_069, 131_073]);
    }

    fn sent(sequence: u64, millis: u64) -> SentPacket {
        let (sent, size) = (Time::from_millis(millis), Bytes::new(1_000));
        SentPacket { sequence, sent, size, probe: None }
    }

    fn run(base: u16, reference: u32, deltas: &[i64]) -> TransportLayerCc {
        let symbol = SymbolTypeTcc::PacketReceivedLargeDelta;
        let delta = |&delta: &i64| RecvDelta { type_tcc_packet: symbol, delta };
        TransportLayerCc {
            base_sequence_number: base,
            packet_status_count: deltas.len() as u16,
            reference_time: reference,
            packet_chunks: vec![PacketStatusChunk::RunLengthChunk(RunLengthChunk {
                type_tcc: StatusChunkTypeTcc::RunLengthChunk,
                packet_status_symbol: symbol,
                run_length: deltas.len() as u16,
            })],
            recv_deltas: deltas.iter().map(delta).collect(),
            ..TransportLayerCc::default()
        }
    }

    #[test]
    fn arrivals_are_whole_milliseconds_after_the_reference_time_which_wraps() {
        let mut feedback = Feedback::default();
        let first = u64::from(u16::MAX) + (1 << 16);
        for (index, millis) in [0, 10, 20].into_iter().enumerate() {
            feedback.on_sent(sent(first + index as u64, millis), (1, index as u16));
        }
        let now = Time::from_millis(100);
        let one = feedback.results(now, &run(u16::MAX, REFERENCES - 1, &[1_750]));
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].arrival, Some(Time::from_millis(101)));
        // One reference later, 64 ms: +2 ms, then −0.5 ms.
        let two = feedback.results(now, &run(0, 0, &[2_250, -500]));
        let arrivals: Vec<_> =
            two.iter().map(|result| result.arrival.unwrap().as_millis()).collect();
        assert_eq!(arrivals, [166, 165]);
        assert!(feedback.results(now, &run(0, 0, &[0, 0])).is_empty(), "reported once");
    }

    #[test]
    fn loss_is_the_difference_of_two_reports_and_a_report_measures_the_round_trip_time() {
        let mut feedback = Feedback::default();
        feedback.sender_reports.push_back((7, Time::from_millis(1_000)));
        let report = |sequence, lost| ReceptionReport {
            ssrc: 1,
            last_sequence_number: sequence,
            total_lost: lost,
            last_sender_report: 7,
            delay: 65_536 / 2,
            ..ReceptionReport::default()
        };
        let mut messages = Messages::default();
        feedback.on_reports(Time::from_millis(1_540), &[report(100, 3)], &mut messages);
        assert_eq!(messages.loss, None);
        assert_eq!(messages.rtt, Some(Duration::from_millis(40)));
        feedback.on_reports(Time::from_millis(2_540), &[report(150, 8)], &mut messages);
        assert_eq!(messages.loss, Some((5, 50)));
    }
}
