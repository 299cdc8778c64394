//! First stage: packets into groups, and the one-way delay variation between two groups
//! (Carlucci 2017, eq. 3, Fig. 2; draft-ietf-rmcat-gcc-02 § 5.2; Guerrero Viveros 2019, eq. 2.1).

use super::config::Grouping;
use crate::ArrivedPacket;
use units::{Bytes, Duration, Time};

/// After a pause this long the next group has no predecessor (libwebrtc `delay_based_bwe.cc`: 2 s).
const STREAM_TIMEOUT: Duration = Duration::from_secs(2);
/// Bursts pushed together by an outage are joined up to this length (libwebrtc `inter_arrival_delta.cc`: 100 ms).
const LONGEST_BURST: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct Group {
    rtp_timestamp: u64,
    first_departure: Time,
    last_departure: Time,
    first_arrival: Time,
    last_arrival: Time,
    size: Bytes,
}

impl Group {
    fn of(packet: &ArrivedPacket) -> Self {
        Self {
            rtp_timestamp: packet.rtp_timestamp,
            first_departure: packet.sent,
            last_departure: packet.sent,
            first_arrival: packet.arrival,
            last_arrival: packet.arrival,
            size: packet.size,
        }
    }
}

/// What two groups in a row tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variation {
    /// d_m, the one-way delay variation, ms.
    pub(crate) delay: f64,
    /// ΔL, bytes.
    pub(crate) size: f64,
    /// When the newer group was complete.
    pub(crate) arrival: Time,
    /// t_i − t_{i−1}.
    pub(crate) interval: Duration,
}

/// Collects packets into groups.
pub(crate) struct ArrivalGroups {
    grouping: Grouping,
    burst_time: Duration,
    current: Option<Group>,
    previous: Option<Group>,
}

impl ArrivalGroups {
    pub(crate) fn new(grouping: Grouping, burst_time: Duration) -> Self {
        Self { grouping, burst_time, current: None, previous: None }
    }

    /// Takes in a packet. When it begins a new group, the one before is complete: returns what that and
    /// its predecessor tell. A packet of an older group is passed over.
    pub(crate) fn on_packet(&mut self, packet: &ArrivedPacket) -> Option<Variation> {
        let Some(current) = &mut self.current else {
            self.current = Some(Group::of(packet));
            return None;
        };
        if packet.arrival.saturating_since(current.last_arrival) > STREAM_TIMEOUT {
            self.previous = None;
            *current = Group::of(packet);
            return None;
        }
        match belongs(self.grouping, self.burst_time, current, packet) {
            Some(true) => {
                current.last_departure = current.last_departure.max(packet.sent);
                current.last_arrival = current.last_arrival.max(packet.arrival);
                current.size += packet.size;
                None
            }
            Some(false) => {
                let complete = std::mem::replace(current, Group::of(packet));
                let previous = self.previous.replace(complete)?;
                Some(self.variation(&previous, &complete))
            }
            None => None,
        }
    }

    fn variation(&self, previous: &Group, group: &Group) -> Variation {
        let departure = |group: &Group| match self.grouping {
            Grouping::Frame => group.first_departure,
            Grouping::Burst => group.last_departure,
        };
        let arrivals = group.last_arrival - previous.last_arrival;
        let departures = departure(group) - departure(previous);
        Variation {
            delay: (arrivals - departures).as_millis_f64(),
            size: group.size.get() as f64 - previous.size.get() as f64,
            arrival: group.last_arrival,
            interval: group.last_arrival.saturating_since(previous.last_arrival),
        }
    }
}

/// Whether a packet belongs to the group; `None`: to an older one.
fn belongs(grouping: Grouping, burst_time: Duration, group: &Group, packet: &ArrivedPacket) -> Option<bool> {
    match grouping {
        Grouping::Frame if packet.rtp_timestamp < group.rtp_timestamp => None,
        Grouping::Frame => Some(packet.rtp_timestamp == group.rtp_timestamp),
        Grouping::Burst if packet.sent < group.first_departure => None,
        Grouping::Burst => {
            let sent_together = packet.sent.saturating_since(group.first_departure) < burst_time;
            Some(sent_together || pushed_together(burst_time, group, packet))
        }
    }
}

/// The pre-filter: a packet that arrives within a burst time of the group although it was sent later, so
/// that its delay variation is negative, came out of the same outage (Guerrero Viveros 2019 § 2.2.2).
fn pushed_together(burst_time: Duration, group: &Group, packet: &ArrivedPacket) -> bool {
    let arrivals = packet.arrival - group.last_arrival;
    let departures = packet.sent - group.last_departure;
    packet.arrival.saturating_since(group.last_arrival) < burst_time
        && arrivals < departures
        && packet.arrival.saturating_since(group.first_arrival) < LONGEST_BURST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sent_ms: u64, arrival_ms: u64, frame: u64, size: u64) -> ArrivedPacket {
        ArrivedPacket {
            sequence: 0,
            sent: Time::from_millis(sent_ms),
            arrival: Time::from_millis(arrival_ms),
            size: Bytes::new(size),
            rtp_timestamp: frame,
            probe: None,
        }
    }

    fn variations(grouping: Grouping, packets: &[ArrivedPacket]) -> Vec<(f64, f64)> {
        let mut groups = ArrivalGroups::new(grouping, Duration::from_millis(5));
        packets.iter().filter_map(|packet| groups.on_packet(packet)).map(|v| (v.delay, v.size)).collect()
    }

    #[test]
    fn a_frame_runs_from_its_first_departure_to_its_last_arrival() {
        let packets = [
            packet(0, 25, 1, 1000),
            packet(5, 30, 1, 1000),
            packet(33, 58, 2, 1000),
            packet(38, 70, 2, 500),
            packet(66, 91, 3, 100),
        ];
        // (70 − 30) − (33 − 0) = 7 ms; 1500 − 2000 bytes.
        assert_eq!(variations(Grouping::Frame, &packets), [(7.0, -500.0)]);
    }

    #[test]
    fn bursts_are_what_was_sent_within_five_milliseconds() {
        let packets =
            [packet(0, 25, 1, 100), packet(4, 30, 2, 100), packet(10, 41, 3, 100), packet(20, 52, 4, 100)];
        // (41 − 30) − (10 − 4) = 5 ms.
        assert_eq!(variations(Grouping::Burst, &packets), [(5.0, -100.0)]);
    }

    #[test]
    fn an_outage_makes_one_group_of_what_it_pushed_together() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(10, 35, 2, 100),
            packet(20, 90, 3, 100),
            packet(30, 91, 4, 100),
            packet(40, 92, 5, 100),
            packet(80, 105, 6, 100),
            packet(90, 115, 7, 100),
        ];
        let seen = variations(Grouping::Burst, &packets);
        assert_eq!(seen, [(0.0, 0.0), (27.0, 200.0), (-27.0, -200.0)]);
    }

    #[test]
    fn after_a_long_pause_there_is_no_predecessor() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(33, 58, 2, 100),
            packet(5000, 5025, 3, 100),
            packet(5033, 5058, 4, 100),
        ];
        assert_eq!(variations(Grouping::Frame, &packets), []);
    }

    #[test]
    fn packets_of_an_older_frame_are_passed_over() {
        let packets =
            [packet(33, 58, 2, 100), packet(0, 60, 1, 100), packet(66, 91, 3, 100), packet(99, 124, 4, 100)];
        assert_eq!(variations(Grouping::Frame, &packets), [(0.0, 0.0)]);
    }
}
