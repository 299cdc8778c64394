//! Comparison with recorded outputs of libwebrtc's own controller. `tests/data/goog_cc/README.md`
//! describes the files.
//!
//! `cargo test -p weir-cc vectors -- --nocapture` prints the greatest deviation of every column.

mod components;
mod trace;

use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::path::PathBuf;
use units::{Bitrate, Bytes, Duration, Time};

/// Greatest relative deviation that counts as equal.
const TOLERANCE: f64 = 0.001;
/// Columns that must be equal.
const EXACT: &[&str] = &[
    "loss_state",
    "detector",
    "aimd",
    "in_alr",
    "state",
    "ready",
    "valid",
    "id",
    "min_packets",
    "fraction_lost",
    "duration",
    "start",
];
/// Deviations are relative to the value, but at least to this. Other columns: [`RATE_FLOOR`].
const FLOORS: &[(&str, f64)] = &[
    ("trend", 1.0),
    ("slope", 0.01),
    ("threshold", 1.0),
    ("inherent_loss", 0.005),
    ("average_loss", 0.005),
    ("alr_budget", 0.1),
    ("budget", 0.1),
    ("cwnd_reduce", 0.1),
    ("increase_per_s", 100.0),
];
const RATE_FLOOR: f64 = 1000.0;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/goog_cc"))
}

/// The rows of a file (kind and fields) and the names of the columns by kind of output row.
struct Vectors {
    rows: Vec<(char, Vec<String>)>,
    columns: BTreeMap<char, Vec<String>>,
}

impl Vectors {
    fn read(name: &str) -> Self {
        let file = std::fs::File::open(folder().join(name)).unwrap();
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let (mut rows, mut columns) = (Vec::new(), BTreeMap::new());
        for line in text.lines() {
            if let Some(header) = line.strip_prefix("# out: ") {
                let names = header.split(' ').next().unwrap().split(',');
                let mut names = names.map(str::to_owned);
                columns.insert(kind(&names.next().unwrap()), names.collect());
            } else if !line.starts_with('#') {
                let (name, fields) = line.split_once(',').unwrap();
                rows.push((kind(name), fields.split(',').map(str::to_owned).collect()));
            }
        }
        Self { rows, columns }
    }
}

fn kind(name: &str) -> char {
    name.chars().next().unwrap()
}

/// Deviations of a column.
#[derive(Default)]
struct Column {
    max: f64,
    /// Rows that differ by more than the tolerance.
    differ: usize,
    first: Option<String>,
}

/// Compares output rows.
#[derive(Default)]
struct Comparison {
    name: String,
    tolerance: f64,
    rows: usize,
    columns: BTreeMap<String, Column>,
}

impl Comparison {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), tolerance: TOLERANCE, ..Self::default() }
    }

    /// Compares one value; `None` is no value.
    fn value(&mut self, column: &str, place: &str, expected: Option<f64>, got: Option<f64>) {
        let tolerance = if EXACT.contains(&column) { 0.0 } else { self.tolerance };
        let floor = FLOORS.iter().find(|(name, _)| *name == column);
        let floor = floor.map_or(RATE_FLOOR, |(_, floor)| *floor);
        let deviation = match (expected, got) {
            (None, None) => 0.0,
            (Some(expected), Some(got)) => (expected - got).abs() / expected.abs().max(floor),
            _ => 1.0,
        };
        let known = self.columns.entry(column.to_owned()).or_default();
        known.max = known.max.max(deviation);
        if deviation > tolerance {
            known.differ += 1;
            known.first.get_or_insert_with(|| format!("{place}: {expected:?}, here {got:?}"));
        }
    }

    /// Prints the table and fails if any column differs.
    fn finish(&self) -> Result<(), String> {
        let mut text = format!("{}: {} rows\n", self.name, self.rows);
        for (name, column) in &self.columns {
            let first = column.first.as_deref().unwrap_or_default();
            let (max, differ) = (100.0 * column.max, column.differ);
            writeln!(text, "  {name:<16} max {max:>9.4} %  differ {differ:>6}  {first}").unwrap();
        }
        println!("{text}");
        if self.columns.values().any(|column| column.differ > 0) { Err(text) } else { Ok(()) }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn integer(text: &str) -> u64 {
    text.parse().unwrap()
}

fn time(text: &str) -> Time {
    Time::from_micros(integer(text))
}

fn span(text: &str) -> Duration {
    Duration::from_micros(integer(text))
}

fn rate(text: &str) -> Bitrate {
    Bitrate::from_bps(integer(text))
}

fn size(text: &str) -> Bytes {
    Bytes::new(integer(text))
}

fn optional<T>(text: &str, parse: fn(&str) -> T) -> Option<T> {
    (text != "-").then(|| parse(text))
}

fn bps(rate: Option<Bitrate>) -> Option<f64> {
    rate.map(Bitrate::as_bps_f64)
}
