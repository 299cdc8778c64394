//! The cost per packet: a dumbbell of two hosts, with media over a bottleneck in one direction and
//! feedback in the other.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use net::{
    AccessConfig, Dropped, Events, Flow, HostConfig, HostId, JitterConfig, LineConfig, LossConfig,
    Network, NetworkConfig, Packet, RateConfig, Schedule, Trace, WifiConfig, WifiStation,
};
use std::hint::black_box;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Ratio, Seed, Time};

const PACKETS: u64 = 10_000;

#[derive(Default)]
struct Count(u64);

impl Events for Count {
    fn delivered(&mut self, _: Time, packet: Packet) {
        self.0 += packet.id;
    }
    fn dropped(&mut self, _: Time, dropped: Dropped) {
        self.0 += dropped.packet.id;
    }
}

fn network(up: LineConfig, down: LineConfig) -> Network {
    let access = |up, down| AccessConfig::Wired { up, down };
    let hosts = vec![
        HostConfig { name: "alice".into(), access: access(up, LineConfig::default()) },
        HostConfig { name: "bob".into(), access: access(LineConfig::default(), down) },
    ];
    #[expect(clippy::expect_used, reason = "the names differ")]
    Network::new(&NetworkConfig { hosts, ..NetworkConfig::default() }, Seed(1)).expect("a network")
}

/// A station that sends over Wi-Fi, beside so many idle stations.
fn wifi(others: u16) -> Network {
    let station =
        |name: String| HostConfig { name, access: AccessConfig::Wifi(WifiStation::default()) };
    let wired = AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() };
    let mut hosts = vec![station("alice".into()), HostConfig { name: "bob".into(), access: wired }];
    hosts.extend((0..others).map(|nth| station(format!("idle{nth}"))));
    let config =
        NetworkConfig { hosts, wifi: vec![WifiConfig::default()], ..NetworkConfig::default() };
    #[expect(clippy::expect_used, reason = "the names differ")]
    Network::new(&config, Seed(1)).expect("a network")
}

/// One run: packets of 1200 B every 5 ms (1.92 Mbit/s).
fn run(mut network: Network) -> u64 {
    let mut count = Count::default();
    let flow = Flow { src: HostId(0), dst: HostId(1), ..Flow::default() };
    for id in 0..PACKETS {
        let now = Time::from_micros(id * 5_000);
        while let Some(due) = network.next_wake().filter(|&due| due <= now) {
            network.advance(due, &mut count);
        }
        network.send(
            now,
            Packet { id, size: Bytes::new(1200), flow, ..Packet::default() },
            &mut count,
        );
    }
    while let Some(due) = network.next_wake() {
        network.advance(due, &mut count);
    }
    count.0
}

fn bottleneck(rate: RateConfig) -> LineConfig {
    let queue = "droptail limit 300ms".parse().unwrap_or_default();
    LineConfig {
        rate,
        delay: Schedule::constant(Duration::from_millis(25)),
        queue,
        ..LineConfig::default()
    }
}

/// Two classes; all packets are in one of them.
const HTB: &str = "tc qdisc add dev x root handle 1: htb default 20
tc class add dev x parent 1: classid 1:1 htb rate 4mbit
tc class add dev x parent 1:1 classid 1:10 htb rate 1mbit ceil 4mbit prio 0
tc class add dev x parent 1:1 classid 1:20 htb rate 8bit ceil 4mbit prio 1
tc filter add dev x parent 1: prio 1 u32 match ip dsfield 0x88 0xfc flowid 1:10";

fn dumbbell(c: &mut Criterion) {
    let constant = |mbps| RateConfig::Scheduled(Schedule::constant(Bitrate::from_mbps(mbps)));
    let ramp = Schedule::constant(Bitrate::from_mbps(4)).with_ramp(
        Time::ZERO,
        Bitrate::from_mbps(2),
        Duration::from_secs(60),
        Duration::from_millis(500),
        net::Shape::Linear,
    );
    let trace = |text: &str| Trace::parse(text).map(|trace| RateConfig::Trace(Arc::new(trace)));
    let stamps: String = (1..60_000).filter(|ms| ms % 5 != 0).map(|ms| format!("{ms}\n")).collect();
    let lossy = LineConfig {
        loss: LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(2))),
        jitter: JitterConfig::Exponential(Duration::from_millis(3)),
        ..bottleneck(constant(2))
    };
    let mut cases = vec![
        ("unlimited", LineConfig::default()),
        ("2 Mbit/s", bottleneck(constant(2))),
        ("1 Mbit/s, full queue", bottleneck(constant(1))),
        ("ramp", bottleneck(RateConfig::Scheduled(ramp))),
        ("loss and jitter", lossy),
    ];
    cases.extend(trace(&stamps).map(|rate| ("opportunities", bottleneck(rate))));
    let queues = [
        "bfifo limit 37kB",
        "codel",
        "fq_codel",
        "pie",
        "dualpi2",
        "sfq",
        "red limit 75kB avpkt 1kB adaptive",
        "tbf rate 4mbit burst 5000 limit 37000",
        "cake bandwidth 4mbit",
        HTB,
    ];
    cases.extend(queues.map(|words| {
        let queue = words.parse().unwrap_or_default();
        (
            if words == HTB { "htb, two classes" } else { words },
            LineConfig { queue, ..bottleneck(constant(1)) },
        )
    }));
    let mut group = c.benchmark_group("dumbbell");
    group.throughput(Throughput::Elements(PACKETS)).sample_size(20);
    for (name, up) in cases {
        group.bench_function(name, |b| {
            b.iter_batched(
                || network(up.clone(), LineConfig::default()),
                |network| black_box(run(network)),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    for others in [0, 9] {
        group.bench_function(format!("wifi, {others} other stations"), |b| {
            b.iter_batched(
                || wifi(others),
                |network| black_box(run(network)),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, dumbbell);
criterion_main!(benches);
