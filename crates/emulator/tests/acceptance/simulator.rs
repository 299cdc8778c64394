//! The same packets in real time and in virtual time.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{Log, NullObserver, Rig, SEED, Seen, id, line, pairs, settle};
use crate::common::stats::{median, p99, quantile};
use crate::common::traffic::{Burst, Receiver, delays, machine_is_late, send, through};
use crate::exclusive;
use crate::timing::{MAX_MEDIAN, MAX_P99};
use net::{
    AccessConfig, Aggregation, BearerConfig, Buffer, ChannelAccess, DriverOrder, Dropped, Events,
    Fading, Field, Filter, Flow, LineConfig, LossConfig, LteConfig, LteTerminal, Match, Network,
    NetworkConfig, Packet, QueueConfig, RateControl, Schedule, Start, WifiConfig, WifiDevice,
    WifiStation,
};
use rustix::net::sockopt::set_ip_tos;
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Metres, Ratio, Speed, Stream, Time};

/// The traffic class of expedited forwarding (DSCP 46), as a byte.
const EF: u8 = 46 << 2;

/// When the model delivered which packet.
#[derive(Default)]
struct Delivered(Vec<(Time, u64)>);

impl Events for Delivered {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.0.push((at, packet.id));
    }
    fn dropped(&mut self, _: Time, _: Dropped) {}
}

/// Passes packets through a new network in virtual time. Returns when each arrived, and its index
/// in the list.
fn simulate(
    config: &NetworkConfig,
    packets: impl IntoIterator<Item = (Time, Packet)>,
) -> Vec<(Time, u64)> {
    let mut network = Network::new(config, SEED).unwrap();
    let mut delivered = Delivered::default();
    for (number, (at, packet)) in (0..).zip(packets) {
        network.send(at, Packet { id: number, sent: at, ..packet }, &mut delivered);
    }
    while let Some(due) = network.next_wake() {
        network.advance(due, &mut delivered);
    }
    delivered.0
}

/// One class for expedited forwarding, one for all other packets.
const HTB: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1500kbit ceil 2mbit prio 0
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 3500kbit ceil 5mbit prio 1
tc qdisc add dev eth0 parent 1:10 handle 10: bfifo limit 15000
tc qdisc add dev eth0 parent 1:20 handle 20: pfifo limit 20
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10";

/// About 6.4 Mbit/s are sent over each line.
fn lines() -> Vec<(&'static str, LineConfig)> {
    let queues = ["bfifo limit 30000", "droptail limit 50ms", "codel", "fq_codel", "pie"];
    let limited =
        |queue: &str| LineConfig { queue: queue.parse().unwrap(), ..line(Bitrate::from_mbps(5)) };
    let mut lines: Vec<_> = queues.into_iter().map(|queue| (queue, limited(queue))).collect();
    lines.push(("htb", LineConfig { queue: HTB.parse().unwrap(), ..LineConfig::default() }));
    let loss = LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(3)));
    lines.push(("loss", LineConfig { loss, ..line(Bitrate::from_mbps(10)) }));
    lines
}

/// One packet of random size per millisecond, with random jitter, from two sockets in random order.
fn random_plan(stream: &mut Stream, packets: u64) -> Vec<Burst> {
    let mut below = |bound: u64| stream.below(bound);
    (0..packets)
        .map(|nth| Burst {
            at: Duration::from_micros(nth * 1_000 + below(900)),
            socket: usize::from(below(3) == 0),
            packets: 1,
            size: 400 + below(800) as usize,
        })
        .collect()
}

/// With the times at which packets entered the loop as input, the model does the same with each
/// packet in virtual time. The only difference is the lateness of the loop.
#[test]
fn the_same_entry_times_give_the_same_run() {
    let Some(_lock) = exclusive() else { return };
    for (name, line) in lines() {
        attempts(name, || compare_entries(&pairs(std::slice::from_ref(&line))));
    }
    attempts("wifi", || compare_entries(&wifi()));
    attempts("lte", || compare_entries(&lte()));
}

