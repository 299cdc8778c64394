//! The sample times of a run, and the sample of a report.

use units::{Duration, Time};

/// The most samples of a run: a week at two per second.
const MAX_SAMPLES: u64 = 1_209_600;

/// The number of samples of a run of this length.
#[must_use]
pub fn sample_count(interval: Duration, duration: Duration) -> usize {
    let count = duration.as_nanos() / interval.as_nanos().max(1);
    usize::try_from(count.min(MAX_SAMPLES)).unwrap_or(0)
}

/// The index of the sample nearest to a time in seconds since the start of the run; sample n is at
/// (n + 1) intervals.
#[must_use]
pub fn sample_index(seconds: f64, interval: Duration, count: usize) -> Option<usize> {
    let index = (seconds / interval.as_secs_f64()).round() - 1.0;
    if index >= 0.0 && index < count as f64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within 0…count"
        )]
        return Some(index as usize);
    }
    None
}

/// The clock and the sample times of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Milliseconds since 1970.
    pub(super) start: f64,
    pub(super) interval: Duration,
    pub(super) duration: Duration,
}

impl Grid {
    pub(super) fn samples(&self) -> usize {
        sample_count(self.interval, self.duration)
    }

    /// The index of the sample for a report of this time, in milliseconds since 1970.
    pub(super) fn index(&self, at: f64) -> Option<usize> {
        sample_index((at - self.start) / 1e3, self.interval, self.samples())
    }

    /// The distance of a report of this time from a sample's time, ms.
    pub(super) fn distance(&self, index: usize, at: f64) -> f64 {
        (at - self.start - self.sample_time(index).as_secs_f64() * 1e3).abs()
    }

    pub(super) fn sample_time(&self, index: usize) -> Time {
        Time::ZERO + self.interval * (index as u64 + 1)
    }

    /// The time since the start of the run, until half an interval after the end of the run. Times
    /// shortly before the start become zero.
    pub(super) fn time(&self, at: f64) -> Option<Time> {
        let nanos = (at - self.start) * 1e6;
        let half = self.interval.as_nanos() / 2;
        let last = self.duration.as_nanos().saturating_add(half) as f64;
        // Counters from before the run are accepted too: they are the base from which counters
        // grow.
        let earliest = -(self.interval.as_nanos() as f64) * 20.0;
        if !(earliest..=last).contains(&nanos) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded above and below"
        )]
        Some(Time::from_nanos(nanos.max(0.0) as u64).min(Time::ZERO + self.duration))
    }
}
