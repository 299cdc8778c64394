//! RTP circuit breakers: conditions under which a sender must stop in order to protect the network
//! (RFC 8083).
//!
//! | difference | RFC 8083 | here |
//! |---|---|---|
//! | media usability (§ 4.4) | left to applications | left out: [`MediaTimeout`](super::media_timeout::MediaTimeout) is the application's rule |
//! | time-out of a retransmission (§ 4.3) | the full or the simplified throughput equation | the simplified one |
//! | ECN (§ 7) | marks count as losses | media carries no ECN here |

use crate::payload::ReportBlock;
use std::collections::VecDeque;
use units::{Bytes, Duration, Time};

/// Tmin of a reporting interval (RFC 3550 § 6.2; RFC 8083 § 4.1).
const MIN_INTERVAL: Duration = Duration::from_secs(5);
/// The sender stops after this many reporting intervals without a report (RFC 8083 § 4.1).
const RTCP_TIMEOUT: u64 = 3;
/// The congestion breaker trips above this multiple of TCP's throughput (RFC 8083 § 4.3).
const MAX_TCP_MULTIPLE: f64 = 10.0;

/// The number of reports kept. The circuit breaker interval is at most 15 s, and reports are at
/// least half a second apart.
const MAX_REPORTS: usize = 64;

/// A circuit breaker, numbered as in RFC 8083 § 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaker {
    /// § 4.1: no RTCP reports arrive.
    RtcpTimeout = 1,
    /// § 4.2: reports show that no media arrives.
    MediaTimeout = 2,
    /// § 4.3: the sending rate far exceeds TCP's throughput.
    Congestion = 3,
}

/// Evaluates the reports that a sender receives.
pub(crate) struct CircuitBreaker {
    /// G: the time between frames.
    frame_interval: Duration,
    /// Tdr: the time between reports, without randomisation.
    report_interval: Duration,
    last_report: Time,
    without_media: u64,
    congested: u64,
    /// The last reports, enough for the longest circuit breaker interval.
    reports: VecDeque<ReportSample>,
}

/// The amount of media sent since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentMedia {
    pub(crate) packets: u64,
    pub(crate) bytes: Bytes,
}

/// A report, and the amount of media sent before it arrived.
struct ReportSample {
    at: Time,
    sent: SentMedia,
    highest: u64,
    lost: i64,
}

impl CircuitBreaker {
    pub(crate) fn new(start: Time, frame_interval: Duration, report_interval: Duration) -> Self {
        let (without_media, congested, reports) = (0, 0, VecDeque::new());
        Self {
            frame_interval,
            report_interval,
            last_report: start,
            without_media,
            congested,
            reports,
        }
    }

    /// When the breaker trips if no report arrives.
    pub(crate) fn deadline(&self) -> Time {
        self.last_report + self.report_interval.max(MIN_INTERVAL) * RTCP_TIMEOUT
    }

    /// A report arrived when `sent` had been sent. Returns the breaker that trips, if any.
    pub(crate) fn on_report(
        &mut self,
        now: Time,
        report: &ReportBlock,
        rtt: Option<Duration>,
        sent: SentMedia,
    ) -> Option<Breaker> {
        self.last_report = now;
        // Feedback causes early reports. They are ignored, because the next regular report includes
        // them.
        let early = |seen: &ReportSample| now.saturating_since(seen.at) < self.report_interval / 2;
        if self.reports.back().is_some_and(early) {
            return None;
        }
        let interval = self.interval(rtt.unwrap_or(Duration::ZERO));
        let seen = ReportSample {
            at: now,
            sent,
            highest: report.highest_sequence,
            lost: report.cumulative_lost,
        };
        let arriving = match self.reports.back() {
            Some(before) if before.sent.packets == sent.packets => true,
            Some(before) => seen.highest > before.highest,
            None => true,
        };
        self.without_media = if arriving { 0 } else { self.without_media + 1 };
        self.reports.push_back(seen);
        if self.reports.len() > MAX_REPORTS {
            self.reports.pop_front();
        }
        // With too few reports TCP's throughput is unknown: the count does not change.
        match rtt.and_then(|rtt| self.is_above_tcp(interval, rtt)) {
            Some(true) if arriving => self.congested += 1,
            Some(_) => self.congested = 0,
            None => {}
        }
        if self.without_media >= interval {
            Some(Breaker::MediaTimeout)
        } else if self.congested >= interval {
            Some(Breaker::Congestion)
        } else {
            None
        }
    }

