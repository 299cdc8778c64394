//! First stage: groups packets by sending time and computes the time between two groups at both
//! ends (libwebrtc `goog_cc/inter_arrival_delta.cc`).

use super::config::LibwebrtcConfig;
use units::{Duration, Time, TimeDelta};

/// If arrival times advance by this much more than the times of the feedback, the receiver's clock
/// was adjusted (libwebrtc `goog_cc/inter_arrival_delta.h`: 3 s).
const CLOCK_STEP: TimeDelta = TimeDelta::from_nanos(3_000_000_000);
/// The stage is reset after this many consecutive groups out of order (libwebrtc
/// `goog_cc/inter_arrival_delta.h`: 3).
const REORDERED: u32 = 3;

/// A group of packets.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    last_sent: Time,
    first_arrival: Time,
    complete: Time,
    /// When the feedback about its last packet arrived.
    reported: Time,
}

/// The time between two consecutive groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delta {
    /// At the sender.
    pub(super) sent: TimeDelta,
    /// At the receiver.
    pub(super) arrival: TimeDelta,
}

/// Collects packets into groups.
pub(super) struct InterArrival {
    length: Duration,
    burst_gap: Duration,
    max_burst: Duration,
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

impl InterArrival {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            length: config.group_length,
            burst_gap: config.burst_gap,
            max_burst: config.longest_burst,
            current: None,
            previous: None,
            reordered: 0,
        }
    }

    /// Processes a packet of the feedback that arrived at `now`. Calls are in order of arrival. If
    /// the packet begins a new group, returns the time between the two previous groups.
    pub(super) fn on_packet(&mut self, sent: Time, arrival: Time, now: Time) -> Option<Delta> {
        let begun = Group {
            first_sent: sent,
            last_sent: sent,
            first_arrival: arrival,
            complete: arrival,
            reported: now,
        };
        let Some(current) = self.current else {
            self.current = Some(begun);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if self.belongs(&current, sent, arrival) {
            let last_sent = current.last_sent.max(sent);
            self.current = Some(Group { last_sent, complete: arrival, reported: now, ..current });
            return None;
        }
        let delta = match self.previous {
            None => None,
            Some(previous) => Some(self.between(&previous, &current)?),
        };
        self.previous = Some(current);
        self.current = Some(begun);
        delta
    }

    /// The time from one group to the next; `None` if the receiver's clock was adjusted or the
    /// groups are out of order.
    fn between(&mut self, previous: &Group, group: &Group) -> Option<Delta> {
        let delta = Delta {
            sent: group.last_sent - previous.last_sent,
            arrival: group.complete - previous.complete,
        };
        if delta.arrival - (group.reported - previous.reported) >= CLOCK_STEP {
            self.restart();
            return None;
        }
        if delta.arrival < TimeDelta::ZERO {
            self.reordered += 1;
            if self.reordered >= REORDERED {
                self.restart();
            }
            return None;
        }
        self.reordered = 0;
        Some(delta)
    }

    fn restart(&mut self) {
        (self.current, self.previous, self.reordered) = (None, None, 0);
    }

    fn belongs(&self, group: &Group, sent: Time, arrival: Time) -> bool {
        sent == group.last_sent
            || self.is_burst(group, sent, arrival)
            || sent.saturating_since(group.first_sent) <= self.length
    }

    /// Whether the packet belongs to a burst that a pause of the link held back: it arrives shortly
    /// after the group and was delayed less.
    fn is_burst(&self, group: &Group, sent: Time, arrival: Time) -> bool {
        let between = arrival - group.complete;
        between < sent - group.last_sent
            && arrival.saturating_since(group.complete) <= self.burst_gap
            && arrival.saturating_since(group.first_arrival) < self.max_burst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time between groups in ms: (sent, arrival).
    fn deltas(packets: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let mut groups = InterArrival::new(&LibwebrtcConfig::default());
        packets
            .iter()
            .filter_map(|&(sent, arrival)| {
                groups.on_packet(
                    Time::from_millis(sent),
                    Time::from_millis(arrival),
                    Time::from_millis(arrival),
                )
            })
            .map(|delta| (delta.sent.as_millis_f64(), delta.arrival.as_millis_f64()))
            .collect()
    }

    #[test]
    fn a_group_is_the_packets_sent_within_five_milliseconds() {
        // Groups {0, 5}, {6}, {20}: the last packets were sent at 5 and 6, and arrived at 30
        // and 41.
        assert_eq!(deltas(&[(0, 25), (5, 30), (6, 41), (20, 52)]), [(1.0, 11.0)]);
    }

    #[test]
    fn packets_that_arrive_together_after_an_outage_form_one_group() {
        let outage = [(0, 25), (10, 35), (20, 90), (30, 91), (40, 96), (80, 110), (90, 120)];
        // {0}, {10}, {20, 30, 40}, {80}: the packet sent at 40 ms joins, 5 ms after the packet sent
        // at 30 ms arrived.
        assert_eq!(deltas(&outage), [(10.0, 10.0), (30.0, 61.0), (40.0, 14.0)]);
        let slower = [(0, 25), (10, 35), (20, 90), (30, 96), (40, 106)];
        assert_eq!(
            deltas(&slower),
            [(10.0, 10.0), (10.0, 55.0), (10.0, 6.0)],
            "packets 6 ms apart are no burst"
        );
    }

    #[test]
    fn bursts_are_merged_up_to_100_milliseconds() {
        let mut packets: Vec<_> = (0..60).map(|k| (10 * k, 1000 + 4 * k)).collect();
        packets.push((1000, 2000));
        // 25 packets arrive within 100 ms of the first; groups end at 24, 49 and 59.
        assert_eq!(deltas(&packets), [(250.0, 100.0), (100.0, 40.0)]);
    }

    #[test]
    fn packets_of_an_older_group_are_ignored() {
        assert_eq!(deltas(&[(10, 35), (0, 36), (20, 45), (30, 55)]), [(10.0, 10.0)]);
    }

    #[test]
    fn the_stage_is_reset_when_the_clock_was_adjusted() {
        let mut groups = InterArrival::new(&LibwebrtcConfig::default());
        let packets =
            [(0u64, 25u64), (10, 35), (20, 5045), (30, 5055), (40, 5065), (50, 5075), (60, 5085)];
        let seen: Vec<_> = packets
            .iter()
            .map(|&(sent, arrival)| {
                let now = Time::from_millis(sent + 60);
                groups.on_packet(Time::from_millis(sent), Time::from_millis(arrival), now).is_some()
            })
            .collect();
        assert_eq!(seen, [false, false, true, false, false, false, true]);
    }
}
