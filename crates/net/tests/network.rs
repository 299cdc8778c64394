//! Time, order and rate: properties of every network.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Log, packet, run};
use net::{
    AccessConfig, Count, Direction, DropReason, Flow, HostConfig, HostId, JitterConfig, LineConfig,
    LinkId, LossConfig, Network, NetworkConfig, Packet, RateConfig, Schedule, Shape, Trace,
};
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Ratio, Seed, Time};

fn network(up: LineConfig, down: LineConfig, seed: u64) -> Network {
    let host = |name: &str, up, down| HostConfig {
        name: name.into(),
        access: AccessConfig::Wired { up, down },
    };
    let hosts =
        vec![host("alice", up, LineConfig::default()), host("bob", LineConfig::default(), down)];
    Network::new(&NetworkConfig { hosts, ..NetworkConfig::default() }, Seed(seed)).unwrap()
}

fn limited(rate: Bitrate) -> LineConfig {
    LineConfig { rate: RateConfig::Scheduled(Schedule::constant(rate)), ..LineConfig::default() }
}

fn paced(count: u64, every: Duration, size: u64) -> impl Iterator<Item = (Time, Packet)> {
    (0..count).map(move |id| (Time::ZERO + every * id, packet(id, size)))
}

/// The times of delivery, in milliseconds.
fn millis(log: &Log) -> Vec<u64> {
    log.delivered.iter().map(|(at, _)| at.as_millis()).collect()
}

#[test]
fn a_link_of_rate_zero_delivers_nothing_and_resumes_when_the_rate_rises() {
    let steps = vec![
        (Time::ZERO, Bitrate::from_mbps(1)),
        (Time::from_millis(15), Bitrate::ZERO),
        (Time::from_secs(5), Bitrate::from_mbps(1)),
    ];
    let up = LineConfig {
        rate: RateConfig::Scheduled(Schedule::steps(steps).unwrap()),
        ..LineConfig::default()
    };
    let log = run(&mut network(up, LineConfig::default(), 1), paced(3, Duration::ZERO, 1250));
    assert_eq!(
        millis(&log),
        [10, 5005, 5015],
        "the second is half sent when the rate goes, and goes on with its other half"
    );
}

#[test]
fn a_rate_that_stays_zero_does_not_loop() {
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
        // 1250 B per 11.111 ms are 90 % of 1 Mbit/s.
        let log = run(
            &mut network(up, LineConfig::default(), 1),
            paced(1000, Duration::from_nanos(11_111_111), 1250),
        );
        assert_eq!((log.delivered.len(), log.dropped.len()), (1000, 0), "{delay} ms");
    }
}

#[test]
fn the_first_packet_takes_its_serialisation_time() {
    let log = run(
        &mut network(limited(Bitrate::from_kbps(100)), LineConfig::default(), 1),
        [(Time::ZERO, packet(0, 1250))],
    );
    assert_eq!(log.delivered, [(Time::from_millis(100), 0)]);
}

#[test]
fn the_long_run_rate_is_exact() {
    let up = limited(Bitrate::from_bps(999_999));
    let log = run(
        &mut network(up, LineConfig::default(), 1),
        (0..10_000).map(|id| (Time::ZERO, packet(id, 1200))),
    );
    // 10,000 packets of 9600 bits, exact to the nanosecond: rounding errors do not accumulate.
    let exact = (10_000 * 9600 * 1_000_000_000_u64).div_ceil(999_999);
    assert_eq!(log.delivered[9_999].0, Time::from_nanos(exact));
}

/// A line with a token bucket against the discipline tbf on a line without a limit.
#[test]
fn a_token_bucket_of_the_line_is_tc_tbf() {
    let tbf = LineConfig {
        queue: "tbf rate 1mbit burst 15400 limit 18750".parse().unwrap(),
        ..LineConfig::default()
    };
    let bucket = |queue: &str| LineConfig {
        burst: Some(Bytes::new(15_400)),
        queue: queue.parse().unwrap(),
        ..limited(Bitrate::from_mbps(1))
    };
    // 200 ms without packets, then as many as 1.5 times the rate, in bursts.
    let load = || {
        let at = |id: u64| Time::from_millis(id / 10 * 50 + if id > 300 { 200 } else { 0 });
        (0..1_000).map(move |id| (at(id), packet(id, 400 + id * 37 % 1_000)))
    };
    let of = |up| {
        let log = run(&mut network(up, LineConfig::default(), 1), load());
        (log.delivered, log.dropped.len())
    };
    let (delivered, dropped) = of(tbf);
    assert!(dropped > 50 && delivered.len() > 500, "{dropped} of {}", delivered.len());
    assert_eq!(of(bucket("bfifo limit 18750")), (delivered.clone(), dropped));
    assert_eq!(of(bucket("droptail limit 150ms")), (delivered, dropped));
    // A discipline that cannot tell the next packet's size keeps the rate too.
    let (codel, _) = of(bucket("codel limit 20"));
    assert!(codel.len() > 500);
}

