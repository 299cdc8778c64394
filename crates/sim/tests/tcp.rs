//! TCP over simple networks: throughput, fairness, and comparison with theory.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{last, line, tcp as flow};
use net::{AccessConfig, HostConfig, LineConfig, LossConfig, NetworkConfig, Schedule};
use sim::tcp::{
    MAX_SEGMENT, Reading, TcpApplication, TcpConfig, TcpCongestionControl, TcpPages, TcpSource,
    TcpStack,
};
use sim::{Recording, Scenario};
use units::{Bitrate, Bytes, Duration, Ratio, Seed, Time};

const CONTROLS: [TcpCongestionControl; 3] =
    [TcpCongestionControl::NewReno, TcpCongestionControl::Cubic, TcpCongestionControl::Bbr];

fn network(rate: Option<Bitrate>, rtt: Duration, queue: &str) -> NetworkConfig {
    let host = |name: &str, up| HostConfig {
        name: name.to_owned(),
        access: AccessConfig::Wired { up, down: LineConfig::default() },
    };
    NetworkConfig {
        hosts: vec![
            host("alice", line(rate, rtt / 2, queue)),
            host("bob", line(None, rtt / 2, queue)),
        ],
        ..NetworkConfig::default()
    }
}

fn scenario(network: NetworkConfig, seconds: u64, tcp: Vec<TcpConfig>) -> Scenario {
    Scenario {
        duration: Duration::from_secs(seconds),
        sample_interval: Duration::from_millis(500),
        seed: Seed(1),
        network,
        stacks: Vec::new(),
        calls: Vec::new(),
        tcp,
    }
}

/// The goodput of a flow after second `from`, in bit/s.
fn goodput(recording: &Recording, stream: &str, from: u64) -> f64 {
    let values = recording.stream(stream).unwrap().column("bytesReceived").unwrap();
    let start = 2 * from as usize - 1;
    let seconds = (values.len() - 1 - start) as f64 / 2.0;
    (values.last().unwrap() - values[start]) * 8.0 / seconds
}

#[test]
fn a_lone_flow_fills_its_bottleneck() {
    for control in CONTROLS {
        for mbps in [1, 2, 10] {
            for rtt in [50, 100] {
                let rate = Bitrate::from_mbps(mbps);
                let network =
                    network(Some(rate), Duration::from_millis(rtt), "droptail limit 300ms");
                let recording = common::run(&scenario(network, 60, vec![flow("up", control)]));
                let wire = goodput(&recording, "up.tcp", 10) * 1500.0 / MAX_SEGMENT.get() as f64;
                let share = wire / rate.as_bps_f64();
                assert!(
                    (0.94..=1.001).contains(&share),
                    "{control} at {mbps} Mbit/s and {rtt} ms: {share}"
                );
            }
        }
    }
}

/// Over 200 s the order of a few losses would still decide; shares between 0.44 and 0.54 occur.
#[test]
fn two_flows_share_within_a_tenth() {
    for (mbps, queue) in [(1, "300ms"), (2, "100ms"), (2, "300ms"), (10, "100ms"), (10, "300ms")] {
        for start in [0, 1, 5] {
            let later = TcpConfig {
                start: Time::from_secs(start),
                ..flow("two", TcpCongestionControl::Cubic)
            };
            let queue = format!("droptail limit {queue}");
            let network =
                network(Some(Bitrate::from_mbps(mbps)), Duration::from_millis(50), &queue);
            let one = flow("one", TcpCongestionControl::Cubic);
            let recording = common::run(&scenario(network, 820, vec![one, later]));
            let [one, two] = ["one.tcp", "two.tcp"].map(|stream| goodput(&recording, stream, 20));
            let share = one / (one + two);
            assert!(
                (0.45..=0.55).contains(&share),
                "at {mbps} Mbit/s, {queue}, {start} s later: {share}"
            );
        }
    }
}

