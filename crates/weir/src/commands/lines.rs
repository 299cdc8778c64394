//! What several commands print as JSON, one object per line.

use metrics::{LINE_METRICS, StreamSummary, summarised};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The parameters of a grid cell: a value as text per axis.
#[derive(Serialize)]
pub(crate) struct CellLine(Map<String, Value>);

impl CellLine {
    /// The parameters, in the order of the axes.
    pub(crate) fn new(params: &[(String, String)]) -> Self {
        let pair = |(name, value): &(String, String)| (name.clone(), Value::from(value.as_str()));
        Self(params.iter().map(pair).collect())
    }
}

impl JsonSchema for CellLine {
    fn schema_name() -> Cow<'static, str> {
        "Cell".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The parameters of a grid cell: a value as text per axis.",
            "type": "object",
            "additionalProperties": { "type": "string" },
        })
    }
}

/// The metrics of streams, by stream.
#[derive(Serialize)]
pub(crate) struct StreamsLine(Map<String, Value>);

impl StreamsLine {
    /// These metrics. A metric that cannot be computed is `null`.
    pub(crate) fn new(streams: &[StreamSummary]) -> Self {
        Self(map(streams))
    }
}

impl JsonSchema for StreamsLine {
    fn schema_name() -> Cow<'static, str> {
        "Streams".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let metrics = summarised();
        let about = "The usual metrics of each stream, by the name of the stream.";
        let all =
            metrics.iter().map(|metric| (metric.name.as_str(), json!(metric.unit), metric.doc));
        by_name(about, all)
    }
}

/// The metrics of lines, by line.
#[derive(Serialize)]
pub(crate) struct LinesLine(Map<String, Value>);

impl LinesLine {
    /// These metrics.
    pub(crate) fn new(lines: &[StreamSummary]) -> Self {
        Self(map(lines))
    }
}

impl JsonSchema for LinesLine {
    fn schema_name() -> Cow<'static, str> {
        "Lines".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let about = "What each line carried, by the name of the line; without unused lines.";
        by_name(about, LINE_METRICS.iter().map(|(name, unit, doc)| (*name, json!(unit), *doc)))
    }
}

fn map(streams: &[StreamSummary]) -> Map<String, Value> {
    let of = |stream: &StreamSummary| {
        let values =
            stream.values.iter().map(|(name, _, value)| ((*name).to_owned(), Value::from(*value)));
        (stream.stream.clone(), Value::Object(values.collect()))
    };
    streams.iter().map(of).collect()
}

/// An object per name whose members are these metrics: name, unit, meaning.
fn by_name<'a>(about: &str, metrics: impl Iterator<Item = (&'a str, Value, &'a str)>) -> Schema {
    let member = |(name, unit, doc): (&str, Value, &str)| {
        let schema = json!({ "type": ["number", "null"], "description": doc, "unit": unit });
        (name.to_owned(), schema)
    };
    let members: Map<String, Value> = metrics.map(member).collect();
    json_schema!({
        "description": about,
        "type": "object",
        "additionalProperties": {
            "type": "object", "properties": members, "additionalProperties": false,
        },
    })
}
