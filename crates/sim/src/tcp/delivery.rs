//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-00; Linux
//! `net/ipv4/tcp_rate.c`).

use units::{Duration, Time};

/// What a segment remembers of the connection when it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    app_limited: bool,
}

/// How fast segments were delivered over the flight that an acknowledgement ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// Segments delivered in `interval`.
    pub(super) delivered: u64,
    /// The longer of the sending and the acknowledging phase.
    pub(super) interval: Duration,
    /// Segments that had been delivered when the newest one that is now acknowledged was sent:
    /// tells rounds apart.
    pub(super) prior_delivered: u64,
    /// The application had nothing to send then.
    pub(super) app_limited: bool,
}

/// The connection's side of the estimation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Segments delivered so far.
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Until so many are delivered, samples are limited by the application.
    app_limited_until: Option<u64>,
    newest: Option<(Snapshot, Time)>,
}

impl Delivery {
    /// Segments delivered so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A segment is sent; `idle`: nothing was in flight before.
    pub(super) fn on_sent(&mut self, now: Time, idle: bool) -> Snapshot {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until.is_some(),
        }
    }

    /// A segment that was (last) sent at `sent` is delivered.
    pub(super) fn on_delivered(&mut self, now: Time, snapshot: Snapshot, sent: Time) {
        self.delivered += 1;
        self.delivered_at = now;
        let newer = |(known, known_sent): (Snapshot, Time)| {
            (snapshot.delivered, sent) >= (known.delivered, known_sent)
        };
        if self.newest.is_none_or(newer) {
            self.newest = Some((snapshot, sent));
        }
    }

    /// The application has nothing more to send while `in_flight` segments are under way.
    pub(super) fn limit_by_application(&mut self, in_flight: u64) {
        self.app_limited_until = Some((self.delivered + in_flight).max(1));
    }

    /// The sample of the acknowledgement whose segments have all been handed in; none if it
    /// delivered nothing, or faster than the least round trip, which only a retransmission can seem
    /// to be.
    pub(super) fn sample(&mut self, now: Time, least_rtt: Option<Duration>) -> Option<RateSample> {
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let (snapshot, sent) = self.newest.take()?;
        self.first_sent = sent;
        let sending = sent.saturating_since(snapshot.first_sent);
        let acknowledging = now.saturating_since(snapshot.delivered_at);
        let interval = sending.max(acknowledging);
        if interval == Duration::ZERO || least_rtt.is_some_and(|least| interval < least) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - snapshot.delivered,
            interval,
            prior_delivered: snapshot.delivered,
            app_limited: snapshot.app_limited,
        })
    }
}
