use super::*;
use std::path::Path;
use std::sync::Mutex;
use store::{Filter, Store};

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
    Runner {
        jobs: NonZeroUsize::new(jobs).unwrap(),
        cancel,
        progress: &|_, _| {},
        cache: &NO_CACHE,
    }
}

/// All outcomes as text.
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
fn one_thread_and_two_threads_give_the_same_outcomes_in_the_same_order() {
    let one = all(1);
    assert!(one.len() > 10_000);
    assert!(one == all(2), "the number of threads changed the result");
}

#[test]
fn recordings_of_concurrent_runs_fit_into_memory() {
    let cancel = AtomicBool::new(false);
    let threads = |text: &str| {
        let experiment = Experiment::parse(text, "x.toml").unwrap();
        let values = experiment.cells()[0].sampled_values();
        (runner(100, &cancel).threads(&[experiment]), values)
    };
    assert_eq!(threads(TEXT).0, 100);
    // 400,000 samples of a call and four lines: 464 MiB.
    let interval = "duration = \"20s\"\nsample_interval = \"50us\"";
    assert_eq!(threads(&TEXT.replace("duration = \"20s\"", interval)), (8, 60_800_000));
}

#[test]
fn a_recording_has_at_most_the_values_that_are_expected() {
    let named = cc::profiles().into_iter().map(|profile| profile.name.to_owned());
    for profile in named.filter(|name| !name.contains("RATE")) {
        let call = format!("\"{profile}\"\naudio = true\nfec = \"hybrid\"");
        let text = TEXT.replace("\"gcc:carlucci-2017\"", &call);
        let text = format!("{text}\n[tcp.upload]\nfrom = \"alice\"\nto = \"bob\"\n");
        let experiment = Experiment::parse(&text, "x.toml").unwrap();
        let scenario = experiment.cells()[0].scenario(Seed(1));
        let recording = sim::run(&scenario, sim::Options::default()).unwrap();
        assert_eq!(recording.streams.len(), 2 + 1 + 4, "two media, TCP, four lines");
        for stream in &recording.streams {
            let columns = stream.columns.len() as u64;
            assert!(columns <= stream.kind.most_columns(), "{}: {columns}", stream.name);
        }
    }
}

