//! When finished runs that wait to be stored together have to be stored.

use std::time::{Duration, Instant};

/// The longest time that a finished run waits for others before it is stored. A transaction waits
/// four times for the disk, so one per run costs more than the run. This is half of the
/// 100 ms of work that a killed process may lose; writing the group takes the rest.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// The latest time at which a group has to be stored; none if no run waits.
#[derive(Default)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// A run begins to wait. The deadline is that of the first one.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_with(|| now() + MAX_WAIT);
    }

    /// How long the next run may be waited for; `None` if no run waits to be stored.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.0.map(|latest| latest.saturating_duration_since(now()))
    }

    /// All runs are stored.
    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "decides when runs are stored, not what they contain"
)]
fn now() -> Instant {
    Instant::now()
}
