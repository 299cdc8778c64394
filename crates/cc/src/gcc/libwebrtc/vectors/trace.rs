//! The whole controller.

use super::super::aimd::AimdState;
use super::super::loss_based::LossState;
use super::super::sender::LibwebrtcSender;
use super::super::{LibwebrtcConfig, Signal};
use super::*;
use crate::{Allocation, ControllerConfig, PacketResult, ProbeCluster, Sender, SentPacket};

/// The replay of a file.
struct Replay {
    sender: LibwebrtcSender,
    sent: BTreeMap<u64, SentPacket>,
    /// Probe clusters that were compared.
    compared: usize,
    begun: bool,
    comparison: Comparison,
}

impl Replay {
    fn new(name: &str, fields: &[String]) -> Self {
        let mut config = LibwebrtcConfig::default();
        if fields[4] == "1" {
            config.alr_interval = Duration::from_secs(5);
        }
        if let Some(factor) = number(&fields[5]) {
            (config.first_pacing_factor, config.pacing_factor) = (factor, factor);
        }
        let rates = ControllerConfig {
            profile: String::new(),
            settings: Vec::new(),
            start_rate: rate(&fields[1]),
            min_rate: rate(&fields[2]),
            max_rate: optional(&fields[3], rate).unwrap_or(Bitrate::MAX),
        };
        let sender = LibwebrtcSender::new(&config, &rates);
        let comparison = Comparison::new(name);
        Self { sender, sent: BTreeMap::new(), compared: 0, begun: false, comparison }
    }

    fn process(&mut self, now: Time) {
        if !std::mem::replace(&mut self.begun, true) {
            self.sender.probes.begin(now);
        }
        self.sender.on_timeout(now);
    }

    fn send(&mut self, fields: &[String]) {
        let mut probe = fields[3].split('/');
        let cluster = probe.next().and_then(|id| id.parse().ok());
        let (sequence, sent, size) = (integer(&fields[1]), time(&fields[0]), size(&fields[2]));
        let packet = SentPacket { sequence, sent, size, probe: cluster };
        self.sent.insert(packet.sequence, packet);
        self.sender.in_flight.recorded = Some(super::size(&fields[4]));
        self.sender.on_sent(&packet);
        self.check_in_flight(&fields[0]);
    }

    /// The data in flight are an input of the recordings. There, a packet that feedback skips is
    /// in flight until it is reported.
    fn check_in_flight(&self, place: &str) {
        let flight = &self.sender.in_flight;
        let (counted, recorded) = (flight.counted(), flight.bytes());
        let skips = ["reordering.csv.gz", "mix-04.csv.gz"].contains(&&*self.comparison.name);
        assert!(
            counted == recorded || (skips && counted < recorded),
            "{} {place}: {counted:?}, not {recorded:?}",
            self.comparison.name
        );
    }

    fn feed_back(&mut self, fields: &[String]) {
        let results = fields[2].split(' ').map(|result| {
            let (sequence, arrival) = result.split_once(':').unwrap();
            let packet = self.sent.remove(&integer(sequence)).unwrap();
            PacketResult { packet, arrival: optional(arrival, time), ecn: crate::Ecn::NotEct }
        });
        let results: Vec<_> = results.collect();
        self.sender.in_flight.recorded = Some(size(&fields[1]));
        self.sender.on_packets(time(&fields[0]), &results);
        self.check_in_flight(&fields[0]);
    }

    /// Compares a cluster with the next one that was requested.
    fn cluster(&mut self, fields: &[String]) {
        let got: Option<ProbeCluster> = self.sender.requested.get(self.compared).copied();
        self.compared += 1;
        let mut value = |column, expected: &str, got: Option<f64>| {
            self.comparison.value(column, &fields[0], number(expected), got);
        };
        value("id", &fields[1], got.map(|cluster| f64::from(cluster.id)));
        value("probe_rate", &fields[2], got.map(|cluster| cluster.rate.as_bps_f64()));
        let micros = |cluster: ProbeCluster| cluster.min_duration.as_micros() as f64;
        value("duration", &fields[3], got.map(micros));
        value("min_packets", &fields[4], got.map(|cluster| f64::from(cluster.min_packets)));
    }