/// Alice is at the edge of an LTE cell, walks, and has a bearer for EF. Bob has a wired access.
fn lte() -> NetworkConfig {
    let mut config = pairs(&[LineConfig::default()]);
    let position = Start::At { distance: Metres::new(1_500), obstacles: Decibels::ZERO };
    let terminal =
        LteTerminal { place: position, speed: Speed::from_kmh(3), ..LteTerminal::default() };
    config.hosts[0].access = AccessConfig::Lte(terminal);
    let up: QueueConfig = "pfifo limit 20".parse().unwrap();
    let marked = Match { field: Field::Tos, value: EF.into(), mask: 0xfc };
    let filters = vec![Filter { prio: 1, ipv6: None, matches: vec![marked], class: 1 }];
    let default = BearerConfig { up, ..BearerConfig::default() };
    let voice =
        BearerConfig { qci: 1, gbr: Some(Bitrate::from_kbps(64)), filters, ..default.clone() };
    config.lte = vec![LteConfig { bearers: vec![default, voice], ..LteConfig::default() }];
    config
}

/// Alice is on Wi-Fi with EDCA, at a low rate and with noise. Bob has a wired access.
fn wifi() -> NetworkConfig {
    let mut config = pairs(&[LineConfig::default()]);
    let (queue, order) = ("pfifo limit 20".parse().unwrap(), DriverOrder::Fifo);
    let buffer = Buffer::Shared { queue, driver: 10, order };
    let device = WifiDevice {
        rate: RateControl::Fixed(0),
        noise: Dbm::new(-64),
        buffer,
        ..WifiDevice::default()
    };
    let fading = Fading { deviation: Decibels::new(2), coherence: Duration::from_millis(50) };
    let station =
        WifiStation { distance: Metres::new(10), walls: 2, fading, ..WifiStation::default() };
    config.hosts[0].access = AccessConfig::Wifi(WifiStation { device: device.clone(), ..station });
    let aggregation = Aggregation { ampdu_frames: 4, ..Aggregation::default() };
    let access = ChannelAccess::Edca;
    config.wifi = vec![WifiConfig {
        access,
        aggregation,
        retry_limit: Some(3),
        ap: device,
        ..WifiConfig::default()
    }];
    config
}

fn compare_entries(config: &NetworkConfig) -> Findings {
    const PACKETS: u64 = 1_000;
    let plan = random_plan(&mut SEED.stream("plan"), PACKETS);
    let rig = Rig::start(config, Log::of(4_000));
    let senders = [rig.sender(0, 1), rig.sender(0, 1)];
    set_ip_tos(&senders[1], EF).unwrap();
    let receiver = Receiver::start(vec![rig.receiver(1)]);
    send(&senders, &plan);
    settle(450);
    let (report, log) = rig.finish();
    let received = receiver.finish().len();
    let model = simulate(config, log.entered.iter().map(|seen| (seen.at, seen.packet)));

    let numbers = |seen: &[Seen]| seen.iter().map(|seen| seen.number).collect::<Vec<_>>();
    let of_model = |&(_, index): &(Time, u64)| log.entered[usize::try_from(index).unwrap()].number;
    let (real, ours) = (numbers(&log.delivered), model.iter().map(of_model).collect::<Vec<_>>());
    let differs = real.iter().zip(&ours).position(|(real, ours)| real != ours);
    assert_eq!(
        (differs, real.len()),
        (None, ours.len()),
        "the same packets are delivered, in the same order"
    );
    assert_eq!(log.entered.len() as u64, PACKETS, "every packet entered the loop");
    assert_eq!(
        (report.delivered, received),
        (model.len() as u64, model.len()),
        "every packet that the loop delivered arrived"
    );
    assert!(model.len() < log.entered.len(), "something is dropped");

    let late = log.delivered.iter().zip(&model).map(|(seen, (due, _))| {
        assert!(seen.at >= *due, "no packet arrives before it is due");
        seen.at.saturating_since(*due).as_nanos() as f64 / 1e3
    });
    let late: Vec<f64> = late.collect();
    let (half, p99) = (median(&late), p99(&late));
    let machine = machine_is_late();
    let mut findings = Findings::default();
    let received = late.len();
    let line = format!(
        "{received} of {PACKETS} arrived, {half:.1} µs late in the median, {p99:.1} at p99; the machine's timers {machine:.1}"
    );
    findings.add(line, half < MAX_MEDIAN && p99 < MAX_P99 + machine);
    findings
}

