//! Compares native peers with the simulator: the same controller, encoder and network, both in
//! virtual time.

use crate::support::{Call, line};
use cc::ControllerConfig;
use net::{HostId, NetworkConfig, Schedule};
use peer::Stack;
use sim::codec::{Codec, EncoderConfig, SourceSize};
use sim::{CallConfig, Estimate, Fec, Marks, Scenario, VideoConfig};
use units::{Bitrate, Duration, Seed, Time};

/// A shortened experiment of Carlucci et al. 2017.
struct Case {
    name: &'static str,
    /// Pairs of a time, s, and the rate from that time on, kbit/s.
    rates: &'static [(u64, u64)],
    queue_ms: u64,
    flows: u64,
    /// The time between the starts of flows, s.
    start_interval: u64,
    seconds: u64,
    profile: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

const CASE: Case = Case {
    name: "",
    rates: &[(0, 1_000)],
    queue_ms: 350,
    flows: 1,
    start_interval: 0,
    seconds: 60,
    profile: "gcc:carlucci-2017",
    settings: &[],
};

/// The static threshold of C-1, as in `experiments/carlucci-2017/fig6.toml`.
const STATIC: &[(&str, &str)] = &[("threshold", "static"), ("threshold.initial", "5.13")];
const STEPS: &[(u64, u64)] = &[(0, 500), (15, 1_000), (30, 1_500), (45, 1_000)];

impl Case {
    fn network(&self) -> NetworkConfig {
        let steps =
            self.rates.iter().map(|(at, rate)| (Time::from_secs(*at), Bitrate::from_kbps(*rate)));
        line(Schedule::steps(steps.collect()).unwrap(), Duration::from_millis(self.queue_ms))
    }

    fn controller(&self) -> ControllerConfig {
        ControllerConfig {
            profile: self.profile.to_owned(),
            settings: self
                .settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(30),
            max_rate: Bitrate::from_mbps(100),
        }
    }

    fn encoder() -> EncoderConfig {
        let source = SourceSize { width: 1280, height: 720, fps: 30 };
        EncoderConfig::new(Codec::Vp8, source, Bitrate::from_mbps(2))
    }

    fn video(&self) -> VideoConfig {
        VideoConfig {
            encoder: Self::encoder(),
            controller: self.controller(),
            burst_time: None,
            nack: true,
            circuit_breaker: false,
            fec: Fec::Off,
            estimate: Estimate::Video,
            report_interval: Duration::from_secs(1),
            feedback_interval: Duration::from_millis(100),
            ideal_feedback: false,
        }
    }

    fn start(&self, flow: u64) -> Time {
        Time::from_secs(flow * self.start_interval)
    }

    fn scenario(&self, seed: u64) -> Scenario {
        let call = |flow| CallConfig {
            name: format!("flow{flow}"),
            from: HostId(0),
            to: HostId(1),
            start: self.start(flow),
            stop: Time::MAX,
            pauses: Vec::new(),
            two_way: false,
            media_timeout: None,
            dscp: Marks::default(),
            video: Some(self.video()),
            audio: None,
            relay: None,
            sfu: None,
        };
        Scenario {
            duration: Duration::from_secs(self.seconds),
            sample_interval: Duration::from_secs(1),
            seed: Seed(seed),
            network: self.network(),
            stacks: Vec::new(),
            calls: (0..self.flows).map(call).collect(),
            tcp: Vec::new(),
        }
    }

    fn simulated(&self, seed: u64) -> Measured {
        let recording = sim::run(&self.scenario(seed), sim::Options::default()).unwrap();
        let streams = recording
            .streams
            .iter()
            .filter(|stream| stream.kind == sim::recording::StreamKind::Video);
        let mut measured = Measured::default();
        for stream in streams {
            let last = |name| *stream.column(name).unwrap().last().unwrap();
            measured.bytes.push(last("bytesReceived") + last("headerBytesReceived"));
            measured.lost += last("packetsLostReported");
            let values = stream.points("roundTripTime").unwrap();
            measured.round_trips.push(values.iter().map(|(_, rtt)| *rtt).collect());
        }
        measured
    }

    fn native(&self, seed: u64) -> Measured {
        let mut call = Call::over(&self.network());
        let mut measured = Measured::default();
        let mut counted = Vec::new();
        while call.now < Time::from_secs(self.seconds) {
            let flows = (call.peers.len() / 2) as u64;
            if flows < self.flows && self.start(flows) <= call.now {
                let stack = || Stack::Rtc(cc::build(&self.controller()).unwrap());
                call.join((stack(), Some(Self::encoder())), (stack(), None), seed * 10 + flows);
                measured.round_trips.push(Vec::new());
                counted.push(0.0);
            }
            call.run_until(call.now + Duration::from_millis(100));
            for (flow, counted) in counted.iter_mut().enumerate() {
                let Some(report) = call.object(2 * flow, "remote-inbound-rtp") else { continue };
                let measurements = report["roundTripTimeMeasurements"].as_f64().unwrap();
                if measurements > *counted {
                    *counted = measurements;
                    measured.round_trips[flow].push(report["roundTripTime"].as_f64().unwrap());
                }
            }
        }
        for flow in 0..counted.len() {
            let inbound = call.stats(2 * flow + 1, "inbound-rtp");
            let of = |name: &str| inbound[name].as_f64().unwrap();
            measured.bytes.push(of("bytesReceived") + of("headerBytesReceived"));
            measured.lost +=
                call.stats(2 * flow, "remote-inbound-rtp")["packetsLost"].as_f64().unwrap();
        }
        measured
    }
}

#[derive(Default)]
struct Measured {
    /// The received bytes of each flow.
    bytes: Vec<f64>,
    /// The round-trip times of each flow, s.
    round_trips: Vec<Vec<f64>>,
    /// Lost packets of all flows.
    lost: f64,
}

impl Measured {
    /// The received rate of all flows, bit/s.
    fn rate(&self, case: &Case) -> f64 {
        self.bytes.iter().sum::<f64>() * 8.0 / case.seconds as f64
    }

