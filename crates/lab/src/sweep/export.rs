use super::{PointResult, Sweep, Table};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use store::export::{MetricRow, MetricTable};
use store::{Mode, RunMeta, StoredRun};
use units::Duration;

/// A point as one line of JSON.
#[derive(Serialize)]
pub struct Line {
    point: usize,
    parameters: Map<String, Value>,
    objective: Option<f64>,
    scenarios: Map<String, Value>,
}

impl Sweep {
    /// A point as one line of JSON: `null` stands for a value that does not exist.
    #[must_use]
    pub fn line(&self, point: &PointResult) -> Line {
        let parameters = self.parameters.iter().zip(&point.settings);
        let scenarios = self.scenarios.iter().zip(&point.scenarios);
        Line {
            point: point.point,
            parameters: parameters
                .map(|(parameter, setting)| {
                    let number = setting.number.map(Value::from);
                    (parameter.name.clone(), number.unwrap_or_else(|| setting.text.as_str().into()))
                })
                .collect(),
            objective: Some(point.objective).filter(|objective| objective.is_finite()),
            scenarios: scenarios
                .map(|(scenario, found)| {
                    let own = [
                        ("objective".to_owned(), found.objective.into()),
                        ("normalised".to_owned(), found.normalised.into()),
                    ];
                    let values = scenario.values.iter().zip(&found.values);
                    let values = values.map(|((name, _), value)| (name.clone(), (*value).into()));
                    (scenario.name.clone(), Value::Object(own.into_iter().chain(values).collect()))
                })
                .collect(),
        }
    }

    /// The points as runs of a table, each with its parameters as its cell.
    #[must_use]
    pub fn rows(&self, table: &Table) -> Vec<StoredRun> {
        let file: Arc<str> = "".into();
        let row = |point: &PointResult| StoredRun {
            id: i64::try_from(point.point).unwrap_or(i64::MAX),
            meta: RunMeta {
                experiment: self.name.clone(),
                cell: self
                    .parameters
                    .iter()
                    .zip(&point.settings)
                    .map(|(parameter, setting)| (parameter.name.clone(), setting.text.clone()))
                    .collect(),
                seed: self.seed,
                index: 0,
                mode: Mode::Simulated,
                file: Arc::clone(&file),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                notes: Vec::new(),
            },
            duration: Duration::ZERO,
        };
        table.points.iter().map(row).collect()
    }

    /// The wide table of the results: for each point one row for each scenario, and one of kind
    /// `point` with its objective. `rows` are those of [`Self::rows`].
    #[must_use]
    pub fn metrics<'a>(&self, table: &Table, rows: &'a [StoredRun]) -> MetricTable<'a> {
        let mut metrics: Vec<(String, String)> =
            ["objective", "normalised"].map(|name| (name.to_owned(), String::new())).into();
        for (name, request) in self.scenarios.iter().flat_map(|scenario| &scenario.values) {
            if !metrics.iter().any(|(other, _)| other == name) {
                let unit = serde_json::to_value(request.unit()).unwrap_or_default();
                metrics.push((name.clone(), unit.as_str().unwrap_or_default().to_owned()));
            }
        }
        let column = |wanted: &str| metrics.iter().position(|(name, _)| name == wanted);
        let mut all = Vec::with_capacity(rows.len() * (1 + self.scenarios.len()));
        for (point, run) in table.points.iter().zip(rows) {
            let mut values = vec![f64::NAN; metrics.len()];
            values[0] = point.objective;
            all.push(MetricRow { run, stream: String::new(), kind: "point", values });
            for (scenario, found) in self.scenarios.iter().zip(&point.scenarios) {
                let mut values = vec![f64::NAN; metrics.len()];
                (values[0], values[1]) = (found.objective, found.normalised);
                for ((name, _), value) in scenario.values.iter().zip(&found.values) {
                    if let Some(column) = column(name) {
                        values[column] = *value;
                    }
                }
                let stream = scenario.name.clone();
                all.push(MetricRow { run, stream, kind: "scenario", values });
            }
        }
        let keys = self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        MetricTable { keys, metrics, rows: all }
    }
}
