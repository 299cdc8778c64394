//! A metric as a table or an axis shows it.

use super::unit;
use document::{Fault, Node, Reader};
use metrics::{Estimate, MetricError, Request};
use report::Scale;
use sim::Recording;

/// A metric with the name and the unit in which it is shown.
#[derive(Clone, Debug)]
pub(super) struct ShownMetric {
    pub(super) name: String,
    pub(super) request: Request,
    /// The unit; `None` chooses one that fits the values.
    pub(super) scale: Option<Scale>,
}

impl ShownMetric {
    /// Reads a metric and its `unit`. `name_key` is the key of its name; without it the name is
    /// that of the metric.
    pub(super) fn read(table: &mut Reader<'_>, name_key: &'static str) -> Result<Self, Fault> {
        let (name, unit): (Option<String>, Option<String>) =
            (table.optional(name_key)?, table.optional("unit")?);
        let request = Request::read_table(table, "")?;
        let scale = unit.map(|text| scale(table, &text, &request)).transpose()?;
        let name = name.unwrap_or_else(|| request.metric.replace('_', " "));
        Ok(Self { name, request, scale })
    }

    /// As [`Self::read`], from a table without other keys.
    pub(super) fn only(node: &Node, path: &str, name_key: &'static str) -> Result<Self, Fault> {
        let mut table = Reader::new(node, path)?;
        let metric = Self::read(&mut table, name_key)?;
        table.finish()?;
        Ok(metric)
    }
}

fn scale(table: &Reader<'_>, text: &str, request: &Request) -> Result<Scale, Fault> {
    let unit = unit::parse(text).map_err(|error| table.fault("unit", error.to_string(), ""))?;
    let fitting = unit::fitting(request.unit());
    if fitting.contains(&unit.name) {
        return Ok(unit);
    }
    let names: Vec<&str> = fitting.iter().copied().filter(|name| !name.is_empty()).collect();
    let suggestion = if names.is_empty() {
        "remove unit".to_owned()
    } else {
        format!("use {}", names.join(" or "))
    };
    Err(table.fault("unit", format!("{} cannot be shown in {text}", request.metric), suggestion))
}

/// The values of the metrics in one run, in the units of the metrics.
pub(super) fn compute<'a>(
    metrics: impl Iterator<Item = &'a ShownMetric>,
    recording: &Recording,
    streams: &[String],
) -> Result<Vec<f64>, MetricError> {
    metrics.map(|metric| metric.request.compute_among(recording, streams)).collect()
}

/// The mean of a value over the runs of a cell. `index`: which of the values of [`compute`].
pub(super) fn estimate(extracts: &[&Vec<f64>], index: usize) -> Estimate {
    let values: Vec<f64> =
        extracts.iter().filter_map(|values| values.get(index).copied()).collect();
    Estimate::of(&values)
}
