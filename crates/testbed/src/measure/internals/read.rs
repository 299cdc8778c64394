use super::DumpError;
use chrono::DateTime;
use flate2::read::GzDecoder;
use serde_json::{Map, Value};
use server::signalling::StatsReport;
use std::collections::BTreeMap;
use std::io::Read;

/// The largest dump, unpacked; an hour of two connections is about 30 MB.
pub(super) const MAX_BYTES: u64 = 256 << 20;
/// The most times that the page asked in a dump that is read: over a day, once a second.
pub(super) const MAX_POLLS: usize = 100_000;
/// What the page asked at one time lies closer together than this, ms.
const SAME_POLL: f64 = 100.0;
/// A gzip file begins so (RFC 1952 § 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A dump.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// The browser with its version, where the dump tells.
    pub browser: Option<String>,
    /// Its peer connections that have statistics.
    pub connections: Vec<Connection>,
}

/// A peer connection of a dump.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// When the page asked, milliseconds since 1970, ascending.
    pub polls: Vec<f64>,
    /// By the object's id.
    objects: BTreeMap<String, Vec<Series>>,
}

/// A member of an object.
#[derive(Clone, Debug)]
struct Series {
    member: String,
    /// Milliseconds since 1970.
    start: f64,
    /// The poll of the first value.
    first: usize,
    values: Vec<Value>,
}

impl Connection {
    /// How many series it has.
    pub(super) fn series(&self) -> usize {
        self.objects.values().map(Vec::len).sum()
    }

    /// What the page was told at the poll with this index.
    #[must_use]
    pub fn report(&self, index: usize) -> StatsReport {
        let mut stats = Map::new();
        for (id, series) in &self.objects {
            let told = series.iter().filter_map(|series| {
                let value = series.values.get(index.checked_sub(series.first)?)?;
                Some((series.member.clone(), value.clone()))
            });
            let object: Map<String, Value> = told.collect();
            if !object.is_empty() {
                stats.insert(id.clone(), Value::Object(object));
            }
        }
        StatsReport { at: self.polls.get(index).copied().unwrap_or(f64::NAN), stats }
    }
}

/// Reads a dump, packed with gzip or not.
///
/// # Errors
/// When it is too large, no JSON, no dump, or without statistics of RTP.
pub fn read(bytes: impl Read) -> Result<Dump, DumpError> {
    let text = unpacked(bytes)?;
    let dump: Value = serde_json::from_slice(&text).map_err(DumpError::NotJson)?;
    let connections = dump.get("PeerConnections").and_then(Value::as_object);
    let connections = connections.ok_or(DumpError::NoConnections)?;
    let connections: Vec<Connection> =
        connections.values().filter_map(connection).collect::<Result<_, _>>()?;
    let objects = || connections.iter().flat_map(|connection| connection.objects.values());
    if !objects().any(|object| is_of(object, &["outbound-rtp", "inbound-rtp"])) {
        return Err(if objects().any(|object| is_of(object, &["ssrc"])) {
            DumpError::LegacyStatistics
        } else {
            DumpError::NoRtp
        });
    }
    Ok(Dump { browser: browser(&dump), connections })
}

fn unpacked(mut bytes: impl Read) -> Result<Vec<u8>, DumpError> {
    let (mut head, mut text) = (Vec::new(), Vec::new());
    bytes.by_ref().take(2).read_to_end(&mut head).map_err(DumpError::Read)?;
    let whole = head.chain(bytes);
    if head == GZIP {
        let mut unpacked = GzDecoder::new(whole).take(MAX_BYTES + 1);
        unpacked.read_to_end(&mut text).map_err(DumpError::Read)?;
    } else {
        whole.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(DumpError::Read)?;
    }
    if text.len() as u64 > MAX_BYTES {
        return Err(DumpError::TooLarge);
    }
    Ok(text)
}

