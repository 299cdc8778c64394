//! First stage: groups of packets that were sent within 5 ms, and the differences between two
//! consecutive groups (libwebrtc `remote_bitrate_estimator/inter_arrival.cc`).

use super::words::Clock;
use units::Duration;

/// Half of the range of a timestamp: a packet whose timestamp is ahead by at least this counts as
/// older (`inter_arrival.cc`).
const HALF_RANGE: u32 = 0x8000_0000;
/// Jump of the arrival time after which all is forgotten (`inter_arrival.cc`, 2016: 3000 ms).
const MAX_JUMP: i64 = 3000;
/// Groups with a negative arrival delta in a row after which all is forgotten (`inter_arrival.cc`,
/// 2016: 3).
const MAX_REORDERED: u32 = 3;

/// The differences between two consecutive groups.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Delta {
    /// Between the sending times of the last packets, ms.
    pub(super) sent: f64,
    /// Between the arrival times of the last packets, ms.
    pub(super) arrival: i64,
    /// Between the sizes, bytes.
    pub(super) size: i64,
}

/// A packet as the grouping sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped {
    /// The sending time in ticks of the clock.
    pub(super) timestamp: u32,
    /// The arrival time, ms.
    pub(super) arrival: i64,
    /// When the arrival became known, ms.
    pub(super) known: i64,
    /// Bytes.
    pub(super) size: u64,
}

/// The constants of the grouping.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupRules {
    pub(super) clock: Clock,
    /// Length of a group.
    pub(super) length: Duration,
    /// Maximum gap of a burst; 0: no bursts.
    pub(super) burst_gap: Duration,
    /// Maximum length of a burst; 0: no maximum.
    pub(super) longest_burst: Duration,
    /// Whether groups with a negative arrival delta are skipped.
    pub(super) skip_reordered: bool,
    /// Whether all is forgotten after three such groups in a row, or if the arrival time jumps.
    pub(super) resets: bool,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    newest: u32,
    size: i64,
    first_arrival: i64,
    arrival: i64,
    known: i64,
}

/// Collects packets into groups.
pub(super) struct Groups {
    rules: GroupRules,
    /// Length of a group, ticks of the clock.
    length: u32,
    /// Groups with a negative arrival delta in a row.
    reordered: u32,
    current: Option<Group>,
    previous: Option<Group>,
}

impl Groups {
    pub(super) fn new(rules: &GroupRules) -> Self {
        let length = rules.clock.ticks(rules.length.as_millis());
        Self { rules: *rules, length, reordered: 0, current: None, previous: None }
    }

    /// Forgets all packets.
    pub(super) fn reset(&mut self) {
        (self.reordered, self.current, self.previous) = (0, None, None);
    }

    /// Processes a packet. If the packet begins a new group, the difference between the completed
    /// group and its predecessor is returned.
    pub(super) fn on_packet(&mut self, packet: Stamped) -> Option<Delta> {
        let Stamped { timestamp, arrival, known, size } = packet;
        let size = size as i64;
        let (first, newest) = (timestamp, timestamp);
        let new = Group { first, newest, size, first_arrival: arrival, arrival, known };
        let Some(current) = self.current else {
            self.current = Some(new);
            return None;
        };
        if timestamp.wrapping_sub(current.first) >= HALF_RANGE {
            return None;
        }
        if !self.starts_group(&current, timestamp, arrival) {
            let newest = newer(current.newest, timestamp);
            let size = current.size + size;
            self.current = Some(Group { newest, size, arrival, known, ..current });
            return None;
        }
        let delta = self.previous.map(|previous| self.delta(&previous, &current));
        if self.refuses(&current, delta) {
            return None;
        }
        self.previous = Some(current);
        self.current = Some(new);
        delta
    }

    /// Whether the completed group is ignored, because the packets were reordered or the arrival
    /// clock jumped.
    fn refuses(&mut self, current: &Group, delta: Option<Delta>) -> bool {
        let (Some(delta), Some(previous)) = (delta, self.previous) else { return false };
        let jump = delta.arrival - (current.known - previous.known);
        if self.rules.resets && jump >= MAX_JUMP {
            self.reset();
            return true;
        }
        if !self.rules.skip_reordered || delta.arrival >= 0 {
            self.reordered = 0;
            return false;
        }
        self.reordered += 1;
        if self.rules.resets && self.reordered >= MAX_REORDERED {
            self.reset();
        }
        true
    }

    fn delta(&self, previous: &Group, current: &Group) -> Delta {
        let ticks = current.newest.wrapping_sub(previous.newest);
        Delta {
            sent: self.rules.clock.milliseconds(ticks),
            arrival: current.arrival - previous.arrival,
            size: current.size - previous.size,
        }
    }

    fn starts_group(&self, current: &Group, timestamp: u32, arrival: i64) -> bool {
        !self.joins_burst(current, timestamp, arrival)
            && timestamp.wrapping_sub(current.first) > self.length
    }

    /// A packet that arrives right after the group, although it was sent later, waited in the same
    /// queue as the group.
    fn joins_burst(&self, current: &Group, timestamp: u32, arrival: i64) -> bool {
        let gap = self.rules.burst_gap.as_millis() as i64;
        if gap == 0 {
            return false;
        }
        let longest = self.rules.longest_burst.as_millis() as i64;
        let short = longest == 0 || arrival - current.first_arrival < longest;
        let arrivals = arrival - current.arrival;
        let ticks = timestamp.wrapping_sub(current.newest);
        let departures = (self.rules.clock.milliseconds(ticks) + 0.5) as i64;
        departures == 0 || (arrivals < departures && arrivals <= gap && short)
    }
}

/// The later of two timestamps that wrap.
fn newer(a: u32, b: u32) -> u32 {
    let b_is_newer = b != a && b.wrapping_sub(a) < HALF_RANGE;
    if b_is_newer { b } else { a }
}
