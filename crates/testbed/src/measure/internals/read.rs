use super::{Cut, DumpError, rtcstats};
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
    /// Where the file is damaged, if it is. The dump has what is before.
    pub cut: Option<Cut>,
}

/// A peer connection of a dump.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The times of the polls, milliseconds since 1970, ascending.
    pub polls: Vec<f64>,
    /// The series of each statistics object, by its id.
    objects: BTreeMap<String, Vec<Series>>,
    /// The changes from report to report, in place of series.
    pub(super) changes: Vec<Map<String, Value>>,
    /// The number of members that changes contain.
    pub(super) members: usize,
}

/// The values of one member of an object.
#[derive(Clone, Debug)]
struct Series {
    member: String,
    /// Milliseconds since 1970.
    start: f64,
    end: f64,
    /// The index of the poll of the first value.
    first: usize,
    values: Vec<Value>,
}

impl Connection {
    /// The number of series.
    pub(super) fn series(&self) -> usize {
        self.members + self.objects.values().map(Vec::len).sum::<usize>()
    }

    /// Whether a report has a stream.
    pub(super) fn has_rtp(&self) -> bool {
        let types = ["outbound-rtp", "inbound-rtp"];
        let mut stats = Map::new();
        self.objects.values().any(|object| is_of(object, &types))
            || self.changes.iter().any(|change| {
                rtcstats::apply(&mut stats, change);
                let kinds = stats.values().filter_map(|object| object.get("type"));
                kinds.filter_map(Value::as_str).any(|kind| types.contains(&kind))
            })
    }

    /// Passes every report to `take`, in order.
    pub fn for_each_report(&self, mut take: impl FnMut(&StatsReport)) {
        if self.changes.is_empty() {
            (0..self.polls.len()).for_each(|index| take(&self.report(index)));
            return;
        }
        let mut report = StatsReport { at: f64::NAN, stats: Map::new() };
        for (at, change) in self.polls.iter().zip(&self.changes) {
            report.at = *at;
            rtcstats::apply(&mut report.stats, change);
            take(&report);
        }
    }

