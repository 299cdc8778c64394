//! How late the loop was: from the time at which the model delivered a packet to the time at which
//! the packet was written to its interface.

use hdrhistogram::Histogram;
use units::{Duration, Time};

/// Later than this is a missed deadline.
pub(crate) const MISSED: Duration = Duration::from_millis(1);
/// Lateness above this is recorded as this: 10 s, in ns.
const MAX_RECORDED: u64 = 10_000_000_000;

/// The distribution of lateness, with a resolution of 1 %.
#[derive(Clone, Debug)]
pub struct Lateness {
    histogram: Histogram<u64>,
    missed: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, MAX_RECORDED, 2);
        Self {
            histogram: histogram.unwrap_or_else(|_| unreachable!("the bounds are valid")),
            missed: 0,
        }
    }
}

impl Lateness {
    pub(crate) fn record(&mut self, due: Time, done: Time) {
        let late = done.saturating_since(due);
        self.missed += u64::from(late > MISSED);
        self.histogram.saturating_record(late.as_nanos());
    }

    /// The lateness that the share `share` (0 to 1) of all packets does not exceed; zero without
    /// packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_quantile(share))
    }

    /// The largest lateness.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.histogram.max())
    }

    /// The number of packets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The number of packets that were more than 1 ms late.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_missed_deadlines_are_counted() {
        let mut lateness = Lateness::default();
        for micros in 1..=1_000 {
            lateness.record(Time::ZERO, Time::from_micros(2 * micros));
        }
        let median = lateness.quantile(0.5).as_micros();
        assert!((990..=1_020).contains(&median), "{median}");
        assert_eq!((lateness.count(), lateness.missed()), (1_000, 500));
        lateness.record(Time::from_secs(5), Time::from_secs(1));
        assert_eq!(lateness.quantile(0.0), Duration::ZERO);
    }
}
