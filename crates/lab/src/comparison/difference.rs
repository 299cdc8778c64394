//! Differences between measured runs and their simulations with the calls of today's Chromium.

use super::{Comparison, ResultSource};
use metrics::{StreamSummary, Unit, mean};
use report::TextTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// The compared metrics of every stream: mean rate, 95th percentile of the round-trip time, loss.
const METRICS: [&str; 3] = ["received_rate", "rtt_p95", "loss"];

/// A metric of a stream in a cell, measured and simulated, as means over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The name of the experiment.
    pub experiment: String,
    /// The factor of the schedule; below 1 in a short form.
    pub time_scale: f64,
    /// The parameters of the cell; empty without a grid.
    pub cell: String,
    /// The source of the measurement: `Chromium 156`.
    pub who: String,
    /// The name of the stream.
    pub stream: String,
    /// The name of the metric.
    pub metric: &'static str,
    /// The unit of the metric.
    pub unit: Unit,
    /// The measured mean.
    #[schemars(with = "Option<f64>")]
    pub measured: f64,
    /// The simulated mean with the calls of today's Chromium.
    #[schemars(with = "Option<f64>")]
    pub simulated: f64,
    /// Measured minus simulated.
    #[schemars(with = "Option<f64>")]
    pub difference: f64,
    /// Whether the machine limited a run of the cell.
    pub cpu_limited: bool,
}

impl Difference {
    /// The headings of a table of differences.
    pub const COLUMNS: [&str; 7] =
        ["cell", "who", "stream", "metric", "measured", "simulated", "difference"];

    /// The row in a table of differences, as text.
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

    /// The difference as text: in per cent of the simulated value, or in percentage points if the
    /// metric is a share.
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

    /// The source, with a remark if the machine limited it.
    #[must_use]
    pub fn marked(&self) -> String {
        if self.cpu_limited { format!("{}, CPU-limited", self.who) } else { self.who.clone() }
    }
}

/// The differences in every cell that a measured source and its simulation with the calls of
/// today's Chromium ([`Experiment::as_today`](experiment::Experiment::as_today)) have in common.
/// Sources that cannot be simulated have none; [`Comparison::missing_simulations`] gives the
/// reason.
#[must_use]
pub fn differences(comparison: &Comparison<'_>) -> Vec<Difference> {
    let pairs =
        comparison.sources.iter().filter(|source| source.is_measured()).filter_map(|source| {
            let today = source.experiment.as_today().ok()?;
            Some((source, comparison.sources.iter().find(|other| other.simulates(&today))?))
        });
    pairs.flat_map(|(source, simulator)| between(source, simulator)).collect()
}

fn between(measured_by: &ResultSource<'_>, simulator: &ResultSource<'_>) -> Vec<Difference> {
    let mut all = Vec::new();
    let cells = simulator.experiment.cells().iter();
    let by_params: HashMap<_, _> = cells.map(|cell| (&cell.params, cell)).collect();
    for cell in measured_by.experiment.cells() {
        let Some(simulated_cell) = by_params.get(&cell.params) else { continue };
        let simulated = means(simulator.summaries(simulated_cell.index));
        for (stream, metric, unit, measured) in means(measured_by.summaries(cell.index)) {
            let same = |other: &&(String, &str, Unit, f64)| other.0 == stream && other.1 == metric;
            let Some((_, _, _, simulated)) = simulated.iter().find(same) else { continue };
            if !measured.is_finite() || !simulated.is_finite() {
                continue;
            }
            all.push(Difference {
                experiment: measured_by.experiment.name.clone(),
                time_scale: measured_by.experiment.time_scale,
                cell: cell.label(),
                who: measured_by.who.clone(),
                stream,
                metric,
                unit,
                measured,
                simulated: *simulated,
                difference: measured - simulated,
                cpu_limited: measured_by.is_limited(cell.index),
            });
        }
    }
    all
}

/// The means over the runs of a cell, by stream and metric.
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
