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

/// What an event log changes of the inputs of a controller.
#[derive(Clone, Copy, Debug)]
struct Logged {
    /// Times of feedback and reports are whole milliseconds.
    feedback: bool,
    /// Times of sent packets are whole milliseconds.
    sent: bool,
    /// Packets are logged before the socket sends them: up to this much earlier, uniformly.
    early: Duration,
}

impl Logged {
    const NOTHING: Self = Self { feedback: false, sent: false, early: Duration::ZERO };

    /// The fields of a row as a log has them. Times of the controller never go back, so a logged
    /// time is not before the newest.
    fn row(self, kind: char, fields: &mut [String], early: Duration, newest: &mut Time) {
        let whole = match kind {
            'S' => self.sent,
            'F' | 'R' | 'A' | 'P' => self.feedback,
            _ => return,
        };
        let mut at = time(&fields[0]);
        if kind == 'S' {
            at = at.saturating_sub(early);
        }
        if whole {
            at = Time::from_millis(at.as_nanos() / 1_000_000);
        }
        *newest = at.max(*newest);
        fields[0] = (newest.as_nanos() / 1_000).to_string();
    }
}

/// Counts of the outputs after feedback that changed the recorded delay-based rate: all, those in
/// which the replayed rate is within 5 %, and those in which the detector's state is equal.
fn agreement(name: &str, logged: Logged) -> [u64; 3] {
    let vectors = Vectors::read(name);
    let column =
        |wanted: &str| vectors.columns[&'O'].iter().position(|name| name == wanted).unwrap();
    let (rate_at, state_at) = (column("delay_based"), column("detector"));
    let mut rows = vectors.rows.iter();
    let mut replay = Replay::new(name, &rows.next().unwrap().1);
    let mut random = units::Seed(1).stream(name);
    let (mut newest, mut before, mut counts) = (Time::ZERO, None, [0; 3]);
    for (kind, fields) in rows {
        let mut fields = fields.clone();
        let early = Duration::from_secs_f64(random.uniform() * logged.early.as_secs_f64());
        logged.row(*kind, &mut fields, early, &mut newest);
        match kind {
            'P' => replay.process(time(&fields[0])),
            'S' => {
                let cluster = fields[3].split('/').next().and_then(|id| id.parse().ok());
                let (sequence, size) = (integer(&fields[1]), size(&fields[2]));
                let packet = SentPacket { sequence, sent: newest, size, probe: cluster };
                replay.sent.insert(sequence, packet);
                replay.sender.on_sent(&packet);
            }
            'F' => {
                let results = fields[2].split(' ').filter_map(|result| {
                    let (sequence, arrival) = result.split_once(':')?;
                    let packet = replay.sent.remove(&integer(sequence))?;
                    let arrival = optional(arrival, time);
                    Some(PacketResult { packet, arrival, ecn: crate::Ecn::NotEct })
                });
                let results: Vec<_> = results.collect();
                replay.sender.on_packets(newest, &results);
            }
            'R' => {
                replay.sender.on_rtt(span(&fields[1]));
                replay.sender.on_report(newest, integer(&fields[2]), integer(&fields[3]));
            }
            'A' => {
                let (min_rate, max_rate) = (rate(&fields[1]), rate(&fields[2]));
                replay.sender.on_allocation(newest, Allocation { min_rate, max_rate });
            }
            'O' if fields[1] == "F" => {
                let recorded = (number(&fields[rate_at]), number(&fields[state_at]));
                let is_update = before.replace(recorded) != Some(recorded);
                if let (true, Some(rate)) = (is_update, recorded.0) {
                    let replayed = replay.output("delay_based").unwrap_or(0.0);
                    counts[0] += 1;
                    counts[1] += u64::from((replayed / rate - 1.0).abs() <= 0.05);
                    counts[2] += u64::from(replay.output("detector") == recorded.1);
                }
            }
            _ => {}
        }
    }
    counts
}

/// The noise floor of replays of event logs (docs/guides/replay.md): the recorded controller with
/// exact inputs against ours with the inputs that a log keeps, one factor at a time. `cargo test -p
/// weir-cc whole_milliseconds -- --nocapture` prints a row per trace.
#[test]
fn whole_milliseconds_of_a_log_part_the_estimates() {
    const TRACES: [&str; 12] = [
        "frames-around-link",
        "jitter-frames",
        "loss-02",
        "loss-10",
        "mix-02",
        "mix-04",
        "mix-06",
        "played-camera-loss",
        "played-step",
        "queue-ramps",
        "recorded-att-lte",
        "sawtooth",
    ];
    let ms = Duration::from_millis(1);
    let factors = [
        Logged::NOTHING,
        Logged { feedback: true, ..Logged::NOTHING },
        Logged { sent: true, ..Logged::NOTHING },
        Logged { early: ms, ..Logged::NOTHING },
        Logged { feedback: true, sent: true, early: ms },
    ];
    let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    let mut sums = [[0; 3]; 5];
    for trace in TRACES {
        let name = format!("{trace}.csv.gz");
        let counts = factors.map(|logged| agreement(&name, logged));
        let shares = counts.map(|[all, rate, state]| (share(rate, all), share(state, all)));
        println!("{trace}: {} updates: {shares:.3?}", counts[0][0]);
        for (sum, count) in sums.iter_mut().zip(counts) {
            (0..3).for_each(|index| sum[index] += count[index]);
        }
    }
    println!("all: {:.3?}", sums.map(|[all, rate, state]| (share(rate, all), share(state, all))));
    let [exact, .., logged] = sums.map(|[all, rate, _]| share(rate, all));
    assert!(exact > 0.999, "{exact}");
    assert!(logged < exact && logged > 0.5, "{logged}");
}
