//! First stage: packets into groups by sending time, and the time between two groups at both ends
//! (libwebrtc `goog_cc/inter_arrival_delta.cc`).

use super::config::LibwebrtcConfig;
use units::{Duration, Time, TimeDelta};

/// Arrivals that run ahead of the feedback by this much mean that the receiver's clock was set
/// (libwebrtc `goog_cc/inter_arrival_delta.h`: 3 s).
const CLOCK_STEP: TimeDelta = TimeDelta::from_nanos(3_000_000_000);
/// After this many groups out of order the stage starts anew (libwebrtc
/// `goog_cc/inter_arrival_delta.h`: 3).
const REORDERED: u32 = 3;

/// Packets sent together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    last_sent: Time,
    first_arrival: Time,
    complete: Time,
    /// When the feedback on its last packet came.
    reported: Time,
}

/// The time between two groups in a row.
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
    longest_burst: Duration,
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

impl InterArrival {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            length: config.group_length,
            burst_gap: config.burst_gap,
            longest_burst: config.longest_burst,
            current: None,
            previous: None,
            reordered: 0,
        }
    }

    /// Takes in a packet of the feedback that came at `now`, in order of arrival. When it begins a
    /// new group, returns the time between the two before it.
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

    /// The time from one group to the next; `None` if the clock or the order is out of joint.
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

    /// Packets that a pause of the link pushed together: close in arrival, and the later ones were
    /// delayed less.
    fn is_burst(&self, group: &Group, sent: Time, arrival: Time) -> bool {
        let between = arrival - group.complete;
        between < sent - group.last_sent
            && arrival.saturating_since(group.complete) <= self.burst_gap
            && arrival.saturating_since(group.first_arrival) < self.longest_burst
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
    fn a_group_is_what_was_sent_within_five_milliseconds() {
        // Groups {0, 5}, {6}, {20}: the last packets were sent at 5 and 6, and arrived at 30
        // and 41.
        assert_eq!(deltas(&[(0, 25), (5, 30), (6, 41), (20, 52)]), [(1.0, 11.0)]);
    }

    #[test]
    fn an_outage_makes_one_group_of_what_it_pushed_together() {
        let outage = [(0, 25), (10, 35), (20, 90), (30, 91), (40, 96), (80, 110), (90, 120)];
        // {0}, {10}, {20, 30, 40}, {80}: 40 joins, 5 ms after 30 arrived.
        assert_eq!(deltas(&outage), [(10.0, 10.0), (30.0, 61.0), (40.0, 14.0)]);
        let slower = [(0, 25), (10, 35), (20, 90), (30, 96), (40, 106)];
        assert_eq!(
            deltas(&slower),
            [(10.0, 10.0), (10.0, 55.0), (10.0, 6.0)],
            "6 ms apart is no burst"
        );
    }

    #[test]
    fn a_burst_is_joined_up_to_a_hundred_milliseconds() {
        let mut packets: Vec<_> = (0..60).map(|k| (10 * k, 1000 + 4 * k)).collect();
        packets.push((1000, 2000));
        // 25 packets arrive within 100 ms of the first; groups end at 24, 49 and 59.
        assert_eq!(deltas(&packets), [(250.0, 100.0), (100.0, 40.0)]);
    }

    #[test]
    fn packets_of_an_older_group_are_passed_over() {
        assert_eq!(deltas(&[(10, 35), (0, 36), (20, 45), (30, 55)]), [(10.0, 10.0)]);
    }

    #[test]
    fn a_clock_that_was_set_starts_anew() {
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