/// A line of 1 Mbit/s with 100 kB of buffer, and a shaper in the device beside it.
fn shaped(shaper: Option<&str>) -> LineConfig {
    LineConfig {
        queue: "bfifo limit 100000".parse().unwrap(),
        shaper: shaper.map(|words| words.parse().unwrap()),
        ..limited(Bitrate::from_mbps(1))
    }
}

/// Twice the rate of the line for two seconds.
fn overload() -> impl Iterator<Item = (Time, Packet)> {
    paced(400, Duration::from_millis(5), 1_250)
}

#[test]
fn a_queue_before_the_modem_does_nothing_unless_it_shapes() {
    let of = |up| run(&mut network(up, LineConfig::default(), 1), overload());
    let plain = of(shaped(None));
    assert!(plain.dropped.len() > 20, "{}", plain.dropped.len());
    assert_eq!(of(shaped(Some("bfifo limit 3000"))), plain);
    assert_eq!(of(shaped(Some("fq_codel"))), plain);
}

#[test]
fn a_shaper_in_front_of_a_line_keeps_its_queue_empty_and_one_behind_it_does_not() {
    // 16 kB at 0.95 Mbit/s are 135 ms; 100 kB at 1 Mbit/s are 800 ms.
    let shaper = Some("tbf rate 950kbit burst 1600 limit 16000");
    let longest = |up, down| {
        let log = run(&mut network(up, down, 1), overload());
        let times: Vec<Time> = log.delivered.iter().map(|(at, _)| *at).collect();
        let span = times[times.len() - 1].saturating_since(times[0]).as_secs_f64();
        let rate = (times.len() - 1) as f64 * 10_000.0 / span;
        assert!((945e3..955e3).contains(&rate), "{rate}");
        let delays = log.delivered.iter().map(|(at, id)| at.as_millis() - 5 * id);
        delays.max().unwrap()
    };
    let up = longest(shaped(shaper), LineConfig::default());
    assert!((120..160).contains(&up), "{up}");
    // What comes down has passed the line before: a sender that does not slow down fills both.
    let down = longest(LineConfig::default(), shaped(shaper));
    assert!((900..960).contains(&down), "{down}");
}

#[test]
fn what_a_line_adds_to_each_packet_takes_time_but_counts_in_no_record() {
    let of = |overhead| {
        let up = LineConfig { overhead: Bytes::new(overhead), ..limited(Bitrate::from_mbps(1)) };
        let mut network = network(up, LineConfig::default(), 1);
        let log = run(&mut network, paced(4, Duration::ZERO, 1_250));
        let line = network.line(HostId(0), Direction::Up);
        (millis(&log), line.accounting().left.bytes)
    };
    assert_eq!(of(0), (vec![10, 20, 30, 40], Bytes::new(5_000)));
    assert_eq!(of(125), (vec![11, 22, 33, 44], Bytes::new(5_000)));
}

#[test]
fn random_elements_elsewhere_leave_every_other_draw_unchanged() {
    let lossy = |jitter| LineConfig {
        loss: LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(10))),
        jitter,
        ..LineConfig::default()
    };
    let lost = |down: LineConfig| {
        let log = run(
            &mut network(lossy(JitterConfig::None), down, 7),
            paced(1000, Duration::from_millis(1), 100),
        );
        log.dropped.iter().map(|&(_, id, _)| id).collect::<Vec<_>>()
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
    assert!(plain.iter().all(|id| both.contains(id)), "a second loss element only adds losses");
}

