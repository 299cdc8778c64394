//! Whole runs of 300 simulated seconds: one call over 2 Mbit/s, and one TCP flow over 10 Mbit/s.
//! Also 30 s with many users.

use criterion::{Criterion, criterion_group, criterion_main};
use sim::tcp::TcpCongestionControl;
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
    for control in TcpCongestionControl::ALL.map(|(_, control)| control) {
        let mut scenario = common::dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(10), 300);
        scenario.calls.clear();
        scenario.tcp.push(common::tcp("up", control));
        group.bench_function(format!("tcp {control}, 10 Mbit/s, 300 s"), |b| {
            b.iter(|| black_box(common::run(&scenario)));
        });
    }
    group.sample_size(10);
    let scenario = common::users(640, 30);
    group.bench_function("640 users of a third of 30 s each", |b| {
        b.iter(|| black_box(common::run(&scenario)));
    });
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
