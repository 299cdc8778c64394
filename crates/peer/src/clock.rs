//! Converts between the instants of the operating system, which `rtc` uses, and nanoseconds from a
//! start, which `cc` uses.

use std::time::Instant;
use units::{Duration, Time};

/// Converts [`Instant`] to [`Time`] and back.
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

    /// The time of `instant`; zero if `instant` is before the start.
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

/// Converts a duration; at most 584 years.
pub(crate) fn span(span: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}
