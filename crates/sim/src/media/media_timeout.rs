//! Media time-out: an application's rule to end a call (Janczukowicz 2017 § 7.2.2: an excessive
//! delay disconnects the call).

use units::{Duration, Time};

/// Determines when an end has received nothing for too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaTimeout {
    limit: Duration,
    /// The longest normal time between two packets.
    max_gap: Duration,
    /// When the last packet arrived; `None` before the first packet, because a call that is being
    /// set up does not time out.
    last_packet: Option<Time>,
}

impl MediaTimeout {
    /// The time-out of an end that receives media.
    pub(crate) const fn new(limit: Duration) -> Self {
        Self { limit, max_gap: Duration::ZERO, last_packet: None }
    }

    /// The time-out of an end that receives only reports, which are up to one and a half intervals
    /// apart (RFC 3550 § 6.3.1).
    pub(crate) fn of_reports(limit: Duration, interval: Duration) -> Self {
        Self { max_gap: interval + interval / 2, ..Self::new(limit) }
    }

    /// The maximum silence or round-trip time.
    pub(crate) const fn limit(&self) -> Duration {
        self.limit
    }

    /// A packet arrived.
    pub(crate) fn on_packet(&mut self, now: Time) {
        self.last_packet = Some(now);
    }

    /// When the time-out expires if no packet arrives; `None` before the first packet.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.last_packet.map(|last_packet| last_packet + self.max_gap + self.limit)
    }

    /// Whether a round-trip time is too long for a conversation.
    pub(crate) fn is_too_long(&self, rtt: Duration) -> bool {
        rtt > self.limit
    }
}
