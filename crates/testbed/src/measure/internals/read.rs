use super::DumpError;
use chrono::DateTime;
use flate2::read::GzDecoder;
use serde_json::{Map, Value};
use server::signalling::StatsReport;
use std::collections::BTreeMap;
use std::io::Read;

/// The largest dump, unpacked, bytes; an hour of two connections takes about 30 MB.
pub(super) const MAX_BYTES: u64 = 256 << 20;
/// The most polls of a dump: over a day, once per second.
pub(super) const MAX_POLLS: usize = 100_000;
/// Times of one poll differ by less than this, ms.
const SAME_POLL: f64 = 100.0;
/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A dump.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Name and version of the browser, if the dump has them.
    pub browser: Option<String>,
    /// The peer connections that have statistics.
    pub connections: Vec<Connection>,
}

/// A peer connection of a dump.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The times of the polls, milliseconds since 1970, ascending.
    pub polls: Vec<f64>,
    /// The series of each statistics object, by its id.
    objects: BTreeMap<String, Vec<Series>>,
}

/// The values of one member of an object.
#[derive(Clone, Debug)]
struct Series {
    member: String,
    /// Milliseconds since 1970.
    start: f64,
    /// The index of the poll of the first value.
    first: usize,
    values: Vec<Value>,
}

impl Connection {
    /// The number of series.
    pub(super) fn series(&self) -> usize {
        self.objects.values().map(Vec::len).sum()
    }

    /// The report of the poll with this index.
    #[must_use]
    pub fn report(&self, index: usize) -> StatsReport {
        let mut stats = Map::new();
        for (id, series) in &self.objects {
            let members = series.iter().filter_map(|series| {
                let value = series.values.get(index.checked_sub(series.first)?)?;
                Some((series.member.clone(), value.clone()))
            });
            let object: Map<String, Value> = members.collect();
            if !object.is_empty() {
                stats.insert(id.clone(), Value::Object(object));
            }
        }
        StatsReport { at: self.polls.get(index).copied().unwrap_or(f64::NAN), stats }
    }
}

/// Reads a dump, compressed with gzip or not.
///
/// # Errors
/// When the file is too large, not JSON, not a dump, or has no RTP statistics.
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

/// A connection with its statistics; `None` if it has none.
fn connection(value: &Value) -> Option<Result<Connection, DumpError>> {
    let stats = value.get("stats")?.as_object().filter(|stats| !stats.is_empty())?;
    let mut objects: BTreeMap<String, Vec<Series>> = BTreeMap::new();
    for (key, value) in stats {
        // Names in brackets are values that the page itself derived.
        let Some((id, member)) = key.rsplit_once('-').filter(|_| !key.contains("-[")) else {
            continue;
        };
        let Some(series) = series(member, value) else { continue };
        let all = objects.entry(id.to_owned()).or_default();
        let kind = value.get("statsType").filter(|_| all.is_empty());
        // Dumps may leave out members that never change.
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
        // An object of the remote endpoint has the time of its RTCP report, which arrived before
        // the poll that reported it. Times are in whole milliseconds.
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

/// The times of the polls: those of the objects of the local endpoint, which have the time of the
/// poll.
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

/// Name and version of the browser: `Chromium 156.0.8078.79`. The last brand with a full version
/// that is not a decoy (Chromium adds one, such as 'Not:A-Brand'); else the product in the user
/// agent.
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
