//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-00; Linux
//! `net/ipv4/tcp_rate.c`). Names are the draft's.

use units::{Duration, Time};

/// The connection's counters when a segment was sent (the draft's P.*).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    app_limited: bool,
}

/// The delivery rate over the flight that an acknowledgement ends (the draft's rate sample rs.*).
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// Segments delivered in `interval`.
    pub(super) delivered: u64,
    /// The longer of the send and acknowledgement phases.
    pub(super) interval: Duration,
    /// Segments that had been delivered when the newest segment that is now acknowledged was sent.
    /// Delimits rounds.
    pub(super) prior_delivered: u64,
    /// The sample was limited by the application.
    pub(super) app_limited: bool,
}

/// The connection's state of the estimation (the draft's C.*).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeliveryRate {
    /// Segments delivered since the start of the flow.
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// Samples are limited by the application until more than this number of segments are
    /// delivered.
    app_limited_end: Option<u64>,
    newest: Option<(Snapshot, Time)>,
}

impl DeliveryRate {
    /// Segments delivered since the start of the flow.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A segment is sent; `idle` means that nothing was in flight before.
    pub(super) fn on_sent(&mut self, now: Time, idle: bool) -> Snapshot {
        if idle {
            (self.first_sent_time, self.delivered_time) = (now, now);
        }
        Snapshot {
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            app_limited: self.app_limited_end.is_some(),
        }
    }

    /// A segment that was last sent at `sent` is delivered.
    pub(super) fn on_delivered(&mut self, now: Time, snapshot: Snapshot, sent: Time) {
        self.delivered += 1;
        self.delivered_time = now;
        let newer = |(known, known_sent): (Snapshot, Time)| {
            (snapshot.delivered, sent) >= (known.delivered, known_sent)
        };
        if self.newest.is_none_or(newer) {
            self.newest = Some((snapshot, sent));
        }
    }

    /// Sending is limited by the application while `in_flight` segments are under way.
    pub(super) fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited_end = Some((self.delivered + in_flight).max(1));
    }

    /// The rate sample of an acknowledgement, to be called after `on_delivered` for each of its
    /// segments. `None` if it delivered nothing, or if the interval is shorter than the minimum
    /// round-trip time, which can only result from a retransmission.
    pub(super) fn sample(&mut self, now: Time, min_rtt: Option<Duration>) -> Option<RateSample> {
        if self.app_limited_end.is_some_and(|until| self.delivered > until) {
            self.app_limited_end = None;
        }
        let (snapshot, sent) = self.newest.take()?;
        self.first_sent_time = sent;
        let send_elapsed = sent.saturating_since(snapshot.first_sent_time);
        let ack_elapsed = now.saturating_since(snapshot.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        if interval == Duration::ZERO || min_rtt.is_some_and(|min_rtt| interval < min_rtt) {
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
