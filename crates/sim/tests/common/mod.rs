//! Scenarios for tests: two hosts, one call, one bottleneck on the caller's uplink.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses what it needs, and fails if it cannot be set up"
)]

use cc::ControllerConfig;
use net::{
    AccessConfig, HostConfig, HostId, LineConfig, LossConfig, NetworkConfig, QueueConfig,
    RateConfig, Schedule,
};
use sim::codec::{AudioConfig, Codec, EncoderConfig, SourceSize};
use sim::tcp::{TcpConfig, TcpCongestionControl, TcpSource};
use sim::{CallConfig, Recording, Scenario, VideoConfig};
use units::{Bitrate, Bytes, Duration, Ratio, Seed, Time};

pub fn line(rate: Option<Bitrate>, delay: Duration, queue: &str) -> LineConfig {
    LineConfig {
        rate: rate
            .map_or(RateConfig::Unlimited, |rate| RateConfig::Scheduled(Schedule::constant(rate))),
        delay: Schedule::constant(delay),
        queue: queue.parse::<QueueConfig>().unwrap(),
        ..LineConfig::default()
    }
}

pub fn video(controller: &str) -> VideoConfig {
    let source = SourceSize { width: 1280, height: 720, fps: 30 };
    VideoConfig {
        encoder: EncoderConfig::new(Codec::Vp8, source, Bitrate::from_mbps(2)),
        controller: ControllerConfig {
            profile: controller.to_owned(),
            settings: Vec::new(),
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(30),
            max_rate: Bitrate::from_mbps(100),
        },
        burst_time: None,
        circuit_breaker: false,
        nack: true,
        fec: sim::Fec::Off,
        estimate: sim::Estimate::Video,
        report_interval: Duration::from_secs(1),
        feedback_interval: Duration::from_millis(100),
        ideal_feedback: false,
    }
}

pub fn call(name: &str, controller: &str) -> CallConfig {
    CallConfig {
        name: name.to_owned(),
        from: HostId(0),
        to: HostId(1),
        relay: None,
        start: Time::ZERO,
        stop: Time::MAX,
        dscp: sim::Marks::default(),
        media_timeout: None,
        pauses: Vec::new(),
        two_way: false,
        video: Some(video(controller)),
        audio: None,
        sfu: None,
    }
}

/// A voice stream of equal packets: 173 bytes every 20 ms, 213 with the headers of RTP, UDP and IP.
pub fn steady_voice() -> AudioConfig {
    AudioConfig { deviation: 0.0, correlation: 0.0, ..AudioConfig::opus() }
}

/// One call with `controller` over `rate` with 25 ms each way.
pub fn dumbbell(controller: &str, rate: Bitrate, seconds: u64) -> Scenario {
    let host = |name: &str, up| HostConfig {
        name: name.to_owned(),
        access: AccessConfig::Wired { up, down: LineConfig::default() },
    };
    let delay = Duration::from_millis(25);
    Scenario {
        duration: Duration::from_secs(seconds),
        sample_interval: Duration::from_millis(500),
        seed: Seed(1),
        network: NetworkConfig {
            hosts: vec![
                host("alice", line(Some(rate), delay, "droptail limit 350ms")),
                host("bob", line(None, delay, "droptail limit 350ms")),
            ],
            ..NetworkConfig::default()
        },
        stacks: Vec::new(),
        calls: vec![call("main", controller)],
        tcp: Vec::new(),
    }
}

/// `count` users of one server. They arrive one after the other and stay for a third of the run.
/// Each has a call with voice and video from the server, and a download.
pub fn users(count: u16, seconds: u64) -> Scenario {
    let access = |rate| line(Some(rate), Duration::from_millis(10), "droptail limit 200ms");
    let user = |name: &str| HostConfig {
        name: name.to_owned(),
        access: AccessConfig::Wired {
            up: access(Bitrate::from_mbps(1)),
            down: access(Bitrate::from_mbps(2)),
        },
    };
    let server = HostConfig {
        name: "server".to_owned(),
        access: AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() },
    };
    let mut scenario = dumbbell("gcc:libwebrtc", Bitrate::from_mbps(2), seconds);
    scenario.network.hosts = vec![server];
    scenario.calls.clear();
    let life = Duration::from_secs(seconds) / 3;
    for number in 0..count {
        let name = format!("user{number}");
        scenario.network.hosts.push(user(&name));
        let to = HostId(number + 1);
        let start = Time::ZERO + life * 2 * u64::from(number) / u64::from(count);
        let stop = start + life;
        let audio = Some(AudioConfig::opus());
        scenario.calls.push(CallConfig { to, start, stop, audio, ..call(&name, "gcc:libwebrtc") });
        let application = TcpSource::Finite(Bytes::new(500_000)).into();
        let flow = tcp(&name, TcpCongestionControl::Cubic);
        scenario.tcp.push(TcpConfig { to, start, stop, application, ..flow });
    }
    scenario
}

/// A TCP flow from the first host to the second, over the whole run.
pub fn tcp(name: &str, congestion_control: TcpCongestionControl) -> TcpConfig {
    TcpConfig {
        name: name.to_owned(),
        from: HostId(0),
        to: HostId(1),
        start: Time::ZERO,
        stop: Time::MAX,
        application: TcpSource::Endless.into(),
        congestion_control,
        receive_window: Bytes::new(3 << 20),
        ecn: false,
        dscp: net::Dscp::DEFAULT,
        hz: sim::tcp::TimerFrequency::default(),
    }
}

/// Random loss on the caller's uplink.
pub fn with_loss(mut scenario: Scenario, percent: u32) -> Scenario {
    let AccessConfig::Wired { up, .. } = &mut scenario.network.hosts[0].access else {
        panic!("a wired access")
    };
    up.loss = LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(percent)));
    scenario
}

pub fn run(scenario: &Scenario) -> Recording {
    sim::run(scenario, sim::Options::default()).unwrap()
}

/// The last sample of a column.
pub fn last(recording: &Recording, stream: &str, column: &str) -> f64 {
    *recording.stream(stream).unwrap().column(column).unwrap().last().unwrap()
}

/// The mean rate of a byte counter over the second half of the run, in bit/s.
pub fn late_rate(recording: &Recording, stream: &str, column: &str) -> f64 {
    let values = recording.stream(stream).unwrap().column(column).unwrap();
    let half = values.len() / 2;
    let seconds = (values.len() - 1 - half) as f64 * recording.interval.as_secs_f64();
    (values[values.len() - 1] - values[half]) * 8.0 / seconds
}
