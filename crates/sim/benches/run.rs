//! Whole runs: one GCC flow over 2 Mbit/s for 300 simulated seconds, and a call that loses packets.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use units::Bitrate;

#[path = "../tests/common/mod.rs"]
mod common;

fn runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    group.sample_size(20);
    for controller in ["gcc:carlucci-2017", "gcc:libwebrtc", "fixed:2Mbit/s"] {
        let scenario = common::dumbbell(controller, Bitrate::from_mbps(2), 300);
        group.bench_function(format!("{controller}, 2 Mbit/s, 300 s"), |b| {
            b.iter(|| black_box(common::run(&scenario)));
        });
    }
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
