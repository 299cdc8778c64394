//! The trend of the queue delay (§ 4.1.2): an early sign of congestion, from the autocorrelation of
//! the delay's fraction of its target.

/// Samples in the history (§ 4.1.1.2: 20).
const SAMPLES: usize = 20;
/// Decay of the memory (§ 4.1.2).
const MEMORY: f64 = 0.99;

pub(super) struct QueueDelayTrend {
    weight: f64,
    pub(super) average: f64,
    history: [f64; SAMPLES],
    next: usize,
    /// `qdelay_trend`.
    pub(super) trend: f64,
    /// `qdelay_trend_mem`: falls slowly.
    pub(super) memory: f64,
}

impl QueueDelayTrend {
    pub(super) fn new(weight: f64) -> Self {
        Self { weight, average: 0.0, history: [0.0; SAMPLES], next: 0, trend: 0.0, memory: 0.0 }
    }

    /// An acknowledgement; `fraction` is the queue delay divided by its target.
    pub(super) fn on_acknowledged(&mut self, fraction: f64) {
        self.average += self.weight * (fraction - self.average);
    }

    /// A sample, each 50 ms.
    pub(super) fn on_sample(&mut self, fraction: f64) {
        self.push(fraction);
        self.update();
    }

    /// Adds a sample to the history.
    pub(super) fn push(&mut self, fraction: f64) {
        self.history[self.next] = fraction;
        self.next = (self.next + 1) % SAMPLES;
    }

    /// The trend of the history.
    pub(super) fn update(&mut self) {
        let mean = self.history.iter().sum::<f64>() / SAMPLES as f64;
        let (mut power, mut lagged, mut before) = (0.0, 0.0, 0.0);
        for index in 0..SAMPLES {
            let value = self.history[(self.next + index) % SAMPLES] - mean;
            power += value * value;
            lagged += value * before;
            before = value;
        }
        let correlation = if power > 0.0 { lagged / power } else { 0.0 };
        self.trend = (correlation * self.average).clamp(0.0, 1.0);
        self.memory = self.trend.max(MEMORY * self.memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_delay_has_a_trend_and_jitter_has_none() {
        let mut grows = QueueDelayTrend::new(0.1);
        let mut jitters = QueueDelayTrend::new(0.1);
        for step in 0..40 {
            let growing = f64::from(step) / 40.0;
            (0..5).for_each(|_| grows.on_acknowledged(growing));
            grows.on_sample(growing);
            let jitter = if step % 2 == 0 { 0.0 } else { 0.5 };
            (0..5).for_each(|_| jitters.on_acknowledged(jitter));
            jitters.on_sample(jitter);
        }
        assert!(grows.trend > 0.5, "{}", grows.trend);
        assert_eq!(jitters.trend, 0.0);
        grows.on_sample(0.0);
        assert!(grows.memory > 0.5);
    }
}
