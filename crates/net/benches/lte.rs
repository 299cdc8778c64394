//! The cost of a second of a city: 21 cells with ten terminals each; every terminal gets 30 video
//! frames and 50 voice packets per second.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use net::{
    AccessConfig, Dropped, Events, Flow, HostConfig, HostId, Layout, LineConfig, LteConfig,
    LteTerminal, Network, NetworkConfig, Packet, Shadowing, Start, UrbanLoss,
};
use std::hint::black_box;
use units::{Bytes, Decibels, Metres, Seed, Speed, Time};

const TERMINALS: u16 = 210;

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

fn city() -> Network {
    let wired = AccessConfig::Wired { up: LineConfig::default(), down: LineConfig::default() };
    let terminal = LteTerminal {
        place: Start::Anywhere,
        speed: Speed::from_kmh(30),
        ..LteTerminal::default()
    };
    let mut hosts = vec![HostConfig { name: "server".into(), access: wired }];
    hosts.extend((1..=TERMINALS).map(|number| HostConfig {
        name: format!("ue{number}"),
        access: AccessConfig::Lte(terminal.clone()),
    }));
    let lte = LteConfig {
        layout: Layout::Hexagonal { inter_site_distance: Metres::new(500), sectors: 3 },
        path_loss: UrbanLoss { penetration: Decibels::new(10), ..UrbanLoss::default() },
        shadowing: Shadowing { deviation: Decibels::new(8), distance: Metres::new(50) },
        ..LteConfig::default()
    };
    #[expect(clippy::expect_used, reason = "the names differ")]
    Network::new(&NetworkConfig { hosts, lte: vec![lte], ..NetworkConfig::default() }, Seed(1))
        .expect("a network")
}

/// A second of video frames of 1200 bytes and voice packets of 72, each terminal with its own
/// phase.
fn second(mut network: Network, down: bool) -> u64 {
    let mut count = Count::default();
    let terminals = u64::from(TERMINALS);
    let mut packets: Vec<(u64, u64, u16)> = (0..TERMINALS)
        .flat_map(|terminal| {
            let phase = u64::from(terminal) * 33_333 / terminals;
            let video = (0..30).map(move |nth| (nth * 33_333 + phase, 1_200, terminal + 1));
            let voice = (0..50).map(move |nth| (nth * 20_000 + phase / 2, 72, terminal + 1));
            video.chain(voice)
        })
        .collect();
    packets.sort_unstable();
    for (id, (at, size, terminal)) in (0..).zip(packets) {
        let now = Time::from_micros(at);
        while let Some(due) = network.next_wake().filter(|&due| due <= now) {
            network.advance(due, &mut count);
        }
        let (src, dst) = if down { (0, terminal) } else { (terminal, 0) };
        let flow = Flow { src: HostId(src), dst: HostId(dst), ..Flow::default() };
        let packet = Packet { id, size: Bytes::new(size), flow, sent: now, ..Packet::default() };
        network.send(now, packet, &mut count);
    }
    while let Some(due) = network.next_wake() {
        network.advance(due, &mut count);
    }
    count.0
}

fn lte(c: &mut Criterion) {
    let mut group = c.benchmark_group("a second of a city");
    group.sample_size(20);
    for (name, down) in [("down", true), ("up", false)] {
        group.bench_function(BenchmarkId::from_parameter(name), |bench| {
            bench.iter_batched(
                city,
                |network| black_box(second(network, down)),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, lte);
criterion_main!(benches);
