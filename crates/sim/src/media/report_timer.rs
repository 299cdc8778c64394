//! The timer of RTCP reports.

use units::{Duration, Stream, Time};

/// Report times whose distance is uniformly distributed between half and one and a half intervals
/// (RFC 3550 § 6.2, § 6.3.1).
pub struct ReportTimer {
    interval: Duration,
    due: Time,
    random: Stream,
}

impl ReportTimer {
    /// The first report is due between half and one and a half intervals after `start`.
    #[must_use]
    pub fn new(start: Time, interval: Duration, random: Stream) -> Self {
        let mut timer = Self { interval, due: start, random };
        timer.restart(start);
        timer
    }

    /// When the next report is due.
    #[must_use]
    pub fn due(&self) -> Time {
        self.due
    }

    /// An early report was sent with feedback, so the next regular report is skipped: it is due one
    /// interval later than it would have been (RFC 4585 § 3.5.3).
    pub fn skip(&mut self, now: Time) {
        self.due = now + self.interval + self.interval / 2;
    }

    /// Sets the next due time after a report at `now`.
    pub fn restart(&mut self, now: Time) {
        self.due = now
            + self.interval / 2
            + Duration::from_nanos(self.random.below(self.interval.as_nanos().max(1)));
    }
}
