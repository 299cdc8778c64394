//! `gcc:libwebrtc` in Weir's network, compared with the real controller of libwebrtc (July 2026,
//! branch-heads/7871) in a small simulation of its own: the same links, the same encoder, the same
//! statistics. The values of the real controller are means of eight runs that were measured once,
//! set up as a browser with a camera sets it up. Two simulations draw different random numbers and
//! place packets differently, so the means agree within their standard errors and not to the digit.
//!
//! Two scenarios have recorded capacities, which are not part of Weir. They are compared too if the
//! variable `WEIR_TRACES` names the folder of `mahimahi-Verizon-LTE-short.up` (ravinet/mahimahi) and
//! `norway_bus_1.txt` (confiwent/Real-world-bandwidth-traces; Riiser et al. 2013).

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{call, line};
use net::{
    AccessConfig, HostConfig, JitterConfig, LineConfig, LossConfig, NetworkConfig, RateConfig,
    Schedule,
};
use sim::codec::{AudioConfig, EncoderConfig, FrameSizes, SourceSize};
use sim::{CallConfig, Estimate, Marks, Recording, Scenario, VideoConfig};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use units::{Bitrate, Duration, Ratio, Seed, Stream, Time};

/// The statistics start here, after the start of the call.
const SETTLED: Time = Time::from_secs(10);
const SAMPLE: Duration = Duration::from_millis(10);
const RUNS: u64 = 16;
/// The runs behind each value of the real controller.
const REAL_RUNS: f64 = 8.0;

/// A scenario and what the real controller did in it.
#[derive(Clone)]
struct Case {
    name: &'static str,
    seconds: u64,
    /// Capacity of the link in kbit/s, and the changes of it: (s, kbit/s).
    capacity: u64,
    steps: &'static [(u64, u64)],
    /// A capacity that was recorded, in place of the above.
    recorded: Option<Schedule<Bitrate>>,
    /// The length of the queue in ms.
    limit: u64,
    loss: u32,
    jitter: Duration,
    encoder: Bitrate,
    /// Cross traffic of 800 kbit/s: from, to in s.
    cross: &'static [(u64, u64)],
    real: Statistics,
    /// Whether the queue is not compared, because it depends on the network more than on the
    /// controller: the test of the same name in `weir-cc` runs this controller in the small
    /// network, where all queues agree. Where the capacity was recorded, the queue's limit is a
    /// time at the rate of the moment here, and the true waiting time there. In the step to
    /// 0.6 Mbit/s the 95th percentile is at the edge between the waits within a frame and those
    /// after the step.
    other_queue: bool,
}

/// Means of the target in kbit/s, the 95th percentile of the time in the queue in ms, and the times
/// in s from a fall of the capacity until the queue stays below 0.1 s for half a second, and from
/// its rise until the target is 85 % of what the encoder can use of it.
#[derive(Clone, Copy, Debug)]
struct Statistics {
    target: f64,
    queue: f64,
    fall: f64,
    rise: f64,
}

const NEVER: f64 = f64::NAN;
/// The time of a fall ends with the first of these half seconds or after it: the description of the
/// real values allows both.
const HALF_SECOND: f64 = 0.5;

