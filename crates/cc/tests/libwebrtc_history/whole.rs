//! Replays the recordings of a whole sender.

use crate::compare::{Comparison, text};
use cc::{ControllerConfig, Feedback, PacketResult, Sender, SentPacket};
use std::collections::BTreeMap;
use units::{Bitrate, Bytes, Duration, Time};

/// Feeds the inputs to the profile and compares its outputs.
pub(crate) fn answer(profile: &str, name: &str) -> Comparison {
    let text = text(name);
    let mut replay = Replay::new(profile);
    let mut columns = BTreeMap::new();
    for line in text.lines() {
        let (kind, rest) = line.split_once(',').unwrap_or((line, ""));
        match kind.strip_prefix("# out: ") {
            Some(kind) => {
                columns.insert(kind.to_owned(), rest.split(',').collect::<Vec<_>>());
            }
            None if kind.starts_with('#') => {}
            None => replay.line(kind, rest, &columns),
        }
    }
    replay.comparison
}

struct Replay {
    sender: Box<dyn Sender>,
    rtt: Option<Duration>,
    sent: BTreeMap<u64, SentPacket>,
    /// The groups that the newest feedback completed: signals after each of them.
    groups: Vec<BTreeMap<&'static str, f64>>,
    /// The number of probe clusters so far, and the rate of the newest one.
    clusters: (f64, f64),
    comparison: Comparison,
}

impl Replay {
    fn new(profile: &str) -> Self {
        // The recordings have no maximum rate. The allocated maximum only limits probes.
        let settings = [("probe.max", "2500kbit/s"), ("probe.allocated", "0")];
        let controllers = cc::build(&ControllerConfig {
            profile: profile.to_owned(),
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(30),
            max_rate: Bitrate::from_mbps(1000),
        });
        Self {
            sender: controllers.unwrap().sender,
            rtt: None,
            sent: BTreeMap::new(),
            groups: Vec::new(),
            clusters: (0.0, 0.0),
            comparison: Comparison::default(),
        }
    }

    fn line(&mut self, kind: &str, rest: &str, columns: &BTreeMap<String, Vec<&str>>) {
        let fields: Vec<&str> = rest.split(',').collect();
        let whole = |index: usize| fields[index].parse::<u64>().unwrap();
        if let Some(names) = columns.get(kind) {
            let row = names.iter().copied().zip(fields.iter().copied()).collect();
            return self.output(kind, &row);
        }
        let now = Time::from_millis(whole(0));
        match kind {
            "I" | "N" => {}
            "P" => self.sender.on_timeout(now),
            "S" => self.send(now, &fields),
            "F" => self.feedback(now, fields[1]),
            "U" => self.rtt = Some(Duration::from_millis(whole(1))),
            "R" => {
                let expected = whole(3);
                let report = Feedback::Report {
                    fraction_lost: whole(2) as f64 / expected.max(1) as f64,
                    expected,
                    rtt: Some(Duration::from_millis(whole(1))),
                };
                self.sender.on_feedback(now, report);
            }
            _ => panic!("no kind {kind}"),
        }
    }

    fn send(&mut self, sent: Time, fields: &[&str]) {
        let sequence = fields[1].parse().unwrap();
        let size = Bytes::new(fields[2].parse().unwrap());
        // Recorded clusters count from 0.
        let probe = fields[3].split_once('/').map(|(id, _)| id.parse::<u32>().unwrap() + 1);
        let packet = SentPacket { sequence, sent, size, probe };
        self.sender.on_sent(&packet);
        self.sent.insert(sequence, packet);
    }

    fn feedback(&mut self, now: Time, packets: &str) {
        let results: Vec<_> = packets
            .split(' ')
            .filter(|packet| !packet.is_empty())
            .map(|packet| {
                let (sequence, arrival) = packet.split_once(':').unwrap();
                let arrival = arrival.parse().ok().map(Time::from_millis);
                PacketResult {
                    packet: self.sent[&sequence.parse().unwrap()],
                    arrival,
                    ecn: cc::Ecn::NotEct,
                }
            })
            .collect();
        self.sender.on_feedback(now, Feedback::Packets { results: &results, rtt: self.rtt });
    }

    fn signals(&self) -> BTreeMap<&'static str, f64> {
        let mut signals = BTreeMap::new();
        self.sender.signals(&mut |name, value| {
            signals.insert(name, value);
        });
        signals
    }

    fn output(&mut self, kind: &str, row: &BTreeMap<&str, &str>) {
        match kind {
            "O" => self.state(row),
            // Only the last group of a feedback message can be compared, in the state after it.
            "G" => self.groups = vec![self.group(row)],
            "Q" => {
                self.clusters.0 += 1.0;
                self.clusters.1 = row["rate"].parse().unwrap();
            }
            _ => panic!("no kind {kind}"),
        }
    }

    fn group(&self, row: &BTreeMap<&str, &str>) -> BTreeMap<&'static str, f64> {
        ["dts", "dta", "n", "accumulated", "smoothed", "trend", "T", "thr", "tov", "ovn", "hyp"]
            .into_iter()
            .map(|name| (name, row[name].parse().unwrap()))
            .collect()
    }

    fn state(&mut self, row: &BTreeMap<&str, &str>) {
        let signals = self.signals();
        let place = format!("{} at {}", row["after"], row["time"]);
        let comparison = &mut self.comparison;
        if let Some(group) = self.groups.pop() {
            for (column, name) in [
                ("dts", "sent_delta"),
                ("dta", "arrival_delta"),
                ("n", "deltas"),
                ("accumulated", "accumulated_delay"),
                ("smoothed", "smoothed_delay"),
                ("trend", "trend"),
                ("T", "scaled_m"),
                ("thr", "threshold"),
                ("ovn", "overuse_samples"),
            ] {
                comparison.check(&place, column, Some(group[column]), Some(signals[name]));
            }
            let time = signals["overuse_time"];
            let time = if time.is_nan() { -1.0 } else { time };
            comparison.check(&place, "tov", Some(group["tov"]), Some(time));
        }
        for (column, name, scale) in [
            ("acked", "acknowledged_rate", 1.0),
            ("hyp", "usage", 1.0),
            ("delay_based", "delay_based_rate", 1.0),
            ("link_capacity", "link_capacity", 1e-3),
            ("deviation", "link_capacity_variance", 1.0),
            ("in_alr", "in_alr", 1.0),
            ("loss", "fraction_lost", 256.0),
            ("rtt", "rtt", 1.0),
        ] {
            let value = Some(signals[name] * scale).filter(|value| !value.is_nan());
            comparison.check(&place, column, row[column].parse().ok(), value);
        }
        comparison.check(&place, "clusters", Some(self.clusters.0), Some(signals["probes"]));
        comparison.check(
            &place,
            "cluster rate",
            Some(self.clusters.1),
            Some(signals["probe_rate"]),
        );
        let state = match row["state"] {
            "decrease" => -1.0,
            "hold" => 0.0,
            _ => 1.0,
        };
        comparison.check(&place, "state", Some(state), Some(signals["state"]));
        let decision = self.sender.decision();
        let target = decision.target_rate.as_bps_f64();
        comparison.check(&place, "target", row["target"].parse().ok(), Some(target));
        let pacing = decision.pacing_rate.as_bps_f64();
        comparison.check(&place, "pacing", row["pacing"].parse().ok(), Some(pacing));
    }
}
