//! Properties of any network, any packets and any text.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Log, packet, run};
use net::{
    AccessConfig, AccessKind, Aggregation, BearerConfig, Buffer, Change, ChannelAccess,
    ChannelWidth, Direction, DriverOrder, Dscp, Ecn, Fading, FastFading, Field, Filter, Flow,
    GuardInterval, HostConfig, HostId, JitterConfig, LineConfig, LinkId, LossConfig, LteConfig,
    LteTerminal, Match, Network, NetworkConfig, Packet, QueueConfig, RateConfig, RateControl,
    RlcMode, Schedule, Scheduler, Start, Trace, WifiConfig, WifiDevice, WifiStation,
};
use proptest::prelude::*;
use std::sync::Arc;
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Metres, Ratio, Seed, Speed, Time};

/// A tree with classes of every kind, packets outside of the classes, and a leaf that shapes.
const TREE: &str = "tc qdisc add dev x root handle 1: htb default 30
tc class add dev x parent 1: classid 1:1 htb rate 800kbit
tc class add dev x parent 1:1 classid 1:2 htb rate 500kbit ceil 800kbit burst 9000
tc class add dev x parent 1:2 classid 1:10 htb rate 100kbit ceil 300kbit prio 1 quantum 600
tc class add dev x parent 1:2 classid 1:20 htb rate 400kbit ceil 800kbit cburst 4000
tc class add dev x parent 1:1 classid 1:30 htb rate 8bit ceil 700kbit prio 7
tc qdisc add dev x parent 1:10 codel target 2ms interval 10ms
tc qdisc add dev x parent 1:20 handle 20: tbf rate 200kbit burst 2000 limit 5000
tc qdisc add dev x parent 20: handle 21: tbf rate 150kbit burst 1600 latency 90ms
tc qdisc add dev x parent 21: sfq perturb 1
tc filter add dev x parent 1: prio 1 u32 match ip dst 10.0.0.2/32 flowid 1:2
tc filter add dev x parent 1: prio 2 u32 match ip src 10.0.0.3/32 flowid 1:
tc filter add dev x parent 1:2 prio 1 u32 match ip src 10.0.0.1/32 flowid 1:10
tc filter add dev x parent 1:2 prio 2 matchall flowid 1:20";

fn any_queue() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("unlimited"),
        Just("pfifo limit 3"),
        Just("bfifo limit 4kB"),
        Just("droptail limit 30ms"),
        Just("codel limit 20 target 2ms interval 10ms"),
        Just("fq_codel limit 15 flows 4 quantum 300 target 2ms interval 10ms"),
        Just("red limit 9kB min 1kB max 4kB avpkt 1kB burst 3 probability 0.3 adaptive"),
        Just("sfq limit 12 depth 8 divisor 4 perturb 1"),
        Just("cake bandwidth 900kbit rtt 5ms overhead 30 memlimit 9kB"),
        Just("cake unlimited flows lan memlimit 9kB"),
        Just("pie limit 20 target 2ms tupdate 5ms bytemode"),
        Just("dualpi2 limit 20 target 2ms tupdate 5ms alpha 9 beta 90 step_thresh 1ms"),
        Just("tbf rate 300kbit burst 2000 limit 6000 peakrate 2mbit mtu 1600"),
        Just(TREE),
    ]
}

fn any_line() -> impl Strategy<Value = LineConfig> {
    let rate = prop_oneof![
        Just(RateConfig::Unlimited),
        (1u64..5_000)
            .prop_map(|kbps| RateConfig::Scheduled(Schedule::constant(Bitrate::from_kbps(kbps)))),
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
        Just(JitterConfig::HalfNormal {
            deviation: Duration::from_millis(5),
            most: Duration::from_millis(15),
        }),
    ];
    let loss = prop_oneof![
        Just(LossConfig::None),
        (0u32..60).prop_map(|percent| LossConfig::Bernoulli(Schedule::constant(
            Ratio::from_percent(percent)
        ))),
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
            Schedule::steps(
                steps.map(|(at, ms)| (Time::from_millis(at), Duration::from_millis(ms))).to_vec(),
            )
            .unwrap()
        }),
    ];
    let burst = prop::option::of((1u64..9_000).prop_map(Bytes::new));
    let shaper = prop::option::of(any_queue());
    let overhead = (0u64..50).prop_map(Bytes::new);
    (rate, burst, jitter, loss, delay, any_queue(), shaper, overhead).prop_map(
        |(rate, burst, jitter, loss, delay, queue, shaper, overhead)| LineConfig {
            rate,
            burst,
            jitter,
            loss,
            delay,
            queue: queue.parse().unwrap(),
            shaper: shaper.map(|words| words.parse().unwrap()),
            overhead,
        },
    )
}