/// Busy periods in which bursts arrive halfway between departures, so that a few milliseconds do
/// not change which packets are dropped.
fn clear_plan(rate: Bitrate) -> Vec<Burst> {
    let mut plan = Vec::new();
    let mut start = Duration::ZERO;
    for size in [1_250, 625, 1_250, 1_000, 625] {
        let each = rate.time_to_send(Bytes::new(size as u64)).unwrap();
        let mut at = start;
        for (nth, packets) in [20, 7, 12, 6, 9].into_iter().cycle().take(7).enumerate() {
            plan.push(Burst { at, socket: 0, packets, size });
            at += each * 5
                + if nth == 0 { Duration::from_nanos(each.as_nanos() / 2) } else { Duration::ZERO };
        }
        // The queue is empty at that time.
        start = at + each * 25;
    }
    plan
}

/// The packets of a plan. Each burst is delayed by what `delay` returns.
fn planned(plan: &[Burst], mut delay: impl FnMut() -> Duration) -> Vec<(Time, Packet)> {
    let flow = Flow { src: id(0), dst: id(1), ..Flow::default() };
    let packets = plan.iter().flat_map(|burst| {
        let (at, size) = (Time::ZERO + burst.at + delay(), Bytes::new(burst.size as u64));
        std::iter::repeat_n((at, Packet { size, flow, ..Packet::default() }), burst.packets)
    });
    packets.collect()
}

fn numbers(delivered: &[(Time, u64)]) -> Vec<u64> {
    delivered.iter().map(|(_, number)| *number).collect()
}

/// One plan in real time and in virtual time gives the same drops and the same delays.
#[test]
fn the_same_schedule_gives_the_same_run() {
    let Some(_lock) = exclusive() else { return };
    let rate = Bitrate::from_kbps(500);
    let plan = clear_plan(rate);
    for queue in ["bfifo limit 12500", "pfifo limit 10"] {
        let limited = LineConfig { queue: queue.parse().unwrap(), ..line(rate) };
        let config = pairs(&[limited, LineConfig::default()]);
        let packets = planned(&plan, || Duration::ZERO);
        let model = simulate(&config, packets.clone());
        assert!(model.len() < packets.len(), "something is dropped");
        let mut stream = SEED.stream("off");
        let delayed = planned(&plan, || Duration::from_micros(stream.below(4_000)));
        assert_eq!(
            numbers(&simulate(&config, delayed)),
            numbers(&model),
            "four milliseconds change no drop"
        );
        attempts(queue, || compare_schedule(&config, &plan, &packets, &model));
    }
}

fn compare_schedule(
    config: &NetworkConfig,
    plan: &[Burst],
    packets: &[(Time, Packet)],
    model: &[(Time, u64)],
) -> Findings {
    let rig = Rig::start(config, NullObserver);
    let (sent, mut firsts) =
        through(&rig.sender(2, 3), &rig.receiver(3), &plan[..plan.len() / 2], 20);
    // The time to the loop and from it, over a line without a limit.
    firsts.retain(|arrival| {
        let index = usize::try_from(arrival.number).unwrap();
        index == 0 || sent[index] != sent[index - 1]
    });
    let without = delays(&sent, &firsts);
    let (base, machine) = (median(&without), p99(&without) - median(&without));
    let (sent, arrivals) = through(&rig.sender(0, 1), &rig.receiver(1), plan, 500);
    let received: Vec<u64> = arrivals.iter().map(|arrival| arrival.number).collect();
    let mut findings = Findings::default();
    let line =
        format!("{} of {} arrived, {} in the model", received.len(), packets.len(), model.len());
    let same = received == numbers(model);
    findings.add(line, same);
    if !same {
        return findings;
    }
    let model = model.iter().map(|(at, number)| {
        let (sent, _) = packets[usize::try_from(*number).unwrap()];
        at.saturating_since(sent).as_nanos() as f64 / 1e3
    });
    let off: Vec<f64> = delays(&sent, &arrivals)
        .iter()
        .zip(model)
        .map(|(real, model)| real - base - model)
        .collect();
    let sizes: Vec<f64> = off.iter().map(|off| off.abs()).collect();
    // The 90th percentile, because there are only a few hundred packets. The test above judges the
    // 99th.
    let (half, p90) = (median(&off), quantile(&sizes, 0.9));
    let line = format!(
        "later than the model by {half:.1} µs in the median, off by {p90:.1} at p90; without a limit {base:.1} in the median and {machine:.1} more at p99"
    );
    // All packets of a busy period are as late as the first one, so few wake-ups determine the
    // median too.
    findings.add(line, half.abs() <= MAX_MEDIAN + machine && p90 <= MAX_P99 + machine);
    findings
}
