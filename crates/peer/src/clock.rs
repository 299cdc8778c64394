//! The two ways to say when: the operating system's instants, which `rtc` takes, and nanoseconds
//! from a start, which `cc` takes.

use std::time::Instant;
use units::{Duration, Time};

/// Turns the one into the other.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock on which `start` is zero.
    #[must_use]
    pub const fn new(start: Instant) -> Self {
        Self { start }
    }

    /// The time at `instant`; zero if that is before the start.
    #[must_use]
    pub fn time(self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.start))
    }

    /// The instant of `time`.
    #[must_use]
    pub fn instant(self, time: Time) -> Instant {
        self.start + std::time::Duration::from_nanos(time.as_nanos())
    }
}

/// A span of time; 584 years at most.
pub(crate) fn span(span: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}
