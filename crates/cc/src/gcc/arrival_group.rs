//! First stage: groups packets and computes the one-way delay variation between two groups
//! (Carlucci 2017, eq. 3, Fig. 2; draft-ietf-rmcat-gcc-02 § 5.2; Guerrero Viveros 2019, eq. 2.1).

use super::config::Grouping;
use crate::ArrivedPacket;
use units::{Bytes, Duration, Time};

/// After a pause of more than this the next group has no predecessor (libwebrtc
/// `delay_based_bwe.cc`: 2 s).
const STREAM_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum length of bursts that the pre-filter merges (libwebrtc `inter_arrival_delta.cc`: 100
/// ms).
const MAX_BURST: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct Group {
    /// RTP timestamps of the oldest and the newest frame. They differ only if the pre-filter merged
    /// frames.
    rtp_timestamps: (u64, u64),
    first_departure: Time,
    /// Departure of the newest frame's first packet.
    frame_departure: Time,
    last_departure: Time,
    first_arrival: Time,
    last_arrival: Time,
    size: Bytes,
}

impl Group {
    fn of(packet: &ArrivedPacket) -> Self {
        Self {
            rtp_timestamps: (packet.rtp_timestamp, packet.rtp_timestamp),
            first_departure: packet.sent,
            frame_departure: packet.sent,
            last_departure: packet.sent,
            first_arrival: packet.arrival,
            last_arrival: packet.arrival,
            size: packet.size,
        }
    }

    fn add(&mut self, packet: &ArrivedPacket) {
        if packet.rtp_timestamp > self.rtp_timestamps.1 {
            self.rtp_timestamps.1 = packet.rtp_timestamp;
            self.frame_departure = packet.sent;
        }
        self.last_departure = self.last_departure.max(packet.sent);
        self.last_arrival = self.last_arrival.max(packet.arrival);
        self.size += packet.size;
    }
}

/// The differences between two consecutive groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variation {
    /// d_m, the one-way delay variation, in ms.
    pub(crate) delay: f64,
    /// ΔL, the difference in size, in bytes.
    pub(crate) size: f64,
    /// When the newer group was complete.
    pub(crate) arrival: Time,
    /// t_i − t_{i−1}, the time between the arrivals of the groups.
    pub(crate) interval: Duration,
}

/// The rule by which packets are grouped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupRule {
    pub(crate) grouping: Grouping,
    /// Packets sent within this time form one burst. Also the limit of the pre-filter.
    pub(crate) burst_time: Duration,
    /// Whether groups that arrive together after an outage are merged.
    pub(crate) prefilter: bool,
}

/// Collects packets into groups.
pub(crate) struct ArrivalGroups {
    rule: GroupRule,
    current: Option<Group>,
    previous: Option<Group>,
}

impl ArrivalGroups {
    pub(crate) fn new(rule: GroupRule) -> Self {
        Self { rule, current: None, previous: None }
    }

    /// Processes a packet. If the packet begins a new group, the current group is complete, and its
    /// variation from the previous group is returned. A packet of an older group is ignored.
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
        match self.rule.belongs(current, packet) {
            Some(true) => {
                current.add(packet);
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
        // In merged frames the newest frame counts, in bursts the last packet: its arrival is the
        // arrival of the group.
        let departure = |group: &Group| match self.rule.grouping {
            Grouping::Frame => group.frame_departure,
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

impl GroupRule {
    /// Whether a packet belongs to the group; `None` if it belongs to an older one.
    fn belongs(&self, group: &Group, packet: &ArrivedPacket) -> Option<bool> {
        let (oldest, newest) = group.rtp_timestamps;
        match self.grouping {
            Grouping::Frame if packet.rtp_timestamp < oldest => None,
            Grouping::Frame => {
                Some(packet.rtp_timestamp <= newest || self.arrives_with(group, packet))
            }
            Grouping::Burst if packet.sent < group.first_departure => None,
            Grouping::Burst => {
                let sent_together =
                    packet.sent.saturating_since(group.first_departure) < self.burst_time;
                Some(sent_together || self.arrives_with(group, packet))
            }
        }
    }

    /// The pre-filter: a packet that arrives within a burst time after the group and has a negative
    /// delay variation was held back by the same outage (Guerrero Viveros 2019 § 2.2.2; Jansen
    /// 2016, Fig. 6-1).
    fn arrives_with(&self, group: &Group, packet: &ArrivedPacket) -> bool {
        let arrivals = packet.arrival - group.last_arrival;
        let departures = packet.sent - group.last_departure;
        self.prefilter
            && packet.arrival.saturating_since(group.last_arrival) < self.burst_time
            && arrivals < departures
            && packet.arrival.saturating_since(group.first_arrival) < MAX_BURST
    }
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
            ecn: crate::Ecn::NotEct,
        }
    }

    fn variations(
        grouping: Grouping,
        prefilter: bool,
        packets: &[ArrivedPacket],
    ) -> Vec<(f64, f64)> {
        let burst_time = Duration::from_millis(5);
        let mut groups = ArrivalGroups::new(GroupRule { grouping, burst_time, prefilter });
        packets
            .iter()
            .filter_map(|packet| groups.on_packet(packet))
            .map(|v| (v.delay, v.size))
            .collect()
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
        assert_eq!(variations(Grouping::Frame, false, &packets), [(7.0, -500.0)]);
    }

    #[test]
    fn a_burst_is_the_packets_sent_within_five_milliseconds() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(4, 30, 2, 100),
            packet(10, 41, 3, 100),
            packet(20, 52, 4, 100),
        ];
        // (41 − 30) − (10 − 4) = 5 ms.
        assert_eq!(variations(Grouping::Burst, true, &packets), [(5.0, -100.0)]);
    }

