//! Real time: the monotonic clock, counted from the start of a run.

use rustix::time::{ClockId, clock_gettime};
use units::Time;

/// The monotonic clock (CLOCK_MONOTONIC: it is the same in every process and namespace), counted
/// from an instant.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: monotonic() }
    }

    /// A clock that begins at this reading of CLOCK_MONOTONIC, in ns; before it, it stands at zero.
    #[must_use]
    pub const fn starting_at(monotonic: u64) -> Self {
        Self { start: monotonic }
    }

    /// The reading of CLOCK_MONOTONIC at its start, ns.
    #[must_use]
    pub const fn origin(self) -> u64 {
        self.start
    }

    /// The time since its start.
    #[must_use]
    pub fn now(self) -> Time {
        Time::from_nanos(monotonic().saturating_sub(self.start))
    }
}

/// CLOCK_MONOTONIC in ns: the same in every process and network namespace.
#[must_use]
pub fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