fn cases() -> Vec<Case> {
    let five = Bitrate::from_mbps(5);
    let one = Bitrate::from_mbps(1);
    let still = Case {
        name: "alone 1 Mbit/s",
        seconds: 120,
        capacity: 1_000,
        steps: &[],
        recorded: None,
        limit: 300,
        loss: 0,
        jitter: Duration::ZERO,
        encoder: five,
        cross: &[],
        real: Statistics { target: 897.0, queue: 8.0, fall: NEVER, rise: NEVER },
        other_queue: false,
    };
    let real = |target, queue, fall, rise| Statistics { target, queue, fall, rise };
    let lossy = |name, loss, target, queue| Case {
        name,
        capacity: 2_000,
        loss,
        real: real(target, queue, NEVER, NEVER),
        ..still.clone()
    };
    vec![
        Case {
            name: "alone 1, jitter 5 ms",
            jitter: Duration::from_millis(5),
            real: real(901.0, 9.0, NEVER, NEVER),
            ..still.clone()
        },
        Case {
            name: "step 2.5-1-2.5",
            capacity: 2_500,
            steps: &[(40, 1_000), (80, 2_500)],
            real: real(1_624.0, 43.0, 5.48, 14.69),
            ..still.clone()
        },
        lossy("2 Mbit/s, 2 % loss", 2, 1_752.0, 5.0),
        lossy("2 Mbit/s, 5 % loss", 5, 1_670.0, 4.0),
        lossy("2 Mbit/s, 10 % loss", 10, 1_504.0, 1.0),
        Case {
            name: "2, cross 0.8 on/off 20 s",
            capacity: 2_000,
            cross: &[(20, 40), (60, 80), (100, 120)],
            real: real(1_333.0, 120.0, NEVER, NEVER),
            ..still.clone()
        },
        Case {
            name: "3, encoder <= 1",
            capacity: 3_000,
            encoder: one,
            real: real(2_046.0, 0.0, NEVER, NEVER),
            ..still.clone()
        },
        Case {
            name: "2.5-0.6-2.5, encoder <= 1",
            capacity: 2_500,
            steps: &[(40, 600), (80, 2_500)],
            encoder: one,
            real: real(1_231.0, 19.0, 3.47, 9.19),
            other_queue: true,
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
    let still = cases().pop().unwrap();
    let real = |target, queue| Statistics { target, queue, fall: NEVER, rise: NEVER };
    let opportunities: Vec<usize> =
        read("mahimahi-Verizon-LTE-short.up").lines().map(|line| line.parse().unwrap()).collect();
    // Each opportunity is for 1500 bytes; the rates are means of 100 ms.
    let mut lte = vec![0; opportunities.last().unwrap() / 100 + 1];
    opportunities.iter().for_each(|millis| lte[millis / 100] += 1_500 * 8 * 10);
    let bus = read("norway_bus_1.txt");
    let rows: Vec<(f64, f64)> = bus
        .lines()
        .map(|line| line.split_once(char::is_whitespace).unwrap())
        .map(|(at, mbps)| (at.parse().unwrap(), mbps.trim().parse().unwrap()))
        .collect();
    // The rate that holds at each multiple of 100 ms.
    let count = (rows.last().unwrap().0 * 10.0) as usize;
    let bus = (0..count).map(|index| {
        let at = index as f64 / 10.0 + 1e-9;
        let (_, mbps) = rows.iter().rfind(|(from, _)| *from <= at).unwrap();
        Bitrate::from_bps_f64(mbps * 1e6).as_bps()
    });
    let case = |name, seconds, rates: Vec<u64>, real| {
        let rates = rates.into_iter().cycle().take(seconds as usize * 10);
        let steps = (0..)
            .zip(rates)
            .map(|(index, rate)| (Time::from_millis(index * 100), Bitrate::from_bps(rate)));
        let recorded = Schedule::steps(steps.collect());
        Case { name, seconds, recorded, limit: 600, real, other_queue: true, ..still.clone() }
    };
    vec![
        case("Verizon LTE up", 120, lte, real(969.0, 127.0)),
        case("norway bus", 240, bus.collect(), real(1_878.0, 106.0)),
    ]
}

/// The factors of 6000 frames: 2 for the first, then 1 + 0.12 · normal, from 0.3 to 2.
fn frame_factors(seed: Seed) -> Arc<FrameSizes> {
    let mut random: Stream = seed.stream("frames");
    let mut text = "20000,1\n".to_owned();
    for _ in 1..6_000 {
        let factor = (1.0 + 0.12 * random.normal()).clamp(0.3, 2.0);
        writeln!(text, "{:.0},0", factor * 10_000.0).unwrap();
    }
    Arc::new(FrameSizes::parse(&text).unwrap())
}

fn scenario(case: &Case, seed: Seed) -> Scenario {
    let steps = [(0, case.capacity)].into_iter().chain(case.steps.iter().copied());
    let rate = steps.map(|(at, kbps)| (Time::from_secs(at), Bitrate::from_kbps(kbps)));
    let rate = Schedule::steps(rate.collect());
    let way = Duration::from_millis(25);
    let rate = case.recorded.clone().or(rate).unwrap();
    let bottleneck = LineConfig {
        rate: RateConfig::Scheduled(rate),
        ..line(None, Duration::ZERO, &format!("droptail limit {}ms", case.limit))
    };
    let receiver = LineConfig {
        jitter: JitterConfig::HalfNormal { deviation: case.jitter, most: Duration::MAX },
        loss: LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(case.loss))),
        ..line(None, way, "droptail limit 300ms")
    };
    let back = line(None, way, "droptail limit 300ms");
    let host = |name: &str, up: &LineConfig, down: &LineConfig| HostConfig {
        name: name.to_owned(),
        access: AccessConfig::Wired { up: up.clone(), down: down.clone() },
    };
    let open = LineConfig::default();
    let mut config = call("main", "gcc:libwebrtc");
    let source = SourceSize { width: 1280, height: 720, fps: 30 };
    let mut video: VideoConfig = config.video.take().unwrap();
    video.encoder = EncoderConfig::from_sizes(frame_factors(seed), source, case.encoder);
    // Frames vary independently: the encoder does not make up for a large one.
    video.encoder.model.payback = Duration::from_secs(1_000_000);
    video.encoder.model.reaction_lag = Duration::ZERO;
    video.encoder.min_rate = Bitrate::from_kbps(30);
    video.controller.min_rate = Bitrate::from_kbps(5);
    video.controller.max_rate = Bitrate::from_mbps(1_000);
    // The small simulation does not drop frames while the congestion window is full.
    video.controller.settings = [("pacing.first_factor", "1.1"), ("window.queue", "100s")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    video.burst_time = Some(Duration::from_millis(1));
    video.nack = false;
    video.estimate = Estimate::Transport;
    video.feedback_interval = Duration::from_millis(50);
    config.video = Some(video);
    let mut calls = vec![config];
    calls.extend(case.cross.iter().map(|(from, to)| CallConfig {
        start: Time::from_secs(*from),
        stop: Time::from_secs(*to),
        dscp: Marks::default(),
        video: None,
        // 1200 bytes every 12 ms, headers included.
        audio: Some(AudioConfig {
            rate: Bitrate::from_bps((1_200 - 40) * 8 * 1_000 / 12),
            interval: Duration::from_millis(12),
            deviation: 0.0,
            correlation: 0.0,
            ..AudioConfig::opus()
        }),
        ..call(&format!("cross{from}"), "gcc:libwebrtc")
    }));
    Scenario {
        duration: Duration::from_secs(case.seconds),
        sample_interval: SAMPLE,
        seed,
        network: NetworkConfig {
            hosts: vec![host("sender", &bottleneck, &open), host("receiver", &back, &receiver)],
            ..NetworkConfig::default()
        },
        stacks: Vec::new(),
        calls,
        tcp: Vec::new(),
    }
}

fn statistics(case: &Case, recording: &Recording) -> Statistics {
    let column = |stream: &str, name: &str| recording.stream(stream).unwrap().column(name).unwrap();
    let from = |at: Time| (at.as_nanos() / SAMPLE.as_nanos()) as usize;
    let target = column("main.video", "availableOutgoingBitrate");
    let queue = column("sender.up", "queueDelay");
    let settled = &target[from(SETTLED)..];
    // Each wait counts once for each packet that has passed, which the receiver sees 25 ms later.
    let received = column("main.video", "packetsReceived");
    let lag = 3;
    let mut waits: Vec<f64> = (from(SETTLED)..queue.len() - lag)
        .flat_map(|at| {
            let packets = (received[at + lag] - received[at + lag - 1]).max(0.0) as usize;
            std::iter::repeat_n(queue[at], packets)
        })
        .collect();
    waits.sort_by(f64::total_cmp);
    let half_second = 50;
    let long = |wait: &f64| *wait >= 0.1;
    let fall = case.steps.first().map_or(NEVER, |(at, _)| {
        let after = &queue[from(Time::from_secs(*at)) + 1..];
        // The queue of the old rate is short; it has to grow first.
        let grown = after.iter().position(long).unwrap_or(0);
        let short = after[grown..].windows(half_second).position(|waits| !waits.iter().any(long));
        short.map_or(NEVER, |samples| (grown + samples) as f64 * SAMPLE.as_secs_f64())
    });
    let rise = case.steps.get(1).map_or(NEVER, |(at, kbps)| {
        let goal = 0.85 * (*kbps as f64 * 1e3).min(case.encoder.as_bps_f64());
        let after = &target[from(Time::from_secs(*at))..];
        let risen = after.iter().position(|target| *target >= goal);
        risen.map_or(NEVER, |samples| samples as f64 * SAMPLE.as_secs_f64())
    });
    Statistics {
        target: settled.iter().sum::<f64>() / settled.len() as f64 / 1e3,
        queue: waits[waits.len() * 95 / 100] * 1e3,
        fall,
        rise,
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
fn it_does_in_our_network_what_the_real_controller_does_in_its_own() {
    let mut wrong = Vec::new();
    println!("| scenario | target, kbit/s | p95 queue, ms | fall, s | rise, s |");
    for case in cases().into_iter().chain(recorded()) {
        let run = |seed| statistics(&case, &common::run(&scenario(&case, Seed(seed))));
        let runs: Vec<Statistics> = (1..=RUNS).map(run).collect();
        let target = Mean::of(&runs, |run| run.target);
        let queue = Mean::of(&runs, |run| run.queue);
        let fall = Mean::of(&runs, |run| run.fall);
        let rise = Mean::of(&runs, |run| run.rise);
        let real = &case.real;
        let queue_agrees = queue.agrees(real.queue, 0.2, 2.0)
            && (fall.agrees(real.fall, 0.2, 0.0) || fall.agrees(real.fall - HALF_SECOND, 0.2, 0.0))
            && rise.agrees(real.rise, 0.2, 0.0);
        let agrees = target.agrees(real.target, 0.03, 0.0) && (queue_agrees || case.other_queue);
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
