//! What was measured against what the simulator says of the same with the calls of today's
//! Chromium.

use super::{Comparison, Party};
use metrics::{StreamSummary, Unit, mean};
use report::TextTable;
use serde::Serialize;

/// What is compared of every stream: mean rate, the 95th percentile of the round-trip time, loss.
const METRICS: [&str; 3] = ["received_rate", "rtt_p95", "loss"];

/// A metric of a stream of a cell, measured and simulated; the means over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The experiment.
    pub experiment: String,
    /// By what its schedule was multiplied.
    pub time_scale: f64,
    /// The cell's parameters; empty without a grid.
    pub cell: String,
    /// Who measured.
    pub who: String,
    /// The stream.
    pub stream: String,
    /// The metric.
    pub metric: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// As measured.
    pub measured: f64,
    /// As simulated with the calls of today's Chromium.
    pub simulated: f64,
    /// Measured less simulated.
    pub difference: f64,
    /// Whether the machine limited a run of the cell.
    pub cpu_limited: bool,
}

impl Difference {
    /// The headings of a table of differences.
    pub const COLUMNS: [&str; 7] =
        ["cell", "who", "stream", "metric", "measured", "simulated", "difference"];

    /// Its row in such a table, for people.
    #[must_use]
    pub fn row(&self) -> [String; 7] {
        [
            self.cell.clone(),
            self.marked(),
            self.stream.clone(),
            self.metric.to_owned(),
            self.unit.show(self.measured),
            self.unit.show(self.simulated),
            self.shown(),
        ]
    }

    /// The difference for people: a share of what was simulated, of shares themselves percentage
    /// points.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.unit == Unit::Share {
            return format!("{:+.2} points", self.difference * 100.0);
        }
        if self.simulated == 0.0 {
            "–".to_owned()
        } else {
            format!("{:+.1} %", self.difference / self.simulated * 100.0)
        }
    }

    /// Who measured, marked where the machine limited it.
    #[must_use]
    pub fn marked(&self) -> String {
        if self.cpu_limited { format!("{}, CPU-limited", self.who) } else { self.who.clone() }
    }
}

/// The differences of every cell that both a measured party and its own simulation with the calls
/// of today's Chromium have ([`Experiment::as_today`](experiment::Experiment::as_today)).
/// What cannot be simulated has none: [`Comparison::missing_simulations`] says why.
#[must_use]
pub fn differences(comparison: &Comparison<'_>) -> Vec<Difference> {
    let twins = comparison.parties.iter().filter(|party| party.is_measured()).filter_map(|party| {
        let today = party.experiment.as_today().ok()?;
        Some((party, comparison.parties.iter().find(|other| other.simulates(&today))?))
    });
    twins.flat_map(|(party, simulator)| between(party, simulator)).collect()
}

fn between(real: &Party<'_>, simulator: &Party<'_>) -> Vec<Difference> {
    let mut all = Vec::new();
    for cell in real.experiment.cells() {
        let Some(twin) =
            simulator.experiment.cells().iter().find(|twin| twin.params == cell.params)
        else {
            continue;
        };
        let simulated = means(simulator.summaries(twin.index));
        for (stream, metric, unit, measured) in means(real.summaries(cell.index)) {
            let same = |other: &&(String, &str, Unit, f64)| other.0 == stream && other.1 == metric;
            let Some((_, _, _, simulated)) = simulated.iter().find(same) else { continue };
            if !measured.is_finite() || !simulated.is_finite() {
                continue;
            }
            all.push(Difference {
                experiment: real.experiment.name.clone(),
                time_scale: real.experiment.time_scale,
                cell: cell.label(),
                who: real.who.clone(),
                stream,
                metric,
                unit,
                measured,
                simulated: *simulated,
                difference: measured - simulated,
                cpu_limited: real.is_limited(cell.index),
            });
        }
    }
    all
}

/// The means over the runs of a cell, a stream and a metric each.
fn means<'a>(
    runs: impl Iterator<Item = &'a Vec<StreamSummary>>,
) -> Vec<(String, &'static str, Unit, f64)> {
    let mut all: Vec<(String, &'static str, Unit, Vec<f64>)> = Vec::new();
    for stream in runs.flatten() {
        for (metric, unit, value) in
            stream.values.iter().filter(|(name, ..)| METRICS.contains(name))
        {
            match all.iter_mut().find(|entry| entry.0 == stream.stream && entry.1 == *metric) {
                Some(entry) => entry.3.push(*value),
                None => all.push((stream.stream.clone(), *metric, *unit, vec![*value])),
            }
        }
    }
    all.into_iter()
        .map(|(stream, metric, unit, values)| (stream, metric, unit, mean(&values)))
        .collect()
}

/// The differences as a table of the report.
pub(super) fn table(differences: &[Difference]) -> TextTable {
    let row = |difference: &Difference| {
        let mut row = difference.row().to_vec();
        if row[0].is_empty() {
            "–".clone_into(&mut row[0]);
        }
        row
    };
    TextTable {
        caption: "Measured against the simulator with the calls of today's Chromium".to_owned(),
        columns: Difference::COLUMNS.map(str::to_owned).to_vec(),
        rows: differences.iter().map(row).collect(),
    }
}
