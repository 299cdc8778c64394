use super::input::Input;
use super::{Better, MetricError, Rule, Unit, find, mean, percentile};
use document::{Fault, Node, Reader, nearest};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};
use units::{Ratio, Time};

/// A request for a metric: which metric, of which streams, over which window.
#[derive(Clone, Debug)]
pub struct Request {
    /// The metric's name.
    pub metric: String,
    rule: Rule,
    /// The names of the streams; `*` stands for any characters.
    streams: Vec<String>,
    line: Option<String>,
    from: Option<Time>,
    to: Option<Time>,
    level: Ratio,
    reduce: Option<Reduce>,
    /// Whether only streams count that ended before the run did.
    whole: bool,
}

/// How the values of several streams become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Their mean.
    Mean,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// Their sum.
    Sum,
    /// A percentile.
    Percentile(u8),
}

/// The percentiles that can be asked for.
const PERCENTILES: [u8; 8] = [5, 10, 25, 50, 75, 90, 95, 99];

impl Reduce {
    fn read(table: &mut Reader<'_>) -> Result<Option<Self>, Fault> {
        match table.optional::<String>("reduce")?.as_deref() {
            None => Ok(None),
            Some("mean") => Ok(Some(Self::Mean)),
            Some("min") => Ok(Some(Self::Min)),
            Some("max") => Ok(Some(Self::Max)),
            Some("sum") => Ok(Some(Self::Sum)),
            Some(other) => {
                match PERCENTILES.into_iter().find(|percent| other == format!("p{percent}")) {
                    Some(percent) => Ok(Some(Self::Percentile(percent))),
                    None => {
                        let percentiles =
                            PERCENTILES.map(|percent| format!("p{percent}")).join(", ");
                        let suggestion =
                            format!("write mean, min, max, sum, or one of {percentiles}");
                        Err(table.fault(
                            "reduce",
                            format!("there is no reduction '{other}'"),
                            suggestion,
                        ))
                    }
                }
            }
        }
    }

    /// The reduced value; not-a-number if there are no values. A mean or a sum is not-a-number if
    /// one value is; the others ignore such values.
    fn of(self, mut values: Vec<f64>) -> f64 {
        if !matches!(self, Self::Mean | Self::Sum) {
            values.retain(|value| !value.is_nan());
        }
        if values.is_empty() {
            return f64::NAN;
        }
        match self {
            Self::Mean => mean(&values),
            Self::Min => values.into_iter().fold(f64::INFINITY, f64::min),
            Self::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
            Self::Sum => values.into_iter().sum(),
            Self::Percentile(percent) => {
                values.sort_by(f64::total_cmp);
                percentile(&values, f64::from(percent))
            }
        }
    }
}

impl Request {
    /// The metric of these streams over the whole run.
    ///
    /// # Errors
    /// If there is no such metric.
    pub fn new(metric: &str, streams: &[&str], line: Option<&str>) -> Result<Self, MetricError> {
        let rule = find(metric).ok_or_else(|| unknown(metric))?;
        Ok(Self {
            metric: metric.to_owned(),
            rule,
            streams: streams.iter().map(|name| (*name).to_owned()).collect(),
            line: line.map(str::to_owned),
            from: None,
            to: None,
            level: Ratio::from_percent(90),
            reduce: None,
            whole: false,
        })
    }

    /// The request over this window.
    #[must_use]
    pub fn between(self, from: Time, to: Time) -> Self {
        Self { from: Some(from), to: Some(to), ..self }
    }

    /// The request for a run whose schedule is the experiment's times `scale`: the window is scaled
    /// too.
    #[must_use]
    pub fn rescaled(&self, scale: f64) -> Self {
        let scaled = |time: Option<Time>| time.map(|time| crate::rescaled(time, scale));
        Self { from: scaled(self.from), to: scaled(self.to), ..self.clone() }
    }

    /// Reads `{ metric = "loss", stream = "main.video", from = "0s", … }`.
    ///
    /// # Errors
    /// If a key is unknown, or there is no such metric.
    pub fn read(node: &Node, key: &str) -> Result<Self, Fault> {
        let mut table = Reader::new(node, key)?;
        let request = Self::read_table(&mut table, "")?;
        table.finish()?;
        Ok(request)
    }

    /// Reads the keys of a request from a table that may have other keys. If `statistic` is not
    /// empty, `metric` names a quantity, such as `rtt`.
    ///
    /// # Errors
    /// If there is no such metric, or a value is wrong.
    pub fn read_table(table: &mut Reader<'_>, statistic: &str) -> Result<Self, Fault> {
        let written: String = table.required("metric")?;
        let metric = if statistic.is_empty() { written } else { format!("{written}_{statistic}") };
        let rule = find(&metric).ok_or_else(|| {
            table.fault("metric", unknown(&metric).to_string(), "see 'weir list --metrics'")
        })?;
        let stream: Option<String> = table.optional("stream")?;
        let streams: Option<Vec<String>> = table.optional("streams")?;
        if stream.is_some() && streams.is_some() {
            return Err(table.fault(
                "streams",
                "stream and streams exclude each other",
                "write one of them",
            ));
        }
        let (from, to) = (table.optional("from")?, table.optional::<Time>("to")?);
        if to.is_some_and(|to| to <= from.unwrap_or(Time::ZERO)) {
            return Err(table.fault("to", "the window is empty", "write a time after 'from'"));
        }
        Ok(Self {
            metric,
            rule,
            streams: stream.map(|stream| vec![stream]).or(streams).unwrap_or_default(),
            line: table.optional("line")?,
            from,
            to,
            level: table.or("level", Ratio::from_percent(90))?,
            reduce: Reduce::read(table)?,
            whole: table.or("whole", false)?,
        })
    }