#[test]
fn a_random_element_on_one_flow_does_not_change_another_flow() {
    let lossy = LineConfig {
        loss: LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(10))),
        jitter: JitterConfig::Uniform(Duration::from_millis(4)),
        ..limited(Bitrate::from_mbps(2))
    };
    let first_flow = |other: &LineConfig| {
        let host = |name: &str, up: &LineConfig| HostConfig {
            name: name.into(),
            access: AccessConfig::Wired { up: up.clone(), down: LineConfig::default() },
        };
        let hosts = vec![
            host("alice", &lossy),
            host("bob", &LineConfig::default()),
            host("carol", other),
            host("dave", &LineConfig::default()),
        ];
        let mut network =
            Network::new(&NetworkConfig { hosts, ..NetworkConfig::default() }, Seed(7)).unwrap();
        let both = paced(1000, Duration::from_millis(1), 100).flat_map(|(at, mine)| {
            let flow = Flow { src: HostId(2), dst: HostId(3), ..Flow::default() };
            [(at, mine), (at, Packet { id: mine.id + 5000, flow, ..mine })]
        });
        let mut log = run(&mut network, both);
        log.delivered.retain(|&(_, id)| id < 5000);
        log.delivered
    };
    let alone = first_flow(&LineConfig::default());
    assert!(alone.len() < 950);
    assert_eq!(alone, first_flow(&lossy));
}

#[test]
fn a_trace_delivers_exactly_its_opportunities() {
    let trace = Arc::new(Trace::parse("10\n20\n20\n50\n").unwrap());
    let up = LineConfig { rate: RateConfig::Trace(trace), ..LineConfig::default() };
    let log = run(
        &mut network(up, LineConfig::default(), 1),
        (0..6).map(|id| (Time::ZERO, packet(id, 1500))),
    );
    assert_eq!(millis(&log), [10, 20, 20, 50, 60, 70]);
}

#[test]
fn small_packets_share_an_opportunity_and_large_ones_take_several() {
    let trace = Arc::new(Trace::parse("10\n20\n30\n").unwrap());
    let up = LineConfig { rate: RateConfig::Trace(trace), ..LineConfig::default() };
    let sizes = [500, 500, 500, 2000, 1000];
    let packets = (0..).zip(sizes).map(|(id, size)| (Time::ZERO, packet(id, size)));
    let log = run(&mut network(up, LineConfig::default(), 1), packets);
    assert_eq!(millis(&log), [10, 10, 10, 30, 30]);
}

#[test]
fn the_rest_of_an_opportunity_is_lost_if_no_packet_waits() {
    let trace = Arc::new(Trace::parse("10\n20\n30\n").unwrap());
    let up = LineConfig { rate: RateConfig::Trace(trace), ..LineConfig::default() };
    let at = Time::from_millis;
    // The second packet arrives at the instant of the first one's opportunity, the third after two
    // unused opportunities.
    let packets = [(at(5), packet(0, 100)), (at(10), packet(1, 100)), (at(45), packet(2, 1500))];
    let log = run(&mut network(up, LineConfig::default(), 1), packets);
    assert_eq!(millis(&log), [10, 20, 50]);
}

#[test]
fn jitter_and_a_falling_delay_do_not_reorder() {
    let delay = Schedule::constant(Duration::from_millis(300)).with_ramp(
        Time::ZERO,
        Duration::ZERO,
        Duration::from_millis(200),
        Duration::from_millis(10),
        Shape::Linear,
    );
    let jitter = JitterConfig::Exponential(Duration::from_millis(20));
    let up = LineConfig { delay, jitter, ..LineConfig::default() };
    let log =
        run(&mut network(up, LineConfig::default(), 1), paced(1000, Duration::from_millis(1), 100));
    assert_eq!(log.delivered.len(), 1000);
    assert!(log.delivered.is_sorted());
}

