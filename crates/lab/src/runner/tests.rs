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
        keeper: &NOWHERE,
    }
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
    // Words change nothing, a parameter does; of more seeds only the new ones are run. What is
    // wanted under another name or of another file is there under that too.
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
    // What was killed half-way goes on where it was, and what is missing is run again.
    let mut store = Store::open(&one).unwrap();
    let lost = store.runs(&Filter { seed: Some(Seed(1)), ..Filter::default() }).unwrap();
    lost.iter().for_each(|run| store.delete(run.id).unwrap());
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
        .execute(
            "UPDATE series SET data = x'00' WHERE stream IN (SELECT id FROM stream WHERE run = 1)",
            [],
        )
        .unwrap();
    drop(store);
    let (cancel, keeper) = (AtomicBool::new(false), Keeper::open(Some(&path)).unwrap());
    let runner = Runner { keeper: &keeper, ..runner(1, &cancel) };
    let summary = runner.run(
        &[experiment],
        |_, _| (),
        |outcome| assert!(outcome.result.is_ok(), "none is at fault"),
    );
    assert!(summary.cancelled && summary.failed == 0, "{summary:?}");
    let fault = keeper.finish().fault.unwrap().to_string();
    assert!(fault.contains("s.sqlite") && fault.contains("damaged"), "{fault}");
}

#[test]
fn two_that_run_the_same_into_one_store_keep_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
    let cancel = AtomicBool::new(false);
    // Both are open before either has run: neither knows of the other's runs.
    let keepers = [(); 2].map(|()| Keeper::open(Some(&path)).unwrap());
    for keeper in keepers {
        let runner = Runner { keeper: &keeper, ..runner(2, &cancel) };
        let summary = runner.run(std::slice::from_ref(&experiment), |_, _| (), |_| ());
        assert_eq!(summary.done, 6);
    }
    assert_eq!(Store::open(&path).unwrap().runs(&Filter::default()).unwrap().len(), 6);
}

#[test]
fn the_same_under_two_names_is_run_once_and_kept_under_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let both = ["x.toml", "y.toml"].map(|name| Experiment::parse(TEXT, name).unwrap());
    let (cancel, keeper) = (AtomicBool::new(false), Keeper::open(Some(&path)).unwrap());
    for experiment in &both {
        let runner = Runner { keeper: &keeper, ..runner(2, &cancel) };
        runner.run(std::slice::from_ref(experiment), |_, _| (), |_| ());
    }
    let made = keeper.finish();
    assert_eq!(counts(&made), (12, 6));
}
