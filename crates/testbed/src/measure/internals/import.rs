use super::{Connection, Dump, DumpError};
use crate::clock::Clock;
use crate::measure::stats::{CallInfo, Collected, Collector, sample_count};
use chrono::{DateTime, SecondsFormat};
use server::signalling::{CallRole, StatsReport};
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

/// Joins the dumps of both endpoints of a call as the call `main` between the hosts `first` and
/// `second`: of each dump, the connection with most polls. Returns the clock of the second endpoint
/// as well; `None` if the dumps have no sender reports of each other, and their clocks are taken to
/// be equal.
///
/// # Errors
/// As [`import`], or if a dump has no connection.
pub fn join(
    first: &Dump,
    second: &Dump,
    title: &str,
) -> Result<(Imported, Option<Clock>), DumpError> {
    let main = |dump: &Dump| {
        let connections = dump.connections.iter().max_by_key(|one| one.polls.len()).cloned();
        connections.ok_or(DumpError::NoRtp)
    };
    let connections = [main(first)?, main(second)?];
    let origin = connections[0].polls.first().copied().unwrap_or(0.0);
    let clock = clock(&connections, origin);
    let on_first = |at: f64| match clock {
        Some(clock) => origin + 1e3 * clock.on_first((at - origin) / 1e3),
        None => at,
    };
    let mut timed = connections.clone();
    timed[1].polls.iter_mut().for_each(|at| *at = on_first(*at));
    let (start, interval, duration) = grid(&timed)?;
    let mut collector = collector("main", ["first", "second"], start, interval, duration);
    connections[0].for_each_report(|report| collector.take(CallRole::Caller, report));
    connections[1].for_each_report(|report| {
        let report = StatsReport { at: on_first(report.at), stats: report.stats.clone() };
        collector.take(CallRole::Callee, &report);
    });
    let collected = collector.finish();
    let mut recording =
        Recording { interval, duration, streams: collected.streams, events: collected.events };
    recording.streams.sort_by_key(|stream| stream.kind == StreamKind::Stats);
    let mut notes = vec![("imported".to_owned(), "statistics of both endpoints".to_owned())];
    for (host, dump) in [("first", first), ("second", second)] {
        let browser = dump.browser.iter().cloned();
        notes.extend(browser.map(|browser| (format!("browser.{host}"), browser)));
    }
    notes.extend(collected.notes);
    let names = ["main".to_owned()];
    let hosts = ["first", "second"];
    let experiment = experiment_between(hosts, title, &names, interval, duration);
    Ok((Imported { recording, experiment, notes }, clock))
}

/// The clock of the second endpoint against the first, in seconds since `origin`, from the times of
/// sender reports on the clock of their sender and at their arrival.
fn clock(connections: &[Connection; 2], origin: f64) -> Option<Clock> {
    let one_way = |connection: &Connection| {
        let mut times = Vec::new();
        connection.for_each_report(|report| {
            for object in report.stats.values() {
                let is_remote = object.get("type").and_then(serde_json::Value::as_str)
                    == Some("remote-outbound-rtp");
                let time = |name| object.get(name).and_then(serde_json::Value::as_f64);
                if let (true, Some(arrived), Some(sent)) =
                    (is_remote, time("timestamp"), time("remoteTimestamp"))
                {
                    times.push(((sent - origin) / 1e3, (arrived - origin) / 1e3));
                }
            }
        });
        times
    };
    let back = one_way(&connections[0]);
    let there = one_way(&connections[1]);
    let there: Vec<_> = there.iter().map(|(sent, arrived)| (*sent, arrived - sent)).collect();
    let back: Vec<_> = back.iter().map(|(sent, arrived)| (*arrived, arrived - sent)).collect();
    Clock::estimate(&there, &back)
}

fn collect(
    name: &str,
    connection: &Connection,
    start: f64,
    interval: Duration,
    duration: Duration,
) -> Collected {
    let mut collector = collector(name, ["local", "remote"], start, interval, duration);
    connection.for_each_report(|report| collector.take(CallRole::Caller, report));
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

fn experiment(title: &str, names: &[String], interval: Duration, duration: Duration) -> String {
    experiment_between(["local", "remote"], title, names, interval, duration)
}

/// An experiment file with the same calls between two hosts on an unknown network.
pub(crate) fn experiment_between(
    hosts: [&str; 2],
    title: &str,
    names: &[String],
    interval: Duration,
    duration: Duration,
) -> String {
    let [from, to] = hosts;
    let title: String = title.chars().filter(|letter| !letter.is_control()).collect();
    // A JSON string without control characters is a TOML string too.
    let title = serde_json::Value::String(title);
    let millis = |duration: Duration| duration.as_nanos() / 1_000_000;
    let mut text = format!(
        "title = {title}\nabout = \"Imported: what its network was is not known.\"\n\
         duration = \"{}ms\"\nsample_interval = \"{}ms\"\n\n[host.{from}]\n\n[host.{to}]\n",
        millis(duration),
        millis(interval)
    );
    for name in names {
        text += &format!("\n[call.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ntwo_way = true\n");
    }
    text
}

/// The collector of a call that lasts for the whole recording.
fn collector(
    name: &str,
    hosts: [&str; 2],
    start: f64,
    interval: Duration,
    duration: Duration,
) -> Collector {
    let call = CallInfo {
        name: name.to_owned(),
        hosts: hosts.map(str::to_owned),
        active: (Time::ZERO, Time::ZERO + duration),
        two_way: true,
        video: false,
        audio: false,
        silent: [false; 2],
    };
    Collector::new(call, start, interval, duration).joined()
}