#[test]
fn a_limit_in_time_follows_the_rate_and_starts_with_the_first_rate_above_zero() {
    // 100 ms are 12.5 kB at 1 Mbit/s and 25 kB at 2 Mbit/s: 10 and 20 waiting packets.
    let accepted = |steps: &[(u64, u64)], at: u64| {
        let steps =
            steps.iter().map(|&(ms, mbps)| (Time::from_millis(ms), Bitrate::from_mbps(mbps)));
        let rate = RateConfig::Scheduled(Schedule::steps(steps.collect()).unwrap());
        let up = LineConfig {
            rate,
            queue: "droptail limit 100ms".parse().unwrap(),
            ..LineConfig::default()
        };
        let mut network = network(up, LineConfig::default(), 1);
        let log = run(&mut network, (0..30).map(|id| (Time::from_millis(at), packet(id, 1250))));
        assert!(log.dropped.iter().all(|&(.., reason)| reason == DropReason::QueueFull));
        log.delivered.len()
    };
    assert_eq!(accepted(&[(0, 1)], 0), 11, "ten that wait and the one in transmission");
    assert_eq!(accepted(&[(0, 1), (50, 2)], 60), 21);
    assert_eq!(
        accepted(&[(0, 0), (50, 2)], 0),
        21,
        "before the first rate the limit is that of the first"
    );
}

#[test]
fn a_line_shows_its_queue_and_sojourn_times() {
    let up = LineConfig {
        loss: LossConfig::Bernoulli(
            Schedule::steps(vec![(Time::ZERO, Ratio::ZERO), (Time::from_secs(1), Ratio::ONE)])
                .unwrap(),
        ),
        queue: "pfifo limit 2".parse().unwrap(),
        ..limited(Bitrate::from_mbps(1))
    };
    let mut network = network(up, LineConfig::default(), 1);
    let mut log = Log::default();
    for id in 0..4 {
        network.send(Time::ZERO, packet(id, 1250), &mut log);
    }
    network.advance(Time::from_millis(12), &mut log);
    let line = network.line(HostId(0), Direction::Up);
    assert_eq!(line.queued(), Count { packets: 1, bytes: Bytes::new(1250) });
    assert_eq!(line.rate(Time::ZERO), Some(Bitrate::from_mbps(1)));
    assert_eq!(line.head_sojourn(Time::from_millis(12)), Duration::from_millis(12));
    assert_eq!(line.last_sojourn(), Duration::from_millis(10));
    assert_eq!(line.dropped(DropReason::QueueFull).packets, 1);
    let link = LinkId { host: HostId(0), direction: Direction::Up };
    assert_eq!(
        log.departed,
        [
            (Time::ZERO, link, 0, Duration::ZERO),
            (Time::from_millis(10), link, 1, Duration::from_millis(10))
        ]
    );
    network.send(Time::from_secs(1), packet(4, 100), &mut log);
    let line = network.line(HostId(0), Direction::Up);
    assert_eq!(line.dropped(DropReason::RandomLoss), Count { packets: 1, bytes: Bytes::new(100) });
    assert_eq!(line.queued(), Count::default());
    assert_eq!((log.delivered.len(), log.dropped.len()), (3, 2));
}

#[test]
fn the_core_delays_and_does_not_reorder() {
    let host = |name: &str| HostConfig {
        name: name.into(),
        access: AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() },
    };
    let steps = vec![
        (Time::ZERO, Duration::from_millis(50)),
        (Time::from_millis(10), Duration::from_millis(5)),
    ];
    let config = NetworkConfig {
        hosts: vec![host("alice"), host("bob")],
        core_delay: Schedule::steps(steps).unwrap(),
        ..NetworkConfig::default()
    };
    let mut network = Network::new(&config, Seed(1)).unwrap();
    let log = run(&mut network, paced(3, Duration::from_millis(10), 100));
    assert_eq!(millis(&log), [50, 50, 50]);
}

#[test]
fn a_packet_to_an_unknown_host_is_dropped_and_counted() {
    let mut network = network(LineConfig::default(), LineConfig::default(), 1);
    let mut lost = packet(1, 100);
    lost.flow.dst = HostId(9);
    let log = run(&mut network, [(Time::ZERO, lost)]);
    assert_eq!(log.dropped.len(), 1);
    assert!(network.accounting().balances());
}

#[test]
fn two_hosts_with_the_same_name_are_refused() {
    let host = || HostConfig {
        name: "alice".into(),
        access: AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() },
    };
    let config = NetworkConfig { hosts: vec![host(), host()], ..NetworkConfig::default() };
    let error = Network::new(&config, Seed(1)).err().unwrap();
    assert_eq!(error.to_string(), "two hosts are called 'alice'; give one another name");
}
