//! `gcc:libwebrtc` in the small network in which libwebrtc's own controller (July 2026,
//! branch-heads/7871) was run, set up as a browser with a camera sets it up: steps of 1 ms, an
//! encoder, a pacer, one queue, and a receiver. The values of libwebrtc are means of eight runs.
//! The random numbers differ, so means are compared within their standard errors too.
//!
//! Two scenarios have recorded capacities, which are not part of Weir. They are run too if the
//! variable `WEIR_TRACES` names the folder of `mahimahi-Verizon-LTE-short.up` (ravinet/mahimahi) and
//! `norway_bus_1.txt` (confiwent/Real-world-bandwidth-traces; Riiser et al. 2013).
//!
//! `cargo test -p weir-cc --test closed_loop -- --nocapture` prints the table.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use cc::{Allocation, ControllerConfig, Feedback, PacketResult, ProbeCluster, Sender, SentPacket};
use std::collections::VecDeque;
use std::path::PathBuf;
use units::{Bitrate, Bytes, Duration, Seed, Stream, Time};

/// The first step, in ms.
const START_MS: u64 = 100;
/// The statistics start here.
const SETTLED_MS: u64 = 10_000;
const ONE_WAY_MS: f64 = 25.0;
const HEADERS: u64 = 50;
const MAX_PAYLOAD: u64 = 1_150;
const RUNS: u64 = 32;
/// The runs behind each value of libwebrtc.
const REAL_RUNS: f64 = 8.0;
const NEVER: f64 = f64::NAN;
/// The time of a fall ends with the first of these half seconds or after it: the description of the
/// real values allows both.
const HALF_SECOND: f64 = 0.5;

/// A scenario and what libwebrtc's controller did in it.
#[derive(Clone)]
struct Case {
    name: &'static str,
    seconds: u64,
    /// The capacity in kbit/s from each of these times, in s, on.
    capacity: Vec<(f64, f64)>,
    limit_ms: f64,
    loss: f64,
    jitter_ms: f64,
    encoder: Bitrate,
    /// Cross traffic of 800 kbit/s from, to, in s.
    cross: &'static [(u64, u64)],
    libwebrtc: Statistics,
}

/// The mean target in kbit/s, the 95th percentile of the wait in the queue in ms, and the times in
/// s from a fall of the capacity until the queue stays below 0.1 s for half a second, and from its
/// rise until the target is 85 % of what the encoder can use of it.
#[derive(Clone, Copy)]
struct Statistics {
    target: f64,
    queue: f64,
    fall: f64,
    rise: f64,
}

const fn real(target: f64, queue: f64, fall: f64, rise: f64) -> Statistics {
    Statistics { target, queue, fall, rise }
}

fn cases() -> Vec<Case> {
    let (five, one) = (Bitrate::from_mbps(5), Bitrate::from_mbps(1));
    let still = Case {
        name: "alone 1 Mbit/s",
        seconds: 120,
        capacity: vec![(0.0, 1_000.0)],
        limit_ms: 300.0,
        loss: 0.0,
        jitter_ms: 0.0,
        encoder: five,
        cross: &[],
        libwebrtc: real(897.0, 8.0, NEVER, NEVER),
    };
    let lossy = |name, loss, target, queue| Case {
        name,
        capacity: vec![(0.0, 2_000.0)],
        loss,
        libwebrtc: real(target, queue, NEVER, NEVER),
        ..still.clone()
    };
    let steps = |low| vec![(0.0, 2_500.0), (40.0, low), (80.0, 2_500.0)];
    vec![
        Case {
            name: "alone 1, jitter 5 ms",
            jitter_ms: 5.0,
            libwebrtc: real(901.0, 9.0, NEVER, NEVER),
            ..still.clone()
        },
        Case {
            name: "step 2.5-1-2.5",
            capacity: steps(1_000.0),
            libwebrtc: real(1_624.0, 43.0, 5.48, 14.69),
            ..still.clone()
        },
        lossy("2 Mbit/s, 2 % loss", 0.02, 1_752.0, 5.0),
        lossy("2 Mbit/s, 5 % loss", 0.05, 1_670.0, 4.0),
        lossy("2 Mbit/s, 10 % loss", 0.1, 1_504.0, 1.0),
        Case {
            name: "2, cross 0.8 on/off 20 s",
            capacity: vec![(0.0, 2_000.0)],
            cross: &[(20, 40), (60, 80), (100, 120)],
            libwebrtc: real(1_333.0, 120.0, NEVER, NEVER),
            ..still.clone()
        },
        Case {
            name: "3, encoder <= 1",
            capacity: vec![(0.0, 3_000.0)],
            encoder: one,
            libwebrtc: real(2_046.0, 0.0, NEVER, NEVER),
            ..still.clone()
        },
        Case {
            name: "2.5-0.6-2.5, encoder <= 1",
            capacity: steps(600.0),
            encoder: one,
            libwebrtc: real(1_231.0, 19.0, 3.47, 9.19),
            ..still.clone()
        },
        still,
    ]
}

