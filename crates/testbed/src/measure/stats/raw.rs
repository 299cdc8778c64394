//! Every statistics object with all its members, under their W3C names.

use super::Collected;
use super::grid::Grid;
use super::object::{Object, Report};
use serde_json::{Map, Value};
use sim::recording::{Column, StreamKind, StreamRecord};
use std::collections::BTreeMap;
use store::names;
use units::Time;

/// The most objects of one endpoint; a call has a dozen.
const MAX_STREAMS: usize = 128;
/// The most members of one endpoint, over all objects; a call has about 250.
const MAX_COLUMNS: usize = 1024;
/// The longest type or member name that is kept, bytes.
const MAX_NAME: usize = 96;
/// The depth to which nested records are read; `qualityLimitationDurations` is one.
const MAX_DEPTH: usize = 3;
/// The longest text that is kept, characters.
const MAX_TEXT: usize = 200;

/// Types that are left out: those that identify a machine or a key, and those that are stored with
/// the object that refers to them.
const LEFT_OUT: [&str; 5] =
    ["certificate", "local-candidate", "remote-candidate", "codec", "candidate-pair"];
/// Text members that become notes. All others are left out: addresses, ICE credentials,
/// fingerprints, labels.
const WORDS: [&str; 15] = [
    "codec",
    "contentType",
    "decoderImplementation",
    "dtlsCipher",
    "dtlsRole",
    "dtlsState",
    "encoderImplementation",
    "iceRole",
    "iceState",
    "mid",
    "qualityLimitationReason",
    "scalabilityMode",
    "srtpCipher",
    "state",
    "tlsVersion",
];
/// Text members of the candidates of the selected pair that become notes.
const CANDIDATE: [&str; 4] = ["candidateType", "networkType", "protocol", "relayProtocol"];

/// The statistics objects of one endpoint.
#[derive(Debug)]
pub(super) struct RawObjects {
    /// `CALL.HOST`.
    prefix: String,
    grid: Grid,
    /// By object id; the selected pair, which may change, by its type.
    stream_indices: BTreeMap<String, usize>,
    streams: Vec<ObjectStream>,
    columns: usize,
    notes: BTreeMap<String, String>,
}

#[derive(Debug)]
struct ObjectStream {
    name: String,
    columns: Vec<Column>,
}

impl RawObjects {
    pub(super) fn new(prefix: String, grid: Grid) -> Self {
        let (stream_indices, notes) = (BTreeMap::new(), BTreeMap::new());
        Self { prefix, grid, stream_indices, streams: Vec::new(), columns: 0, notes }
    }

    /// Takes the objects of a report for the sample `index`.
    pub(super) fn take(&mut self, report: &Report<'_>, index: usize) {
        for object in report.objects().filter(|object| !LEFT_OUT.contains(&object.kind)) {
            if let Some(stream) = self.stream_of(object.id, &object) {
                self.object(stream, &object, index);
                self.codec(stream, report, &object);
            }
        }
        if let Some(pair) = report.selected_pair()
            && let Some(stream) = self.stream_of(pair.kind, &pair)
        {
            self.object(stream, &pair, index);
            self.candidates(stream, report, &pair);
        }
    }

    /// The index of an object's stream, which is added if the object is new.
    fn stream_of(&mut self, key: &str, object: &Object<'_>) -> Option<usize> {
        if let Some(stream) = self.stream_indices.get(key) {
            return Some(*stream);
        }
        let name = self.name(object)?;
        if self.streams.len() >= MAX_STREAMS {
            return None;
        }
        let stream = self.streams.len();
        self.streams.push(ObjectStream { name, columns: Vec::new() });
        self.stream_indices.insert(key.to_owned(), stream);
        Some(stream)
    }