    /// The unit of the result.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.rule.unit()
    }

    /// The direction in which the result improves.
    #[must_use]
    pub fn better(&self) -> Better {
        self.rule.better()
    }

    /// The metric of one run; not-a-number if it has no value, for example because a rate is never
    /// reached.
    ///
    /// # Errors
    /// If the run has no such stream, or the metric's counters were not recorded.
    pub fn compute(&self, recording: &Recording) -> Result<f64, MetricError> {
        self.compute_inner(recording).map_err(|error| self.in_context(error))
    }

    /// As [`compute`](Self::compute), but not-a-number if the run does not have a stream that other
    /// runs of its experiment have. `known` are the names of all streams of the experiment.
    ///
    /// # Errors
    /// As for [`compute`](Self::compute).
    pub fn compute_among(
        &self,
        recording: &Recording,
        known: &[String],
    ) -> Result<f64, MetricError> {
        if self.is_absent(recording, known) { Ok(f64::NAN) } else { self.compute(recording) }
    }

    /// Whether the run does not have a stream that other runs of its experiment have. `known` are
    /// the names of all streams of the experiment.
    pub fn is_absent(&self, recording: &Recording, known: &[String]) -> bool {
        let absent = |pattern: &String| {
            !recording.streams.iter().any(|stream| matches(pattern, &stream.name))
                && known.iter().any(|name| matches(pattern, name))
        };
        self.streams.iter().any(absent)
    }

    fn compute_inner(&self, recording: &Recording) -> Result<f64, MetricError> {
        match self.reduce {
            Some(reduce) => Ok(reduce.of(self.each_inner(recording)?)),
            None => {
                let (streams, line) = (self.streams(recording)?, self.line(recording)?);
                if streams.is_empty() && self.whole {
                    return Ok(f64::NAN);
                }
                self.rule.compute(&self.input(recording, streams, line))
            }
        }
    }

    /// The metric of each stream alone, without streams for which it has no value.
    ///
    /// # Errors
    /// As for [`compute`](Self::compute).
    pub fn of_streams(&self, recording: &Recording) -> Result<Vec<f64>, MetricError> {
        let mut values = self.each_inner(recording).map_err(|error| self.in_context(error))?;
        values.retain(|value| !value.is_nan());
        Ok(values)
    }

    fn each_inner(&self, recording: &Recording) -> Result<Vec<f64>, MetricError> {
        let line = self.line(recording)?;
        let each = self.streams(recording)?.into_iter();
        each.map(|stream| self.rule.compute(&self.input(recording, vec![stream], line))).collect()
    }

    /// The samples of which the metric is a statistic.
    ///
    /// # Errors
    /// As for [`compute`](Self::compute), and if the metric is a single number.
    pub fn samples(&self, recording: &Recording) -> Result<Vec<f64>, MetricError> {
        let samples = || {
            let input = self.input(recording, self.streams(recording)?, self.line(recording)?);
            self.rule.samples(&input)
        };
        samples().map_err(|error| self.in_context(error))
    }

    fn in_context(&self, error: MetricError) -> MetricError {
        MetricError::Metric { metric: self.metric.clone(), error: Box::new(error) }
    }

    fn line<'a>(&self, recording: &'a Recording) -> Result<Option<&'a StreamRecord>, MetricError> {
        self.line.as_deref().map(|name| find_stream(recording, name, StreamKind::Line)).transpose()
    }

    fn input<'a>(
        &self,
        recording: &'a Recording,
        streams: Vec<&'a StreamRecord>,
        line: Option<&'a StreamRecord>,
    ) -> Input<'a> {
        let end = Time::ZERO + recording.duration;
        let active = || streams.iter().copied().chain(streams.is_empty().then_some(line).flatten());
        let first = active().map(|stream| stream.active.0).min().unwrap_or(Time::ZERO);
        let last = active().map(|stream| stream.active.1).max().unwrap_or(end);
        let (from, to) = (self.from.unwrap_or(first), self.to.unwrap_or(last).min(end));
        Input { recording, streams, line, from, to, level: self.level.as_f64() }
    }

    fn streams<'a>(&self, recording: &'a Recording) -> Result<Vec<&'a StreamRecord>, MetricError> {
        let mut found: Vec<&StreamRecord> = Vec::new();
        for pattern in &self.streams {
            let is_named =
                |stream: &&StreamRecord| stream.kind.is_flow() && matches(pattern, &stream.name);
            let named: Vec<_> = recording.streams.iter().filter(is_named).collect();
            if named.is_empty() {
                find_stream(recording, pattern, StreamKind::Video)?;
            }
            let end = Time::ZERO + recording.duration;
            found.extend(named.into_iter().filter(|stream| !self.whole || stream.active.1 < end));
        }
        Ok(found)
    }
}

fn unknown(metric: &str) -> MetricError {
    let all = super::all();
    let nearest = nearest(metric, all.iter().map(|metric| metric.name.as_str())).map(str::to_owned);
    MetricError::UnknownMetric { name: metric.to_owned(), nearest }
}

fn find_stream<'a>(
    recording: &'a Recording,
    name: &str,
    kind: StreamKind,
) -> Result<&'a StreamRecord, MetricError> {
    let is_candidate = |stream: &&StreamRecord| match kind {
        StreamKind::Line => stream.kind == StreamKind::Line,
        _ => stream.kind.is_flow(),
    };
    let mut candidates = recording.streams.iter().filter(is_candidate);
    candidates.clone().find(|stream| stream.name == name).ok_or_else(|| {
        let known = candidates.by_ref().map(|stream| stream.name.clone()).collect();
        MetricError::UnknownStream { name: name.to_owned(), known }
    })
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|index| rest.is_char_boundary(*index))
                .any(|index| matches(tail, &rest[index..]))
        }),
    }
}