/// The scenarios with recorded capacities.
fn recorded() -> Vec<Case> {
    let Some(folder) = std::env::var_os("WEIR_TRACES").map(PathBuf::from) else {
        println!(
            "two scenarios are skipped: WEIR_TRACES does not name the folder of the recordings"
        );
        return Vec::new();
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let times: Vec<usize> =
        read("mahimahi-Verizon-LTE-short.up").lines().map(|line| line.parse().unwrap()).collect();
    // Each is an opportunity for 1500 bytes; the rates are means of 100 ms, at least 1 kbit/s.
    let mut lte = vec![0.0; times.last().unwrap() / 100 + 1];
    times.iter().for_each(|millis| lte[millis / 100] += 1_500.0 * 8.0 / 100.0);
    let bus = read("norway_bus_1.txt");
    let rows: Vec<(f64, f64)> = bus
        .lines()
        .map(|line| line.split_once(char::is_whitespace).unwrap())
        .map(|(at, mbps)| (at.parse().unwrap(), mbps.trim().parse().unwrap()))
        .collect();
    let count = (rows.last().unwrap().0 * 10.0) as usize;
    let bus = (0..count).map(|index| {
        let at = index as f64 / 10.0 + 1e-9;
        1e3 * rows.iter().rfind(|(from, _)| *from <= at).unwrap().1
    });
    let still = cases().pop().unwrap();
    let case = |name, seconds: u64, rates: Vec<f64>, libwebrtc| {
        let rates = rates.into_iter().cycle().take(10 * (seconds as usize + 10));
        let capacity =
            (0..).zip(rates).map(|(index, kbps)| (f64::from(index) / 10.0, kbps.max(1.0)));
        let capacity = capacity.collect();
        Case { name, seconds, capacity, limit_ms: 600.0, libwebrtc, ..still.clone() }
    };
    vec![
        case("Verizon LTE up", 120, lte, real(969.0, 127.0, NEVER, NEVER)),
        case("norway bus", 240, bus.collect(), real(1_878.0, 106.0, NEVER, NEVER)),
    ]
}

/// A queue before a link of varying capacity; times in ms.
struct Link<'a> {
    capacity: &'a [(f64, f64)],
    limit: f64,
    free: f64,
}

impl Link<'_> {
    /// When service of a packet that comes `now` starts and ends; `None` if it is dropped.
    fn pass(&mut self, now: f64, bytes: u64) -> Option<(f64, f64)> {
        let start = self.free.max(now);
        if start - now > self.limit {
            return None;
        }
        let (mut at, mut bits) = (start, 8.0 * bytes as f64);
        let mut index = self.capacity.partition_point(|(from, _)| from * 1e3 <= at) - 1;
        loop {
            let kbps = self.capacity[index].1;
            let end = self.capacity.get(index + 1).map_or(f64::INFINITY, |(from, _)| from * 1e3);
            // kbit/s are bits per ms.
            if at + bits / kbps <= end {
                at += bits / kbps;
                break;
            }
            bits -= (end - at) * kbps;
            at = end;
            index += 1;
        }
        self.free = at;
        Some((start, at))
    }
}

/// A cluster that is being sent.
struct Probe {
    cluster: ProbeCluster,
    packets: u32,
    bytes: u64,
    asked: u64,
}

/// A packet, and when it arrives in ms; `None`: it is lost.
struct Arrival {
    packet: SentPacket,
    at: Option<f64>,
}