/// Mathis, Semke, Mahdavi, Ott (CCR 27(3), 1997): rate = C · MSS / (RTT · √p), where C is 1.31 if
/// losses are random and every segment is acknowledged.
#[test]
fn newreno_obeys_the_square_root_law() {
    for p in [0.001, 0.002, 0.005] {
        let mut network = network(None, Duration::from_millis(100), "droptail limit 300ms");
        let AccessConfig::Wired { up, .. } = &mut network.hosts[0].access else {
            panic!("a wired access")
        };
        up.loss = LossConfig::Bernoulli(Schedule::constant(Ratio::from_f64(p)));
        let flow = flow("up", TcpCongestionControl::NewReno);
        let recording = common::run(&scenario(network, 4_000, vec![flow]));
        let expected = 1.31 * MAX_SEGMENT.bits() as f64 / (0.1 * p.sqrt());
        let ratio = goodput(&recording, "up.tcp", 10) / expected;
        assert!((0.9..=1.1).contains(&ratio), "at a loss of {p}: {ratio}");
    }
}

/// RFC 9438 § 4.2: between two losses the window is C (t − K)³ + W_max. W_max is the window at the
/// loss (less after fast convergence, § 4.7, if the window is below the previous W_max). K is
/// computed from the window after the recovery. All samples in between are compared.
#[test]
fn cubic_follows_its_curve_between_losses() {
    let network =
        network(Some(Bitrate::from_mbps(20)), Duration::from_millis(100), "droptail limit 200ms");
    let mut scenario = scenario(network, 120, vec![flow("up", TcpCongestionControl::Cubic)]);
    scenario.sample_interval = Duration::from_millis(100);
    let recording = common::run(&scenario);
    let stream = recording.stream("up.tcp").unwrap();
    let column = |name: &str| stream.column(name).unwrap();
    let (windows, losses) = (column("congestionWindow"), column("recoveries"));
    let segments = |index: usize| windows[index] / MAX_SEGMENT.get() as f64;
    let found: Vec<usize> =
        (1..losses.len()).filter(|&index| losses[index] > losses[index - 1]).collect();
    let (mut compared, mut w_max) = (0, 0.0);
    for pair in found.windows(2) {
        let peak = (pair[0] - 3..=pair[0]).map(segments).fold(0.0, f64::max);
        w_max = if peak < w_max { peak * (1.0 + 0.7) / 2.0 } else { peak };
        // One second after the loss the recovery has ended.
        let (first, last) = (pair[0] + 10, pair[1] - 2);
        let k = libm::cbrt((w_max - segments(first)) / 0.4);
        for index in first..last {
            let t = (index - first) as f64 * 0.1 - k;
            let curve = 0.4 * t * t * t + w_max;
            let ratio = segments(index) / curve;
            assert!(
                (0.98..=1.02).contains(&ratio),
                "{} s: {ratio} of the curve",
                index as f64 / 10.0
            );
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared} samples in {} rounds", found.len());
}

#[test]
fn an_upload_reports_its_completion() {
    let upload = TcpConfig {
        start: Time::from_secs(5),
        application: TcpSource::Finite(Bytes::new(1_000_000)).into(),
        ..flow("up", TcpCongestionControl::Cubic)
    };
    let cut = TcpConfig { name: "cut".into(), stop: Time::from_secs(6), ..upload.clone() };
    let network =
        network(Some(Bitrate::from_mbps(1)), Duration::from_millis(50), "droptail limit 300ms");
    let recording = common::run(&scenario(network, 60, vec![upload, cut]));
    let bytes = recording.stream("up.tcp").unwrap().column("bytesReceived").unwrap();
    assert_eq!(bytes.iter().copied().rfind(|bytes| !bytes.is_nan()), Some(1_000_000.0));
    assert!(bytes[119].is_nan(), "a completed flow has no samples");
    let event =
        |stream: &str| recording.events.iter().find(|event| event.stream == stream).unwrap();
    // 1 MB takes 8.3 s at 1 Mbit/s with headers; the other flow used the link for up to one second.
    let done = event("up.tcp");
    assert_eq!(done.what, "completed");
    assert!((8.3..9.6).contains(&done.value), "{} s", done.value);
    assert_eq!(done.at, Time::from_secs(5) + Duration::from_secs_f64(done.value));
    let not_done = event("cut.tcp");
    assert_eq!((not_done.what, not_done.at), ("incomplete", Time::from_secs(6)));
    assert!(not_done.value > 0.0 && not_done.value < 200_000.0, "{} bytes", not_done.value);
}

/// During an outage the retransmission timer expires. The sender's reaction is undone when the
/// first transmissions arrive.
#[test]
fn an_outage_costs_little_more_than_its_duration() {
    for control in CONTROLS {
        let mut network = network(None, Duration::from_millis(50), "droptail limit 300ms");
        let AccessConfig::Wired { up, .. } = &mut network.hosts[0].access else {
            panic!("a wired access")
        };
        *up = line(Some(Bitrate::from_mbps(2)), Duration::from_millis(25), "pfifo limit 1000");
        let steps = [(0, 2), (20, 0), (21, 2)];
        let steps = steps.map(|(at, mbps)| (Time::from_secs(at), Bitrate::from_mbps(mbps)));
        up.rate = net::RateConfig::Scheduled(Schedule::steps(steps.to_vec()).unwrap());
        let flow = TcpConfig { receive_window: Bytes::new(60_000), ..flow("up", control) };
        let recording = common::run(&scenario(network, 40, vec![flow]));
        let shown = |column: &str| last(&recording, "up.tcp", column);
        assert!(shown("timeouts") >= 1.0, "{control}");
        assert!(
            shown("retransmittedPacketsSent") <= 6.0,
            "{control}: {}",
            shown("retransmittedPacketsSent")
        );
        assert!(shown("recoveries") <= 1.0, "{control}: {}", shown("recoveries"));
        let bytes = recording.stream("up.tcp").unwrap().column("bytesReceived").unwrap();
        let after = (bytes[79] - bytes[45]) * 8.0 / 17.0;
        assert!(
            after > 0.93 * 2e6 * 1448.0 / 1500.0,
            "{control}: {after} bit/s from 2 s after the outage"
        );
    }
}

#[test]
fn an_on_off_source_pauses() {
    let source = TcpSource::OnOff { on: Duration::from_secs(5), off: Duration::from_secs(5) };
    let application = source.into();
    let mut flow = TcpConfig { application, ..flow("down", TcpCongestionControl::Cubic) };
    (flow.from, flow.to) = (flow.to, flow.from);
    let mut network = network(None, Duration::from_millis(50), "droptail limit 300ms");
    let AccessConfig::Wired { down, .. } = &mut network.hosts[0].access else {
        panic!("a wired access")
    };
    *down = line(Some(Bitrate::from_mbps(2)), Duration::ZERO, "droptail limit 300ms");
    let recording = common::run(&scenario(network, 40, vec![flow]));
    let bytes = recording.stream("down.tcp").unwrap().column("bytesReceived").unwrap();
    let received = |from: usize, to: usize| bytes[2 * to - 1] - bytes[2 * from - 1];
    for period in 1..4 {
        let (on, off) = (10 * period, 10 * period + 5);
        assert!(received(on + 1, off) > 0.9 * 1e6, "on from {on} s: {}", received(on + 1, off));
        assert_eq!(received(off + 1, off + 5), 0.0, "off from {off} s");
    }
}

#[test]
fn small_queues_keep_the_host_queue_short_and_lossless() {
    let run = |tsq: bool, gso: bool| {
        let network = network(
            Some(Bitrate::from_mbps(2)),
            Duration::from_millis(100),
            "droptail limit 300ms",
        );
        let mut scenario = scenario(network, 60, vec![flow("up", TcpCongestionControl::Cubic)]);
        scenario.stacks = vec![TcpStack { tsq, gso, ..TcpStack::default() }];
        common::run(&scenario)
    };
    let queue = |recording: &Recording| {
        let values = recording.stream("alice.up").unwrap().column("queuedBytes").unwrap();
        values[20..].iter().sum::<f64>() / (values.len() - 20) as f64
    };
    let (off, on, bursts) = (run(false, false), run(true, false), run(true, true));
    assert!(queue(&off) > 50_000.0, "without TSQ {} bytes wait", queue(&off));
    assert!(queue(&on) <= 4_500.0, "at most three packets: {}", queue(&on));
    assert!(
        queue(&bursts) > queue(&on) && queue(&bursts) <= 9_000.0,
        "bursts of two: {}",
        queue(&bursts)
    );
    for recording in [&on, &bursts] {
        assert!(last(recording, "up.tcp", "retransmittedPacketsSent") == 0.0);
        let rate = goodput(recording, "up.tcp", 10) * 1500.0 / MAX_SEGMENT.get() as f64;
        assert!(rate > 0.94 * 2e6, "the flow fills the link: {rate}");
    }
}

#[test]
fn a_full_host_queue_reduces_the_window_without_loss() {
    let network =
        network(Some(Bitrate::from_mbps(1)), Duration::from_millis(50), "droptail limit 3000B");
    let mut scenario = scenario(network, 60, vec![flow("up", TcpCongestionControl::Cubic)]);
    scenario.stacks = vec![TcpStack { tsq: true, gso: true, ..TcpStack::default() }];
    let recording = common::run(&scenario);
    assert!(last(&recording, "up.tcp", "localDrops") > 0.0);
    assert_eq!(
        last(&recording, "up.tcp", "retransmittedPacketsSent"),
        0.0,
        "a refused packet is not lost"
    );
    let rate = goodput(&recording, "up.tcp", 10);
    assert!(rate > 0.5e6, "the queue holds two packets, the path 4.2: {rate}");
}

/// Kilinc and Andersson 2014 § 4.1: pages of 100 kB, each read for 2 to 20 s. Over an unlimited
/// path of 100 ms, each page takes the round trips of slow start from the initial window: 10, 20
/// and 40 segments. After such a long pause the window is the initial one again (RFC 2861).
#[test]
fn pages_are_loaded_one_after_the_other() {
    let network = network(None, Duration::from_millis(100), "droptail limit 300ms");
    let reading = Reading::Uniform(Duration::from_secs(2), Duration::from_secs(20));
    let size = (Bytes::new(100_000), Bytes::new(100_000));
    let pages = TcpPages { count: 20, size, reading, reads_first: false };
    let application = TcpApplication::Pages(pages);
    let web = TcpConfig { application, ..flow("web", TcpCongestionControl::NewReno) };
    let recording = common::run(&scenario(network, 500, vec![web]));
    let loaded = recording.stream("web.tcp").unwrap().points("pageLoadTime").unwrap();
    assert_eq!(loaded.len(), 20);
    // The first page also waits for the connection.
    assert!((loaded[0].1 - 0.4).abs() < 0.06, "{}", loaded[0].1);
    for pair in loaded.windows(2) {
        let rest = pair[1].0.saturating_since(pair[0].0).as_secs_f64() - pair[1].1;
        assert!((2.0..=20.0).contains(&rest), "{rest} s of reading");
        // Includes the slow start threshold of the previous pages, and a delayed acknowledgement.
        assert!((pair[1].1 - 0.3).abs() < 0.06, "{} s", pair[1].1);
    }
    let completed: Vec<_> =
        recording.events.iter().filter(|event| event.what == "completed").collect();
    assert_eq!(completed.len(), 1, "the stream ends with the last page");
}
