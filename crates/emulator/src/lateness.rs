//! How late the loop was: the difference between when the model gave a packet out and when it was
//! put on its interface.

use hdrhistogram::Histogram;
use units::{Duration, Time};

/// What counts as a missed deadline.
pub(crate) const MISSED: Duration = Duration::from_millis(1);
/// Longer than this is as long as this: 10 s, ns.
const LONGEST: u64 = 10_000_000_000;

/// The distribution of how late packets were, to 1 %.
#[derive(Clone, Debug)]
pub struct Lateness {
    histogram: Histogram<u64>,
    missed: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST, 2);
        Self {
            histogram: histogram.unwrap_or_else(|_| unreachable!("the bounds are in order")),
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

    /// How late the given share of the packets was at most; zero without packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_quantile(share))
    }

    /// How late the latest was.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.histogram.max())
    }

    /// Packets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Packets that were more than 1 ms late.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_what_was_missed() {
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
