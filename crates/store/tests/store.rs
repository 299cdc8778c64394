//! Runs are kept to the bit, and nothing that befalls the file loses a finished one.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{meta, recording};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use store::{Fault, Filter, Metric, Mode, PackedRun, RunMeta, Store, StoreError};
use tempfile::{TempDir, tempdir};
use units::Seed;

/// A temporary folder, and a store with `runs` runs in it.
fn filled(runs: u32) -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("runs.sqlite");
    let mut store = Store::create_or_open(&path).unwrap();
    for index in 0..runs {
        store.insert(&meta(index), &recording(index, 20, 4), &metrics(index)).unwrap();
    }
    (folder, path)
}

fn metrics(index: u32) -> Vec<(String, String, f64)> {
    let named = |stream: &str, name: &str, value| (stream.to_owned(), name.to_owned(), value);
    vec![named("call1.video", "rate", f64::from(index) + 0.1), named("", "fairness", f64::NAN)]
}

/// Asserts that the store has exactly the runs 0 to `runs` − 1, each complete.
fn assert_whole(path: &Path, runs: u32) {
    let store = Store::open(path).unwrap();
    store.check().unwrap();
    let found = store.runs(&Filter::default()).unwrap();
    assert_eq!(found.len(), runs as usize);
    for (index, run) in (0..runs).zip(&found) {
        assert_eq!(run.meta, meta(index));
        assert_same(&store.recording(run.id).unwrap(), &recording(index, 20, 4));
        assert_eq!(store.metrics(run.id).unwrap().len(), 2);
    }
}

/// Asserts that the recordings are equal, not-a-number included. `Debug` prints different numbers
/// differently.
fn assert_same(one: &sim::Recording, other: &sim::Recording) {
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}

/// Checks that an error prints one line that begins with the file and contains `words`.
fn assert_says(error: &StoreError, path: &Path, words: &[&str]) {
    let line = error.to_string();
    assert!(line.starts_with(&path.display().to_string()), "{line}");
    assert!(!line.contains('\n') && line.contains("; "), "{line}");
    for word in words {
        assert!(line.contains(word), "{line} does not say {word}");
    }
}

/// Every row of every table, in order.
fn dump(path: &Path) -> Vec<(String, Vec<Value>)> {
    let connection = Connection::open(path).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut tables = connection.prepare(tables).unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let mut all = Vec::new();
    for name in names {
        let mut statement =
            connection.prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2")).unwrap();
        let width = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..width).map(|column| row.get(column)).collect();
        all.extend(statement.query_map([], row).unwrap().map(|row| (name.clone(), row.unwrap())));
    }
    all
}

#[test]
fn a_stored_run_reads_back_equal() {
    let (_folder, path) = filled(3);
    assert_whole(&path, 3);
    let store = Store::open(&path).unwrap();
    let metrics = store.metrics(2).unwrap();
    assert_eq!(
        metrics[0],
        Metric { stream: "call1.video".into(), name: "rate".into(), value: 1.1 }
    );
    assert!(metrics[1].value.is_nan());
    assert_eq!(store.run(2).unwrap().duration, recording(1, 20, 4).duration);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_numbers_read_back_bit_identical(bits: Vec<u64>, times: Vec<u64>, seed: u64) {
        let folder = tempdir().unwrap();
        let mut store = Store::create_or_open(&folder.path().join("x")).unwrap();
        let mut given = recording(0, 1, 1);
        given.streams[0].columns[0].values = bits.iter().copied().map(f64::from_bits).collect();
        let at = times.iter().map(|nanos| units::Time::from_nanos(*nanos));
        given.streams[0].points[0].values = at.map(|at| (at, -0.0)).collect();
        let meta = RunMeta { seed: Seed(seed), ..meta(0) };
        let id = store.insert(&meta, &given, &[]).unwrap();
        let back = store.recording(id).unwrap();
        let back_bits: Vec<u64> = back.streams[0].columns[0].values.iter().map(|value| value.to_bits()).collect();
        prop_assert_eq!(back_bits, bits);
        prop_assert_eq!(&back.streams[0].points[0].values, &given.streams[0].points[0].values);
        prop_assert_eq!(store.run(id).unwrap().meta, meta);
    }
}

