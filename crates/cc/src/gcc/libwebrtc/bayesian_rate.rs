//! The acknowledged rate until 2023: a Bayesian estimate from the received bytes per window, which
//! is counted in whole milliseconds (libwebrtc `goog_cc/bitrate_estimator.cc`,
//! `goog_cc/acknowledged_bitrate_estimator.cc`).

use super::config::LibwebrtcConfig;
use super::rounding::whole_millis;
use units::{Bitrate, Bytes, Duration, Time};

/// Estimates the rate at which packets arrive.
pub(super) struct BayesianRate {
    windows: (Duration, Duration),
    uncertainty: f64,
    variance_step: f64,
    variance_after_alr: f64,
    bytes: Bytes,
    /// Time since the start of the current window.
    elapsed: Duration,
    last: Option<Time>,
    /// The estimate, in kbit/s; `variance` is in (kbit/s)².
    estimate: Option<f64>,
    variance: f64,
    alr_ended: Option<Time>,
}

impl BayesianRate {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            windows: (config.first_window, config.acknowledged_window),
            uncertainty: config.uncertainty,
            variance_step: config.variance_step,
            variance_after_alr: config.variance_after_alr,
            bytes: Bytes::ZERO,
            elapsed: Duration::ZERO,
            last: None,
            estimate: None,
            variance: config.initial_variance,
            alr_ended: None,
        }
    }

    /// An application-limited region ended. From the first packet sent later, the estimate may
    /// change faster.
    pub(super) fn on_alr_ended(&mut self, now: Time) {
        self.alr_ended = Some(now);
    }

    /// A packet was reported. Calls are in order of arrival.
    pub(super) fn on_packet(&mut self, sent: Time, arrival: Time, size: Bytes) {
        if self.alr_ended.is_some_and(|ended| sent > ended) {
            self.alr_ended = None;
            self.variance += self.variance_after_alr;
        }
        if let Some(sample) = self.sample(whole_millis(arrival), size) {
            self.update(sample);
        }
    }

    /// The rate of a completed window, in kbit/s. The packet belongs to the next window.
    fn sample(&mut self, arrival: Time, size: Bytes) -> Option<f64> {
        let window = if self.estimate.is_none() { self.windows.0 } else { self.windows.1 };
        if self.last.is_some_and(|last| arrival < last) {
            (self.last, self.bytes, self.elapsed) = (None, Bytes::ZERO, Duration::ZERO);
        }
        if let Some(last) = self.last {
            let gap = arrival.saturating_since(last);
            self.elapsed += gap;
            if gap > window {
                self.bytes = Bytes::ZERO;
                self.elapsed = Duration::from_nanos(self.elapsed.as_nanos() % window.as_nanos());
            }
        }
        self.last = Some(arrival);
        let mut sample = None;
        if self.elapsed >= window {
            sample = Some(self.bytes.bits() as f64 / window.as_millis_f64());
            self.elapsed = self.elapsed - window;
            self.bytes = Bytes::ZERO;
        }
        self.bytes += size;
        sample
    }

    /// Bayesian update: a sample that is further from the estimate has less weight. The variance of
    /// the estimate grows with every sample.
    fn update(&mut self, sample: f64) {
        let Some(estimate) = self.estimate else {
            self.estimate = Some(sample);
            return;
        };
        let uncertainty =
            self.uncertainty * (estimate - sample).abs() / estimate.max(f64::MIN_POSITIVE);
        let sample_variance = uncertainty * uncertainty;
        let variance = self.variance + self.variance_step;
        let sum = sample_variance + variance;
        if sum.is_finite() {
            self.estimate = Some((sample_variance * estimate + variance * sample) / sum);
            self.variance = sample_variance * variance / sum;
        }
    }

    /// The rate in the current window so far.
    pub(super) fn partial(&self) -> Option<Bitrate> {
        self.bytes.per(self.elapsed)
    }

    /// The rate; `None` before the first window is complete.
    pub(super) fn rate(&self) -> Option<Bitrate> {
        self.estimate.map(|estimate| Bitrate::from_bps_f64(estimate * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(rate: &mut BayesianRate, from: u64, to: u64, size: u64) {
        for ms in (from..to).step_by(10) {
            rate.on_packet(Time::from_millis(ms), Time::from_millis(ms + 25), Bytes::new(size));
        }
    }

    #[test]
    fn the_first_estimate_takes_500_ms() {
        let mut rate = BayesianRate::new(&LibwebrtcConfig::default());
        constant(&mut rate, 0, 500, 1250);
        assert_eq!(rate.rate(), None);
        constant(&mut rate, 500, 510, 1250);
        // 50 packets of 1250 B in 500 ms.
        assert_eq!(rate.rate(), Some(Bitrate::from_mbps(1)));
    }

    #[test]
    fn a_sample_is_weighted_by_its_distance() {
        let mut rate = BayesianRate::new(&LibwebrtcConfig::default());
        constant(&mut rate, 0, 510, 1250);
        constant(&mut rate, 510, 660, 2500);
        // The window holds one packet of 1250 B and 14 of 2500 B: 1933.33 kbit/s. Uncertainty 10 ×
        // 933.33/1000 = 9.333, variance 87.11 against 55: (87.11 × 1000 + 55 × 1933.33) / 142.11.
        let expected = (87.111_111 * 1_000.0 + 55.0 * 1_933.333_333) / 142.111_111;
        let got = rate.rate().unwrap().as_bps_f64() / 1e3;
        assert!((got - expected).abs() < 0.01, "{got} {expected}");
    }

    #[test]
    fn the_rate_follows_a_change_in_two_seconds_and_faster_after_an_application_limited_region() {
        let after = |alr_ended: bool| {
            let mut rate = BayesianRate::new(&LibwebrtcConfig::default());
            constant(&mut rate, 0, 5060, 1250);
            if alr_ended {
                rate.on_alr_ended(Time::from_millis(5059));
            }
            constant(&mut rate, 5060, 5360, 2500);
            let early = rate.rate().unwrap().as_bps();
            constant(&mut rate, 5360, 7060, 2500);
            (early, rate.rate().unwrap().as_bps())
        };
        let (slow, end) = after(false);
        let (fast, _) = after(true);
        assert!(fast > slow + 200_000, "{fast} {slow}");
        assert!((1_900_000..=2_000_000).contains(&end), "{end}");
    }

    #[test]
    fn bytes_before_a_pause_do_not_count() {
        let mut rate = BayesianRate::new(&LibwebrtcConfig::default());
        constant(&mut rate, 0, 510, 1250);
        let before = rate.rate();
        constant(&mut rate, 3000, 3010, 1250);
        assert_eq!(rate.rate(), before);
    }
}
