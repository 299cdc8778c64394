//! The target of the queue delay when loss-based flows compete (§ on competing flows compensation;
//! RFC 8298 § 4.1.2.3).

/// Samples in the variance and in the mean.
const LONG: usize = 200;
const SHORT: usize = 50;
/// Loss event rate from which losses count, and the variance up to which the delay is steady.
const LOSS_EVENTS: f64 = 0.002;
const STEADY: f64 = 0.2;
/// Gain of the loss event rate per round-trip time (the code, `updateCwnd`).
const LOSS_GAIN: f64 = 0.02;

/// Delays in s.
pub(crate) struct CompetingFlows {
    enabled: bool,
    low: f64,
    high: f64,
    history: [f64; LONG],
    next: usize,
    loss_event_rate: f64,
    target: f64,
}

impl CompetingFlows {
    pub(crate) fn new(enabled: bool, low: f64, high: f64) -> Self {
        Self {
            enabled,
            low,
            high,
            history: [0.0; LONG],
            next: 0,
            loss_event_rate: 0.0,
            target: low,
        }
    }

    /// A round-trip time passed, with lost packets or without.
    pub(crate) fn on_round_trip(&mut self, lost: bool) {
        self.loss_event_rate += LOSS_GAIN * (f64::from(u8::from(lost)) - self.loss_event_rate);
    }

    /// A sample of the queue delay.
    pub(crate) fn on_sample(&mut self, delay: f64) {
        if !self.enabled {
            return;
        }
        self.history[self.next] = delay / self.low;
        self.next = (self.next + 1) % LONG;
        let mean = self.history.iter().sum::<f64>() / LONG as f64;
        let deviations = self.history.iter().map(|sample| (sample - mean) * (sample - mean));
        let variance = deviations.sum::<f64>() / LONG as f64;
        let newest = (1..=SHORT).map(|back| self.history[(self.next + LONG - back) % LONG]);
        let new = (newest.sum::<f64>() / SHORT as f64 + variance.sqrt()) * self.low;
        self.target = if self.loss_event_rate > LOSS_EVENTS {
            1.5 * new
        } else if variance < STEADY {
            new
        } else if new < self.low {
            new.max(0.5 * self.target)
        } else {
            0.9 * self.target
        };
        self.target = self.target.clamp(self.low, self.high);
    }

    /// `qdelay_target`.
    pub(crate) fn target(&self) -> f64 {
        self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_steady_queue_raises_the_target_and_an_empty_one_lowers_it() {
        let mut flows = CompetingFlows::new(true, 0.06, 0.4);
        (0..300).for_each(|_| flows.on_sample(0.2));
        assert!((flows.target() - 0.2).abs() < 1e-9, "{}", flows.target());
        (0..50).for_each(|_| flows.on_round_trip(true));
        flows.on_sample(0.2);
        assert!((flows.target() - 0.3).abs() < 1e-9, "losses: half more");
        (0..600).for_each(|_| flows.on_round_trip(false));
        (0..300).for_each(|_| flows.on_sample(0.0));
        assert_eq!(flows.target(), 0.06);
    }
}