struct Simulation<'a> {
    case: &'a Case,
    sender: Box<dyn Sender>,
    link: Link<'a>,
    random: Stream,
    frames: u64,
    queue: VecDeque<u64>,
    credit: f64,
    padding: f64,
    probes: VecDeque<Probe>,
    newest: u32,
    sequence: u64,
    last_arrival: f64,
    arrivals: VecDeque<Arrival>,
    unreported: Vec<Arrival>,
    feedback: VecDeque<(u64, Vec<PacketResult>)>,
    reports: VecDeque<(u64, f64, u64, Option<Duration>)>,
    lost_since: u64,
    expected_since: u64,
    newest_rtt: Option<Duration>,
    rtt: Option<Duration>,
    targets: Vec<f64>,
    /// When a packet entered, and how long it waited.
    waits: Vec<(f64, f64)>,
}

fn time(ms: f64) -> Time {
    Time::from_nanos((ms * 1e6) as u64)
}

impl<'a> Simulation<'a> {
    fn new(case: &'a Case, seed: Seed) -> Self {
        let settings = vec![("pacing.first_factor".to_owned(), "1.1".to_owned())];
        let config = ControllerConfig {
            profile: "gcc:libwebrtc".to_owned(),
            settings,
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(30),
            max_rate: Bitrate::MAX,
        };
        let mut sender = cc::build(&config).unwrap().sender;
        let allocation = Allocation { min_rate: Bitrate::from_kbps(30), max_rate: case.encoder };
        sender.on_allocation(Time::from_millis(60), allocation);
        let link = Link { capacity: &case.capacity, limit: case.limit_ms, free: 0.0 };
        Self {
            case,
            sender,
            link,
            random: seed.stream("closed loop"),
            frames: 0,
            queue: VecDeque::new(),
            credit: 0.0,
            padding: 0.0,
            probes: VecDeque::new(),
            newest: 0,
            sequence: 0,
            last_arrival: 0.0,
            arrivals: VecDeque::new(),
            unreported: Vec::new(),
            feedback: VecDeque::new(),
            reports: VecDeque::new(),
            lost_since: 0,
            expected_since: 0,
            newest_rtt: None,
            rtt: None,
            targets: Vec::new(),
            waits: Vec::new(),
        }
    }

    fn run(mut self) -> Statistics {
        for ms in START_MS..self.case.seconds * 1_000 {
            self.deliver(ms);
            let now = Time::from_millis(ms);
            while self.sender.next_timeout().is_some_and(|due| due <= now) {
                self.sender.on_timeout(now);
            }
            self.take_probe(ms);
            while START_MS as f64 + self.frames as f64 * 1e3 / 30.0 <= ms as f64 {
                self.frame();
            }
            self.cross(ms);
            self.pace(ms);
            self.receive(ms);
            self.targets.push(self.sender.decision().target_rate.as_bps_f64() / 1e3);
        }
        self.statistics()
    }

    fn deliver(&mut self, ms: u64) {
        let now = Time::from_millis(ms);
        while self.feedback.front().is_some_and(|(due, _)| *due <= ms) {
            let (_, results) = self.feedback.pop_front().unwrap();
            self.sender.on_feedback(now, Feedback::Packets { results: &results, rtt: self.rtt });
            self.take_probe(ms);
        }
        while self.reports.front().is_some_and(|(due, ..)| *due <= ms) {
            let (_, fraction_lost, expected, rtt) = self.reports.pop_front().unwrap();
            self.rtt = rtt.or(self.rtt);
            self.sender.on_feedback(now, Feedback::Report { fraction_lost, expected, rtt });
            self.take_probe(ms);
        }
    }

    fn take_probe(&mut self, asked: u64) {
        if let Some(cluster) = self.sender.decision().probe.filter(|probe| probe.id > self.newest) {
            self.newest = cluster.id;
            self.probes.push_back(Probe { cluster, packets: 0, bytes: 0, asked });
        }
    }

    fn frame(&mut self) {
        let factor = if self.frames == 0 {
            2.0
        } else {
            (1.0 + 0.12 * self.random.normal()).clamp(0.3, 2.0)
        };
        self.frames += 1;
        let rate = self.sender.decision().target_rate.min(self.case.encoder).as_bps_f64();
        let mut left = (rate * 1_150.0 / 1_200.0 / 30.0 / 8.0 * factor) as u64;
        while left > 0 {
            let payload = left.min(MAX_PAYLOAD);
            self.queue.push_back(payload.max(50) + HEADERS);
            left -= payload;
        }
    }

