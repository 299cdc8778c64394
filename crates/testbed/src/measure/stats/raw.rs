//! Every statistics object that matters with all its members, under their W3C names.

use super::Collected;
use super::grid::Grid;
use super::object::{Object, Report};
use serde_json::{Map, Value};
use sim::recording::{Column, StreamKind, StreamRecord};
use std::collections::BTreeMap;
use store::names;
use units::Time;

/// Objects of one end that are kept; a call has a dozen.
const MAX_STREAMS: usize = 128;
/// Members of one end that are kept, over all objects; a call has about 250.
const MAX_COLUMNS: usize = 1024;
/// The longest type or name of a member that is kept.
const LONGEST_NAME: usize = 96;
/// How deep records within objects are followed; `qualityLimitationDurations` is one.
const DEEPEST: usize = 3;
/// The longest text that is kept.
const LONGEST_TEXT: usize = 200;

/// Types that are left out: what identifies a machine or a key, and what is told with the object
/// that names it.
const LEFT_OUT: [&str; 5] =
    ["certificate", "local-candidate", "remote-candidate", "codec", "candidate-pair"];
/// Members in words that become notes. All others are left out: addresses, ICE credentials,
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
/// Members in words of the candidates of the selected pair that become notes.
const CANDIDATE: [&str; 4] = ["candidateType", "networkType", "protocol", "relayProtocol"];

/// The objects of one end.
#[derive(Debug)]
pub(super) struct Raw {
    /// `CALL.HOST`.
    prefix: String,
    grid: Grid,
    /// By id; the selected pair, which may change, by its type.
    places: BTreeMap<String, usize>,
    streams: Vec<Stream>,
    columns: usize,
    notes: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Stream {
    name: String,
    columns: Vec<Column>,
}

impl Raw {
    pub(super) fn new(prefix: String, grid: Grid) -> Self {
        let (places, notes) = (BTreeMap::new(), BTreeMap::new());
        Self { prefix, grid, places, streams: Vec::new(), columns: 0, notes }
    }

    /// Takes the objects of a report, which is the sample `index`.
    pub(super) fn take(&mut self, report: &Report<'_>, index: usize) {
        for object in report.objects().filter(|object| !LEFT_OUT.contains(&object.kind)) {
            if let Some(place) = self.place(object.id, &object) {
                self.object(place, &object, index);
                self.codec(place, report, &object);
            }
        }
        if let Some(pair) = report.selected_pair()
            && let Some(place) = self.place(pair.kind, &pair)
        {
            self.object(place, &pair, index);
            self.candidates(place, report, &pair);
        }
    }

    /// The stream of an object: the one that it had, or a new one.
    fn place(&mut self, key: &str, object: &Object<'_>) -> Option<usize> {
        if let Some(place) = self.places.get(key) {
            return Some(*place);
        }
        let name = self.name(object)?;
        if self.streams.len() >= MAX_STREAMS {
            return None;
        }
        let place = self.streams.len();
        self.streams.push(Stream { name, columns: Vec::new() });
        self.places.insert(key.to_owned(), place);
        Some(place)
    }

    /// `CALL.HOST.TYPE[.KIND][.RID]`, and a number where there are several.
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

    fn object(&mut self, place: usize, object: &Object<'_>, index: usize) {
        self.members(place, "", object.members, index, DEEPEST);
        for word in WORDS {
            self.note(place, word, object.text(word));
        }
    }

    /// Numbers, and truth as 0 and 1; records with a dot.
    fn members(
        &mut self,
        place: usize,
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
                    self.members(place, &format!("{name}."), inner, index, depth - 1);
                    continue;
                }
                _ => continue,
            };
            if value.is_finite() {
                self.value(place, &name, index, value);
            }
        }
    }

    fn value(&mut self, place: usize, name: &str, index: usize, value: f64) {
        let columns = &mut self.streams[place].columns;
        if let Some(column) = columns.iter_mut().find(|column| column.name == name) {
            column.values[index] = value;
            return;
        }
        if self.columns >= MAX_COLUMNS || name.len() > LONGEST_NAME {
            return;
        }
        let Ok(name) = names::intern(name) else { return };
        let mut values = vec![f64::NAN; self.grid.samples()];
        values[index] = value;
        columns.push(Column { name, values });
        self.columns += 1;
    }

    fn codec(&mut self, place: usize, report: &Report<'_>, object: &Object<'_>) {
        let codec = object.text("codecId").and_then(|id| report.object(id));
        let codec = codec.filter(|codec| codec.kind == "codec");
        for word in ["mimeType", "sdpFmtpLine"] {
            self.note(place, word, codec.and_then(|codec| codec.text(word)));
        }
    }

    fn candidates(&mut self, place: usize, report: &Report<'_>, pair: &Object<'_>) {
        for (end, member) in [("local", "localCandidateId"), ("remote", "remoteCandidateId")] {
            let candidate = pair.text(member).and_then(|id| report.object(id));
            for word in CANDIDATE {
                let text = candidate.and_then(|candidate| candidate.text(word));
                self.note(place, &format!("{end}.{word}"), text);
            }
        }
    }

    /// Notes what was said last.
    fn note(&mut self, place: usize, word: &str, text: Option<&str>) {
        if let Some(text) = text {
            let text =
                text.chars().filter(|letter| !letter.is_control()).take(LONGEST_TEXT).collect();
            self.notes.insert(format!("{}.{word}", self.streams[place].name), text);
        }
    }

    pub(super) fn finish(self, active: (Time, Time), collected: &mut Collected) {
        let streams = self.streams.into_iter().filter(|stream| !stream.columns.is_empty());
        collected.streams.extend(streams.map(|Stream { name, columns }| StreamRecord {
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

/// A name that is one: of letters, digits and the marks that webrtc-stats uses.
fn plain(name: &str) -> Option<&str> {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_' | b'.');
    let is_plain = !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(fits);
    is_plain.then_some(name)
}
