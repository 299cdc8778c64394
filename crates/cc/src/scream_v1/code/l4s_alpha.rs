//! The average fraction of marked bytes (`incomingStandardizedFeedback`).

pub(super) struct L4sAlpha {
    gain: f64,
    pub(super) average: f64,
    /// The fraction of the last interval.
    pub(super) fraction: f64,
    delivered: u64,
    marked: u64,
    updated: u64,
}

impl L4sAlpha {
    pub(super) fn new(gain: f64, average: f64) -> Self {
        Self { gain, average, fraction: 0.0, delivered: 0, marked: 0, updated: 0 }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.updated = now;
    }

    /// A packet of `size` bytes was delivered.
    pub(super) fn on_delivered(&mut self, size: u64, marked: bool) {
        self.delivered += size;
        self.marked += if marked { size } else { 0 };
    }

    /// Updates once per `interval`, in ticks.
    pub(super) fn update(&mut self, now: u64, interval: u64) {
        if now.saturating_sub(self.updated) <= interval {
            return;
        }
        self.updated = now;
        self.fraction = 0.0;
        if self.delivered > 0 {
            self.fraction = self.marked as f64 / self.delivered as f64;
            self.average += self.gain * (self.fraction - self.average);
            (self.delivered, self.marked) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_follows_the_marked_bytes_once_per_interval() {
        let mut alpha = L4sAlpha::new(0.125, 0.1);
        alpha.on_delivered(300, false);
        alpha.on_delivered(900, true);
        alpha.update(1966, 1966);
        assert_eq!(alpha.average, 0.1, "the interval is not over");
        alpha.update(1967, 1966);
        assert!((alpha.average - (0.875 * 0.1 + 0.125 * 0.75)).abs() < 1e-12);
        alpha.update(4000, 1966);
        assert_eq!(alpha.fraction, 0.0, "nothing was delivered");
    }
}
