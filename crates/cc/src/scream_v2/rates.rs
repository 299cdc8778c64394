//! Measured rates, and the slow correction for an encoder that misses its target (the code,
//! `updateRate`).

use super::ntp;

/// 100 ms, in whole ticks (the code, `kRateUpdateInterval`).
const INTERVAL: u64 = 6553;
/// Samples in the average of the media rate (the code, `kRateUpDateSize`).
const SAMPLES: usize = 4;
/// Gain and bounds of the correction.
const GAIN: f64 = 0.02;
const BOUNDS: (f64, f64) = (0.8, 1.1);

/// In bit/s.
#[derive(Default)]
pub(super) struct Rates {
    media_bytes: u64,
    sent_bytes: u64,
    acked_bytes: u64,
    history: [f64; SAMPLES],
    samples: u64,
    updated: Option<u64>,
    /// When the interval began.
    since: u64,
    pub(super) media: f64,
    pub(super) sent: f64,
    pub(super) acked: f64,
    correction: Option<f64>,
}

impl Rates {
    pub(super) fn new(corrects: bool) -> Self {
        Self { correction: corrects.then_some(1.0), ..Self::default() }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.since = now;
    }

    pub(super) fn on_frame(&mut self, bytes: u64) {
        self.media_bytes += bytes;
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    pub(super) fn on_acked(&mut self, bytes: u64) {
        self.acked_bytes += bytes;
    }

    /// Updates the rates once per interval; `target` is the target rate. The first interval only
    /// starts the measurement.
    pub(super) fn update(&mut self, now: u64, target: f64) {
        if now.saturating_sub(self.since) <= INTERVAL {
            return;
        }
        if let Some(updated) = self.updated {
            let rate = |bytes: u64| bytes as f64 * 8.0 / ntp::seconds(now.saturating_sub(updated));
            self.sent = rate(self.sent_bytes);
            self.acked = rate(self.acked_bytes);
            self.history[(self.samples % SAMPLES as u64) as usize] = rate(self.media_bytes);
            self.samples += 1;
            self.media = self.history.iter().sum::<f64>() / SAMPLES as f64;
            if let Some(correction) = &mut self.correction
                && self.media > 0.0
                && self.samples > SAMPLES as u64
            {
                let missed = target * *correction / self.media;
                *correction =
                    (*correction + GAIN * (missed - *correction)).clamp(BOUNDS.0, BOUNDS.1);
            }
        }
        (self.media_bytes, self.sent_bytes, self.acked_bytes) = (0, 0, 0);
        self.updated = Some(now);
        self.since = now;
    }

    /// The correction starts again.
    pub(super) fn restart_correction(&mut self) {
        self.correction = self.correction.map(|_| 1.0);
    }

    /// The factor for the encoder's target.
    pub(super) fn correction(&self) -> f64 {
        self.correction.unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_measured_over_intervals_of_100_ms() {
        let mut rates = Rates::new(true);
        for step in 1..=40 {
            rates.on_frame(1000);
            rates.on_sent(900);
            rates.on_acked(800);
            rates.update(6554 * step, 100_000.0);
        }
        let expect =
            |value: f64, bytes: f64| (value - bytes * 8.0 / ntp::seconds(6554)).abs() < 1.0;
        assert!(expect(rates.sent, 900.0) && expect(rates.acked, 800.0));
        assert!(expect(rates.media, 1000.0));
        assert!(rates.correction() > 1.05, "80 kbit/s instead of 100: {}", rates.correction());
    }
}