    #[test]
    fn packets_that_arrive_together_after_an_outage_form_one_group() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(10, 35, 2, 100),
            packet(20, 90, 3, 100),
            packet(30, 91, 4, 100),
            packet(40, 92, 5, 100),
            packet(80, 105, 6, 100),
            packet(90, 115, 7, 100),
        ];
        let seen = variations(Grouping::Burst, true, &packets);
        assert_eq!(seen, [(0.0, 0.0), (27.0, 200.0), (-27.0, -200.0)]);
        let alone = variations(Grouping::Burst, false, &packets);
        let apart = [(0.0, 0.0), (45.0, 0.0), (-9.0, 0.0), (-9.0, 0.0), (-27.0, 0.0)];
        assert_eq!(alone, apart, "without the pre-filter");
    }

    #[test]
    fn the_pre_filter_merges_frames_that_arrive_together_after_an_outage() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(33, 58, 2, 100),
            packet(66, 150, 3, 100),
            packet(100, 151, 4, 100),
            packet(105, 153, 4, 100),
            packet(133, 158, 5, 100),
            packet(166, 191, 6, 100),
            packet(200, 225, 7, 100),
        ];
        // Frames 3 and 4 merge: (153 − 58) − (100 − 33) = 28 ms. Frame 5 arrives 5 ms later and is
        // a group of its own.
        let merged = variations(Grouping::Frame, true, &packets);
        assert_eq!(merged, [(0.0, 0.0), (28.0, 200.0), (-28.0, -200.0), (0.0, 0.0)]);
        let apart = variations(Grouping::Frame, false, &packets);
        let expected = [(0.0, 0.0), (59.0, 0.0), (-31.0, 100.0), (-28.0, -100.0), (0.0, 0.0)];
        assert_eq!(apart, expected, "without the pre-filter");
    }

    #[test]
    fn late_packets_of_merged_frames_belong_to_the_group() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(33, 90, 2, 100),
            packet(66, 91, 3, 100),
            packet(34, 92, 2, 100),
            packet(67, 99, 3, 100),
            packet(133, 158, 5, 100),
            packet(20, 159, 1, 100),
            packet(166, 191, 6, 100),
        ];
        // (99 − 25) − 66 = 8 ms, 400 bytes; then (158 − 99) − (133 − 66).
        assert_eq!(variations(Grouping::Frame, true, &packets), [(8.0, 300.0), (-8.0, -300.0)]);
    }

    #[test]
    fn after_a_long_pause_there_is_no_predecessor() {
        let packets = [
            packet(0, 25, 1, 100),
            packet(33, 58, 2, 100),
            packet(5000, 5025, 3, 100),
            packet(5033, 5058, 4, 100),
        ];
        assert_eq!(variations(Grouping::Frame, false, &packets), []);
    }

    #[test]
    fn packets_of_an_older_frame_are_ignored() {
        let packets = [
            packet(33, 58, 2, 100),
            packet(0, 60, 1, 100),
            packet(66, 91, 3, 100),
            packet(99, 124, 4, 100),
        ];
        assert_eq!(variations(Grouping::Frame, false, &packets), [(0.0, 0.0)]);
    }
}