    fn cross(&mut self, ms: u64) {
        let active = |(from, to): &(u64, u64)| (from * 1_000..to * 1_000).contains(&ms);
        if self.case.cross.iter().any(active) && ms.is_multiple_of(12) {
            self.link.pass(ms as f64, 1_200);
        }
    }

    fn pace(&mut self, ms: u64) {
        while self.probes.front().is_some_and(|probe| {
            let least = probe.cluster.rate.bytes_in(probe.cluster.min_duration).get();
            probe.packets >= probe.cluster.min_packets && probe.bytes >= least
                || ms > probe.asked + 5_000
        }) {
            self.probes.pop_front();
        }
        let rate = self
            .probes
            .front()
            .map_or(self.sender.decision().pacing_rate, |probe| probe.cluster.rate);
        let step = rate.as_bps_f64() / 8e3;
        self.credit = (self.credit + step).min(step);
        while self.credit > 0.0 {
            let bytes = match (self.queue.pop_front(), self.probes.front()) {
                (Some(bytes), _) => bytes,
                (None, Some(_)) => 1_200,
                (None, None) => break,
            };
            self.credit -= bytes as f64;
            self.send(ms, bytes);
        }
        let padding = self.sender.padding_rate().as_bps_f64() / 8e3;
        if padding > 0.0 && self.probes.is_empty() {
            self.padding = (self.padding + padding).min(250.0);
            while self.queue.is_empty() && self.padding >= 250.0 && self.credit > 0.0 {
                self.credit -= 250.0;
                self.send(ms, 250);
            }
        } else {
            self.padding = 0.0;
        }
    }

    fn send(&mut self, ms: u64, bytes: u64) {
        self.padding = (self.padding - bytes as f64).max(-250.0);
        let probe = self.probes.front_mut().map(|probe| {
            probe.packets += 1;
            probe.bytes += bytes;
            probe.cluster.id
        });
        let packet = SentPacket {
            sequence: self.sequence,
            sent: Time::from_millis(ms),
            size: Bytes::new(bytes),
            probe,
        };
        self.sequence += 1;
        self.sender.on_sent(&packet);
        self.take_probe(ms);
        let now = ms as f64;
        let at = self.link.pass(now, bytes).and_then(|(start, end)| {
            if self.random.uniform() < self.case.loss {
                return None;
            }
            self.waits.push((now, start - now));
            let jitter = self.case.jitter_ms * self.random.normal().abs();
            self.last_arrival = self.last_arrival.max(end + ONE_WAY_MS + jitter);
            Some(self.last_arrival)
        });
        self.arrivals.push_back(Arrival { packet, at });
    }

    /// Packets up to the newest that has arrived are reported; a lost one with the next that
    /// arrives.
    fn receive(&mut self, ms: u64) {
        let newest = self.arrivals.iter().rposition(|one| one.at.is_some_and(|at| at <= ms as f64));
        self.unreported.extend(self.arrivals.drain(..newest.map_or(0, |newest| newest + 1)));
        if ms.is_multiple_of(50) && !self.unreported.is_empty() {
            let results = self.unreported.drain(..).map(|one| {
                self.expected_since += 1;
                self.lost_since += u64::from(one.at.is_none());
                if let Some(at) = one.at {
                    let rtt = at - one.packet.sent.as_nanos() as f64 / 1e6 + ONE_WAY_MS;
                    self.newest_rtt = Some(Duration::from_micros((rtt * 1e3) as u64));
                }
                let arrival = one.at.map(|at| time((at * 4.0).floor() / 4.0));
                PacketResult { packet: one.packet, arrival, ecn: cc::Ecn::NotEct }
            });
            let results = results.collect();
            self.feedback.push_back((ms + ONE_WAY_MS as u64, results));
        }
        if ms.is_multiple_of(1_000) {
            let (lost, expected) = (self.lost_since, self.expected_since);
            (self.lost_since, self.expected_since) = (0, 0);
            let share = (256 * lost).checked_div(expected).unwrap_or(0) as f64 / 256.0;
            self.reports.push_back((ms + ONE_WAY_MS as u64, share, expected, self.newest_rtt));
        }
    }