#[test]
fn notes_keep_their_order_and_are_deleted_with_their_run() {
    let (_folder, path) = filled(1);
    let mut store = Store::open(&path).unwrap();
    let notes = [("media", "film 640×360"), ("browser.bob", "Firefox 153.0"), ("quick", "")];
    let notes = notes.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let measured = RunMeta { mode: Mode::Measured, notes, ..meta(1) };
    let id = store.insert(&measured, &recording(1, 2, 1), &[]).unwrap();
    assert_eq!(store.run(id).unwrap().meta, measured);
    assert_eq!(store.run(1).unwrap().meta.notes, []);
    assert_eq!(measured.note("browser.bob"), Some("Firefox 153.0"));
    assert_eq!(measured.note("browser"), None);
    store.delete(id).unwrap();
    assert!(dump(&path).iter().all(|(table, _)| table != "note"));
}

#[test]
fn a_store_of_the_first_schema_is_upgraded() {
    let (_folder, path) = filled(2);
    let first = Connection::open(&path).unwrap();
    first
        .execute_batch(
            "DROP TABLE tag; DROP TABLE sweep_run; DROP TABLE sweep; DROP TABLE note; PRAGMA user_version = 1",
        )
        .unwrap();
    drop(first);
    assert_whole(&path, 2);
}

#[test]
fn runs_are_filtered_by_their_metadata() {
    let (_folder, path) = filled(4);
    let mut store = Store::open(&path).unwrap();
    let other = RunMeta { experiment: "carlucci-2017x".into(), mode: Mode::Measured, ..meta(0) };
    store.insert(&other, &recording(0, 1, 1), &[]).unwrap();
    let ids = |filter: Filter| -> Vec<i64> {
        store.runs(&filter).unwrap().into_iter().map(|run| run.id).collect()
    };
    let experiment = |name: &str| Filter { experiment: Some(name.into()), ..Filter::default() };
    assert_eq!(ids(Filter::default()), [1, 2, 3, 4, 5]);
    assert_eq!(ids(experiment("carlucci-2017")), [1, 2, 3, 4]);
    assert_eq!(ids(experiment("carlucci-2017/fig11")), [1, 2, 3, 4]);
    assert_eq!(ids(experiment("carlucci")), [0i64; 0]);
    assert_eq!(ids(Filter { seed: Some(meta(2).seed), ..Filter::default() }), [3]);
    assert_eq!(ids(Filter { mode: Some(Mode::Measured), ..Filter::default() }), [5]);
    assert_eq!(ids(Filter { id: Some(4), ..Filter::default() }), [4]);
    assert_eq!(ids(Filter { cell: vec![meta(1).cell[0].clone()], ..Filter::default() }), [2, 4]);
}

#[test]
fn a_deleted_run_leaves_no_rows_and_its_number_is_not_reused() {
    let (_folder, path) = filled(2);
    let mut store = Store::open(&path).unwrap();
    store.delete(2).unwrap();
    assert_eq!(store.delete(2).unwrap_err().fault, Fault::NoSuchRun(2));
    assert_says(&store.recording(2).unwrap_err(), &path, &["no run 2"]);
    assert_whole(&path, 1);
    assert_eq!(store.insert(&meta(1), &recording(1, 20, 4), &metrics(1)).unwrap(), 3);
    store.delete(1).unwrap();
    store.delete(3).unwrap();
    let left: Vec<String> = dump(&path).into_iter().map(|(table, _)| table).collect();
    assert_eq!(left, ["meta", "meta", "meta", "sqlite_sequence"]);
}

