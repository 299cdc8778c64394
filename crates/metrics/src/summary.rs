use super::{Metric, Request, Statistic, Unit, all, mean};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};
use std::collections::BTreeMap;

/// The metrics that a summary shows for a video stream.
const VIDEO: [&str; 9] = [
    "sent_rate",
    "received_rate",
    "loss",
    "rtt_median",
    "rtt_p95",
    "queuing_delay_p95",
    "frame_delay_p95",
    "fps_mean",
    "freeze_count",
];
/// The metrics that a summary shows for an audio stream.
const AUDIO: [&str; 4] = ["sent_rate", "received_rate", "loss", "frame_delay_p95"];
/// The metrics that a summary shows for a TCP flow.
const TCP: [&str; 6] =
    ["sent_rate", "received_rate", "rtt_median", "rtt_p95", "retransmissions", "completion_time"];

/// The metrics that [`lines`] shows for a line: name, unit, meaning.
pub const LINE_METRICS: [(&str, Unit, &str); 4] = [
    ("rate_out", Unit::BitsPerSecond, "Bytes that the line delivered over the duration of the run"),
    ("queue_delay_mean", Unit::Seconds, "Mean of the queuing delay at the samples"),
    ("queue_delay_p95", Unit::Seconds, "95th percentile of the queuing delay at the samples"),
    ("dropped", Unit::Share, "Packets dropped at the line, of all that came to it"),
];

/// The metrics that [`summary`] shows, in the order of the registry.
#[must_use]
pub fn summarised() -> Vec<Metric> {
    let shown = |metric: &Metric| {
        [&VIDEO[..], &AUDIO, &TCP].iter().any(|names| names.contains(&metric.name.as_str()))
    };
    all().into_iter().filter(shown).collect()
}

/// The usual metrics of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSummary {
    /// The stream's name.
    pub stream: String,
    /// (metric, unit, value); not-a-number if the metric cannot be computed.
    pub values: Vec<(&'static str, Unit, f64)>,
}

/// The usual metrics of every media stream and TCP flow, in the order of the recording.
#[must_use]
pub fn summary(recording: &Recording) -> Vec<StreamSummary> {
    let media = recording.streams.iter().filter(|stream| stream.kind.is_flow());
    let of = |name: &str, metric: &&'static str| {
        let request = Request::new(metric, &[name], None).ok()?;
        Some((*metric, request.unit(), request.compute(recording).unwrap_or(f64::NAN)))
    };
    media
        .map(|stream| {
            let metrics: &[&'static str] = match stream.kind {
                StreamKind::Video => &VIDEO,
                StreamKind::Audio => &AUDIO,
                StreamKind::Tcp => &TCP,
                StreamKind::Line | StreamKind::Stats => &[],
            };
            let values = metrics.iter().filter_map(|metric| of(&stream.name, metric)).collect();
            StreamSummary { stream: stream.name.clone(), values }
        })
        .collect()
}

/// This many streams whose names differ only in a number, such as those of `[users]`, are shown as
/// one.
const MANY: usize = 10;

/// A summary that is short enough to read: 10 or more streams whose names differ only in a number,
/// such as `user001.video`, become one, `user*.video × 42`, at the position of the first. Its
/// values are the means of the finite values.
#[must_use]
pub fn condensed(streams: Vec<StreamSummary>) -> Vec<StreamSummary> {
    let mut groups: BTreeMap<String, Vec<StreamSummary>> = BTreeMap::new();
    for stream in &streams {
        groups.entry(without_number(&stream.stream)).or_default().push(stream.clone());
    }
    groups.retain(|_, group| group.len() >= MANY);
    let mut shown = Vec::new();
    for stream in streams {
        let name = without_number(&stream.stream);
        match groups.get_mut(&name) {
            None => shown.push(stream),
            // The first of the group stands for this stream too.
            Some(group) if group.is_empty() => {}
            Some(group) => shown.push(one_of(&name, &std::mem::take(group))),
        }
    }
    shown
}

/// One summary for several streams: the means of their finite values.
fn one_of(name: &str, streams: &[StreamSummary]) -> StreamSummary {
    let of = |(index, &(metric, unit, _)): (usize, &(&'static str, Unit, f64))| {
        let values = streams.iter().filter_map(|stream| stream.values.get(index));
        let values: Vec<f64> =
            values.map(|(.., value)| *value).filter(|value| value.is_finite()).collect();
        (metric, unit, mean(&values))
    };
    let values =
        streams.first().into_iter().flat_map(|first| first.values.iter().enumerate().map(of));
    StreamSummary { values: values.collect(), stream: format!("{name} × {}", streams.len()) }
}

/// The name with `*` instead of its first number.
fn without_number(name: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let Some(start) = name.find(digit) else { return name.to_owned() };
    let rest = name[start..].trim_start_matches(digit);
    format!("{}*{rest}", &name[..start])
}

/// The summary of every line that carried packets and in which packets could wait or were dropped:
/// the rate that it delivered, the queuing delay at the samples, and the share of packets dropped.
#[must_use]
pub fn lines(recording: &Recording) -> Vec<StreamSummary> {
    let lines = recording.streams.iter().filter(|stream| stream.kind == StreamKind::Line);
    lines.filter_map(|line| of_line(line, recording)).collect()
}

fn of_line(line: &StreamRecord, recording: &Recording) -> Option<StreamSummary> {
    let total =
        |counter| line.column(counter)?.iter().rev().copied().find(|value| value.is_finite());
    let (packets, bytes, dropped) =
        (total("packetsIn")?, total("bytesOut")?, total("packetsDropped")?);
    let delays: Vec<f64> =
        line.column("queueDelay")?.iter().copied().filter(|delay| delay.is_finite()).collect();
    let is_limited = line.column("rate")?.iter().any(|rate| rate.is_finite());
    let is_used =
        packets > 0.0 && (is_limited || dropped > 0.0 || delays.iter().any(|delay| *delay > 0.0));
    let values = [
        bytes * 8.0 / recording.duration.as_secs_f64(),
        Statistic::Mean.of(delays.clone()),
        Statistic::Percentile(95).of(delays),
        dropped / packets,
    ];
    let named = LINE_METRICS.iter().zip(values);
    let values = named.map(|((name, unit, _), value)| (*name, *unit, value)).collect();
    is_used.then(|| StreamSummary { stream: line.name.clone(), values })
}

/// The metrics that a store keeps with each run: (stream, metric, value) of every stream's summary.
#[must_use]
pub fn usual(recording: &Recording) -> Vec<(String, String, f64)> {
    let mut metrics = Vec::new();
    for stream in summary(recording) {
        let values = stream.values.into_iter();
        metrics
            .extend(values.map(|(name, _, value)| (stream.stream.clone(), name.to_owned(), value)));
    }
    metrics
}