    fn statistics(self) -> Statistics {
        let settled = &self.targets[(SETTLED_MS - START_MS) as usize..];
        let mut waits: Vec<f64> = self
            .waits
            .iter()
            .filter(|(at, _)| *at >= SETTLED_MS as f64)
            .map(|(_, wait)| *wait)
            .collect();
        waits.sort_by(f64::total_cmp);
        let step = |index: usize| self.case.capacity.get(index).map(|(at, kbps)| (at * 1e3, *kbps));
        let stepped = self.case.capacity.len() == 3;
        let fall = step(1).filter(|_| stepped).map_or(NEVER, |(at, _)| {
            let after: Vec<_> = self.waits.iter().filter(|(entered, _)| *entered >= at).collect();
            let grown = after.iter().position(|(_, wait)| *wait >= 100.0).unwrap_or(0);
            let long = after[grown..].iter().filter(|(_, wait)| *wait >= 100.0);
            let mut below = after[grown].0;
            for (entered, _) in long {
                if entered - below > 500.0 {
                    break;
                }
                below = *entered;
            }
            (below - at) / 1e3
        });
        let rise = step(2).filter(|_| stepped).map_or(NEVER, |(at, kbps)| {
            let goal = 0.85 * kbps.min(self.case.encoder.as_bps_f64() / 1e3);
            let after = &self.targets[at as usize - START_MS as usize..];
            after.iter().position(|target| *target >= goal).map_or(NEVER, |ms| ms as f64 / 1e3)
        });
        Statistics {
            target: settled.iter().sum::<f64>() / settled.len() as f64,
            queue: waits[waits.len() * 95 / 100],
            fall,
            rise,
        }
    }
}

/// The mean over the runs, and the standard error of its difference to the mean of
/// [`REAL_RUNS`] runs of the same process.
struct Mean {
    mean: f64,
    error: f64,
}

impl Mean {
    fn of(runs: &[Statistics], value: fn(&Statistics) -> f64) -> Self {
        let count = runs.len() as f64;
        let mean = runs.iter().map(value).sum::<f64>() / count;
        let squares =
            runs.iter().map(|run| value(run) - mean).map(|error| error * error).sum::<f64>();
        let variance = squares / (count - 1.0);
        Self { mean, error: (variance * (1.0 / count + 1.0 / REAL_RUNS)).sqrt() }
    }

    /// Whether the mean is `real` within `share` of it, `least`, or three standard errors: of the
    /// 26 values that are compared, one differs by more than two by chance.
    fn agrees(&self, real: f64, share: f64, least: f64) -> bool {
        real.is_nan() && self.mean.is_nan()
            || (self.mean - real).abs() <= (share * real).max(least).max(3.0 * self.error)
    }
}

#[test]
fn it_does_what_libwebrtc_does_in_the_same_network() {
    let mut wrong = Vec::new();
    println!("| scenario | target, kbit/s | p95 queue, ms | fall, s | rise, s |");
    for case in cases().into_iter().chain(recorded()) {
        let runs: Vec<Statistics> =
            (1..=RUNS).map(|seed| Simulation::new(&case, Seed(seed)).run()).collect();
        let [target, queue, fall, rise] = [
            Mean::of(&runs, |run| run.target),
            Mean::of(&runs, |run| run.queue),
            Mean::of(&runs, |run| run.fall),
            Mean::of(&runs, |run| run.rise),
        ];
        let real = &case.libwebrtc;
        let agrees = target.agrees(real.target, 0.03, 0.0)
            && queue.agrees(real.queue, 0.2, 2.0)
            && (fall.agrees(real.fall, 0.2, 0.0) || fall.agrees(real.fall - HALF_SECOND, 0.2, 0.0))
            && rise.agrees(real.rise, 0.2, 0.0);
        let cell = |ours: &Mean, real: f64, digits| {
            if real.is_nan() {
                "–".to_owned()
            } else {
                format!("{:.digits$}, {real:.digits$}", ours.mean)
            }
        };
        println!(
            "| {} | {} | {} | {} | {} |",
            case.name,
            cell(&target, real.target, 0),
            cell(&queue, real.queue, 0),
            cell(&fall, real.fall, 1),
            cell(&rise, real.rise, 1)
        );
        if !agrees {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
