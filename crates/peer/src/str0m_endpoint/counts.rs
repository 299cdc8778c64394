//! Counts the packets that `str0m` reports.

use super::Str0mEndpoint;
use crate::audio;
use crate::counters::{CountedPacket, Counters, Media, RemoteReport};
use crate::ntp;
use crate::packets::{cumulative_lost, header_size};
use crate::rtc_endpoint::CLOCK_RATE;
use str0m::media::Mid;
use str0m::rtp::rtcp::{ReceptionReport, Rtcp};
use str0m::rtp::{RawPacket, RtpHeader};
use units::{Duration, Time};

/// The number of sender reports that are kept to measure round-trip times; each stream sends one
/// per second.
const SENDER_REPORTS: usize = 16;

impl Str0mEndpoint {
    pub(super) fn on_packet(&mut self, now: Time, packet: &RawPacket) {
        match packet {
            RawPacket::RtpTx(header, packet) => {
                let headers = header_size(packet);
                let padding =
                    if header.has_padding { packet.last().copied().unwrap_or(0) } else { 0 };
                let payload = packet.len().saturating_sub(headers + usize::from(padding));
                let (mid, counters) = self.medium(header);
                let first = mid.and_then(|mid| self.sent_ssrc(mid)).unwrap_or(*header.ssrc);
                let packet_counts = counted_packet(header, payload, packet.len() - payload, first);
                counters.streams().outbound(first).on_packet(&packet_counts);
            }
            RawPacket::RtpRx(header, payload) => {
                let (mid, counters) = self.medium(header);
                let Some(first) = mid.and_then(|mid| self.received_ssrc(mid)) else { return };
                let packet_counts = counted_packet(header, payload.len(), header.header_len, first);
                let clock_rate =
                    if mid == self.mids.audio { audio::CLOCK_RATE } else { CLOCK_RATE };
                let mut streams = counters.streams();
                let inbound = streams.inbound(first, clock_rate);
                let sequence = if packet_counts.retransmitted {
                    0
                } else {
                    inbound.unwrapped(header.sequence_number)
                };
                inbound.on_packet(now, &packet_counts, sequence);
            }
            RawPacket::RtcpTx(message) => self.on_sent_rtcp(now, message),
            RawPacket::RtcpRx(message) => self.on_rtcp(now, message),
        }
    }

    /// The m-line that a packet belongs to, by its payload type, and the counters of its kind of
    /// media.
    fn medium(&self, header: &RtpHeader) -> (Option<Mid>, Counters) {
        let audio = self.mids.audio.and_then(|mid| self.rtc.media(mid));
        if audio.is_some_and(|audio| audio.remote_pts().contains(&header.payload_type)) {
            (self.mids.audio, self.counters.audio.clone())
        } else {
            (self.mids.video, self.counters.video.clone())
        }
    }

    /// The SSRC of the stream that is sent, not that of its RTX stream.
    fn sent_ssrc(&mut self, mid: Mid) -> Option<u32> {
        self.rtc.direct_api().stream_tx_by_mid(mid, None).map(|stream| *stream.ssrc())
    }

    /// The SSRC of the stream that is received, not that of its RTX stream.
    fn received_ssrc(&mut self, mid: Mid) -> Option<u32> {
        self.rtc.direct_api().stream_rx_by_mid(mid, None).map(|stream| *stream.ssrc())
    }

    fn on_sent_rtcp(&mut self, now: Time, message: &Rtcp) {
        let mut streams = self.counters.video.streams();
        match (message, &mut streams.received) {
            (Rtcp::SenderReport(report), _) => {
                self.sender_reports.truncate(SENDER_REPORTS - 1);
                self.sender_reports.push_front((ntp::middle_of(report.sender_info.ntp_time), now));
            }
            (Rtcp::Nack(_), Some(received)) => received.nacks += 1,
            (Rtcp::Pli(_), Some(received)) => received.plis += 1,
            _ => {}
        }
    }

    fn on_rtcp(&mut self, now: Time, message: &Rtcp) {
        let reports = match message {
            Rtcp::ReceiverReport(report) => Some(&report.reports),
            Rtcp::SenderReport(report) => Some(&report.reports),
            _ => None,
        };
        for report in reports.into_iter().flatten() {
            self.on_report(now, report);
        }
        let mut streams = self.counters.video.streams();
        let Some(sent) = &mut streams.sent else { return };
        sent.nacks += u64::from(matches!(message, Rtcp::Nack(_)));
        sent.plis += u64::from(matches!(message, Rtcp::Pli(_)));
        sent.firs += u64::from(matches!(message, Rtcp::Fir(_)));
    }

    fn on_report(&mut self, now: Time, report: &ReceptionReport) {
        let Media { video, audio } = &self.counters;
        let both = [(video, CLOCK_RATE), (audio, audio::CLOCK_RATE)];
        for (counters, clock_rate) in both {
            if let Some(sent) =
                counters.streams().sent.as_mut().filter(|sent| sent.ssrc == *report.ssrc)
            {
                let (new, rtt) = self.measured(now, report, clock_rate);
                sent.report = Some(RemoteReport::next(sent.report, new, rtt));
            }
        }
    }

    /// The contents of a report block, and the round-trip time that it measures.
    fn measured(
        &self,
        now: Time,
        report: &ReceptionReport,
        clock_rate: u32,
    ) -> (RemoteReport, Option<Duration>) {
        // `str0m` stores NTP timestamps as durations, so the last bit may differ.
        let matches = |stamp: u32| stamp.wrapping_sub(report.last_sr_time).wrapping_add(1) <= 2;
        let left = self.sender_reports.iter().find(|(stamp, _)| matches(*stamp));
        let rtt = left.map(|(_, left)| {
            let held =
                Duration::from_nanos((u64::from(report.last_sr_delay) * 1_000_000_000) >> 16);
            now.saturating_since(*left).saturating_sub(held)
        });
        let new = RemoteReport {
            at: now,
            fraction_lost: f64::from(report.fraction_lost) / 256.0,
            packets_lost: cumulative_lost(report.packets_lost),
            jitter: f64::from(report.jitter) / f64::from(clock_rate),
            ..RemoteReport::default()
        };
        (new, rtt)
    }
}

/// Packets of another stream than `first` are retransmissions (RFC 4588) or padding.
fn counted_packet(header: &RtpHeader, payload: usize, headers: usize, first: u32) -> CountedPacket {
    CountedPacket {
        timestamp: header.timestamp,
        payload,
        headers,
        retransmitted: *header.ssrc != first,
    }
}
