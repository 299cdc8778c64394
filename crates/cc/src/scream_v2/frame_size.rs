//! The high percentile of the frame sizes relative to the nominal size, from a leaky histogram, and
//! the frame period (§ on the frame size; bins and range: the code, `newMediaFrame`).

use super::ntp;

const BINS: usize = 50;
/// The histogram covers 1 to 3 times the nominal size.
const RANGE: f64 = 3.0;
const DECAY: f64 = 1.0 / 1024.0;
/// Frames before the first percentile.
const PREAMBLE: u64 = 50;
/// The first frame period, in s (draft: 0.02).
const FIRST_PERIOD: f64 = 0.02;
/// Weight of the newest period (the code, `newMediaFrame`).
const PERIOD_GAIN: f64 = 0.9;

pub(super) struct FrameSize {
    percentile: f64,
    histogram: [f64; BINS],
    frames: u64,
    last: Option<u64>,
    pub(super) period: f64,
    /// `rel_framesize_high`.
    pub(super) high: f64,
}

impl FrameSize {
    pub(super) fn new(percentile: f64) -> Self {
        let mut histogram = [0.0; BINS];
        histogram[0] = 1.0;
        Self { percentile, histogram, frames: 0, last: None, period: FIRST_PERIOD, high: 1.0 }
    }

    /// A frame of this size came. Returns the nominal size at the target rate, in bytes.
    pub(super) fn on_frame(&mut self, now: u64, size: f64, target: f64) -> f64 {
        self.frames += 1;
        if let Some(last) = self.last {
            let period = ntp::seconds(now.saturating_sub(last));
            self.period = PERIOD_GAIN * period + (1.0 - PERIOD_GAIN) * self.period;
        }
        self.last = Some(now);
        let nominal = target * self.period / 8.0;
        if nominal > 0.0 && size > nominal {
            let bin = (size - nominal) / nominal / (RANGE - 1.0) * BINS as f64;
            self.histogram[(bin as usize).min(BINS - 1)] += 1.0;
            self.histogram.iter_mut().for_each(|count| *count *= 1.0 - DECAY);
            if self.frames > PREAMBLE {
                self.high = self.percentile();
            }
        }
        nominal
    }

    fn percentile(&self) -> f64 {
        let mark = self.percentile * self.histogram.iter().sum::<f64>();
        let mut sum = 0.0;
        let reached = self.histogram.iter().position(|count| {
            sum += count;
            sum >= mark
        });
        let bin = reached.unwrap_or(BINS - 1);
        1.0 + bin as f64 * (RANGE - 1.0) / BINS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_frames_raise_the_percentile() {
        let mut sizes = FrameSize::new(0.75);
        for frame in 0..200 {
            let size = if frame % 2 == 0 { 900.0 } else { 1300.0 };
            let nominal = sizes.on_frame(2185 * frame, size, 240_000.0);
            assert!(frame < 5 || (nominal - 1000.0).abs() < 1.0, "{nominal}");
        }
        assert!(sizes.high > 1.1, "{}", sizes.high);
    }
}