fn any_device() -> impl Strategy<Value = WifiDevice> {
    let rate = prop_oneof![Just(RateControl::Minstrel), (0u8..8).prop_map(RateControl::Fixed)];
    let words = any_queue().prop_filter("a queue that does not shape", |words| {
        !words.parse::<QueueConfig>().unwrap().shapes()
    });
    let order = prop_oneof![Just(DriverOrder::RoundRobin), Just(DriverOrder::Fifo)];
    let buffer = (words, prop::option::of((1u32..200, order))).prop_map(|(words, driver)| {
        let queue: QueueConfig = words.parse().unwrap();
        match driver {
            None => Buffer::PerStation { queue },
            Some((driver, order)) => Buffer::Shared { queue, driver, order },
        }
    });
    let lifetime = prop::option::of((1u64..600).prop_map(Duration::from_millis));
    (rate, buffer, any::<bool>(), -95i16..-40, 1u8..3, lifetime).prop_map(
        |(rate, buffer, short, noise, streams, msdu_lifetime)| WifiDevice {
            spatial_streams: streams,
            noise: Dbm::new(noise),
            guard_interval: if short { GuardInterval::Short } else { GuardInterval::Long },
            rate,
            buffer,
            msdu_lifetime,
            ..WifiDevice::default()
        },
    )
}

fn any_cell() -> impl Strategy<Value = WifiConfig> {
    let aggregation =
        (1u8..65, 100u64..65_536, 1u64..11, 0u64..4_000).prop_map(|(frames, bytes, ms, amsdu)| {
            Aggregation {
                ampdu_frames: frames,
                ampdu_bytes: Bytes::new(bytes),
                ampdu_duration: Duration::from_millis(ms),
                amsdu_bytes: Bytes::new(amsdu),
            }
        });
    (aggregation, any::<(bool, bool, bool)>(), prop::option::of(1u8..9), any_device()).prop_map(
        |(aggregation, (edca, wide, ccmp), retry_limit, ap)| WifiConfig {
            width: if wide { ChannelWidth::Mhz40 } else { ChannelWidth::Mhz20 },
            access: if edca { ChannelAccess::Edca } else { ChannelAccess::Dcf },
            aggregation,
            retry_limit,
            ccmp,
            ap,
            ..WifiConfig::default()
        },
    )
}

/// A network of one cell, with queues that do not shape.
fn any_lte() -> impl Strategy<Value = LteConfig> {
    let words = || {
        any_queue()
            .prop_filter("a queue that neither shapes nor goes by a rate", |words| {
                let queue = words.parse::<QueueConfig>().unwrap();
                !queue.shapes() && !matches!(queue, QueueConfig::DropTail(_))
            })
            .prop_map(|words| words.parse::<QueueConfig>().unwrap())
    };
    let bearer = || {
        (words(), words(), any::<bool>(), prop::option::of(20u64..300)).prop_filter_map(
            "a buffer that takes a packet",
            |(up, down, acknowledged, discard)| {
                let small =
                    |queue: &QueueConfig| matches!(queue, QueueConfig::Bfifo(limit) if limit.get() < 1500);
                (!small(&up) && !small(&down)).then(|| BearerConfig {
                    rlc: if acknowledged { RlcMode::Acknowledged } else { RlcMode::Unacknowledged },
                    discard_timer: discard.map(Duration::from_millis),
                    up,
                    down,
                    ..BearerConfig::default()
                })
            },
        )
    };
    let fading = prop_oneof![Just(FastFading::None), Just(FastFading::Rayleigh)];
    let dedicated = prop::option::of(1u8..9);
    (bearer(), bearer(), dedicated, fading, any::<(bool, bool)>(), 1u64..80, 0u8..5).prop_map(
        |(default, other, qci, fast_fading, (robin, one), period, harq_retransmissions)| {
            let marked = Match { field: Field::Tos, value: u32::from(Dscp::EF.0) << 2, mask: 0xfc };
            let filter = Filter { prio: 1, ipv6: None, matches: vec![marked], class: 0 };
            let gbr = |qci: u8| (qci < 5).then(|| Bitrate::from_kbps(500));
            let other =
                qci.map(|qci| BearerConfig { qci, gbr: gbr(qci), filters: vec![filter], ..other });
            LteConfig {
                bearers: std::iter::once(default).chain(other).collect(),
                fast_fading,
                scheduler: if robin { Scheduler::RoundRobin } else { Scheduler::default() },
                layers: if one { 1 } else { 2 },
                scheduling_request_period: Duration::from_millis(period),
                harq_retransmissions,
                ..LteConfig::default()
            }
        },
    )
}