/// A connection with its statistics, if it has any.
fn connection(value: &Value) -> Option<Result<Connection, DumpError>> {
    let stats = value.get("stats")?.as_object().filter(|stats| !stats.is_empty())?;
    let mut objects: BTreeMap<String, Vec<Series>> = BTreeMap::new();
    for (key, value) in stats {
        // In brackets are what the page itself made of the statistics.
        let Some((id, member)) = key.rsplit_once('-').filter(|_| !key.contains("-[")) else {
            continue;
        };
        let Some(series) = series(member, value) else { continue };
        let all = objects.entry(id.to_owned()).or_default();
        let kind = value.get("statsType").filter(|_| all.is_empty());
        // Dumps may leave the members out that are the same throughout.
        if let Some(kind) = kind.filter(|_| !stats.contains_key(&format!("{id}-type"))) {
            let values = vec![kind.clone(); series.values.len()];
            all.push(Series { member: "type".to_owned(), start: series.start, first: 0, values });
        }
        all.push(series);
    }
    let polls = match polls(&objects) {
        Ok(polls) if polls.is_empty() => return None,
        Ok(polls) => polls,
        Err(error) => return Some(Err(error)),
    };
    for series in objects.values_mut().flatten() {
        // An object of the other end has the time of its report, which came before the poll that
        // told it; times are in whole milliseconds.
        let first = polls.partition_point(|poll| poll.floor() < series.start);
        series.first = first.min(polls.len().saturating_sub(series.values.len()));
    }
    Some(Ok(Connection { polls, objects }))
}

fn series(member: &str, value: &Value) -> Option<Series> {
    let start = DateTime::parse_from_rfc3339(value.get("startTime")?.as_str()?).ok()?;
    let values = match value.get("values")? {
        Value::String(text) => serde_json::from_str(text).ok()?,
        Value::Array(values) => values.clone(),
        _ => return None,
    };
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this millennium have 41 bits")]
    let start = start.timestamp_millis() as f64;
    Some(Series { member: member.to_owned(), start, first: 0, values })
}

/// When the page asked: the times of the objects of this end, which have them of the asking.
fn polls(objects: &BTreeMap<String, Vec<Series>>) -> Result<Vec<f64>, DumpError> {
    let local = objects
        .values()
        .filter(|object| !is_of(object, &["remote-inbound-rtp", "remote-outbound-rtp"]));
    let times = local
        .flatten()
        .filter(|series| series.member == "timestamp")
        .flat_map(|series| &series.values);
    let mut times: Vec<f64> = times.filter_map(Value::as_f64).filter(|at| at.is_finite()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|next, kept| *next - *kept < SAME_POLL);
    if times.len() > MAX_POLLS {
        return Err(DumpError::TooManyPolls(times.len()));
    }
    Ok(times)
}

/// Whether the object is of one of these types.
fn is_of(object: &[Series], types: &[&str]) -> bool {
    let kind = object
        .iter()
        .find(|series| series.member == "type")
        .and_then(|series| series.values.first());
    kind.and_then(Value::as_str).is_some_and(|kind| types.contains(&kind))
}

/// "Chromium 156.0.8078.79": of the brands with their full versions the last that is not a decoy
/// (Chromium puts one in, named like 'Not:A-Brand'); else what the user agent says.
fn browser(dump: &Value) -> Option<String> {
    let brands = dump.pointer("/UserAgentData/fullVersionList").and_then(Value::as_array);
    let mut named = brands.into_iter().flatten().filter_map(|brand| {
        let name = brand.get("brand")?.as_str().filter(|name| !name.contains("Not"))?;
        Some(format!("{name} {}", brand.get("version")?.as_str()?))
    });
    let product = || {
        let agent = dump.get("UserAgent")?.as_str()?;
        let product = agent
            .split(' ')
            .find(|word| word.contains("Chrome/") || word.starts_with("Firefox/"))?;
        Some(product.replacen('/', " ", 1))
    };
    let found = named.next_back().or_else(product)?;
    Some(found.chars().filter(|letter| !letter.is_control()).take(100).collect())
}