    /// `CALL.HOST.TYPE[.KIND][.RID]`, and a number if the name is in use.
    fn name(&self, object: &Object<'_>) -> Option<String> {
        let mut name = format!("{}.{}", self.prefix, plain(object.kind)?);
        for more in [object.media(), object.text("rid")].into_iter().flatten().filter_map(plain) {
            name = format!("{name}.{more}");
        }
        let is_taken = |name: &str| self.streams.iter().any(|stream| stream.name == name);
        if !is_taken(&name) {
            return Some(name);
        }
        (2..=MAX_STREAMS).map(|number| format!("{name}.{number}")).find(|name| !is_taken(name))
    }

    fn object(&mut self, stream: usize, object: &Object<'_>, index: usize) {
        self.members(stream, "", object.members, index, MAX_DEPTH);
        for word in WORDS {
            self.note(stream, word, object.text(word));
        }
    }

    /// Stores numbers, booleans as 0 and 1, and nested records with a dot.
    fn members(
        &mut self,
        stream: usize,
        prefix: &str,
        members: &Map<String, Value>,
        index: usize,
        depth: usize,
    ) {
        for (name, value) in members {
            let Some(name) = plain(name).map(|name| format!("{prefix}{name}")) else { continue };
            let value = match value {
                Value::Bool(is) => f64::from(u8::from(*is)),
                Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
                Value::Object(inner) if depth > 1 => {
                    self.members(stream, &format!("{name}."), inner, index, depth - 1);
                    continue;
                }
                _ => continue,
            };
            if value.is_finite() {
                self.value(stream, &name, index, value);
            }
        }
    }

    fn value(&mut self, stream: usize, name: &str, index: usize, value: f64) {
        let columns = &mut self.streams[stream].columns;
        if let Some(column) = columns.iter_mut().find(|column| column.name == name) {
            column.values[index] = value;
            return;
        }
        if self.columns >= MAX_COLUMNS || name.len() > MAX_NAME {
            return;
        }
        let Ok(name) = names::intern(name) else { return };
        let mut values = vec![f64::NAN; self.grid.samples()];
        values[index] = value;
        columns.push(Column { name, values });
        self.columns += 1;
    }

    fn codec(&mut self, stream: usize, report: &Report<'_>, object: &Object<'_>) {
        let codec = object.text("codecId").and_then(|id| report.object(id));
        let codec = codec.filter(|codec| codec.kind == "codec");
        for word in ["mimeType", "sdpFmtpLine"] {
            self.note(stream, word, codec.and_then(|codec| codec.text(word)));
        }
    }

    fn candidates(&mut self, stream: usize, report: &Report<'_>, pair: &Object<'_>) {
        for (end, member) in [("local", "localCandidateId"), ("remote", "remoteCandidateId")] {
            let candidate = pair.text(member).and_then(|id| report.object(id));
            for word in CANDIDATE {
                let text = candidate.and_then(|candidate| candidate.text(word));
                self.note(stream, &format!("{end}.{word}"), text);
            }
        }
    }

    /// Stores a text as a note; the last text is kept.
    fn note(&mut self, stream: usize, word: &str, text: Option<&str>) {
        if let Some(text) = text {
            let text = text.chars().filter(|letter| !letter.is_control()).take(MAX_TEXT).collect();
            self.notes.insert(format!("{}.{word}", self.streams[stream].name), text);
        }
    }

    pub(super) fn finish(self, active: (Time, Time), collected: &mut Collected) {
        let streams = self.streams.into_iter().filter(|stream| !stream.columns.is_empty());
        collected.streams.extend(streams.map(|ObjectStream { name, columns }| StreamRecord {
            name,
            kind: StreamKind::Stats,
            active,
            columns,
            points: Vec::new(),
        }));
        collected.notes.extend(self.notes);
        if self.columns >= MAX_COLUMNS {
            let prefix = self.prefix;
            collected.warnings.push(format!(
                "only the first {MAX_COLUMNS} members of the statistics of {prefix} are kept"
            ));
        }
    }
}

/// The name, if it has only letters, digits and the marks that webrtc-stats uses.
fn plain(name: &str) -> Option<&str> {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_' | b'.');
    let is_plain = !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(fits);
    is_plain.then_some(name)
}
