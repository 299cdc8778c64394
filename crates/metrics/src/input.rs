use super::MetricError;
use sim::Recording;
use sim::recording::StreamRecord;
use units::Time;

/// The part of a recording that a metric is computed from.
pub(super) struct Input<'a> {
    pub(super) recording: &'a Recording,
    pub(super) streams: Vec<&'a StreamRecord>,
    pub(super) line: Option<&'a StreamRecord>,
    /// The start of the window; a sample at this time is outside.
    pub(super) from: Time,
    /// The end of the window; a sample at this time is inside.
    pub(super) to: Time,
    /// The share of its reference rate that a ramp must reach.
    pub(super) level: f64,
}

impl<'a> Input<'a> {
    /// The length of the window in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.to.saturating_since(self.from).as_secs_f64()
    }

    /// The line.
    ///
    /// # Errors
    /// If none is named.
    pub(super) fn line(&self) -> Result<&'a StreamRecord, MetricError> {
        self.line.ok_or(MetricError::LineMissing)
    }

    /// The indices of the samples in the window.
    pub(super) fn samples(&self) -> std::ops::Range<usize> {
        self.index(self.from)..self.index(self.to)
    }

    /// How many samples were taken up to `time`.
    fn index(&self, time: Time) -> usize {
        let interval = self.recording.interval.as_nanos().max(1);
        usize::try_from(time.as_nanos() / interval).unwrap_or(usize::MAX)
    }

    /// One stream over the whole run.
    pub(super) fn whole(recording: &'a Recording, stream: &'a StreamRecord) -> Self {
        let to = Time::ZERO + recording.duration;
        Self { recording, streams: vec![stream], line: None, from: Time::ZERO, to, level: 1.0 }
    }

    /// The growth of a counter of `stream` in the window. A counter is zero before its first
    /// sample.
    pub(super) fn growth(&self, stream: &StreamRecord, name: &str) -> Result<f64, MetricError> {
        let values = column(stream, name)?;
        Ok(last_value(values, self.index(self.to)) - last_value(values, self.index(self.from)))
    }

    /// As [`growth`](Self::growth); zero if the stream does not have the counter.
    pub(super) fn growth_or_zero(&self, stream: &StreamRecord, name: &str) -> f64 {
        self.growth(stream, name).unwrap_or(0.0)
    }

    /// The part of the window after the last sample in which a counter of `stream` grew; the whole
    /// window if it never grew, an empty window if the stream does not have the counter.
    pub(super) fn since_last_step(&self, stream: &'a StreamRecord, name: &str) -> Self {
        let values = stream.column(name).unwrap_or_default();
        let range = self.samples();
        let grew = |&index: &usize| last_value(values, index + 1) > last_value(values, index);
        let last = range.clone().rev().find(grew).map(|index| self.recording.sample_time(index));
        let from = if values.is_empty() { self.to } else { last.unwrap_or(self.from) };
        Self { streams: vec![stream], line: self.line, from, ..*self }
    }

    /// The growth of the sum of counters in each sampling interval of the window; not-a-number
    /// where the stream was not active. If samples are missing between two others, for example
    /// because a browser did not answer in time, the growth between the two is spread evenly.
    pub(super) fn steps(
        &self,
        stream: &StreamRecord,
        names: &[&str],
    ) -> Result<Vec<f64>, MetricError> {
        let present: Vec<&[f64]> = names.iter().filter_map(|name| stream.column(name)).collect();
        if present.is_empty() {
            column(stream, names[0])?;
        }
        let total = |index: usize| {
            present.iter().map(|values| values.get(index).copied().unwrap_or(f64::NAN)).sum()
        };
        let count = present.iter().map(|values| values.len()).max().unwrap_or(0);
        let totals: Vec<f64> = (0..count).map(total).collect();
        let grown = steps_of(&totals);
        Ok(self.samples().map(|index| grown.get(index).copied().unwrap_or(f64::NAN)).collect())
    }

    /// The samples of a column of all streams in the window, without missing ones.
    pub(super) fn values(&self, name: &str) -> Result<Vec<f64>, MetricError> {
        let mut all = Vec::new();
        for stream in &self.streams {
            let values = column(stream, name)?;
            let range = self.samples();
            let end = range.end.min(values.len());
            all.extend(values[range.start.min(end)..end].iter().filter(|value| !value.is_nan()));
        }
        Ok(all)
    }

    /// The points of a stream in the window.
    pub(super) fn points_of(
        &self,
        stream: &StreamRecord,
        name: &str,
    ) -> Result<Vec<f64>, MetricError> {
        let points = stream.points(name).ok_or_else(|| missing(stream, name))?;
        let within = points.iter().filter(|(at, _)| *at > self.from && *at <= self.to);
        Ok(within.map(|(_, value)| *value).collect())
    }

    /// The points of all streams in the window.
    pub(super) fn points(&self, name: &str) -> Result<Vec<f64>, MetricError> {
        let each = self.streams.iter().map(|stream| self.points_of(stream, name));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// The growth of a counter in each interval. The counter is zero before its first sample; the
/// growth across missing samples is spread evenly.
fn steps_of(totals: &[f64]) -> Vec<f64> {
    let mut steps = vec![f64::NAN; totals.len()];
    let mut last: Option<(usize, f64)> = None;
    for (index, total) in totals.iter().copied().enumerate().filter(|(_, total)| !total.is_nan()) {
        let (from, before) = last.map_or((index, 0.0), |(at, before)| (at + 1, before));
        let step = (total - before) / (index + 1 - from) as f64;
        steps[from..=index].fill(step);
        last = Some((index, total));
    }
    steps
}

/// The last value among the first `count` samples; zero if there is none.
fn last_value(values: &[f64], count: usize) -> f64 {
    values[..count.min(values.len())]
        .iter()
        .rev()
        .find(|value| !value.is_nan())
        .copied()
        .unwrap_or(0.0)
}

/// The column of a stream with this name, or with this name without `controller.`.
///
/// # Errors
/// If it was not recorded.
pub fn column<'a>(stream: &'a StreamRecord, name: &str) -> Result<&'a [f64], MetricError> {
    let plain = || name.strip_prefix("controller.").and_then(|name| stream.column(name));
    stream.column(name).or_else(plain).ok_or_else(|| missing(stream, name))
}

fn missing(stream: &StreamRecord, name: &str) -> MetricError {
    MetricError::NotRecorded { stream: stream.name.clone(), column: name.to_owned() }
}
