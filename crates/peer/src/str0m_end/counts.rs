//! What is counted of the packets that `str0m` shows.

use super::Str0mEnd;
use crate::audio;
use crate::counted::{Counted, Media, Report, Seen};
use crate::ntp;
use crate::packets::{cumulative_lost, header_size};
use crate::rtc_end::CLOCK_RATE;
use str0m::media::Mid;
use str0m::rtp::rtcp::{ReceptionReport, Rtcp};
use str0m::rtp::{RawPacket, RtpHeader};
use units::{Duration, Time};

/// How many sender reports a receiver report may be late for its round trip to be measured: of each
/// stream one a second.
const SENDER_REPORTS: usize = 16;

impl Str0mEnd {
    pub(super) fn on_packet(&mut self, now: Time, packet: &RawPacket) {
        match packet {
            RawPacket::RtpTx(header, packet) => {
                let headers = header_size(packet);
                let padding =
                    if header.has_padding { packet.last().copied().unwrap_or(0) } else { 0 };
                let payload = packet.len().saturating_sub(headers + usize::from(padding));
                let (mid, counted) = self.medium(header);
                let first = mid.and_then(|mid| self.sent_ssrc(mid)).unwrap_or(*header.ssrc);
                let seen = seen(header, payload, packet.len() - payload, first);
                counted.streams().outbound(first).on_packet(&seen);
            }
            RawPacket::RtpRx(header, payload) => {
                let (mid, counted) = self.medium(header);
                let Some(first) = mid.and_then(|mid| self.received_ssrc(mid)) else { return };
                let seen = seen(header, payload.len(), header.header_len, first);
                let clock_rate =
                    if mid == self.mids.audio { audio::CLOCK_RATE } else { CLOCK_RATE };
                let mut streams = counted.streams();
                let inbound = streams.inbound(first, clock_rate);
                let sequence =
                    if seen.again { 0 } else { inbound.unwrapped(header.sequence_number) };
                inbound.on_packet(now, &seen, sequence);
            }
            RawPacket::RtcpTx(message) => self.on_sent_rtcp(now, message),
            RawPacket::RtcpRx(message) => self.on_rtcp(now, message),
        }
    }

    /// The m-line that a packet belongs to, by its payload type, and the counters.
    fn medium(&self, header: &RtpHeader) -> (Option<Mid>, Counted) {
        let audio = self.mids.audio.and_then(|mid| self.rtc.media(mid));
        if audio.is_some_and(|audio| audio.remote_pts().contains(&header.payload_type)) {
            (self.mids.audio, self.counted.audio.clone())
        } else {
            (self.mids.video, self.counted.video.clone())
        }
    }

    /// Of first transmissions, not of RTX.
    fn sent_ssrc(&mut self, mid: Mid) -> Option<u32> {
        self.rtc.direct_api().stream_tx_by_mid(mid, None).map(|stream| *stream.ssrc())
    }

    fn received_ssrc(&mut self, mid: Mid) -> Option<u32> {
        self.rtc.direct_api().stream_rx_by_mid(mid, None).map(|stream| *stream.ssrc())
    }

    fn on_sent_rtcp(&mut self, now: Time, message: &Rtcp) {
        let mut streams = self.counted.video.streams();
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
        let mut streams = self.counted.video.streams();
        let Some(sent) = &mut streams.sent else { return };
        sent.nacks += u64::from(matches!(message, Rtcp::Nack(_)));
        sent.plis += u64::from(matches!(message, Rtcp::Pli(_)));
        sent.firs += u64::from(matches!(message, Rtcp::Fir(_)));
    }

    fn on_report(&mut self, now: Time, report: &ReceptionReport) {
        let Media { video, audio } = &self.counted;
        let both = [(video, CLOCK_RATE), (audio, audio::CLOCK_RATE)];
        for (counted, clock_rate) in both {
            if let Some(sent) =
                counted.streams().sent.as_mut().filter(|sent| sent.ssrc == *report.ssrc)
            {
                let (new, rtt) = self.measured(now, report, clock_rate);
                sent.report = Some(Report::next(sent.report, new, rtt));
            }
        }
    }

    /// What a report block says, and the round trip that it measured.
    fn measured(
        &self,
        now: Time,
        report: &ReceptionReport,
        clock_rate: u32,
    ) -> (Report, Option<Duration>) {
        // `str0m` keeps time stamps as spans; the last bit may differ.
        let is_it = |stamp: u32| stamp.wrapping_sub(report.last_sr_time).wrapping_add(1) <= 2;
        let left = self.sender_reports.iter().find(|(stamp, _)| is_it(*stamp));
        let rtt = left.map(|(_, left)| {
            let held =
                Duration::from_nanos((u64::from(report.last_sr_delay) * 1_000_000_000) >> 16);
            now.saturating_since(*left).saturating_sub(held)
        });
        let new = Report {
            at: now,
            fraction_lost: f64::from(report.fraction_lost) / 256.0,
            packets_lost: cumulative_lost(report.packets_lost),
            jitter: f64::from(report.jitter) / f64::from(clock_rate),
            ..Report::default()
        };
        (new, rtt)
    }
}

/// What is on another stream than `first` was sent before (RFC 4588), or is padding.
fn seen(header: &RtpHeader, payload: usize, headers: usize, first: u32) -> Seen {
    Seen { timestamp: header.timestamp, payload, headers, again: *header.ssrc != first }
}
