//! Reads recordings and compares outputs with them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

/// Relative deviation that is allowed. A second build of the original, with reordered
/// floating-point operations, deviates by up to 0.0005 %.
const TOLERANCE: f64 = 1e-4;

/// A recording: lines of columns.
pub(crate) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn read(name: &str) -> Self {
        let text = text(name);
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        Self { names: lines.next().unwrap(), rows: lines.collect() }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { names: &self.names, cells })
    }
}

/// The text of a recording.
pub(crate) fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/libwebrtc-history");
    let file = std::fs::File::open(format!("{folder}/{name}.csv.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// A row of a recording.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    names: &'a [String],
    cells: &'a [String],
}

impl Row<'_> {
    /// The text of a column; `None` for `-`.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let column = self.names.iter().position(|known| known == name).unwrap();
        Some(self.cells[column].as_str()).filter(|text| *text != "-")
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.text(name).map(|text| text.parse().unwrap())
    }

    pub(crate) fn whole(&self, name: &str) -> u64 {
        self.text(name).unwrap().parse().unwrap()
    }
}

/// Below this absolute value a deviation counts as relative to this value.
fn floor(column: &str) -> f64 {
    match column {
        "m" | "dts" => 0.01,
        "T" => 0.6,
        "trend" => 0.001,
        "slope" => 1e-4,
        "varmax" | "deviation" => 0.1,
        "R" | "est" | "cb" | "remb" | "target" | "minhist" | "delay_based" | "acked" | "pacing" => {
            1000.0
        }
        _ => 1.0,
    }
}

/// How far the outputs of a column are from the recording.
#[derive(Clone, Copy, Default)]
struct Deviation {
    values: u64,
    sum: f64,
    greatest: f64,
    different: u64,
}

/// The deviations of all columns.
#[derive(Default)]
pub(crate) struct Comparison {
    columns: BTreeMap<String, Deviation>,
    first: Option<String>,
}

impl Comparison {
    /// Compares a value with a recorded value, at `place`.
    pub(crate) fn check(
        &mut self,
        place: &dyn fmt::Display,
        column: &str,
        expected: Option<f64>,
        got: Option<f64>,
    ) {
        if !self.columns.contains_key(column) {
            self.columns.insert(column.to_owned(), Deviation::default());
        }
        let deviation = self.columns.get_mut(column).unwrap();
        deviation.values += 1;
        let far = match (expected, got) {
            (None, None) => false,
            (Some(expected), Some(got)) => {
                let relative = (expected - got).abs() / expected.abs().max(floor(column));
                deviation.sum += relative;
                deviation.greatest = deviation.greatest.max(relative);
                relative > TOLERANCE
            }
            _ => true,
        };
        deviation.different += u64::from(far);
        if far && self.first.is_none() {
            self.first = Some(format!("{place}: {column} is {expected:?}, not {got:?}"));
        }
    }

    pub(crate) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, one) in &other.columns {
            let all = self.columns.entry(name.clone()).or_default();
            all.values += one.values;
            all.sum += one.sum;
            all.greatest = all.greatest.max(one.greatest);
            all.different += one.different;
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16}{:>9}{:>12}{:>12}{:>10}",
            "column", "values", "mean %", "max %", "differ"
        )?;
        for (name, one) in &self.columns {
            let mean = 100.0 * one.sum / one.values.max(1) as f64;
            let greatest = 100.0 * one.greatest;
            writeln!(
                f,
                "{name:<16}{:>9}{mean:>12.6}{greatest:>12.6}{:>10}",
                one.values, one.different
            )?;
        }
        Ok(())
    }
}
