use super::radio::Radio;

/// Why a metric cannot be computed from a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    /// The error of the metric with this name.
    #[error("{metric}: {error}")]
    Metric {
        /// The metric's name.
        metric: String,
        /// What is wrong.
        error: Box<Self>,
    },
    /// There is no metric of this name.
    #[error("there is no metric '{name}'{}", .nearest.as_ref().map_or(String::new(), |near| format!(": did you mean {near}?")))]
    UnknownMetric {
        /// The name that was asked for.
        name: String,
        /// The most similar name of a metric, if one is similar.
        nearest: Option<String>,
    },
    /// The recording has no stream of this name.
    #[error("there is no stream '{name}'{}", if .known.is_empty() { String::new() } else { format!("; there are {}", .known.join(", ")) })]
    UnknownStream {
        /// The name that was asked for.
        name: String,
        /// The names of the streams that there are.
        known: Vec<String>,
    },
    /// The stream was recorded without this counter or quantity.
    #[error("{stream} has no {column}")]
    NotRecorded {
        /// The stream's name.
        stream: String,
        /// The name of what it lacks.
        column: String,
    },
    /// The metric needs a line, and none is named.
    #[error("it needs line = \"HOST.up\" or \"HOST.down\"")]
    LineMissing,
    /// The metric needs streams, and none is named.
    #[error("it needs streams")]
    StreamsMissing,
    /// The metric needs a call and a TCP flow.
    #[error("it needs streams = [\"CALL.video\", \"FLOW.tcp\"]")]
    CallAndFlowMissing,
    /// The stream of this name is not a TCP flow.
    #[error("{0} is not a TCP flow")]
    NotTcp(String),
    /// The metric is a single number, not a statistic of samples.
    #[error("it is a single number and has no samples")]
    NoSamples,
    /// The line has no rate, so it has no capacity.
    #[error("{0} has no rate to compare with; give it one")]
    Unlimited(String),
    /// The line is part of a shared channel, so its rate is not its capacity.
    #[error(
        "{line} is {}: its rate is the rate of a transmission, not its capacity; ask for {}",
        .radio.direction_of(),
        .radio.usage()
    )]
    SharedChannel {
        /// The line's name.
        line: String,
        /// The technology.
        radio: Radio,
    },
    /// The line is of another technology than the metric needs.
    #[error(
        "{line} is {}; name {wanted}",
        .radio.map_or("wired", Radio::direction_of)
    )]
    WrongLine {
        /// The line's name.
        line: String,
        /// Its technology; `None` if it is wired.
        radio: Option<Radio>,
        /// What the metric needs.
        wanted: &'static str,
    },
}
