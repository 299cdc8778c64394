//! Any content of a store's file gives a run or an error: no panic, and no more memory than a
//! recording may take.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{meta, recording};
use proptest::prelude::*;
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use store::export::{CsvTable, parameters};
use store::{Damage, Fault, Filter, Store, StoreError};
use tempfile::{TempDir, tempdir};

/// A store with one run.
fn filled() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("runs.sqlite");
    let mut store = Store::create_or_open(&path).unwrap();
    let metrics = [("call1.video".to_owned(), "rate".to_owned(), 1.0)];
    store.insert(&meta(0), &recording(0, 20, 4), &metrics).unwrap();
    (folder, path)
}

/// Reads everything that a report and an export read.
fn read(path: &Path) -> Result<(), StoreError> {
    let mut store = Store::open(path)?;
    let runs = store.runs(&Filter::default())?;
    store.digests()?;
    let mut table =
        CsvTable::new(Vec::new(), parameters(runs.iter().map(|run| &run.meta))).unwrap();
    for run in &runs {
        store.metrics(run.id)?;
        table.add(run, &store.recording(run.id)?).unwrap();
    }
    store.check()
}

fn fault_after(change: &str) -> Fault {
    let (_folder, path) = filled();
    Connection::open(&path).unwrap().execute_batch(change).unwrap();
    read(&path).unwrap_err().fault
}

#[test]
fn a_duration_of_centuries_is_damage() {
    let change = format!("UPDATE run SET duration_ns = {}", i64::MAX);
    assert_eq!(fault_after(&change), Fault::Damaged(Damage::Duration(1)));
}

#[test]
fn series_that_declare_gigabytes_are_damage() {
    for change in [
        "UPDATE series SET count = 134217728 WHERE position = 0",
        // Each is allowed, and all together are not.
        "UPDATE series SET count = 67108864",
        "UPDATE series SET count = 9223372036854775807",
    ] {
        assert_eq!(fault_after(change), Fault::Damaged(Damage::Values(1)), "{change}");
    }
}

#[test]
fn names_of_megabytes_are_damage() {
    for change in [
        "UPDATE run SET experiment = hex(zeroblob(40000))",
        "UPDATE run SET version = hex(zeroblob(40000))",
        "UPDATE parameter SET value = hex(zeroblob(40000)) WHERE position = 0",
    ] {
        assert_eq!(fault_after(change), Fault::Damaged(Damage::Text(1)), "{change}");
    }
}

/// A kilobyte that decompresses to gigabytes is not decompressed beyond the declared size.
#[test]
fn a_decompression_bomb_is_damage() {
    let (_folder, path) = filled();
    let zeros = std::io::Read::take(std::io::repeat(0), 1 << 30);
    let bomb = zstd::stream::encode_all(zeros, 1).unwrap();
    assert!(bomb.len() < 1 << 17, "{}", bomb.len());
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE series SET data = ?1", params![bomb]).unwrap();
    let error = read(&path).unwrap_err();
    assert!(matches!(error.fault, Fault::Damaged(Damage::Series { .. })), "{error}");
}

#[test]
fn a_recording_that_could_not_be_read_again_is_not_stored() {
    let (_folder, path) = filled();
    let mut store = Store::open(&path).unwrap();
    let mut long = recording(0, 20, 4);
    long.duration = units::Duration::from_nanos(u64::MAX);
    let error = store.insert(&meta(1), &long, &[]).unwrap_err();
    assert!(error.to_string().contains("cannot be stored: it has 3"), "{error}");
    assert_eq!(store.runs(&Filter::default()).unwrap().len(), 1);
}

/// Columns of integers and the values that a forger would try first.
const INTEGERS: [&str; 12] = [
    "run.duration_ns",
    "run.interval_ns",
    "run.run_index",
    "run.file",
    "stream.began_ns",
    "stream.ended_ns",
    "stream.run",
    "series.count",
    "series.position",
    "event.at_ns",
    "event.position",
    "note.position",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_integer_in_any_column_gives_a_run_or_an_error(
        column in 0..INTEGERS.len(),
        value in prop_oneof![
            any::<i64>(),
            -3i64..40,
            Just(i64::MAX),
            Just(i64::MIN),
            (0u32..63).prop_map(|bit| 1i64 << bit),
        ],
    ) {
        let (_folder, path) = filled();
        let (table, column) = INTEGERS[column].split_once('.').unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        // Refused where it would violate the schema.
        let _ = connection.execute(&format!("UPDATE {table} SET {column} = ?1"), [value]);
        drop(connection);
        let _ = read(&path);
    }

    #[test]
    fn any_flipped_bytes_give_a_run_or_an_error(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let (_folder, path) = filled();
        let mut bytes = std::fs::read(&path).unwrap();
        for (place, byte) in places {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        std::fs::write(&path, &bytes).unwrap();
        let _ = read(&path);
    }
}
