//! The loss-based rate at the sender, capped by REMB (libwebrtc
//! `bitrate_controller/send_side_bandwidth_estimation.cc`).
//!
//! Times are whole milliseconds, rates whole bit/s and fractions lost 256ths, as in libwebrtc.

use super::aimd::whole;
use std::collections::VecDeque;
use units::{Bitrate, Duration};

/// The increase starts from the least rate of this time, ms (`send_side_bandwidth_estimation.cc`:
/// 1000).
const INCREASE_INTERVAL: i64 = 1000;
/// Packet size of the TFRC floor, bytes (the same file: 1000).
const TFRC_PACKET: f64 = 1000.0;
/// Initial capacity of the history of least rates: more than one entry per millisecond.
const INITIAL_CAPACITY: usize = 2048;

/// The constants of the loss-based rate. Fractions lost are in 256ths.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossRules {
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) increase: f64,
    pub(super) increase_extra: Bitrate,
    pub(super) decrease_interval: Duration,
    pub(super) once_per_report: bool,
    pub(super) tfrc_floor: bool,
    pub(super) min_packets: u64,
    pub(super) start_phase: Duration,
    /// 0: never.
    pub(super) stale_after: Duration,
    /// The form of 2018: reports count lost packets, reports of no packets are ignored, a report's
    /// round-trip time counts after its loss, and the history of least rates keeps the rate before
    /// the start phase raised it.
    pub(super) by_packets: bool,
}

/// A receiver report.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossReport {
    /// Lost packets since the last report, times 256.
    pub(super) lost: u64,
    /// Packets expected since the last report.
    pub(super) expected: u64,
    /// Round-trip time, ms.
    pub(super) rtt: Option<i64>,
}

/// Computes the target rate from loss reports and REMB.
pub(super) struct LossControl {
    rules: LossRules,
    bounds: (u32, u32),
    rate: u32,
    remb: u32,
    delay_based: u32,
    /// Fraction lost in 256ths.
    lost: u32,
    rtt: i64,
    /// Lost packets in 256ths and expected packets since the last loss rate.
    counts: (u64, u64),
    first_report: Option<i64>,
    newest_report: Option<i64>,
    decreased: Option<i64>,
    decreased_since_report: bool,
    /// Rates of the last second that are below all later rates.
    least: VecDeque<(i64, u32)>,
}

