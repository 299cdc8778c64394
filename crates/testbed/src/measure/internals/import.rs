use super::{Connection, Dump, DumpError};
use crate::measure::stats::{CallInfo, Collected, Collector, sample_count};
use chrono::{DateTime, SecondsFormat};
use server::signalling::CallRole;
use sim::Recording;
use sim::recording::StreamKind;
use store::{Mode, RunMeta};
use units::{Duration, Seed, Time};

/// Sampling intervals are whole multiples of this, milliseconds.
const STEP: f64 = 100.0;
/// The longest sampling interval and run of a dump, s.
const MAX_INTERVAL: f64 = 60.0;
const MAX_RUN: f64 = 7.0 * 86_400.0;
/// The most values of a run: half a gigabyte. Two connections over five hours have a sixth of it.
/// Without the limit, two distant times or many short series would turn a small file into a large
/// run.
const MAX_VALUES: usize = 1 << 26;
/// The most samples of a run, and the most per poll, of which the larger holds. Chrome keeps a page
/// in the background waiting for at most a minute, and two calls of one dump may lie hours apart;
/// without a limit, one damaged time turns ten polls into millions of samples.
const MAX_SAMPLES: usize = 10_000;
const MAX_SAMPLES_PER_POLL: usize = 100;

/// A run that was imported from a dump.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The records: for each connection, what this endpoint sent (`NAME.video`, `NAME.audio`) and
    /// received (`….back`) since the first poll, and the statistics objects.
    pub recording: Recording,
    /// An experiment file with the same hosts and calls, so that the run can be shown like others.
    pub experiment: String,
    /// The browser, the date and the texts of the statistics.
    pub notes: Vec<(String, String)>,
}

impl Imported {
    /// The metadata of the run for the store, under the name of this experiment.
    #[must_use]
    pub fn meta(&self, name: &str) -> RunMeta {
        RunMeta {
            experiment: name.to_owned(),
            cell: Vec::new(),
            seed: Seed(0),
            index: 0,
            mode: Mode::Measured,
            file: self.experiment.as_str().into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            notes: self.notes.clone(),
        }
    }
}

/// Imports a dump as a run. A single connection is called `main`, several `call1`, `call2`, …; the
/// endpoint of the dump is the host `local`.
///
/// # Errors
/// When the times or the size of the dump are not usable.
pub fn import(dump: &Dump, title: &str) -> Result<Imported, DumpError> {
    let (start, interval, duration) = grid(&dump.connections)?;
    let names = match dump.connections.len() {
        1 => vec!["main".to_owned()],
        several => (1..=several).map(|number| format!("call{number}")).collect(),
    };
    let collected: Vec<Collected> = names
        .iter()
        .zip(&dump.connections)
        .map(|(name, connection)| collect(name, connection, start, interval, duration))
        .collect();
    let mut recording = Recording { interval, duration, streams: Vec::new(), events: Vec::new() };
    let mut notes = Vec::new();
    notes.extend(dump.browser.iter().map(|browser| ("browser.local".to_owned(), browser.clone())));
    #[expect(clippy::cast_possible_truncation, reason = "checked with the grid")]
    let date = DateTime::from_timestamp_millis(start as i64);
    notes.extend(
        date.map(|date| ("date".to_owned(), date.to_rfc3339_opts(SecondsFormat::Secs, true))),
    );
    notes.push(("imported".to_owned(), "chrome://webrtc-internals".to_owned()));
    for call in collected {
        recording.streams.extend(call.streams);
        recording.events.extend(call.events);
        notes.extend(call.notes);
    }
    // The streams of calls come first, as in every recording.
    recording.streams.sort_by_key(|stream| stream.kind == StreamKind::Stats);
    recording.events.sort_by_key(|event| event.at);
    Ok(Imported { experiment: experiment(title, &names, interval, duration), recording, notes })
}

fn collect(
    name: &str,
    connection: &Connection,
    start: f64,
    interval: Duration,
    duration: Duration,
) -> Collected {
    let call = CallInfo {
        name: name.to_owned(),
        hosts: ["local".to_owned(), "remote".to_owned()],
        active: (Time::ZERO, Time::ZERO + duration),
        two_way: true,
        video: false,
        audio: false,
        silent: [false; 2],
    };
    let mut collector = Collector::new(call, start, interval, duration).joined();
    for index in 0..connection.polls.len() {
        collector.take(CallRole::Caller, &connection.report(index));
    }
    collector.finish()
}

/// The start in milliseconds since 1970, the sampling interval and the length: the first poll is
/// the first sample.
fn grid(connections: &[Connection]) -> Result<(f64, Duration, Duration), DumpError> {
    let mut gaps: Vec<f64> = connections
        .iter()
        .flat_map(|connection| connection.polls.windows(2).map(|pair| pair[1] - pair[0]))
        .collect();
    gaps.sort_by(f64::total_cmp);
    // With a single poll: the page polls once per second.
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(1e3);
    let interval = (usual / STEP).round().max(1.0) * STEP;
    let polls = || connections.iter().flat_map(|connection| &connection.polls).copied();
    let start = polls().fold(f64::INFINITY, f64::min) - interval;
    let length = ((polls().fold(0.0, f64::max) - start) / interval).round() * interval;
    let is_sane = interval <= MAX_INTERVAL * 1e3 && (interval..=MAX_RUN * 1e3).contains(&length);
    if !is_sane || !(0.0..=1e13).contains(&start) {
        return Err(DumpError::Times);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    let millis = |value: f64| Duration::from_millis(value as u64);
    let (interval, duration) = (millis(interval), millis(length));
    let series: usize = connections.iter().map(Connection::series).sum();
    let max_samples = MAX_SAMPLES.max(MAX_SAMPLES_PER_POLL * polls().count());
    match sample_count(interval, duration) {
        samples if samples == 0 || samples > max_samples => Err(DumpError::Times),
        samples if samples.saturating_mul(series) > MAX_VALUES => {
            Err(DumpError::TooManyValues { series, samples })
        }
        _ => Ok((start, interval, duration)),
    }
}

/// An experiment file with the same calls between two hosts on an unknown network.
fn experiment(title: &str, names: &[String], interval: Duration, duration: Duration) -> String {
    let title: String = title.chars().filter(|letter| !letter.is_control()).collect();
    // A JSON string without control characters is a TOML string too.
    let title = serde_json::Value::String(title);
    let millis = |duration: Duration| duration.as_nanos() / 1_000_000;
    let mut text = format!(
        "title = {title}\nabout = \"Imported from chrome://webrtc-internals: what its network was is not known.\"\n\
         duration = \"{}ms\"\nsample_interval = \"{}ms\"\n\n[host.local]\n\n[host.remote]\n",
        millis(duration),
        millis(interval)
    );
    for name in names {
        text += &format!("\n[call.{name}]\nfrom = \"local\"\nto = \"remote\"\ntwo_way = true\n");
    }
    text
}