#[test]
fn the_same_runs_make_the_same_file() {
    let ((_one, one), (_other, other)) = (filled(5), filled(5));
    assert_eq!(dump(&one), dump(&other));
    assert_eq!(fs::read(one).unwrap(), fs::read(other).unwrap());
}

#[test]
fn the_same_runs_make_the_same_file_however_they_are_grouped() {
    let (_one, singly) = filled(12);
    let folder = tempdir().unwrap();
    for (name, group) in [("a", 12), ("b", 5), ("c", 1)] {
        let path = folder.path().join(name);
        let mut store = Store::create_or_open(&path).unwrap();
        let runs: Vec<PackedRun> = (0..12).map(packed).collect();
        let ids = runs.chunks(group).flat_map(|group| store.insert_packed(group).unwrap());
        assert!(ids.eq(1..=12));
        drop(store);
        assert_whole(&path, 12);
        assert!(fs::read(&path).unwrap() == fs::read(&singly).unwrap(), "groups of {group}");
    }
}

fn packed(index: u32) -> PackedRun {
    PackedRun::new(meta(index), &recording(index, 20, 4), metrics(index)).unwrap()
}

#[test]
fn runs_of_a_group_with_the_same_digest_and_name_are_stored_once() {
    let (_folder, path) = filled(0);
    let digest = |digest: &str| RunMeta {
        notes: vec![(store::DIGEST.to_owned(), digest.to_owned())],
        ..meta(0)
    };
    let packed = |meta| PackedRun::new(meta, &recording(0, 20, 4), Vec::new()).unwrap();
    let runs = [packed(digest("a")), packed(digest("b")), packed(digest("a"))];
    let mut store = Store::open(&path).unwrap();
    let mut other = Store::open(&path).unwrap();
    assert_eq!(store.insert_packed(&runs).unwrap(), [1, 2, 1]);
    assert_eq!(other.insert_packed(&runs).unwrap(), [1, 2, 1], "stored by another process");
    assert_eq!(store.digests().unwrap()["a"], [1]);
}

#[test]
fn the_view_shows_each_metric_with_its_run_and_cell() {
    let (_folder, path) = filled(2);
    let text: String = Connection::open(path)
        .unwrap()
        .query_row(
            "SELECT experiment || ' ' || cell || ' ' || seed || ' ' || stream || ' ' || metric || ' ' || value
               FROM result WHERE metric = 'rate' AND run = 2",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(
        text,
        "carlucci-2017/fig11 host.alice.up.rate=1Mbit/s, call.main.controller=gcc:draft-02 18446744073709551601 call1.video rate 1.1"
    );
}

/// With this in its environment the test below is the writer that will be killed.
const VICTIM: &str = "WEIR_TEST_STORE_VICTIM";

