//! Real time: the monotonic clock, counted from the start of a run.

use rustix::time::{ClockId, clock_gettime};
use units::Time;

/// CLOCK_MONOTONIC, counted from a start. The clock is the same in every process and network
/// namespace.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: monotonic() }
    }

    /// A clock that starts at this reading of CLOCK_MONOTONIC, ns. Before that reading its time is
    /// zero.
    #[must_use]
    pub const fn starting_at(monotonic: u64) -> Self {
        Self { start: monotonic }
    }

    /// The reading of CLOCK_MONOTONIC at the start, ns.
    #[must_use]
    pub const fn origin(self) -> u64 {
        self.start
    }

    /// The time since the start.
    #[must_use]
    pub fn now(self) -> Time {
        Time::from_nanos(monotonic().saturating_sub(self.start))
    }
}

/// The reading of CLOCK_MONOTONIC, ns. It is the same in every process and network namespace.
#[must_use]
pub fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
