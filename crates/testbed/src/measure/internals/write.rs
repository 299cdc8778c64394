use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};
use std::collections::BTreeMap;
use std::io::Write;
use store::RunMeta;
use store::export::{ExportError, ExportFault};

/// Writes the statistics of a measured run as a dump: a peer connection for each end of each call,
/// named `CALL.HOST`. Texts are those of the notes; addresses, certificates and the log of updates
/// are not kept in a run, and so not in the dump.
///
/// # Errors
/// When the run has no statistics of browsers, or `writer` fails.
pub fn write(meta: &RunMeta, recording: &Recording, writer: impl Write) -> Result<(), ExportError> {
    let mut connections: BTreeMap<(&str, &str), Vec<(&str, &StreamRecord)>> = BTreeMap::new();
    for stream in recording.streams.iter().filter(|stream| stream.kind == StreamKind::Stats) {
        let mut parts = stream.name.splitn(3, '.');
        if let (Some(call), Some(host), Some(object)) = (parts.next(), parts.next(), parts.next()) {
            connections.entry((call, host)).or_default().push((object, stream));
        }
    }
    if connections.is_empty() {
        return Err(ExportFault::NoStatistics(meta.mode).into());
    }
    let mut dump = Map::new();
    for ((call, host), objects) in connections {
        let connection = Connection { meta, recording, prefix: format!("{call}.{host}"), objects };
        let stats = connection.stats();
        let about = json!({ "pid": 0, "url": "", "rtcConfiguration": "{}", "constraints": "", "updateLog": [], "stats": stats });
        dump.insert(connection.prefix, about);
    }
    let browsers = meta.notes.iter().filter(|(name, _)| name.starts_with("browser."));
    let browsers: Vec<&str> = browsers.map(|(_, value)| value.as_str()).collect();
    let brand = |(brand, version): (&str, &str)| json!({ "brand": brand, "version": version });
    let brands: Vec<Value> =
        browsers.iter().filter_map(|browser| browser.rsplit_once(' ')).map(brand).collect();
    let dump = json!({
        "UserAgent": browsers.join(", "),
        "UserAgentData": { "fullVersionList": brands },
        "getUserMedia": [],
        "PeerConnections": dump,
    });
    serde_json::to_writer(writer, &dump)
        .map_err(|error| ExportError::from(std::io::Error::from(error)))
}

/// An object of words: its id, the member that names it, its members.
type Companion<'a> = (String, &'static str, Vec<(&'a str, &'a str)>);

/// The words of a codec.
const CODEC: [&str; 2] = ["mimeType", "sdpFmtpLine"];

/// An end of a call.
struct Connection<'a> {
    meta: &'a RunMeta,
    recording: &'a Recording,
    prefix: String,
    /// With their names within the end.
    objects: Vec<(&'a str, &'a StreamRecord)>,
}

