//! The same packets in real time and in virtual time.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{Blind, Log, Rig, SEED, Seen, id, line, pairs, settle};
use crate::common::stats::{median, p99, quantile};
use crate::common::traffic::{Burst, Receiver, delays, machine_is_late, send, through};
use crate::timing::{HALF, MOST};
use crate::turn;
use net::{
    AccessConfig, Aggregation, BearerConfig, Buffer, ChannelAccess, Dropped, Events, Fading, Field,
    Filter, Flow, LineConfig, LossConfig, LteConfig, LteTerminal, Match, Network, NetworkConfig,
    Packet, QueueConfig, RateControl, Schedule, Start, WifiConfig, WifiDevice, WifiStation,
};
use rustix::net::sockopt::set_ip_tos;
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Metres, Ratio, Speed, Stream, Time};

/// Expedited forwarding, as the byte that holds it.
const EF: u8 = 46 << 2;

/// What the model gave out and when.
#[derive(Default)]
struct Delivered(Vec<(Time, u64)>);

impl Events for Delivered {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.0.push((at, packet.id));
    }
    fn dropped(&mut self, _: Time, _: Dropped) {}
}

/// Packets through a new network in virtual time: when each came, and its place in the list.
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

/// A class for expedited forwarding, and one for the rest.
const HTB: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1500kbit ceil 2mbit prio 0
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 3500kbit ceil 5mbit prio 1
tc qdisc add dev eth0 parent 1:10 handle 10: bfifo limit 15000
tc qdisc add dev eth0 parent 1:20 handle 20: pfifo limit 20
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10";

/// Each is sent about 6.4 Mbit/s.
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

/// Packets of random sizes each millisecond or so, from two sockets in turn.
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

/// With the times at which packets came to the loop, the model in virtual time does the same with
/// each: what differs is how late the loop was.
#[test]
fn the_same_entries_give_the_same_run() {
    let Some(_turn) = turn() else { return };
    for (name, line) in lines() {
        attempts(name, || compare_entries(&pairs(std::slice::from_ref(&line))));
    }
    attempts("wifi", || compare_entries(&wifi()));
    attempts("lte", || compare_entries(&lte()));
}

/// Alice at the edge of an LTE cell, walking, with a bearer for EF, and Bob behind a wire.
fn lte() -> NetworkConfig {
    let mut config = pairs(&[LineConfig::default()]);
    let place = Start::At { distance: Metres::new(1_500), obstacles: Decibels::ZERO };
    let terminal = LteTerminal { place, speed: Speed::from_kmh(3), ..LteTerminal::default() };
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

/// Alice on Wi-Fi with its categories, slow and through noise, and Bob behind a wire.
fn wifi() -> NetworkConfig {
    let mut config = pairs(&[LineConfig::default()]);
    let buffer = Buffer::Shared { queue: "pfifo limit 20".parse().unwrap(), driver: 10 };
    let device = WifiDevice {
        rate: RateControl::Fixed(0),
        noise: Dbm::new(-64),
        buffer,
        ..WifiDevice::default()
    };
    let fading = Fading { deviation: Decibels::new(2), coherence: Duration::from_millis(50) };
    let place =
        WifiStation { distance: Metres::new(10), walls: 2, fading, ..WifiStation::default() };
    config.hosts[0].access = AccessConfig::Wifi(WifiStation { device: device.clone(), ..place });
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
    let came = receiver.finish().len();
    let model = simulate(config, log.entered.iter().map(|seen| (seen.at, seen.packet)));

    let numbers = |seen: &[Seen]| seen.iter().map(|seen| seen.number).collect::<Vec<_>>();
    let of_model = |&(_, place): &(Time, u64)| log.entered[usize::try_from(place).unwrap()].number;
    let (real, ours) = (numbers(&log.delivered), model.iter().map(of_model).collect::<Vec<_>>());
    let differs = real.iter().zip(&ours).position(|(real, ours)| real != ours);
    assert_eq!(
        (differs, real.len()),
        (None, ours.len()),
        "the same are delivered, in the same order"
    );
    assert_eq!(log.entered.len() as u64, PACKETS, "every packet came to the loop");
    assert_eq!(
        (report.delivered, came),
        (model.len() as u64, model.len()),
        "and what it gave out arrived"
    );
    assert!(model.len() < log.entered.len(), "something is dropped");

    let late = log.delivered.iter().zip(&model).map(|(seen, (due, _))| {
        assert!(seen.at >= *due, "nothing comes before it is due");
        seen.at.saturating_since(*due).as_nanos() as f64 / 1e3
    });
    let late: Vec<f64> = late.collect();
    let (half, most) = (median(&late), p99(&late));
    let machine = machine_is_late();
    let mut findings = Findings::default();
    let came = late.len();
    let line = format!(
        "{came} of {PACKETS} came, {half:.1} µs late in the median, {most:.1} at p99; the machine {machine:.1}"
    );
    findings.add(line, half < HALF && most < MOST + machine);
    findings
}

/// Busy periods in which bursts come halfway between departures, so that some milliseconds do not
/// decide what is dropped.
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
        // The queue is empty by then.
        start = at + each * 25;
    }
    plan
}

