//! The claims of Carlucci et al. 2017, all their runs, on all cores: what `make demo` waits for.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up fails")]

use criterion::{Criterion, criterion_group, criterion_main};
use lab::claims::{Catalogue, Plan};
use lab::runner::{NO_CACHE, Runner, all_cores};
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

fn claims(c: &mut Criterion) {
    let catalogue = Catalogue::embedded().unwrap();
    let plan = Plan::new(catalogue.select(&["carlucci-2017".to_owned()]).unwrap(), Ok);
    let cancel = AtomicBool::new(false);
    let runner =
        Runner { jobs: all_cores(), cancel: &cancel, progress: &|_, _| {}, cache: &NO_CACHE };
    let mut group = c.benchmark_group("claims");
    group.sample_size(10);
    group.bench_function(format!("carlucci-2017, {} runs", plan.runs()), |b| {
        b.iter(|| black_box(plan.run(runner, |_, _| (), |_, ()| ())));
    });
    group.finish();
}

criterion_group!(benches, claims);
criterion_main!(benches);
