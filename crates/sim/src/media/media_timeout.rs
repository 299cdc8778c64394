//! Media time-out: an application's rule when a call is over (Janczukowicz 2017 § 7.2.2: an
//! excessive delay disconnects it).

use units::{Duration, Time};

/// Says when an end has heard nothing of the other for too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaTimeout {
    limit: Duration,
    /// The longest time that the other may be silent though all is well.
    usual: Duration,
    /// When something last came; `None` until the first packet: a call that is being set up is not
    /// over.
    heard: Option<Time>,
}

impl MediaTimeout {
    /// Of an end that receives media.
    pub(crate) const fn new(limit: Duration) -> Self {
        Self { limit, usual: Duration::ZERO, heard: None }
    }

    /// Of an end that hears reports only, up to one and a half intervals apart (RFC 3550 § 6.3.1).
    pub(crate) fn of_reports(limit: Duration, interval: Duration) -> Self {
        Self { usual: interval + interval / 2, ..Self::new(limit) }
    }

    /// How long is too long.
    pub(crate) const fn limit(&self) -> Duration {
        self.limit
    }

    /// A packet came.
    pub(crate) fn on_packet(&mut self, now: Time) {
        self.heard = Some(now);
    }

    /// When silence will have lasted too long.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.heard.map(|heard| heard + self.usual + self.limit)
    }

    /// Whether a round trip takes too long for a conversation.
    pub(crate) fn is_too_long(&self, rtt: Duration) -> bool {
        rtt > self.limit
    }
}
