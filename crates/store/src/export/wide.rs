//! The wide table of metrics: one row per run and stream, one column per metric.

use super::csv::{number, text};
use super::file::ExportError;
use super::table::parameter;
use crate::StoredRun;
use std::io::Write;

/// The metrics of one stream of a run.
#[derive(Clone, Debug)]
pub struct MetricRow<'a> {
    /// The run.
    pub run: &'a StoredRun,
    /// The stream's name.
    pub stream: String,
    /// The stream's kind: `video`, `audio`, `tcp` or `line`.
    pub kind: &'static str,
    /// A value per metric; not-a-number if the stream has none.
    pub values: Vec<f64>,
}

/// The wide table. Metrics that no row has are left out.
#[derive(Clone, Debug)]
pub struct MetricTable<'a> {
    /// The grid parameters, see [`parameters`](super::parameters).
    pub keys: Vec<String>,
    /// The names of the metrics, with their units.
    pub metrics: Vec<(String, String)>,
    /// The rows.
    pub rows: Vec<MetricRow<'a>>,
}

impl MetricTable<'_> {
    /// The indices of the metrics that some row has.
    pub(super) fn used(&self) -> Vec<usize> {
        let is_used = |metric: &usize| self.rows.iter().any(|row| !row.values[*metric].is_nan());
        (0..self.metrics.len()).filter(is_used).collect()
    }

    /// Writes the table as CSV, with the names of the metrics as columns. A value that does not
    /// exist is empty.
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn write_csv<W: Write>(&self, writer: W) -> Result<(), ExportError> {
        let used = self.used();
        let mut writer = csv::Writer::from_writer(writer);
        let facts = ["run", "experiment", "mode", "cpu_limited"].map(String::from);
        let cells = self.keys.iter().map(|key| text(&format!("cell.{key}")).into_owned());
        let rest = ["seed", "stream", "kind"].map(String::from);
        let metrics = used.iter().map(|metric| text(&self.metrics[*metric].0).into_owned());
        writer.write_record(facts.into_iter().chain(cells).chain(rest).chain(metrics))?;
        for row in &self.rows {
            let meta = &row.run.meta;
            let facts = [
                row.run.id.to_string(),
                text(&meta.experiment).into_owned(),
                meta.mode.to_string(),
                meta.cpu_limited().is_some().to_string(),
            ];
            let cell = |key: &String| text(parameter(meta, key).unwrap_or_default()).into_owned();
            let rest = [meta.seed.to_string(), text(&row.stream).into_owned(), row.kind.to_owned()];
            let values = used.iter().map(|metric| number(row.values[*metric]));
            let cells = self.keys.iter().map(cell);
            writer.write_record(facts.into_iter().chain(cells).chain(rest).chain(values))?;
        }
        Ok(writer.flush()?)
    }
}
