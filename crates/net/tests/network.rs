//! What must hold of every network: time, order and accounting.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use net::{
    AccessConfig, Dropped, Events, Flow, HostConfig, HostId, JitterConfig, LineConfig, LossConfig, Network,
    NetworkConfig, Packet, RateConfig, Schedule, Trace,
};
use proptest::prelude::*;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Ratio, Seed, Time};

#[derive(Default)]
struct Log {
    delivered: Vec<(Time, u64)>,
    dropped: Vec<(Time, u64)>,
}

impl Events for Log {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.delivered.push((at, packet.id));
    }
    fn dropped(&mut self, at: Time, dropped: Dropped) {
        self.dropped.push((at, dropped.packet.id));
    }
}

fn network(up: LineConfig, down: LineConfig, seed: u64) -> Network {
    let host =
        |name: &str, up, down| HostConfig { name: name.into(), access: AccessConfig::Wired { up, down } };
    let hosts = vec![host("alice", up, LineConfig::default()), host("bob", LineConfig::default(), down)];
    Network::new(&NetworkConfig { hosts, ..NetworkConfig::default() }, Seed(seed)).unwrap()
}

fn packet(id: u64, size: u64) -> Packet {
    let flow = Flow { src: HostId(0), dst: HostId(1), ..Flow::default() };
    Packet { id, size: Bytes::new(size), flow, ..Packet::default() }
}

/// Sends packets at given times and runs until nothing is due.
fn run(network: &mut Network, packets: impl IntoIterator<Item = (Time, Packet)>) -> Log {
    let mut log = Log::default();
    for (at, packet) in packets {
        while let Some(due) = network.next_wake().filter(|&due| due <= at) {
            network.advance(due, &mut log);
        }
        network.send(at, packet, &mut log);
    }
    while let Some(due) = network.next_wake() {
        network.advance(due, &mut log);
    }
    log
}

fn limited(rate: Bitrate) -> LineConfig {
    LineConfig { rate: RateConfig::Scheduled(Schedule::constant(rate)), ..LineConfig::default() }
}

fn paced(count: u64, every: Duration, size: u64) -> impl Iterator<Item = (Time, Packet)> {
    (0..count).map(move |id| (Time::ZERO + every * id, packet(id, size)))
}

#[test]
fn a_zero_rate_link_delivers_nothing_and_resumes_when_the_rate_returns() {
    let steps = vec![
        (Time::ZERO, Bitrate::from_mbps(1)),
        (Time::from_millis(15), Bitrate::ZERO),
        (Time::from_secs(5), Bitrate::from_mbps(1)),
    ];
    let up =
        LineConfig { rate: RateConfig::Scheduled(Schedule::steps(steps).unwrap()), ..LineConfig::default() };
    let log = run(&mut network(up, LineConfig::default(), 1), paced(3, Duration::ZERO, 1250));
    let times: Vec<u64> = log.delivered.iter().map(|(at, _)| at.as_millis()).collect();
    assert_eq!(
        times,
        [10, 5005, 5015],
        "the second is half sent when the rate goes, and goes on with its other half"
    );
}

#[test]
fn a_rate_that_stays_zero_is_not_an_endless_loop() {
    let up = limited(Bitrate::ZERO);
    let mut network = network(up, LineConfig::default(), 1);
    let log = run(&mut network, paced(3, Duration::ZERO, 1250));
    assert!(log.delivered.is_empty());
    assert_eq!(network.accounting().held.packets, 3);
}

#[test]
fn at_ninety_percent_load_nothing_is_lost_whatever_the_propagation_delay() {
    for delay in [0, 20, 200, 2000] {
        let up = LineConfig {
            delay: Schedule::constant(Duration::from_millis(delay)),
            queue: "bfifo limit 20kB".parse().unwrap(),
            ..limited(Bitrate::from_mbps(1))
        };
        // 1250 B every 11.111 ms are 90 % of 1 Mbit/s.
        let log = run(
            &mut network(up, LineConfig::default(), 1),
            paced(1000, Duration::from_nanos(11_111_111), 1250),
        );
        assert_eq!((log.delivered.len(), log.dropped.len()), (1000, 0), "{delay} ms");
    }
}