impl LossControl {
    pub(super) fn new(rules: LossRules, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            rules,
            bounds: (whole(bounds.0), whole(bounds.1)),
            rate: whole(start),
            remb: 0,
            delay_based: 0,
            lost: 0,
            rtt: 0,
            counts: (0, 0),
            first_report: None,
            newest_report: None,
            decreased: None,
            decreased_since_report: false,
            least: VecDeque::with_capacity(INITIAL_CAPACITY),
        }
    }

    pub(super) fn on_remb(&mut self, rate: Bitrate) {
        self.remb = whole(rate);
        self.rate = self.capped(self.rate);
    }

    /// There is a new delay-based rate, bit/s.
    pub(super) fn on_delay_based(&mut self, rate: u32) {
        self.delay_based = rate;
        self.rate = self.capped(self.rate);
    }

    /// Sets the rate, bit/s, without the limits of the past.
    pub(super) fn set(&mut self, rate: u32) {
        self.delay_based = 0;
        self.least.clear();
        self.rate = self.capped(rate);
    }

    /// A report arrived at `now`.
    pub(super) fn on_report(&mut self, now: i64, report: &LossReport) {
        self.first_report.get_or_insert(now);
        let rtt = report.rtt.unwrap_or(self.rtt);
        if !self.rules.by_packets {
            self.rtt = rtt;
        }
        if self.counted(report) {
            self.newest_report = Some(now);
            self.update(now);
        }
        self.rtt = rtt;
    }

    /// Counts the packets of a report. Returns whether the rate is updated.
    fn counted(&mut self, report: &LossReport) -> bool {
        if report.expected == 0 {
            return !self.rules.by_packets;
        }
        self.counts.0 += report.lost;
        self.counts.1 += report.expected;
        if self.counts.1 < self.rules.min_packets {
            return false;
        }
        self.lost = (self.counts.0 / self.counts.1).min(255) as u32;
        self.counts = (0, 0);
        self.decreased_since_report = false;
        true
    }

    /// Updates the rate at a report or a tick of the timer.
    pub(super) fn update(&mut self, now: i64) {
        let trusted = self.remb.max(self.delay_based);
        if self.lost == 0 && self.in_start_phase(now) && trusted > self.rate {
            let before = self.rate;
            self.rate = self.capped(trusted);
            self.least.clear();
            let kept = if self.rules.by_packets { before } else { self.rate };
            self.least.push_back((now, kept));
            return;
        }
        self.remember(now);
        let stale = self.rules.stale_after.as_millis() as i64;
        if self.newest_report.is_some_and(|newest| stale == 0 || now - newest < stale) {
            self.react(now);
        }
        self.rate = self.capped(self.rate);
    }

    fn react(&mut self, now: i64) {
        if self.lost <= self.rules.low {
            let least = self.least.front().map_or(self.rate, |&(_, rate)| rate);
            let increased = (f64::from(least) * self.rules.increase + 0.5) as u32;
            self.rate = increased.saturating_add(whole(self.rules.increase_extra));
        } else if self.lost > self.rules.high && self.may_decrease(now) {
            self.decreased = Some(now);
            self.decreased_since_report = true;
            let share = f64::from(512 - self.lost.min(512)) / 512.0;
            self.rate = (f64::from(self.rate) * share) as u32;
            if self.rules.tfrc_floor {
                self.rate = self.rate.max(tfrc(self.rtt, self.lost));
            }
        }
    }

    fn may_decrease(&self, now: i64) -> bool {
        let interval = self.rules.decrease_interval.as_millis() as i64 + self.rtt;
        let rested = self.decreased.is_none_or(|decreased| now - decreased >= interval);
        rested && !(self.rules.once_per_report && self.decreased_since_report)
    }

    fn in_start_phase(&self, now: i64) -> bool {
        let phase = self.rules.start_phase.as_millis() as i64;
        self.first_report.is_none_or(|first| now - first < phase)
    }

    /// Adds the rate to the history of the last second.
    fn remember(&mut self, now: i64) {
        while self.least.front().is_some_and(|&(time, _)| now - time + 1 > INCREASE_INTERVAL) {
            self.least.pop_front();
        }
        while self.least.back().is_some_and(|&(_, rate)| self.rate <= rate) {
            self.least.pop_back();
        }
        self.least.push_back((now, self.rate));
    }

    fn capped(&self, rate: u32) -> u32 {
        let limit = |limit| if limit > 0 { limit } else { u32::MAX };
        let rate = rate.min(limit(self.remb)).min(limit(self.delay_based));
        rate.min(self.bounds.1).max(self.bounds.0)
    }

    /// The target rate.
    pub(super) fn rate(&self) -> Bitrate {
        Bitrate::from_bps(u64::from(self.rate))
    }

    /// The fraction lost, 0 to 1.
    pub(super) fn fraction_lost(&self) -> f64 {
        f64::from(self.lost) / 256.0
    }

    /// The least rate of the last second, bit/s.
    pub(super) fn least(&self) -> Option<u32> {
        self.least.front().map(|&(_, rate)| rate)
    }

    /// The round-trip time as last told, ms; 0: not yet.
    pub(super) fn rtt(&self) -> i64 {
        self.rtt
    }

    /// The last REMB, bit/s.
    pub(super) fn remb(&self) -> Option<u32> {
        (self.remb > 0).then_some(self.remb)
    }
}

/// The TCP-friendly rate in bit/s for a round-trip time in ms and a fraction lost in 256ths (RFC
/// 3448 § 3.1 with b = 1 and t_RTO = 4 R). libwebrtc divides the fraction by 255.
fn tfrc(rtt: i64, lost: u32) -> u32 {
    if rtt == 0 || lost == 0 {
        return 0;
    }
    let (r, p) = (rtt as f64 / 1000.0, f64::from(lost) / 255.0);
    let timeouts = 4.0 * r * 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    (8.0 * TFRC_PACKET / (r * (2.0 * p / 3.0).sqrt() + timeouts)) as u32
}
