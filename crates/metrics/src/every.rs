//! Every metric of every stream of a run, for tables.

use super::{Metric, Request, all};
use sim::Recording;
use sim::recording::StreamKind;

/// The metrics of the registry, prepared for many runs.
#[derive(Debug)]
pub struct EveryMetric {
    metrics: Vec<Metric>,
}

/// The metrics of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamMetrics {
    /// The stream's name.
    pub stream: String,
    /// Its kind.
    pub kind: StreamKind,
    /// A value per metric of [`EveryMetric::metrics`]; not-a-number if the stream has none, for
    /// example because the metric compares two streams.
    pub values: Vec<f64>,
}

impl Default for EveryMetric {
    fn default() -> Self {
        Self { metrics: all() }
    }
}

impl EveryMetric {
    /// The metrics, in the order of the registry.
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// The metrics of each stream over its whole time: of every call, TCP flow and line, in the
    /// order of the recording. Statistics objects of browsers have none.
    #[must_use]
    pub fn of(&self, recording: &Recording) -> Vec<StreamMetrics> {
        let streams = recording.streams.iter().filter(|stream| stream.kind != StreamKind::Stats);
        streams
            .map(|stream| {
                let (flows, line) = match stream.kind {
                    StreamKind::Line => (vec![], Some(stream.name.as_str())),
                    _ => (vec![stream.name.as_str()], None),
                };
                let value = |metric: &Metric| {
                    let request = Request::new(&metric.name, &flows, line).ok()?;
                    request.compute(recording).ok()
                };
                let values = self.metrics.iter().map(|metric| value(metric).unwrap_or(f64::NAN));
                StreamMetrics {
                    stream: stream.name.clone(),
                    kind: stream.kind,
                    values: values.collect(),
                }
            })
            .collect()
    }
}
