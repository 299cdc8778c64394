use super::*;
use std::sync::Mutex;

const TEXT: &str = r#"
title = "Two hosts"
duration = "20s"
runs = 3

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms", loss = "1%" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"

[grid]
"host.alice.up.rate" = ["500kbit/s", "1Mbit/s"]
"#;

fn runner(jobs: usize, cancel: &AtomicBool) -> Runner<'_> {
    Runner { jobs: NonZeroUsize::new(jobs).unwrap(), cancel, progress: &|_, _| {} }
}

/// Everything that came out, in words.
fn all(jobs: usize) -> String {
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    let mut out = String::new();
    let summary = runner(jobs, &cancel).run(
        &[experiment],
        |_, recording| recording,
        |outcome| out += &format!("{:?} {:?}\n", outcome.job, outcome.result.unwrap()),
    );
    assert_eq!(summary, Summary { total: 6, done: 6, failed: 0, cancelled: false });
    out
}

#[test]
fn one_thread_and_two_give_the_same_in_the_same_order() {
    let one = all(1);
    assert!(one.len() > 10_000);
    assert!(one == all(2), "the number of threads changed the result");
}

#[test]
fn a_run_that_breaks_off_is_reported_with_its_seed_and_the_others_go_on() {
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    let mut seen = Vec::new();
    let each = |job: Job, _| assert!(job.seed != Seed(2) || job.cell != 1, "seed two");
    let summary = runner(2, &cancel).run(&[experiment], each, |outcome| seen.push(outcome));
    assert_eq!(summary, Summary { total: 6, done: 5, failed: 1, cancelled: false });
    assert_eq!(seen[4].result, Err(RunFailure::Panicked("seed two".into())));
    assert_eq!((seen[4].job.cell, seen[4].job.seed), (1, Seed(2)));
}

#[test]
fn what_was_finished_before_a_cancellation_is_kept() {
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    let finished = Mutex::new(0);
    let each = |_, _| {
        *finished.lock().unwrap() += 1;
        cancel.store(true, Ordering::Relaxed);
    };
    let mut kept = 0;
    let summary = runner(2, &cancel).run(&[experiment], each, |_| kept += 1);
    assert!(summary.cancelled && kept == summary.done, "{summary:?}");
    assert_eq!(kept, *finished.lock().unwrap());
}

#[test]
fn progress_counts_to_the_end() {
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    let seen = Mutex::new(Vec::new());
    let progress = |done, total| seen.lock().unwrap().push((done, total));
    Runner { progress: &progress, ..runner(2, &cancel) }.run(&[experiment], |_, _| (), |_| {});
    assert_eq!(*seen.lock().unwrap(), [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]);
}
