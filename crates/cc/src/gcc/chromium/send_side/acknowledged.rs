//! The acknowledged rate: a Bayesian estimate from the received bytes per window (libwebrtc
//! `goog_cc/bitrate_estimator.cc`).

use super::config::SendSideConfig;

/// Initial variance of the estimate, and its growth per sample (`bitrate_estimator.cc`: 50 and 5).
const VARIANCE: (f64, f64) = (50.0, 5.0);
/// Scale of a sample's uncertainty (`bitrate_estimator.cc`: 10).
const UNCERTAINTY: f64 = 10.0;
/// Additional variance after an application-limited region (`bitrate_estimator.cc`: 200).
const AFTER_ALR: f64 = 200.0;

/// Estimates the rate at which packets arrive.
pub(super) struct Acknowledged {
    windows: (i64, i64),
    bytes: u64,
    elapsed: i64,
    last: Option<i64>,
    kbps: Option<f64>,
    variance: f64,
    alr_ended: Option<i64>,
}

impl Acknowledged {
    pub(super) fn new(config: &SendSideConfig) -> Self {
        let first = config.first_window.as_millis() as i64;
        Self {
            windows: (first, config.acknowledged_window.as_millis() as i64),
            bytes: 0,
            elapsed: 0,
            last: None,
            kbps: None,
            variance: VARIANCE.0,
            alr_ended: None,
        }
    }

    /// An application-limited region ended at `now`. From the first packet sent later, the rate may
    /// change faster.
    pub(super) fn on_alr_ended(&mut self, now: i64) {
        self.alr_ended = Some(now);
    }

    /// A packet was acknowledged. Times are in ms.
    pub(super) fn on_packet(&mut self, sent: i64, arrival: i64, size: u64) {
        if self.alr_ended.is_some_and(|ended| sent > ended) {
            self.alr_ended = None;
            self.variance += AFTER_ALR;
        }
        let sample = self.sample(arrival);
        self.bytes += size;
        match (sample, self.kbps) {
            (Some(sample), Some(kbps)) => self.update(kbps, sample),
            (Some(sample), None) => self.kbps = Some(sample),
            (None, _) => {}
        }
    }

    /// The rate of a completed window, kbit/s.
    fn sample(&mut self, arrival: i64) -> Option<f64> {
        let window = if self.kbps.is_none() { self.windows.0 } else { self.windows.1 };
        let last = self.last.replace(arrival).filter(|last| arrival >= *last);
        match last {
            None => (self.bytes, self.elapsed) = (0, 0),
            Some(last) => self.elapsed += arrival - last,
        }
        if last.is_some_and(|last| arrival - last > window) {
            self.bytes = 0;
            self.elapsed %= window;
        }
        if self.elapsed < window {
            return None;
        }
        self.elapsed -= window;
        let bytes = std::mem::take(&mut self.bytes);
        Some(8.0 * bytes as f64 / window as f64)
    }

    fn update(&mut self, kbps: f64, sample: f64) {
        let uncertainty = UNCERTAINTY * (kbps - sample).abs() / kbps.max(f64::MIN_POSITIVE);
        let sample_variance = uncertainty * uncertainty;
        let variance = self.variance + VARIANCE.1;
        let sum = sample_variance + variance;
        if sum.is_finite() {
            self.kbps = Some((sample_variance * kbps + variance * sample) / sum);
            self.variance = sample_variance * variance / sum;
        }
    }

    /// The rate, bit/s; `None` before the first window is complete.
    pub(super) fn rate(&self) -> Option<u32> {
        self.kbps.map(|kbps| (kbps * 1e3) as u32)
    }
}
