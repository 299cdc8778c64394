//! When RTCP reports are due.

use units::{Duration, Stream, Time};

/// Due times spaced uniformly between half and one and a half intervals (RFC 3550 § 6.2, § 6.3.1).
pub(crate) struct ReportTimer {
    interval: Duration,
    due: Time,
    random: Stream,
}

impl ReportTimer {
    pub(crate) fn new(start: Time, interval: Duration, random: Stream) -> Self {
        let mut timer = Self { interval, due: start, random };
        timer.restart(start);
        timer
    }

    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// A report went out early, with feedback: the next regular one is an interval later than it would
    /// have been (RFC 4585 § 3.5.3).
    pub(crate) fn skip(&mut self, now: Time) {
        self.due = now + self.interval + self.interval / 2;
    }

    /// Sets the next due time after a report at `now`.
    pub(crate) fn restart(&mut self, now: Time) {
        self.due = now
            + self.interval / 2
            + Duration::from_nanos(self.random.below(self.interval.as_nanos().max(1)));
    }
}
