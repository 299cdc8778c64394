//! The delay-based rate: groups, trend, detector and rate control in series (libwebrtc
//! `goog_cc/delay_based_bwe.cc`).

use super::super::detector::{Detector, Usage, scaled};
use super::super::groups::{Delta, Groups, Stamped};
use super::aimd::Aimd;
use super::config::SendSideConfig;
use super::trend::Trend;
use crate::SignalSink;
use units::{Bitrate, Duration};

/// Fractional bits of a sending time, and the shift to 32 bits (`delay_based_bwe.cc`: 18 and 8).
const FRACTION: u32 = 18;
const SHIFT: u32 = 8;

/// A packet that arrived, with times in ms.
#[derive(Clone, Copy)]
pub(super) struct Arrived {
    pub(super) sent: i64,
    pub(super) arrival: i64,
    pub(super) sequence: u64,
    pub(super) size: u64,
}

/// What feedback changed.
#[derive(Clone, Copy, Default)]
pub(super) struct Update {
    /// Whether there is a new rate, and whether the rate is the result of a probe.
    pub(super) updated: bool,
    pub(super) probe: bool,
    /// Whether under-use has ended.
    pub(super) recovered: bool,
}

/// Estimates the rate from the delay.
pub(super) struct DelayBased {
    silence: i64,
    gain: f64,
    groups: Groups,
    trend: Trend,
    detector: Detector,
    pub(super) aimd: Aimd,
    config: SendSideConfig,
    seen: Option<i64>,
    delta: Option<Delta>,
    completed: u64,
}

impl DelayBased {
    pub(super) fn new(config: &SendSideConfig, start: Bitrate, min: Bitrate) -> Self {
        Self {
            silence: config.silence_time.as_millis() as i64,
            gain: config.trend_gain,
            groups: Groups::new(&config.groups()),
            trend: Trend::new(config),
            detector: Detector::new(&config.detector()),
            aimd: Aimd::new(config, start, min),
            config: config.clone(),
            seen: None,
            delta: None,
            completed: 0,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.aimd.on_rtt(rtt);
    }

    /// Processes a packet that feedback reported at `now`. Returns whether under-use has ended.
    pub(super) fn on_packet(&mut self, now: i64, packet: &Arrived) -> bool {
        if self.seen.is_none_or(|seen| now - seen > self.silence) {
            self.groups.reset();
            self.trend.reset();
            self.detector = Detector::new(&self.config.detector());
        }
        self.seen = Some(now);
        let before = self.detector.usage();
        let Arrived { sent, arrival, size, .. } = *packet;
        let stamped = Stamped { timestamp: timestamp(sent), arrival, known: now, size };
        if let Some(delta) = self.groups.on_packet(stamped) {
            self.trend.update(&delta, arrival);
            let (slope, deltas) = (self.gain * self.trend.slope(), self.trend.deltas());
            self.detector.detect(arrival, delta.sent, slope, deltas);
            self.delta = Some(delta);
            self.completed += 1;
        }
        before == Usage::Underuse && self.detector.usage() == Usage::Normal
    }

    /// Updates the rate after the packets of one feedback message.
    pub(super) fn update(
        &mut self,
        now: i64,
        acknowledged: Option<u32>,
        probe: Option<u32>,
    ) -> Update {
        let usage = self.detector.usage();
        match (usage, acknowledged, probe) {
            (Usage::Overuse, Some(rate), _) => {
                let updated = self.aimd.may_reduce(now, rate);
                if updated {
                    self.aimd.update(now, usage, acknowledged);
                }
                Update { updated, ..Update::default() }
            }
            (Usage::Overuse, None, _) => {
                // Without an acknowledged rate, the rate is halved (`a9521e248e`, 2017-07-04).
                let half = self.aimd.rate() / 2;
                let updated = self.aimd.may_reduce(now, half.saturating_sub(1));
                if updated {
                    self.aimd.set(now, half);
                }
                Update { updated, ..Update::default() }
            }
            (_, _, Some(rate)) => {
                self.aimd.set(now, rate);
                Update { updated: true, probe: true, recovered: false }
            }
            (_, _, None) => {
                self.aimd.update(now, usage, acknowledged);
                Update { updated: true, probe: false, recovered: true }
            }
        }
    }

    pub(super) fn signals(&self, sink: &mut SignalSink<'_>) {
        let (slope, deltas) = (self.trend.slope(), self.trend.deltas());
        let (accumulated, smoothed) = self.trend.delay();
        sink("trend", slope);
        sink("scaled_m", scaled(self.gain * slope, deltas));
        sink("deltas", f64::from(deltas));
        sink("accumulated_delay", accumulated);
        sink("smoothed_delay", smoothed);
        sink("threshold", self.detector.threshold());
        sink("usage", f64::from(self.detector.usage() as i8));
        let over = self.detector.over();
        sink("overuse_time", over.map_or(f64::NAN, |(time, _)| time));
        sink("overuse_samples", over.map_or(0.0, |(_, samples)| f64::from(samples)));
        sink("overuse_count", self.detector.onsets() as f64);
        sink("groups", self.completed as f64);
        sink("state", self.aimd.state().number());
        sink("delay_based_rate", f64::from(self.aimd.rate()));
        let capacity = self.aimd.capacity();
        sink("link_capacity", capacity.average().map_or(f64::NAN, |kbps| f64::from(kbps) * 1e3));
        sink("link_capacity_variance", f64::from(capacity.variance()));
        let delta = self.delta;
        sink("sent_delta", delta.map_or(f64::NAN, |delta| delta.sent));
        sink("arrival_delta", delta.map_or(f64::NAN, |delta| delta.arrival as f64));
    }
}

/// A sending time in ms as abs-send-time, rounded, and shifted to 32 bits.
fn timestamp(sent: i64) -> u32 {
    (((((sent as u64) << FRACTION) + 500) / 1000) << SHIFT) as u32
}
