//! Measured rates of media, sending and acknowledgements, each the mean of four samples, and the
//! slow correction for an encoder that misses its target (`Stream::updateRate`).

use crate::scream_v2::ntp;

/// 50 ms in ticks, and twice that below [`LOW`] (`kRateUpdateInterval`).
const INTERVAL: u64 = 3277;
/// In bit/s (`isOkToTransmit`).
const LOW: f64 = 50_000.0;
/// Samples per mean (`kRateUpDateSize`).
const SAMPLES: usize = 4;
/// Gain and bounds of the correction.
const GAIN: f64 = 0.02;
const BOUNDS: (f64, f64) = (0.8, 1.1);

/// In bit/s.
pub(super) struct Rates {
    /// Bytes of media, sent and acknowledged.
    bytes: [u64; 3],
    history: [[f64; 3]; SAMPLES],
    samples: usize,
    /// When the counting began; `None`: it has not.
    counted: Option<u64>,
    since: u64,
    pub(super) media: f64,
    pub(super) sent: f64,
    pub(super) acked: f64,
    /// The factor for the encoder's target.
    pub(super) correction: f64,
}

impl Rates {
    pub(super) fn new() -> Self {
        Self {
            bytes: [0; 3],
            history: [[0.0; 3]; SAMPLES],
            samples: 0,
            counted: None,
            since: 0,
            media: 0.0,
            sent: 0.0,
            acked: 0.0,
            correction: 1.0,
        }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.since = now;
    }

    pub(super) fn on_frame(&mut self, bytes: u64) {
        self.bytes[0] += bytes;
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.bytes[1] += bytes;
    }

    pub(super) fn on_acked(&mut self, bytes: u64) {
        self.bytes[2] += bytes;
    }

    /// Updates the rates once per interval; `target` is the target rate. The first interval only
    /// starts the measurement.
    pub(super) fn update(&mut self, now: u64, target: f64) {
        let interval = if self.acked < LOW { 2 * INTERVAL } else { INTERVAL };
        if now.saturating_sub(self.since) <= interval {
            return;
        }
        if let Some(counted) = self.counted {
            let span = ntp::seconds(now.saturating_sub(counted));
            self.history[self.samples % SAMPLES] =
                self.bytes.map(|bytes| bytes as f64 * 8.0 / span);
            self.samples += 1;
            let mean = |index: usize| {
                self.history.iter().map(|rates| rates[index]).sum::<f64>() / SAMPLES as f64
            };
            (self.media, self.sent, self.acked) = (mean(0), mean(1), mean(2));
            if self.media > 0.0 && self.samples > SAMPLES {
                let missed = target * self.correction / self.media;
                let correction = self.correction + GAIN * (missed - self.correction);
                self.correction = correction.clamp(BOUNDS.0, BOUNDS.1);
            }
        }
        self.bytes = [0; 3];
        self.counted = Some(now);
        self.since = now;
    }

    /// The greater of the sent and the acknowledged rate (`getMaxRate`).
    pub(super) fn current(&self) -> f64 {
        self.sent.max(self.acked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_mean_of_four_samples() {
        let mut rates = Rates::new();
        rates.update(6555, 0.0);
        for step in 1..=4 {
            rates.on_sent(8192);
            rates.update(6555 + 6555 * step, 100_000.0);
        }
        let whole = 8192.0 * 8.0 / ntp::seconds(6555);
        assert!((rates.sent - whole).abs() < 1.0, "{}", rates.sent);
        assert_eq!((rates.current(), rates.media), (rates.sent, 0.0));
    }
}
