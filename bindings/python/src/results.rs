//! The results of a batch of runs.

use crate::errors;
use crate::table::{Columns, Table, Texts};
use arrow_array::UInt64Array;
use experiment::Experiment;
use lab::runner::{Job, Outcome, RunFailure};
use metrics::{EveryMetric, StreamMetrics};
use pyo3::prelude::*;
use sim::Recording;
use std::sync::Arc;
use store::export::{Row, rows};
use units::Duration;

/// What is kept of a run.
pub(crate) struct Kept {
    metrics: Vec<StreamMetrics>,
    recording: Option<Recording>,
}

impl Kept {
    pub(crate) fn of(recording: &Recording, with_series: bool) -> Self {
        let recording_kept = with_series.then(|| recording.clone());
        Self { metrics: EveryMetric::default().of(recording), recording: recording_kept }
    }
}

/// A run with its place in the experiment.
struct Run {
    seed: u64,
    cell: Vec<(String, String)>,
    kept: Kept,
}

/// The results of the runs of an experiment, in the order of its cells and seeds.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Results {
    experiment: String,
    axes: Vec<String>,
    runs: Vec<Run>,
    failures: Vec<(String, u64, String)>,
}

impl Results {
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let axes = experiment.axes().iter().map(|axis| axis.name.clone()).collect();
        Self { experiment: experiment.name.clone(), axes, runs: Vec::new(), failures: Vec::new() }
    }

    pub(crate) fn add(&mut self, experiment: &Experiment, outcome: Outcome<Kept>) {
        let Outcome { job: Job { cell, seed, .. }, result } = outcome;
        let cell = &experiment.cells()[cell];
        match result {
            Ok(kept) => self.runs.push(Run { seed: seed.0, cell: cell.params.clone(), kept }),
            Err(failure) => {
                self.failures.push((cell.label(), seed.0, failure.to_string()));
            }
        }
    }

    /// The exception for failed runs, if there are any.
    pub(crate) fn or_failure(self) -> PyResult<Self> {
        let Some((cell, seed, message)) = self.failures.first() else { return Ok(self) };
        let total = self.runs.len() + self.failures.len();
        let of = if cell.is_empty() { String::new() } else { format!(" of the cell {cell}") };
        let message = format!(
            "{} of {total} runs failed; the first, with seed {seed}{of}: {message}",
            self.failures.len()
        );
        Err(errors::of_runs(message, self.failures.clone(), self))
    }

    /// Adds the columns that every table has.
    fn places(&self, columns: &mut Columns, rows_of: impl Fn(&Run) -> usize) {
        let runs = || self.runs.iter().map(|run| (run, rows_of(run)));
        let mut names = Texts::new();
        runs().for_each(|(_, rows)| names.append_values(&self.experiment, rows));
        columns.texts("experiment", names);
        for axis in &self.axes {
            let mut values = Texts::new();
            for (run, rows) in runs() {
                match run.cell.iter().find(|(name, _)| name == axis) {
                    Some((_, value)) => values.append_values(value, rows),
                    None => values.append_nulls(rows),
                }
            }
            columns.texts(format!("cell.{axis}"), values);
        }
        let seeds = runs().flat_map(|(run, rows)| std::iter::repeat_n(run.seed, rows));
        columns.add("seed", Arc::new(UInt64Array::from_iter_values(seeds)));
    }
}

#[pymethods]
impl Results {
    /// One row per run and stream with every metric, as `weir export --metrics`; a metric that no
    /// stream has is left out.
    fn metrics(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let mut columns = Columns::default();
            self.places(&mut columns, |run| run.kept.metrics.len());
            let rows = || self.runs.iter().flat_map(|run| &run.kept.metrics);
            let (mut streams, mut kinds) = (Texts::new(), Texts::new());
            for row in rows() {
                streams.append_value(&row.stream);
                kinds.append_value(row.kind.as_str());
            }
            columns.texts("stream", streams);
            columns.texts("kind", kinds);
            for (index, metric) in EveryMetric::default().metrics().iter().enumerate() {
                let values: Vec<f64> = rows().map(|row| row.values[index]).collect();
                if values.iter().any(|value| !value.is_nan()) {
                    let unit = serde_json::to_value(metric.unit).map_err(errors::other)?;
                    columns.numbers(&metric.name, unit.as_str().unwrap_or_default(), values);
                }
            }
            columns.finish()
        })
    }

    /// One row per value over time, as `weir export`: `stream`, `record` (`sample`, `point` or
    /// `event`), `time_s`, `name` and `value`. `every`, in seconds, keeps the last value of each
    /// quantity in each interval; `names` keeps these quantities only.
    #[pyo3(signature = (*, every=None, names=None))]
    fn series(
        &self,
        py: Python<'_>,
        every: Option<f64>,
        names: Option<Vec<String>>,
    ) -> PyResult<Table> {
        if self.runs.iter().any(|run| run.kept.recording.is_none()) {
            return Err(errors::other("the series were not kept; run with keep_series=True"));
        }
        let every = every.map(Duration::from_secs_f64);
        let wanted = |row: &Row<'_>| {
            names.as_ref().is_none_or(|names| names.iter().any(|name| name == row.name))
        };
        py.detach(|| {
            let rows_of = |run: &Run| {
                let recording = run.kept.recording.as_ref();
                recording.map_or(0, |of| rows(of, every).filter(wanted).count())
            };
            let mut columns = Columns::default();
            self.places(&mut columns, rows_of);
            let [mut streams, mut records, mut texts] = [(); 3].map(|()| Texts::new());
            let (mut times, mut values) = (Vec::new(), Vec::new());
            for recording in self.runs.iter().filter_map(|run| run.kept.recording.as_ref()) {
                for row in rows(recording, every).filter(wanted) {
                    streams.append_value(row.stream);
                    records.append_value(row.record);
                    texts.append_value(row.name);
                    times.push(row.time.as_secs_f64());
                    values.push(row.value);
                }
            }
            columns.texts("stream", streams);
            columns.texts("record", records);
            columns.numbers("time_s", "s", times);
            columns.texts("name", texts);
            columns.numbers("value", "", values);
            columns.finish()
        })
    }

    /// The failed runs as (cell, seed, message).
    #[getter]
    fn failures(&self) -> Vec<(String, u64, String)> {
        self.failures.clone()
    }

    /// The number of runs with a result.
    fn __len__(&self) -> usize {
        self.runs.len()
    }

    fn __repr__(&self) -> String {
        let failed = match self.failures.len() {
            0 => String::new(),
            count => format!(", {count} failed"),
        };
        format!("<weir.Results of {}: {} runs{failed}>", self.experiment, self.runs.len())
    }
}

/// The failure of a run whose controller raised this exception.
pub(crate) fn failed(traceback: String) -> RunFailure {
    RunFailure::Controller(traceback)
}