    fn output(&self, column: &str) -> Option<f64> {
        let sender = &self.sender;
        let (delay, published) = (&sender.delay, &sender.published);
        let loss = sender.send_side.loss();
        Some(match column {
            "target" => sender.decision().target_rate.as_bps_f64(),
            "delay_based" => delay.rate().as_bps_f64(),
            "loss_based" => return bps(loss.rate()),
            "loss_state" => state(sender.send_side.loss_state()),
            "detector" => signal(delay.state()),
            "trend" => return delay.compared(),
            "threshold" => delay.threshold(),
            "slope" => delay.slope(),
            "aimd" => aimd(delay.aimd_state()),
            "acked" => return bps(sender.acknowledged.rate()),
            "link_capacity" => return bps(delay.capacity()),
            "inherent_loss" => loss.inherent_loss(),
            "average_loss" => loss.average_loss(),
            "in_alr" => f64::from(u8::from(sender.alr.since().is_some())),
            "alr_budget" => sender.alr.level(),
            "pacing" => sender.pacer.0.as_bps_f64(),
            "padding" => sender.pacer.1.as_bps_f64(),
            "rtt" => published.rtt.as_micros() as f64,
            "fraction_lost" => published.fraction_lost as f64,
            "cwnd" => return sender.window.window().map(|window| window.get() as f64),
            "cwnd_reduce" => sender.reduction(),
            other => panic!("unknown column {other}"),
        })
    }

    fn compare(&mut self, columns: &[String], fields: &[String]) {
        self.comparison.rows += 1;
        for (column, expected) in columns.iter().zip(fields).skip(2) {
            let got = self.output(column);
            self.comparison.value(column, &fields[0], number(expected), got);
        }
    }
}

pub(super) fn state(state: LossState) -> f64 {
    match state {
        LossState::Decreasing => -1.0,
        LossState::DelayBased => 0.0,
        LossState::Increasing => 1.0,
        LossState::Padding => 2.0,
    }
}

pub(super) fn signal(signal: Signal) -> f64 {
    match signal {
        Signal::Overuse { .. } => 1.0,
        Signal::Normal => 0.0,
        Signal::Underuse => -1.0,
    }
}

pub(super) fn aimd(state: AimdState) -> f64 {
    f64::from(u8::from(state == AimdState::Increase))
}

fn replay(name: &str) -> Result<(), String> {
    let vectors = Vectors::read(name);
    let mut rows = vectors.rows.iter();
    let mut replay = Replay::new(name, &rows.next().unwrap().1);
    for (kind, fields) in rows {
        if !matches!(kind, 'O' | 'Q') {
            let (asked, compared) = (replay.sender.requested.len(), replay.compared);
            let expected = if replay.begun { compared as f64 } else { asked as f64 };
            replay.comparison.value("probes", &fields[0], Some(expected), Some(asked as f64));
        }
        match kind {
            'N' => {}
            'P' => replay.process(time(&fields[0])),
            'S' => replay.send(fields),
            'F' => replay.feed_back(fields),
            'R' => {
                replay.sender.on_rtt(span(&fields[1]));
                let now = time(&fields[0]);
                replay.sender.on_report(now, integer(&fields[2]), integer(&fields[3]));
            }
            'A' => {
                let (min_rate, max_rate) = (rate(&fields[1]), rate(&fields[2]));
                replay.sender.on_allocation(time(&fields[0]), Allocation { min_rate, max_rate });
            }
            'Q' => replay.cluster(fields),
            'O' => replay.compare(&vectors.columns[kind], fields),
            other => panic!("unknown row {other}"),
        }
    }
    replay.comparison.finish()
}

#[test]
fn every_trace_agrees() {
    let names = std::fs::read_dir(folder()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> =
        names.filter(|name| name.ends_with(".gz") && !name.starts_with("component-")).collect();
    names.sort();
    let failed: Vec<_> = names.iter().filter_map(|name| replay(name).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