    /// The report of the poll with this index, from series.
    fn report(&self, index: usize) -> StatsReport {
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

/// Reads a dump, compressed with gzip or not. Of a damaged file, all that is complete before the
/// damage is returned, and the place of the damage in [`Dump::cut`].
///
/// # Errors
/// When the file is too large, not JSON, not a dump, or has no RTP statistics.
pub fn read(bytes: impl Read) -> Result<Dump, DumpError> {
    let text = unpacked(bytes)?;
    let (dump, cut) = parse(&text)?;
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
    Ok(Dump { browser: browser(&dump), connections, cut })
}

/// The document. Of a damaged one, all members that are complete before the damage.
fn parse(text: &[u8]) -> Result<(Value, Option<Cut>), DumpError> {
    let error = match serde_json::from_slice(text) {
        Ok(dump) => return Ok((dump, None)),
        Err(error) => error,
    };
    let begin = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let offset = (begin.map(<[u8]>::len).sum::<usize>() + error.column()).min(text.len());
    let repaired = complete(&text[..offset.saturating_sub(1)]);
    let Some(dump) = repaired.and_then(|text| serde_json::from_slice(&text).ok()) else {
        return Err(DumpError::NotJson(error));
    };
    Ok((dump, Some(Cut { offset: offset as u64, why: error.to_string() })))
}

/// The text until its last comma outside of texts, at the depth of statistics or above, with its
/// brackets closed; `None` if there is none. A member without its value is left out.
fn complete(text: &[u8]) -> Option<Vec<u8>> {
    /// Members of a series (`{PeerConnections: {ID: {stats: {SERIES: {…}}}}}`) may not be cut.
    const DEPTH: usize = 4;
    let (mut stack, mut in_text, mut escaped) = (Vec::new(), false, false);
    let mut end = None;
    for (index, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => stack.push(b'}'),
            b'[' => stack.push(b']'),
            b'}' | b']' => {
                stack.pop();
            }
            b',' if stack.len() <= DEPTH => end = Some((index, stack.clone())),
            _ => {}
        }
    }
    let (end, stack) = end?;
    Some(text[..end].iter().copied().chain(stack.into_iter().rev()).collect())
}

fn unpacked(mut bytes: impl Read) -> Result<Vec<u8>, DumpError> {
    let (mut head, mut text) = (Vec::new(), Vec::new());
    bytes.by_ref().take(2).read_to_end(&mut head).map_err(DumpError::Read)?;
    let whole = head.chain(bytes);
    let got = if head == GZIP {
        GzDecoder::new(whole).take(MAX_BYTES + 1).read_to_end(&mut text)
    } else {
        whole.take(MAX_BYTES + 1).read_to_end(&mut text)
    };
    // What was unpacked before the damage is a dump that is cut.
    got.map(drop)
        .or_else(|error| if text.is_empty() { Err(DumpError::Read(error)) } else { Ok(()) })?;
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
        // Dumps may leave out members that never change, and older ones have no types.
        let is_told = !all.is_empty() || stats.contains_key(&format!("{id}-type"));
        let kind = value.get("statsType").and_then(Value::as_str).or_else(|| type_of(id));
        if let Some(kind) = kind.filter(|_| !is_told) {
            let values = vec![Value::from(kind); series.values.len()];
            let (start, end) = (series.start, series.end);
            all.push(Series { member: "type".to_owned(), start, end, first: 0, values });
        }
        all.push(series);
    }
    let polls = match polls(&objects) {
        Ok(times) if times.is_empty() => uniform(&objects),
        other => other,
    };
    let polls = match polls {
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
    Some(Ok(Connection { polls, objects, ..Connection::default() }))
}

fn series(member: &str, value: &Value) -> Option<Series> {
    let time = |name: &str| DateTime::parse_from_rfc3339(value.get(name)?.as_str()?).ok();
    let start = time("startTime")?;
    let end = time("endTime").unwrap_or(start);
    let values = match value.get("values")? {
        Value::String(text) => serde_json::from_str(text).ok()?,
        Value::Array(values) => values.clone(),
        _ => return None,
    };
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this millennium have 41 bits")]
    let [start, end] = [start, end].map(|time| time.timestamp_millis() as f64);
    Some(Series { member: member.to_owned(), start, end, first: 0, values })
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

/// The times of the polls of a dump that has no times of its objects, as before Chromium 88: at
/// equal distances between the begin and the end of the longest series.
fn uniform(objects: &BTreeMap<String, Vec<Series>>) -> Result<Vec<f64>, DumpError> {
    let longest = objects.values().flatten().max_by_key(|series| series.values.len());
    let Some(series) = longest else { return Ok(Vec::new()) };
    let count = series.values.len();
    if count > MAX_POLLS {
        return Err(DumpError::TooManyPolls(count));
    }
    let step = (series.end - series.start) / (count.max(2) - 1) as f64;
    if count > 1 && step < SAME_POLL {
        return Err(DumpError::Times);
    }
    Ok((0..count).map(|index| series.start + step * index as f64).collect())
}

/// The type of a statistics object by the beginning of its id, as libwebrtc chose ids before they
/// were made opaque (`pc/rtc_stats_collector.cc` until 2022).
fn type_of(id: &str) -> Option<&'static str> {
    const TYPES: [(&str, &str); 9] = [
        ("RTCInboundRTP", "inbound-rtp"),
        ("RTCOutboundRTP", "outbound-rtp"),
        ("RTCRemoteInboundRtp", "remote-inbound-rtp"),
        ("RTCRemoteOutboundRTP", "remote-outbound-rtp"),
        ("RTCIceCandidatePair", "candidate-pair"),
        ("RTCIceCandidate", "local-candidate"),
        ("RTCTransport", "transport"),
        ("RTCCodec", "codec"),
        ("RTCPeerConnection", "peer-connection"),
    ];
    TYPES.iter().find(|(begin, _)| id.starts_with(begin)).map(|(_, kind)| *kind)
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
pub(super) fn browser(dump: &Value) -> Option<String> {
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