#[test]
fn the_first_packet_pays_its_serialisation() {
    let log = run(
        &mut network(limited(Bitrate::from_kbps(100)), LineConfig::default(), 1),
        [(Time::ZERO, packet(0, 1250))],
    );
    assert_eq!(log.delivered, [(Time::from_millis(100), 0)]);
}

#[test]
fn the_long_run_rate_is_exact() {
    let up = limited(Bitrate::from_bps(999_999));
    let log =
        run(&mut network(up, LineConfig::default(), 1), (0..10_000).map(|id| (Time::ZERO, packet(id, 1200))));
    let seconds = log.delivered[9_999].0.as_secs_f64();
    let exact = 10_000.0 * 1200.0 * 8.0 / 999_999.0;
    assert!((seconds - exact).abs() < 2e-5, "{seconds} for {exact}");
}

#[test]
fn random_elements_elsewhere_leave_every_other_draw_unchanged() {
    let lossy = |jitter| LineConfig {
        loss: LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(10))),
        jitter,
        ..LineConfig::default()
    };
    let lost = |down: LineConfig| {
        let log =
            run(&mut network(lossy(JitterConfig::None), down, 7), paced(1000, Duration::from_millis(1), 100));
        log.dropped.iter().map(|&(_, id)| id).collect::<Vec<_>>()
    };
    let plain = lost(LineConfig::default());
    assert!(plain.len() > 50);
    assert_eq!(
        plain,
        lost(LineConfig {
            jitter: JitterConfig::Exponential(Duration::from_millis(3)),
            ..LineConfig::default()
        })
    );
    let both = lost(lossy(JitterConfig::None));
    assert!(plain.iter().all(|id| both.contains(id)), "a second loss only adds to the first");
}

#[test]
fn a_trace_delivers_its_opportunities_and_no_more() {
    let trace = Arc::new(Trace::parse("10\n20\n20\n50\n").unwrap());
    let up = LineConfig { rate: RateConfig::Trace(trace), ..LineConfig::default() };
    let log =
        run(&mut network(up, LineConfig::default(), 1), (0..6).map(|id| (Time::ZERO, packet(id, 1500))));
    let times: Vec<u64> = log.delivered.iter().map(|(at, _)| at.as_millis()).collect();
    assert_eq!(times, [10, 20, 20, 50, 60, 70]);
}

#[test]
fn small_packets_share_an_opportunity_and_large_ones_take_several() {
    let trace = Arc::new(Trace::parse("10\n20\n30\n").unwrap());
    let up = LineConfig { rate: RateConfig::Trace(trace), ..LineConfig::default() };
    let sizes = [500, 500, 500, 2000, 1000];
    let packets = (0..).zip(sizes).map(|(id, size)| (Time::ZERO, packet(id, size)));
    let log = run(&mut network(up, LineConfig::default(), 1), packets);
    let times: Vec<u64> = log.delivered.iter().map(|(at, _)| at.as_millis()).collect();
    assert_eq!(times, [10, 10, 10, 30, 30]);
}

#[test]
fn the_core_delays_and_does_not_reorder() {
    let host = |name: &str| HostConfig {
        name: name.into(),
        access: AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() },
    };
    let steps =
        vec![(Time::ZERO, Duration::from_millis(50)), (Time::from_millis(10), Duration::from_millis(5))];
    let config = NetworkConfig {
        hosts: vec![host("alice"), host("bob")],
        core_delay: Schedule::steps(steps).unwrap(),
    };
    let mut network = Network::new(&config, Seed(1)).unwrap();
    let log = run(&mut network, paced(3, Duration::from_millis(10), 100));
    let times: Vec<u64> = log.delivered.iter().map(|(at, _)| at.as_millis()).collect();
    assert_eq!(times, [50, 50, 50]);
}

#[test]
fn a_packet_to_a_host_that_is_not_there_is_dropped_and_counted() {
    let mut network = network(LineConfig::default(), LineConfig::default(), 1);
    let mut lost = packet(1, 100);
    lost.flow.dst = HostId(9);
    let log = run(&mut network, [(Time::ZERO, lost)]);
    assert_eq!(log.dropped.len(), 1);
    assert!(network.accounting().balances());
}