impl Connection<'_> {
    fn stats(&self) -> Map<String, Value> {
        let mut stats = Map::new();
        let start = self.start();
        for (id, stream) in &self.objects {
            self.object(id, stream, start, &mut stats);
        }
        stats
    }

    /// When the run began, milliseconds since 1970: by the first time of an object of this end,
    /// else by the run's date.
    fn start(&self) -> f64 {
        let local = self.objects.iter().filter(|(id, _)| !id.starts_with("remote-"));
        let found = local.filter_map(|(_, stream)| stream.column("timestamp")).find_map(|times| {
            let (index, at) = times.iter().enumerate().find(|(_, at)| !at.is_nan())?;
            Some(at - self.recording.sample_time(index).as_secs_f64() * 1e3)
        });
        let date = || {
            let date = DateTime::parse_from_rfc3339(self.meta.note("date")?).ok()?;
            #[expect(
                clippy::cast_precision_loss,
                reason = "milliseconds of this millennium have 41 bits"
            )]
            Some(date.timestamp_millis() as f64)
        };
        found.or_else(date).unwrap_or(0.0)
    }

    fn object(&self, id: &str, stream: &StreamRecord, start: f64, stats: &mut Map<String, Value>) {
        let mut parts = id.splitn(3, '.');
        let (kind, media, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let count = stream.columns.iter().map(|column| column.values.len()).max().unwrap_or(0);
        let is_told = |index: usize| {
            stream
                .columns
                .iter()
                .any(|column| column.values.get(index).is_some_and(|value| !value.is_nan()))
        };
        let told: Vec<usize> = (0..count).filter(|index| is_told(*index)).collect();
        let (Some(first), Some(last)) = (told.first().copied(), told.last().copied()) else {
            return;
        };
        let times = self.times(stream, count, start);
        let mut add = |member: &str, from: usize, values: Vec<Value>| {
            let series = json!({
                "startTime": iso(times[from]),
                "endTime": iso(times[from + values.len() - 1]),
                "statsType": kind,
                "values": Value::Array(values).to_string(),
            });
            stats.insert(format!("{id}-{member}"), series);
        };
        let same = |value: &str| vec![Value::from(value); last - first + 1];
        add("type", first, same(kind));
        if let Some(media @ ("video" | "audio")) = media {
            add("kind", first, same(media));
            if let Some(rid) = more.filter(|more| more.parse::<u32>().is_err()) {
                add("rid", first, same(rid));
            }
        }
        if kind == "transport" && self.objects.iter().any(|(id, _)| *id == "candidate-pair") {
            add("selectedCandidatePairId", first, same("candidate-pair"));
        }
        for (member, value) in self.words(stream) {
            add(member, first, same(value));
        }
        for (member, (from, values)) in members(stream, first, last) {
            add(&member, from, values);
        }
        let series = |kind: &str, value: &str| {
            json!({
                "startTime": iso(times[first]),
                "endTime": iso(times[last]),
                "statsType": kind,
                "values": Value::Array(same(value)).to_string(),
            })
        };
        for (object, reference, words) in self.companions(id, &stream.name) {
            let its_kind = object.split('.').next().unwrap_or_default();
            stats.insert(format!("{id}-{reference}"), series(kind, &object));
            stats.insert(format!("{object}-type"), series(its_kind, its_kind));
            for (member, value) in words {
                stats.insert(format!("{object}-{member}"), series(its_kind, value));
            }
        }
    }

    /// What was said of an object in words, by member; a dot more is a word of another.
    fn words<'a>(&'a self, stream: &'a StreamRecord) -> impl Iterator<Item = (&'a str, &'a str)> {
        let words = self.meta.notes.iter().filter_map(|(name, value)| {
            Some((name.strip_prefix(&stream.name)?.strip_prefix('.')?, value.as_str()))
        });
        words.filter(|(member, _)| !member.contains('.') && !CODEC.contains(member))
    }

    /// The objects that an object names, of which a run keeps words only: its codec, the candidates
    /// of a pair. Each with its id, the member that names it, and its words.
    fn companions<'a>(&'a self, id: &str, stream: &str) -> Vec<Companion<'a>> {
        let word = |member: &'a str| Some((member, self.meta.note(&format!("{stream}.{member}"))?));
        let codec: Vec<_> = CODEC.into_iter().filter_map(word).collect();
        let mut all = vec![(format!("codec.{id}"), "codecId", codec)];
        for (end, reference) in [("local", "localCandidateId"), ("remote", "remoteCandidateId")] {
            let prefix = format!("{stream}.{end}.");
            let words =
                self.meta.notes.iter().filter_map(|(name, value)| {
                    Some((name.strip_prefix(&prefix)?, value.as_str()))
                });
            all.push((format!("{end}-candidate"), reference, words.collect()));
        }
        all.retain(|(_, _, words)| !words.is_empty());
        all
    }

    /// The times of an object's samples: its own, else those of the samples.
    fn times(&self, stream: &StreamRecord, count: usize, start: f64) -> Vec<f64> {
        let own = stream.column("timestamp").unwrap_or_default();
        let sample = |index: usize| start + self.recording.sample_time(index).as_secs_f64() * 1e3;
        let time = |index: usize| {
            own.get(index).copied().filter(|at| !at.is_nan()).unwrap_or_else(|| sample(index))
        };
        (0..count).map(time).collect()
    }
}

/// The members of an object, each from its first value to its last; `a.b` is the member `b` of the
/// record `a`.
fn members(stream: &StreamRecord, from: usize, to: usize) -> BTreeMap<String, (usize, Vec<Value>)> {
    let mut members: BTreeMap<String, (usize, Vec<Value>)> = BTreeMap::new();
    for column in &stream.columns {
        let is_there = |value: &f64| !value.is_nan();
        let ends =
            (column.values.iter().position(is_there), column.values.iter().rposition(is_there));
        let (Some(first), Some(last)) = ends else { continue };
        let Some((record, member)) = column.name.split_once('.') else {
            let values = column.values[first..=last].iter().map(|value| number(*value)).collect();
            members.insert(column.name.to_owned(), (first, values));
            continue;
        };
        let empty = || (from, vec![Value::Object(Map::new()); to - from + 1]);
        let (_, records) = members.entry(record.to_owned()).or_insert_with(empty);
        for (record, value) in records
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .zip(column.values.get(from..).unwrap_or_default())
        {
            if !value.is_nan() {
                record.insert(member.to_owned(), number(*value));
            }
        }
    }
    members
}

/// Whole numbers as such; `null` where there is none.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return Value::from(value as i64);
    }
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn iso(millis: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "out of range is no time, which is seen")]
    let time = DateTime::from_timestamp_millis(millis.floor() as i64).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
