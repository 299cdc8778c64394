//! CPU time of a controller per packet, feedback included.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use units::{Bitrate, Time};

#[path = "../tests/common/mod.rs"]
mod common;

use common::{PACKET, Path, Run, config};

/// Measures 10 s at 2 Mbit/s: 2500 packets of 1000 bytes, about 300 frames, 100 feedback packets.
fn controllers(c: &mut Criterion) {
    let mut group = c.benchmark_group("controller");
    let packets =
        Bitrate::from_mbps(2).bytes_in(units::Duration::from_secs(10)).get() / PACKET.get();
    group.throughput(Throughput::Elements(packets));
    for profile in cc::profiles() {
        let path = || Path {
            rate: |_| Bitrate::from_mbps(10),
            lose_every: 0,
            ceiling: Bitrate::from_mbps(2),
        };
        let mut run = Run::new(&config(&profile.name), path());
        while run.now() < Time::from_secs(60) {
            run.frame();
        }
        group.bench_function(&profile.name, |b| {
            b.iter(|| {
                let end = run.now() + units::Duration::from_secs(10);
                while run.now() < end {
                    run.frame();
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, controllers);
criterion_main!(benches);