#[test]
fn two_hosts_of_one_name_are_refused() {
    let host = || HostConfig {
        name: "alice".into(),
        access: AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() },
    };
    let config = NetworkConfig { hosts: vec![host(), host()], ..NetworkConfig::default() };
    let error = Network::new(&config, Seed(1)).err().unwrap();
    assert_eq!(error.to_string(), "two hosts are called 'alice'; give one another name");
}

fn any_queue() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("unlimited"),
        Just("pfifo limit 3"),
        Just("bfifo limit 4kB"),
        Just("droptail limit 30ms"),
    ]
}

fn any_line() -> impl Strategy<Value = LineConfig> {
    let rate = prop_oneof![
        Just(RateConfig::Unlimited),
        (1u64..5_000).prop_map(|kbps| RateConfig::Scheduled(Schedule::constant(Bitrate::from_kbps(kbps)))),
        (1u64..2_000, 0u64..2_000).prop_map(|(first, second)| {
            let steps = [(0, first), (300, second), (900, 700)];
            let steps = steps.map(|(ms, kbps)| (Time::from_millis(ms), Bitrate::from_kbps(kbps)));
            RateConfig::Scheduled(Schedule::steps(steps.to_vec()).unwrap())
        }),
        Just(RateConfig::Trace(Arc::new(Trace::parse("7\n7\n40\n").unwrap()))),
        Just(RateConfig::Trace(Arc::new(Trace::parse("0 0.5\n0.1 0\n0.3 2\n").unwrap()))),
    ];
    let jitter = prop_oneof![
        Just(JitterConfig::None),
        Just(JitterConfig::Exponential(Duration::from_millis(20))),
        Just(JitterConfig::HalfNormal(Duration::from_millis(5))),
    ];
    let loss = prop_oneof![
        Just(LossConfig::None),
        (0u32..60)
            .prop_map(|percent| LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(percent)))),
        Just(LossConfig::GilbertElliott {
            p: Ratio::from_percent(10),
            r: Ratio::from_percent(30),
            bad_loss: Ratio::ONE,
            good_loss: Ratio::ZERO,
        }),
    ];
    let delay = prop_oneof![
        Just(Schedule::constant(Duration::ZERO)),
        (0u64..300, 0u64..300).prop_map(|(first, second)| {
            let steps = [(0, first), (400, second)];
            Schedule::steps(steps.map(|(at, ms)| (Time::from_millis(at), Duration::from_millis(ms))).to_vec())
                .unwrap()
        }),
    ];
    (rate, jitter, loss, delay, any_queue()).prop_map(|(rate, jitter, loss, delay, queue)| LineConfig {
        rate,
        jitter,
        loss,
        delay,
        queue: queue.parse().unwrap(),
    })
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for_and_none_is_reordered(
        up in any_line(),
        down in any_line(),
        gaps in prop::collection::vec((0u64..30_000, 40u64..1500), 1..200),
        seed in any::<u64>(),
    ) {
        let mut now = Time::ZERO;
        let packets: Vec<(Time, Packet)> = (0..).zip(gaps).map(|(id, (gap, size))| {
            now += Duration::from_micros(gap);
            (now, packet(id, size))
        }).collect();
        let count = packets.len();
        let mut network = network(up, down, seed);
        let mut log = Log::default();
        for (at, packet) in packets {
            while let Some(due) = network.next_wake().filter(|&due| due <= at) {
                network.advance(due, &mut log);
                prop_assert!(network.accounting().balances(), "{:?}", network.accounting());
            }
            network.send(at, packet, &mut log);
            prop_assert!(network.accounting().balances(), "{:?}", network.accounting());
        }
        let mut steps = 0;
        while let Some(due) = network.next_wake() {
            network.advance(due, &mut log);
            steps += 1;
            prop_assert!(steps < 1_000_000, "time does not advance");
        }
        prop_assert_eq!(log.delivered.len() + log.dropped.len(), count);
        prop_assert!(log.delivered.is_sorted_by(|a, b| a.1 < b.1 && a.0 <= b.0), "order");
    }
}
