use super::*;
use crate::store::{Filter, Store};
use std::path::Path;
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
    Runner { jobs: NonZeroUsize::new(jobs).unwrap(), cancel, progress: &|_, _| {}, keeper: &NOWHERE }
}

/// Everything that came out, in words.
fn all(jobs: usize) -> String {
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    let mut out = String::new();
    let summary = runner(jobs, &cancel).run(
        &[experiment],
        |_, recording| recording.clone(),
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
    let each = |job: Job, _: &_| assert!(job.seed != Seed(2) || job.cell != 1, "seed two");
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
    let each = |_, _: &_| {
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

/// Runs with a store; gives what came out, and what became of the store.
fn kept(experiment: &Experiment, store: &Path, jobs: usize) -> (String, Kept) {
    let (cancel, keeper) = (AtomicBool::new(false), Keeper::open(Some(store)).unwrap());
    let mut out = String::new();
    let runner = Runner { keeper: &keeper, ..runner(jobs, &cancel) };
    runner.run(
        std::slice::from_ref(experiment),
        |_, recording| recording.clone(),
        |outcome| {
            out += &format!("{:?} {:?}\n", outcome.job, outcome.result.unwrap());
        },
    );
    (out, keeper.finish())
}

fn counts(kept: &Kept) -> (usize, usize) {
    assert!(kept.fault.is_none(), "{:?}", kept.fault);
    (kept.kept, kept.found)
}

#[test]
fn what_was_run_before_is_taken_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.sqlite"), folder.path().join("two.sqlite"));
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let (first, made) = kept(&experiment, &one, 1);
    assert_eq!(counts(&made), (6, 0));
    let (again, made) = kept(&experiment, &one, 2);
    assert_eq!(counts(&made), (0, 6));
    assert!(first == again, "to the bit");
    // Words change nothing, a parameter does; of more seeds only the new ones are run.
    let words =
        Experiment::parse(&TEXT.replace("Two hosts", "Others").replace("runs = 3", "runs = 4"), "y.toml");
    assert_eq!(counts(&kept(&words.unwrap(), &one, 2).1), (2, 6));
    let slower = Experiment::parse(&TEXT.replace("delay = \"25ms\"", "delay = \"26ms\""), "x.toml").unwrap();
    assert_eq!(counts(&kept(&slower, &one, 2).1), (6, 0));
    // What was killed half-way goes on where it was, and what is missing is run again.
    let mut store = Store::open(&one).unwrap();
    let lost: Vec<i64> = store.runs(&Filter::default()).unwrap()[..2].iter().map(|run| run.id).collect();
    lost.iter().for_each(|run| store.delete(*run).unwrap());
    drop(store);
    let (repaired, made) = kept(&experiment, &one, 2);
    assert_eq!(counts(&made), (2, 4));
    assert!(first == repaired);
    // However many threads: the same runs in the same order.
    kept(&experiment, &two, 2);
    let three = folder.path().join("three.sqlite");
    kept(&experiment, &three, 1);
    assert!(std::fs::read(two).unwrap() == std::fs::read(three).unwrap());
}

#[test]
fn a_file_that_an_experiment_names_counts_with_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let (store, trace) = (folder.path().join("s.sqlite"), folder.path().join("cell.csv"));
    let text = TEXT.replace("rate = \"1Mbit/s\"", "rate = { trace = \"cell.csv\" }");
    let text = &text[..text.find("[grid]").unwrap()];
    let run = |rates: &str| {
        std::fs::write(&trace, rates).unwrap();
        let path = folder.path().join("x.toml");
        let experiment = Experiment::parse(text, path.to_str().unwrap()).unwrap();
        counts(&kept(&experiment, &store, 2).1)
    };
    let (slow, fast) = ("10\n20\n30\n", "5\n10\n15\n20\n25\n30\n");
    assert_eq!([run(slow), run(slow), run(fast)], [(3, 0), (0, 3), (3, 0)]);
}

#[test]
fn a_damaged_store_is_said_and_nothing_of_it_is_taken_for_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    kept(&experiment, &path, 2);
    let store = rusqlite::Connection::open(&path).unwrap();
    store
        .execute("UPDATE series SET data = x'00' WHERE stream IN (SELECT id FROM stream WHERE run = 1)", [])
        .unwrap();
    drop(store);
    let (cancel, keeper) = (AtomicBool::new(false), Keeper::open(Some(&path)).unwrap());
    let mut failures = Vec::new();
    let summary = Runner { keeper: &keeper, ..runner(2, &cancel) }.run(
        &[experiment],
        |_, _| (),
        |outcome| {
            failures.extend(outcome.result.err());
        },
    );
    assert_eq!((summary.done, summary.failed), (5, 1));
    let [RunFailure::Refused(reason)] = &failures[..] else { panic!("{failures:?}") };
    assert!(reason.contains("s.sqlite") && reason.contains("damaged"), "{reason}");
}
