//! l4s_alpha: the average fraction of marked packets per round-trip time, with a fast attack and a
//! slow decay.

use super::config::ScreamV2Config;
use super::ntp;

pub(super) struct L4sAlpha {
    gain_up: f64,
    gain_down: f64,
    interval: u64,
    alpha: f64,
    delivered: u64,
    marked: u64,
    /// The fraction of the last interval.
    pub(super) fraction: f64,
    updated: u64,
}

impl L4sAlpha {
    pub(super) fn new(config: &ScreamV2Config) -> Self {
        Self {
            gain_up: config.gain_up,
            gain_down: config.gain_down,
            interval: ntp::span(config.alpha_interval),
            alpha: config.alpha,
            delivered: 0,
            marked: 0,
            fraction: 0.0,
            updated: 0,
        }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.updated = now;
    }

    /// A packet was delivered.
    pub(super) fn on_delivered(&mut self, marked: bool) {
        self.delivered += 1;
        self.marked += u64::from(marked);
    }

    /// Updates once per interval.
    pub(super) fn update(&mut self, now: u64, rtt: u64) {
        if now.saturating_sub(self.updated) <= self.interval.min(rtt) {
            return;
        }
        self.updated = now;
        self.fraction = 0.0;
        if self.delivered > 0 {
            self.fraction = self.marked as f64 / self.delivered as f64;
            self.alpha = if self.fraction >= self.alpha {
                self.gain_up * self.fraction + (1.0 - self.gain_up) * self.alpha
            } else {
                (1.0 - self.gain_down) * self.alpha
            };
            (self.delivered, self.marked) = (0, 0);
        }
    }

    /// Without L4S there is no average.
    pub(super) fn clear(&mut self) {
        self.alpha = 0.0;
    }

    pub(super) fn get(&self) -> f64 {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_is_fast_and_decay_slow() {
        let mut alpha = L4sAlpha::new(&ScreamV2Config::draft());
        let mut after = |now, marked| {
            (0..4).for_each(|_| alpha.on_delivered(marked));
            alpha.update(now, 3277);
            alpha.get()
        };
        assert_eq!(after(700, true), 0.125);
        assert_eq!(after(800, true), 0.125, "once per 10 ms");
        assert!((after(1500, true) - 0.234_375).abs() < 1e-12);
        assert!((after(2300, false) - 0.234_375 * 127.0 / 128.0).abs() < 1e-12);
    }
}