    /// CB_INTERVAL, in reports (RFC 8083 § 4.5).
    fn interval(&self, rtt: Duration) -> u64 {
        let reports = self.report_interval;
        let usual = (self.frame_interval * 10).max(rtt * 10).max(reports * 3);
        let longest = Duration::from_secs(15).max(reports.max(MIN_INTERVAL) * 3);
        (usual.min(longest).as_nanos() * 3).div_ceil((reports * 3).as_nanos().max(1))
    }

    /// Whether the sending rate over the last `reports` reports exceeded ten times TCP's throughput
    /// X = s / (Tr √(2p/3)) (RFC 8083 § 4.3). `None` if there are too few reports.
    fn is_above_tcp(&self, reports: u64, rtt: Duration) -> Option<bool> {
        let last = self.reports.back()?;
        let before = usize::try_from(reports)
            .ok()
            .and_then(|reports| self.reports.len().checked_sub(reports + 1))?;
        let first = &self.reports[before];
        let (packets, bytes) =
            (last.sent.packets - first.sent.packets, last.sent.bytes - first.sent.bytes);
        let expected = last.highest.saturating_sub(first.highest);
        let lost = (last.lost - first.lost).max(0) as f64 / expected.max(1) as f64;
        if lost <= 0.0 || packets == 0 {
            return Some(false);
        }
        let seconds = last.at.saturating_since(first.at).as_secs_f64();
        let size = bytes.get() as f64 / packets as f64;
        let tcp = size / (rtt.as_secs_f64() * libm::sqrt(2.0 * lost / 3.0));
        Some(bytes.get() as f64 / seconds > MAX_TCP_MULTIPLE * tcp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker() -> CircuitBreaker {
        CircuitBreaker::new(Time::ZERO, Duration::from_millis(33), Duration::from_secs(1))
    }

    fn report(highest_sequence: u64, cumulative_lost: i64) -> ReportBlock {
        ReportBlock {
            ssrc: 1,
            fraction_lost: 0,
            cumulative_lost,
            highest_sequence,
            jitter: 0,
            last_sender_report: None,
            delay_since_last: Duration::ZERO,
            expected: 0,
        }
    }

    /// Feeds one report per second until a breaker trips. Returns the second and the breaker.
    fn tripped(
        breaker: &mut CircuitBreaker,
        rtt_ms: u64,
        mut at: impl FnMut(u64) -> (u64, i64, u64),
    ) -> Option<(u64, Breaker)> {
        (1..100).find_map(|second| {
            let (highest, lost, packets) = at(second);
            let sent = SentMedia { packets, bytes: Bytes::new(packets * 1_000) };
            let rtt = Some(Duration::from_millis(rtt_ms));
            let breaker =
                breaker.on_report(Time::from_secs(second), &report(highest, lost), rtt, sent);
            breaker.map(|breaker| (second, breaker))
        })
    }

    #[test]
    fn three_reports_without_arrivals_trip_it() {
        // From the fourth second on no media arrives.
        let silent = |second: u64| (second.min(3) * 100, 0, second * 100);
        assert_eq!(tripped(&mut breaker(), 50, silent), Some((6, Breaker::MediaTimeout)));
        // A round-trip time of one second makes the interval ten reports.
        assert_eq!(tripped(&mut breaker(), 1_000, silent), Some((13, Breaker::MediaTimeout)));
        // A sender that sends nothing does not have to stop.
        assert_eq!(tripped(&mut breaker(), 50, |_| (300, 0, 300)), None);
    }

    #[test]
    fn ten_times_tcp_for_two_intervals_trips_it() {
        // At 100 ms and 20 % TCP sends 1000 B / (0.1 s · 0.365) = 27 kB/s; 300 packets of 1000 B
        // per second are 11 times that.
        let lost = |packets: u64| {
            move |second: u64| {
                (second * packets, (second * packets / 5).cast_signed(), second * packets)
            }
        };
        assert_eq!(tripped(&mut breaker(), 100, lost(300)), Some((6, Breaker::Congestion)));
        assert_eq!(tripped(&mut breaker(), 100, lost(250)), None);
        assert_eq!(
            tripped(&mut breaker(), 100, |second| (second * 300, 0, second * 300)),
            None,
            "without loss"
        );
    }

    #[test]
    fn without_reports_it_trips_after_fifteen_seconds() {
        let mut breaker = breaker();
        assert_eq!(breaker.deadline(), Time::from_secs(15));
        breaker.on_report(Time::from_secs(4), &report(1, 0), None, SentMedia::default());
        assert_eq!(breaker.deadline(), Time::from_secs(19));
    }
}