#[test]
fn a_panic_is_reported_with_its_seed_and_the_other_runs_finish() {
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
fn runs_finished_before_a_cancellation_are_delivered() {
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

/// Runs with a store; returns the outcomes as text and how the cache was used.
fn kept(experiment: &Experiment, store: &Path, jobs: usize) -> (String, CacheSummary) {
    let (cancel, cache) = (AtomicBool::new(false), RunCache::open(Some(store)).unwrap());
    let mut out = String::new();
    let runner = Runner { cache: &cache, ..runner(jobs, &cancel) };
    runner.run(
        std::slice::from_ref(experiment),
        |_, recording| recording.clone(),
        |outcome| {
            out += &format!("{:?} {:?}\n", outcome.job, outcome.result.unwrap());
        },
    );
    (out, cache.finish())
}

fn counts(summary: &CacheSummary) -> (usize, usize) {
    assert!(summary.error.is_none(), "{:?}", summary.error);
    (summary.stored, summary.reused)
}

#[test]
fn runs_that_are_in_the_store_are_not_simulated_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.sqlite"), folder.path().join("two.sqlite"));
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let (first, made) = kept(&experiment, &one, 1);
    assert_eq!(counts(&made), (6, 0));
    let (again, made) = kept(&experiment, &one, 2);
    assert_eq!(counts(&made), (0, 6));
    assert!(first == again, "bit-identical");
    // A new title does not change the digest; a parameter does. With more seeds only the new seeds
    // are run. A run under another name or with another file text is stored under that name too.
    let words = TEXT.replace("Two hosts", "Others").replace("runs = 3", "runs = 4");
    let words = Experiment::parse(&words, "y.toml").unwrap();
    assert_eq!(counts(&kept(&words, &one, 2).1), (8, 6));
    assert_eq!(counts(&kept(&words, &one, 2).1), (0, 8));
    let listed = |name: &str| {
        let filter = Filter { experiment: Some(name.to_owned()), ..Filter::default() };
        let runs = Store::open(&one).unwrap().runs(&filter).unwrap();
        runs.into_iter()
            .map(|run| (run.meta.cell[0].1.clone(), run.meta.seed.0))
            .collect::<Vec<_>>()
    };
    assert_eq!((listed("x.toml").len(), listed("y.toml").len()), (6, 8));
    assert_eq!(
        listed("y.toml")[..2],
        [("500kbit/s".to_owned(), 1), ("500kbit/s".to_owned(), 2)],
        "in order"
    );
    let slower =
        Experiment::parse(&TEXT.replace("delay = \"25ms\"", "delay = \"26ms\""), "x.toml").unwrap();
    assert_eq!(counts(&kept(&slower, &one, 2).1), (6, 0));
    // After an interruption only the missing runs are simulated.
    let mut store = Store::open(&one).unwrap();
    let lost = store.runs(&Filter { seed: Some(Seed(1)), ..Filter::default() }).unwrap();
    lost.iter().for_each(|run| store.delete(run.id).unwrap());
    drop(store);
    let (repaired, made) = kept(&experiment, &one, 2);
    assert_eq!(counts(&made), (2, 4));
    assert!(first == repaired);
    // The order of the runs in the store does not depend on the number of threads.
    kept(&experiment, &two, 2);
    let three = folder.path().join("three.sqlite");
    kept(&experiment, &three, 1);
    assert!(std::fs::read(two).unwrap() == std::fs::read(three).unwrap());
}

#[test]
fn the_content_of_a_named_file_is_part_of_the_digest() {
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
fn a_damaged_store_is_an_error_and_cancels_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    kept(&experiment, &path, 2);
    let store = rusqlite::Connection::open(&path).unwrap();
    store
        .execute(
            "UPDATE series SET data = x'00' WHERE stream IN (SELECT id FROM stream WHERE run = 1)",
            [],
        )
        .unwrap();
    drop(store);
    let (cancel, cache) = (AtomicBool::new(false), RunCache::open(Some(&path)).unwrap());
    let runner = Runner { cache: &cache, ..runner(1, &cancel) };
    let summary = runner.run(
        &[experiment],
        |_, _| (),
        |outcome| assert!(outcome.result.is_ok(), "no run failed"),
    );
    assert!(summary.cancelled && summary.failed == 0, "{summary:?}");
    let fault = cache.finish().error.unwrap().to_string();
    assert!(fault.contains("s.sqlite") && fault.contains("damaged"), "{fault}");
}

#[test]
fn two_caches_on_one_store_store_the_same_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    // Both stores are opened before the first run, so neither cache knows the runs of the other.
    let caches = [(); 2].map(|()| RunCache::open(Some(&path)).unwrap());
    for cache in caches {
        let runner = Runner { cache: &cache, ..runner(2, &cancel) };
        let summary = runner.run(std::slice::from_ref(&experiment), |_, _| (), |_| ());
        assert_eq!(summary.done, 6);
    }
    assert_eq!(Store::open(&path).unwrap().runs(&Filter::default()).unwrap().len(), 6);
}

#[test]
fn a_run_needed_under_two_names_is_simulated_once_and_stored_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let both = ["x.toml", "y.toml"].map(|name| Experiment::parse(TEXT, name).unwrap());
    let (cancel, cache) = (AtomicBool::new(false), RunCache::open(Some(&path)).unwrap());
    for experiment in &both {
        let runner = Runner { cache: &cache, ..runner(2, &cancel) };
        runner.run(std::slice::from_ref(experiment), |_, _| (), |_| ());
    }
    let made = cache.finish();
    assert_eq!(counts(&made), (12, 6));
}