/// A wired access or, less often, a station or terminal.
fn any_access() -> impl Strategy<Value = AccessConfig> {
    let station = (any_device(), 0u16..60, 0i16..10).prop_map(|(device, distance, deviation)| {
        let fading =
            Fading { deviation: Decibels::new(deviation), coherence: Duration::from_millis(100) };
        let distance = Metres::new(distance);
        AccessConfig::Wifi(WifiStation {
            cell: 0,
            distance,
            walls: 1,
            shadowing: fading,
            fading,
            device,
        })
    });
    let terminal = (1u16..3_000, 0i16..30, 0u16..130).prop_map(|(distance, obstacles, speed)| {
        let place =
            Start::At { distance: Metres::new(distance), obstacles: Decibels::new(obstacles) };
        AccessConfig::Lte(LteTerminal {
            place,
            speed: Speed::from_kmh(speed),
            ..LteTerminal::default()
        })
    });
    prop_oneof![
        2 => (any_line(), any_line()).prop_map(|(up, down)| AccessConfig::Wired { up, down }),
        1 => station,
        1 => terminal,
    ]
}

/// Three hosts with any accesses and any core delay.
fn any_network() -> impl Strategy<Value = NetworkConfig> {
    let core = prop_oneof![Just(0u64), 1u64..80]
        .prop_map(|ms| Schedule::constant(Duration::from_millis(ms)));
    (prop::collection::vec(any_access(), 3), any_cell(), any_lte(), core).prop_map(
        |(accesses, cell, lte, core_delay)| {
            let host = |(number, access): (u8, AccessConfig)| HostConfig {
                name: format!("host{number}"),
                access,
            };
            NetworkConfig {
                hosts: (0..).zip(accesses).map(host).collect(),
                wifi: vec![cell],
                lte: vec![lte],
                core_delay,
            }
        },
    )
}

/// Packets between any of the hosts and an unknown one, in order of time.
fn any_packets() -> impl Strategy<Value = Vec<(Time, Packet)>> {
    prop::collection::vec((0u64..30_000, 0u64..1500, 0u16..3, 0u16..4), 1..200).prop_map(|items| {
        let mut now = Time::ZERO;
        let numbered = (0..).zip(items).map(|(id, (gap, size, src, dst))| {
            now += Duration::from_micros(gap);
            let flow = Flow { src: HostId(src), dst: HostId(dst), ..Flow::default() };
            // All packets of a flow have the same ECN field: L4S packets overtake other flows only.
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(src + dst) % 4];
            let dscp =
                [Dscp::DEFAULT, Dscp::EF, Dscp::AF41, Dscp(8)][usize::from(src + 2 * dst) % 4];
            (now, Packet { id, flow, ecn, dscp, ..packet(id, size) })
        });
        numbered.collect()
    })
}

fn balances(network: &Network) -> bool {
    let mut links = (0..3)
        .map(HostId)
        .flat_map(|host| Direction::ALL.map(|direction| LinkId { host, direction }));
    network.accounting().balances() && links.all(|link| network.accounting_at(link).balances())
}

