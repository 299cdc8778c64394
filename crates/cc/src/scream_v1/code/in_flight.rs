//! The bytes in flight of the last 30 s, which limit the window (`isOkToTransmit`, `updateCwnd`).

/// 1 s in ticks (`kBytesInFlightHistInterval`).
const INTERVAL: u64 = 65_536;

#[derive(Default)]
pub(super) struct InFlight {
    /// Mean over the reported packets, and greatest, of each second.
    history: Vec<(u64, u64)>,
    next: usize,
    sum: u64,
    count: u64,
    greatest: u64,
    renewed: u64,
    /// The maxima of the history.
    maxima: (u64, u64),
}

impl InFlight {
    /// A history of so many seconds.
    pub(super) fn new(seconds: u64) -> Self {
        let seconds = usize::try_from(seconds).unwrap_or(1).max(1);
        Self { history: vec![(0, 0); seconds], ..Self::default() }
    }

    /// A packet is reported while `bytes` are in flight.
    pub(super) fn on_report(&mut self, bytes: u64) {
        self.sum += bytes;
        self.count += 1;
    }

    /// The sender asks whether it may send. Returns whether a second is over. The code counts from
    /// zero of its clock.
    pub(super) fn on_poll(&mut self, now: u64, bytes: u64) -> bool {
        self.greatest = self.greatest.max(bytes);
        if now.saturating_sub(self.renewed) <= INTERVAL {
            return false;
        }
        let mean = self.sum.checked_div(self.count).unwrap_or(0);
        self.history[self.next] = (mean, self.greatest);
        self.next = (self.next + 1) % self.history.len();
        self.renewed = now;
        (self.sum, self.count, self.greatest) = (0, 0, 0);
        let means = self.history.iter().map(|entry| entry.0).max();
        let greatest = self.history.iter().map(|entry| entry.1).max();
        self.maxima = (means.unwrap_or(0), greatest.unwrap_or(0));
        true
    }

    /// The greatest and the mean bytes in flight, mixed by the trend; `now`: those in flight and
    /// newly acknowledged.
    pub(super) fn mixed(&self, now: u64, trend: f64) -> f64 {
        let high = self.greatest.max(self.maxima.1) as f64;
        let low = now.max(self.maxima.0) as f64;
        high * (1.0 - trend) + low * trend
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_moves_the_limit_from_the_greatest_to_the_mean() {
        let mut flight = InFlight::new(2);
        assert!(!flight.on_poll(65_536, 3000));
        flight.on_report(1000);
        flight.on_report(2000);
        assert!(flight.on_poll(65_537, 0));
        assert_eq!((flight.mixed(0, 0.0), flight.mixed(0, 1.0)), (3000.0, 1500.0));
        assert!(flight.on_poll(131_074, 0) && flight.on_poll(196_611, 0));
        assert_eq!(flight.mixed(700, 0.5), 350.0, "both entries are new");
    }
}