#[test]
fn a_killed_writer_loses_at_most_the_run_under_way() {
    if let Some(path) = std::env::var_os(VICTIM) {
        let mut store = Store::create_or_open(path.as_ref()).unwrap();
        for index in 0.. {
            store.insert(&meta(index), &recording(index, 20, 4), &metrics(index)).unwrap();
            println!("\nstored {index}");
        }
    }
    let folder = tempdir().unwrap();
    let path = folder.path().join("runs.sqlite");
    for wanted in [1, 3, 8] {
        let _ = fs::remove_file(&path);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_writer_loses_at_most_the_run_under_way", "--nocapture"])
            .env(VICTIM, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stored = 0;
        for _ in lines.map_while(Result::ok).filter(|line| line.starts_with("stored ")) {
            stored += 1;
            if stored == wanted {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let kept = Store::open(&path).unwrap().runs(&Filter::default()).unwrap().len();
        let kept = u32::try_from(kept).unwrap();
        // It may have been killed between storing and saying so.
        assert!(kept == stored || kept == stored + 1, "{stored} were stored, {kept} are there");
        assert_whole(&path, kept);
    }
}

#[test]
fn an_interrupted_writer_leaves_no_part_of_a_run() {
    let (_folder, path) = filled(2);
    let connection = Connection::open(&path).unwrap();
    // Changes have reached the file and their journal lies beside it when a copy is taken, as if
    // the power had failed.
    connection
        .execute_batch(
            "PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM series; DELETE FROM metric;",
        )
        .unwrap();
    let copy = path.with_file_name("copy.sqlite");
    let journal = |path: &Path| PathBuf::from(format!("{}-journal", path.display()));
    fs::copy(&path, &copy).unwrap();
    fs::copy(journal(&path), journal(&copy)).unwrap();
    drop(connection);
    assert_whole(&copy, 2);
    assert_whole(&path, 2);
}

#[test]
fn two_writers_take_turns() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("runs.sqlite");
    let writer = |half: u32| {
        let path = path.clone();
        std::thread::spawn(move || {
            let mut store = Store::create_or_open(&path).unwrap();
            for index in 0..20 {
                let index = 2 * index + half;
                store.insert(&meta(index), &recording(index, 20, 4), &metrics(index)).unwrap();
                store.runs(&Filter::default()).unwrap();
            }
        })
    };
    let writers = [writer(0), writer(1)];
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let store = Store::open(&path).unwrap();
    store.check().unwrap();
    let mut seeds: Vec<Seed> =
        store.runs(&Filter::default()).unwrap().iter().map(|run| run.meta.seed).collect();
    seeds.sort_unstable();
    let mut expected: Vec<Seed> = (0..40).map(|index| meta(index).seed).collect();
    expected.sort_unstable();
    assert_eq!(seeds, expected);
}

#[test]
fn a_full_disk_keeps_the_finished_runs() {
    let (_folder, path) = filled(2);
    let size = fs::metadata(&path).unwrap().len();
    let Some(disk) = SmallDisk::mount(size + 40_960) else { return };
    let small = disk.0.path().join("runs.sqlite");
    fs::copy(&path, &small).unwrap();
    let mut store = Store::open(&small).unwrap();
    let error = store.insert(&meta(2), &recording(2, 20_000, 8), &metrics(2)).unwrap_err();
    assert_eq!(error.fault, Fault::Full);
    assert_says(&error, &small, &["disk is full", "free some space"]);
    drop(store);
    assert_whole(&small, 2);
}

#[test]
fn a_store_cannot_be_created_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount(8192) else { return };
    let path = disk.0.path().join("runs.sqlite");
    let error = Store::create_or_open(&path).unwrap_err();
    assert_says(&error, &path, &["disk is full"]);
}

#[test]
fn a_store_that_cannot_be_written_can_be_read() {
    let (_folder, path) = filled(2);
    let size = fs::metadata(&path).unwrap().len();
    let Some(disk) = SmallDisk::mount(size + 4096) else { return };
    let there = disk.0.path().join("runs.sqlite");
    fs::copy(&path, &there).unwrap();
    disk.make_read_only();
    let mut store = Store::open(&there).unwrap();
    assert_same(&store.recording(1).unwrap(), &recording(0, 20, 4));
    for error in [
        store.insert(&meta(2), &recording(2, 20, 4), &[]).unwrap_err(),
        store.delete(1).unwrap_err(),
    ] {
        assert_eq!(error.fault, Fault::ReadOnly);
        assert_says(
            &error,
            &there,
            &["cannot be written", "make the file and its folder writable"],
        );
    }
    let missing = disk.0.path().join("other.sqlite");
    assert_says(&Store::create_or_open(&missing).unwrap_err(), &missing, &["cannot be opened"]);
}

#[test]
fn a_file_that_is_not_a_store_is_not_changed() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x");
    assert_says(&Store::open(&path).unwrap_err(), &path, &["no such file"]);
    assert!(!path.exists());
    assert_says(&Store::open(folder.path()).unwrap_err(), folder.path(), &["folder"]);
    let nowhere = folder.path().join("no/x");
    assert_says(&Store::create_or_open(&nowhere).unwrap_err(), &nowhere, &["there is no folder"]);

    let text = "title = \"a file that is long enough to be taken for a database\"\n".repeat(30);
    fs::write(&path, &text).unwrap();
    assert_eq!(Store::create_or_open(&path).unwrap_err().fault, Fault::NotADatabase);
    assert_says(&Store::open(&path).unwrap_err(), &path, &["another kind", "name another file"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    // SQLite takes a file without a complete page for an empty database.
    for short in ["x", "SQLite format 3\0", "title = \"t\""] {
        fs::write(&path, short).unwrap();
        assert_eq!(Store::create_or_open(&path).unwrap_err().fault, Fault::NotADatabase);
        assert_says(&Store::open(&path).unwrap_err(), &path, &["is not a Weir store"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), short);
    }

    let foreign = folder.path().join("foreign");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE run (x); PRAGMA user_version = 1")
        .unwrap();
    let before = fs::read(&foreign).unwrap();
    assert_eq!(Store::create_or_open(&foreign).unwrap_err().fault, Fault::Foreign);
    assert_says(&Store::open(&foreign).unwrap_err(), &foreign, &["another program"]);
    assert_eq!(fs::read(&foreign).unwrap(), before);
}

#[test]
fn names_with_a_special_meaning_in_sqlite_are_files() {
    let folder = tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    for name in [":memory:", "file:x?mode=memory", "x?immutable=1#y"] {
        Store::create_or_open(&inside(name)).unwrap();
        assert!(inside(name).is_file(), "{name}");
    }
}

#[test]
fn a_newer_store_is_not_changed() {
    let (_folder, path) = filled(1);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::create_or_open(&path).unwrap_err();
    assert!(matches!(error.fault, Fault::Newer { found: 99, .. }));
    assert_says(&error, &path, &["newer version of Weir", "99", "use that version"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// An overwritten page, a truncated file or a changed series is an error, never a panic or other
/// numbers.
#[test]
fn damage_is_detected() {
    let (_folder, path) = filled(3);
    let whole = fs::read(&path).unwrap();
    let mut seen = 0;
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..4096].iter_mut().step_by(3).for_each(|byte| *byte ^= 0x5a);
        fs::write(&path, &bytes).unwrap();
        seen += u32::from(damage(&path).is_some());
    }
    assert_eq!(seen as usize, whole.len() / 4096);

    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_says(&damage(&path).unwrap(), &path, &["damaged", ".recover"]);

    fs::write(&path, &whole).unwrap();
    for change in [
        "UPDATE series SET count = count + 1 WHERE position = 0",
        "UPDATE series SET shape = 'circle'",
        "UPDATE series SET name = hex(zeroblob(1000))",
        "UPDATE stream SET kind = 'smell'",
        "UPDATE run SET seed = 'x'",
        "UPDATE run SET duration_ns = 'long'",
        "UPDATE run SET interval_ns = 0",
        "UPDATE metric SET value = 'much'; UPDATE event SET value = 'much'",
        "DROP TABLE series",
    ] {
        fs::write(&path, &whole).unwrap();
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        assert_says(&damage(&path).expect(change), &path, &["damaged", "restore a copy"]);
    }
}

/// The error of a damaged store.
fn damage(path: &Path) -> Option<StoreError> {
    Store::open(path).and_then(|store| store.check()).err()
}

/// A file system of a few kilobytes.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None`, with a line, where only root may mount.
    #[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
    fn mount(bytes: u64) -> Option<Self> {
        let folder = tempdir().unwrap();
        let size = format!("size={bytes}");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path())
            .output();
        if status.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        // The test runner captures eprintln, but not this.
        let line = b"skipped: a small file system cannot be mounted here (it takes root)\n";
        std::io::stderr().write_all(line).unwrap();
        None
    }

    fn make_read_only(&self) {
        let status =
            Command::new("mount").args(["-o", "remount,ro"]).arg(self.0.path()).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}