/// Runs until nothing is due. Checks that every packet was delivered or dropped, that time did not
/// go back, and that no flow was reordered.
fn run_out(
    config: &NetworkConfig,
    network: &mut Network,
    log: &mut Log,
    packets: &[(Time, Packet)],
) -> Result<(), TestCaseError> {
    let mut steps = 0;
    while let Some(due) = network.next_wake() {
        network.advance(due, log);
        steps += 1;
        prop_assert!(steps < 1_000_000, "time does not advance");
    }
    prop_assert!(balances(network));
    prop_assert_eq!(log.delivered.len() + log.dropped.len(), packets.len());
    prop_assert!(log.delivered.is_sorted_by_key(|&(at, _)| at), "time does not go back");
    for (src, dst) in (0..9).map(|pair| (HostId(pair / 3), HostId(pair % 3))) {
        let packet = |id: u64| packets[usize::try_from(id).unwrap()].1;
        let of_pair = |id: u64| packet(id).flow;
        // An earlier queue may mark ECT(0); a dualpi2 then treats the packet as L4S, so that it
        // overtakes its own flow (RFC 9332 § 2.3).
        let down = match &config.hosts[usize::from(dst.0)].access {
            AccessConfig::Wired { down, .. } => &down.queue,
            AccessConfig::Wifi(_) => config.wifi[0].ap.buffer.queue(),
            AccessConfig::Lte(_) => &config.lte[0].bearers[0].down,
        };
        let is_moved =
            |id: u64| packet(id).ecn == Ecn::Ect0 && matches!(down, QueueConfig::DualPi2(_));
        let ids = log.delivered.iter().map(|&(_, id)| id);
        let ids =
            ids.filter(|&id| of_pair(id).src == src && of_pair(id).dst == dst && !is_moved(id));
        prop_assert!(ids.is_sorted(), "{src:?} to {dst:?}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_packet_and_byte_is_accounted_for_and_no_flow_is_reordered(
        config in any_network(),
        packets in any_packets(),
        seed in any::<u64>(),
    ) {
        let mut network = Network::new(&config, Seed(seed)).unwrap();
        let mut log = Log::default();
        for &(at, packet) in &packets {
            while let Some(due) = network.next_wake().filter(|&due| due <= at) {
                network.advance(due, &mut log);
                prop_assert!(balances(&network), "{:?}", network.accounting());
            }
            network.send(at, packet, &mut log);
            prop_assert!(balances(&network), "{:?}", network.accounting());
        }
        run_out(&config, &mut network, &mut log, &packets)?;
    }

    #[test]
    fn changes_neither_lose_nor_reorder_packets(
        config in any_network(),
        packets in any_packets(),
        changes in prop::collection::vec((0usize..200, 0u16..3, any::<bool>(), any_line()), 0..12),
    ) {
        let mut network = Network::new(&config, Seed(1)).unwrap();
        let mut log = Log::default();
        for (index, &(at, packet)) in packets.iter().enumerate() {
            network.send(at, packet, &mut log);
            let due = changes.iter().filter(|(when, host, ..)| *when == index && network.access_kind(HostId(*host)) == AccessKind::Wired);
            for (_, host, up, line) in due.collect::<Vec<_>>() {
                let link = LinkId { host: HostId(*host), direction: if *up { Direction::Up } else { Direction::Down } };
                network.change(at, link, Change::Rate(line.rate.clone()), &mut log);
                network.change(at, link, Change::Delay(line.delay.at(at)), &mut log);
                network.change(at, link, Change::Loss(line.loss.clone()), &mut log);
                prop_assert!(balances(&network), "{:?}", network.accounting());
            }
        }
        run_out(&config, &mut network, &mut log, &packets)?;
    }

    /// An emulator may be late: events and their times are as if it had been on time.
    #[test]
    fn the_number_of_wake_ups_changes_nothing(
        config in any_network(),
        packets in any_packets(),
        seed in any::<u64>(),
    ) {
        let often = run(&mut Network::new(&config, Seed(seed)).unwrap(), packets.clone());
        let mut network = Network::new(&config, Seed(seed)).unwrap();
        let mut seldom = Log::default();
        for (at, packet) in packets {
            network.send(at, packet, &mut seldom);
        }
        network.advance(Time::from_secs(1_000_000), &mut seldom);
        prop_assert_eq!(often, seldom);
    }

    #[test]
    fn parsers_never_panic(text in "[-0-9a-z ,.#\r\n\u{feff}]{0,60}") {
        if let Ok(trace) = Trace::parse(&text) {
            prop_assert!(trace.mean_rate() >= Bitrate::ZERO && trace.period() > Duration::ZERO);
        }
        let _ = text.parse::<QueueConfig>();
    }

    #[test]
    fn a_mahimahi_trace_reads_back(mut stamps in prop::collection::vec(0u64..5_000, 1..100)) {
        stamps.sort_unstable();
        stamps.push(5_000);
        let text: String = stamps.iter().map(|ms| format!("{ms}\n")).collect();
        let trace = Trace::parse(&text).unwrap();
        prop_assert_eq!(Trace::parse(&trace.to_mahimahi()).unwrap(), trace);
    }

    #[test]
    fn a_queue_reads_back(amount in 1u64..1_000_000_000_000, kind in 0..3) {
        let config = match kind {
            0 => QueueConfig::Pfifo(amount),
            1 => QueueConfig::Bfifo(Bytes::new(amount)),
            _ => QueueConfig::DropTail(Duration::from_nanos(amount)),
        };
        prop_assert_eq!(config.to_string().parse::<QueueConfig>(), Ok(config.clone()));
    }
}