/// The packets of a plan, with each burst put off by what `off` says.
fn planned(plan: &[Burst], mut off: impl FnMut() -> Duration) -> Vec<(Time, Packet)> {
    let flow = Flow { src: id(0), dst: id(1), ..Flow::default() };
    let packets = plan.iter().flat_map(|burst| {
        let (at, size) = (Time::ZERO + burst.at + off(), Bytes::new(burst.size as u64));
        std::iter::repeat_n((at, Packet { size, flow, ..Packet::default() }), burst.packets)
    });
    packets.collect()
}

fn numbers(delivered: &[(Time, u64)]) -> Vec<u64> {
    delivered.iter().map(|(_, number)| *number).collect()
}

/// A plan carried out in real time and in virtual time: the same drops, and the same delays.
#[test]
fn the_same_schedule_gives_the_same_run() {
    let Some(_turn) = turn() else { return };
    let rate = Bitrate::from_kbps(500);
    let plan = clear_plan(rate);
    for queue in ["bfifo limit 12500", "pfifo limit 10"] {
        let limited = LineConfig { queue: queue.parse().unwrap(), ..line(rate) };
        let config = pairs(&[limited, LineConfig::default()]);
        let packets = planned(&plan, || Duration::ZERO);
        let model = simulate(&config, packets.clone());
        assert!(model.len() < packets.len(), "something is dropped");
        let mut stream = SEED.stream("off");
        let put_off = planned(&plan, || Duration::from_micros(stream.below(4_000)));
        assert_eq!(
            numbers(&simulate(&config, put_off)),
            numbers(&model),
            "four milliseconds decide nothing"
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
    let rig = Rig::start(config, Blind);
    let (sent, mut firsts) =
        through(&rig.sender(2, 3), &rig.receiver(3), &plan[..plan.len() / 2], 20);
    // What the way to the loop and from it takes, without a limit.
    firsts.retain(|arrival| {
        let place = usize::try_from(arrival.number).unwrap();
        place == 0 || sent[place] != sent[place - 1]
    });
    let without = delays(&sent, &firsts);
    let (least, machine) = (median(&without), p99(&without) - median(&without));
    let (sent, arrivals) = through(&rig.sender(0, 1), &rig.receiver(1), plan, 500);
    let came: Vec<u64> = arrivals.iter().map(|arrival| arrival.number).collect();
    let mut findings = Findings::default();
    let line = format!("{} of {} came, of the model's {}", came.len(), packets.len(), model.len());
    let same = came == numbers(model);
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
        .map(|(real, model)| real - least - model)
        .collect();
    let sizes: Vec<f64> = off.iter().map(|off| off.abs()).collect();
    // A few hundred packets: the exact test above judges one in a hundred.
    let (half, most) = (median(&off), quantile(&sizes, 0.9));
    let line = format!(
        "later than the model by {half:.1} µs in the median, off by {most:.1} at p90; {least:.1} and {machine:.1} more without"
    );
    // A busy period is as late as the packet that begins it was taken in, so that few wake-ups
    // decide the median too.
    findings.add(line, half.abs() <= HALF + machine && most <= MOST + machine);
    findings
}