    /// RTT − RTTmin of each flow, s.
    fn queuing(&self) -> Vec<f64> {
        let above = |flow: &Vec<f64>| {
            let least = flow.iter().copied().fold(f64::INFINITY, f64::min);
            flow.iter().map(|rtt| rtt - least).collect::<Vec<_>>()
        };
        self.round_trips.iter().flat_map(above).collect()
    }
}

/// The 95th percentile.
fn p95(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() * 95 / 100]
}

/// The number of runs of each. The queuing delay of a single run varies by 10 % to 40 %, and `rtc`
/// draws random numbers that the seed does not determine.
const RUNS: u64 = 16;

/// The largest deviation of the peers from the simulator: 10 % in the mean rate and 25 % in the
/// 95th percentile of the queuing delay.
const MAX_RATE_DEVIATION: f64 = 0.10;
const MAX_QUEUING_DEVIATION: f64 = 0.25;

/// How far the means may be beyond that by chance: two standard errors of their ratio.
const STANDARD_ERRORS: f64 = 2.0;

/// A mean over runs, and its standard error relative to the mean.
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(runs: &[Measured], metric: impl Fn(&Measured) -> f64) -> Self {
        let count = runs.len() as f64;
        let value = runs.iter().map(&metric).sum::<f64>() / count;
        let variance = runs.iter().map(|run| metric(run) - value).map(|off| off * off).sum::<f64>()
            / (count - 1.0);
        Mean { value, error: (variance / count).sqrt() / value }
    }
}

/// The ratio of `peers` to `sim`, and its standard error, from the errors of the two.
fn ratio(peers: &Mean, sim: &Mean) -> (f64, f64) {
    (peers.value / sim.value, peers.error.hypot(sim.error))
}

/// Runs a case with both, prints a row of the table in docs/peers.md, and compares.
fn check(case: &Case) {
    let simulated: Vec<_> = (1..=RUNS).map(|seed| case.simulated(seed)).collect();
    let native: Vec<_> = (1..=RUNS).map(|seed| case.native(seed)).collect();
    let [sim, peers] = [&simulated, &native].map(|runs| {
        let rate = Mean::of(runs, |run| run.rate(case) / 1e3);
        let queuing = Mean::of(runs, |run| p95(run.queuing()) * 1e3);
        (rate, queuing, Mean::of(runs, |run| run.lost).value)
    });
    let (rate, queuing) = (ratio(&peers.0, &sim.0), ratio(&peers.1, &sim.1));
    // Claim and setting; kbit/s, p95 in ms and lost packets of each; the two ratios.
    println!(
        "| {}, {} kbit/s, {} ms | {:.0}, {:.0}, {:.0} | {:.0}, {:.0}, {:.0} | {:.2} ± {:.2} | {:.2} ± {:.2} |",
        case.name,
        case.rates[0].1,
        case.queue_ms,
        sim.0.value,
        sim.1.value,
        sim.2,
        peers.0.value,
        peers.1.value,
        peers.2,
        rate.0,
        rate.1,
        queuing.0,
        queuing.1,
    );
    let near = |(ratio, error): (f64, f64), max_deviation: f64| {
        (ratio - 1.0).abs() <= max_deviation + STANDARD_ERRORS * error
    };
    assert!(near(rate, MAX_RATE_DEVIATION), "{}: {:.2} of the simulator's rate", case.name, rate.0);
    assert!(
        near(queuing, MAX_QUEUING_DEVIATION),
        "{}: {:.2} of its queuing delay",
        case.name,
        queuing.0
    );
}

#[test]
fn c_1_with_the_adaptive_threshold() {
    check(&Case { name: "C-1, adaptive", queue_ms: 150, ..CASE });
}

#[test]
fn c_1_with_the_static_threshold() {
    check(&Case { name: "C-1, static", queue_ms: 150, settings: STATIC, ..CASE });
}

#[test]
fn c_4_in_steps() {
    check(&Case { name: "C-4, in 15 s steps", rates: STEPS, ..CASE });
}

#[test]
fn c_5_and_c_6_at_500_kbps() {
    check(&Case { name: "C-5, C-6", rates: &[(0, 500)], queue_ms: 700, ..CASE });
}

#[test]
fn c_5_and_c_6_at_2_mbps() {
    check(&Case { name: "C-5, C-6", rates: &[(0, 2_000)], ..CASE });
}

#[test]
fn c_12_with_starts_5_s_apart() {
    let case = Case { flows: 4, start_interval: 5, ..CASE };
    check(&Case { name: "C-12, 5 s apart", rates: &[(0, 4_000)], ..case });
}

#[test]
fn c_1_with_libwebrtc() {
    check(&Case { name: "C-1 today", profile: "gcc:libwebrtc", queue_ms: 150, ..CASE });
}

#[test]
fn c_4_with_libwebrtc() {
    check(&Case { name: "C-4 today", profile: "gcc:libwebrtc", rates: STEPS, ..CASE });
}
