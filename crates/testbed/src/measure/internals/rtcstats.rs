//! Reads the dumps of rtcstats: one JSON array per line.
//!
//! ```text
//! RTCStatsDump                                    only in the form with a header, version 3
//! {"fileFormat":3,"userAgent":"…"}
//! ["create","0-x",{…},1790000000000]              method, connection, arguments, …, time
//! ["g","0-x",{"3":{"80":1200},"t":1790000001000},1000]
//! ```
//!
//! In version 3 (<https://github.com/rtcstats/rtcstats>, `packages/rtcstats-server/README.md`) times
//! are milliseconds since the event before, the first since 1970; methods, types and members may be
//! numbers (`packages/rtcstats-shared/compression.js`). Older servers, such as Jitsi's, write no
//! header, names in full, and times since 1970. In both, a report has only what changed.

use super::read::{Connection, Dump, MAX_POLLS, browser};
use super::{Cut, DumpError};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};

/// The header of version 3.
pub const HEADER: &[u8] = b"RTCStatsDump\n";
/// The longest line, bytes. A report has about 20 kB.
const MAX_LINE: u64 = 16 << 20;
/// The most bytes of reports; an hour of two connections that are polled once per second takes
/// about 10 MB. As JSON values they take several times as much memory.
const MAX_REPORTS: usize = 64 << 20;
/// The most connections and the most members of a connection. Our choice.
const MAX_CONNECTIONS: usize = 64;
const MAX_MEMBERS: usize = 100_000;
/// Times above this are since 1970, ms: the spring of 2001. No event is so long after another.
const SINCE_1970: f64 = 1e12;

/// Types by their number.
const TYPES: [&str; 14] = [
    "inbound-rtp",
    "outbound-rtp",
    "remote-inbound-rtp",
    "remote-outbound-rtp",
    "transport",
    "candidate-pair",
    "local-candidate",
    "remote-candidate",
    "data-channel",
    "peer-connection",
    "certificate",
    "media-source",
    "media-playout",
    "codec",
];

/// Members by their number. Those that hold an address or a secret are left out, as everywhere.
#[rustfmt::skip]
const MEMBERS: &[(u16, &str)] = &[
    (4, "payloadType"), (5, "transportId"), (6, "mimeType"), (7, "clockRate"), (8, "channels"),
    (10, "ssrc"), (11, "kind"), (12, "codecId"), (14, "packetsReceived"), (15, "packetsLost"),
    (16, "jitter"), (18, "mid"), (19, "remoteId"), (20, "framesDecoded"), (21, "keyFramesDecoded"),
    (22, "framesDropped"), (23, "frameWidth"), (24, "frameHeight"), (25, "framesPerSecond"),
    (26, "qpSum"), (27, "totalDecodeTime"), (28, "totalInterFrameDelay"),
    (29, "totalSquaredInterFrameDelay"), (30, "pauseCount"), (31, "totalPausesDuration"),
    (32, "freezeCount"), (33, "totalFreezesDuration"), (34, "lastPacketReceivedTimestamp"),
    (35, "headerBytesReceived"), (36, "packetsDiscarded"), (37, "fecPacketsReceived"),
    (38, "fecPacketsDiscarded"), (39, "fecBytesReceived"), (41, "bytesReceived"), (42, "nackCount"),
    (43, "firCount"), (44, "pliCount"), (45, "totalProcessingDelay"),
    (46, "estimatedPlayoutTimestamp"), (47, "jitterBufferDelay"), (48, "jitterBufferTargetDelay"),
    (49, "jitterBufferEmittedCount"), (50, "jitterBufferMinimumDelay"),
    (51, "totalSamplesReceived"), (52, "concealedSamples"), (53, "silentConcealedSamples"),
    (54, "concealmentEvents"), (55, "insertedSamplesForDeceleration"),
    (56, "removedSamplesForAcceleration"), (57, "audioLevel"), (58, "totalAudioEnergy"),
    (59, "totalSamplesDuration"), (60, "framesReceived"), (61, "decoderImplementation"),
    (63, "powerEfficientDecoder"), (64, "framesAssembledFromMultiplePackets"),
    (65, "totalAssemblyTime"), (66, "contentType"), (68, "retransmittedPacketsReceived"),
    (69, "retransmittedBytesReceived"), (70, "rtxSsrc"), (74, "localId"), (75, "roundTripTime"),
    (76, "totalRoundTripTime"), (77, "fractionLost"), (78, "roundTripTimeMeasurements"),
    (79, "packetsSent"), (80, "bytesSent"), (81, "mediaSourceId"), (82, "rid"),
    (83, "encodingIndex"), (84, "headerBytesSent"), (85, "retransmittedPacketsSent"),
    (86, "retransmittedBytesSent"), (87, "targetBitrate"), (88, "totalEncodedBytesTarget"),
    (89, "framesSent"), (90, "hugeFramesSent"), (91, "framesEncoded"), (92, "keyFramesEncoded"),
    (93, "totalEncodeTime"), (94, "totalPacketSendDelay"), (95, "qualityLimitationReason"),
    (96, "qualityLimitationDurations"), (97, "qualityLimitationResolutionChanges"),
    (98, "encoderImplementation"), (99, "powerEfficientEncoder"), (100, "active"),
    (101, "scalabilityMode"), (102, "remoteTimestamp"), (103, "reportsSent"), (106, "width"),
    (107, "height"), (108, "frames"), (117, "dataChannelIdentifier"), (118, "state"),
    (119, "messagesSent"), (120, "messagesReceived"), (121, "iceRole"), (123, "dtlsState"),
    (124, "iceState"), (125, "selectedCandidatePairId"), (128, "tlsVersion"), (129, "dtlsCipher"),
    (130, "dtlsRole"), (131, "srtpCipher"), (132, "selectedCandidatePairChanges"),
    (136, "candidateType"), (139, "relayProtocol"), (145, "networkType"),
    (148, "localCandidateId"), (149, "remoteCandidateId"), (150, "nominated"),
    (151, "lastPacketSentTimestamp"), (152, "currentRoundTripTime"),
    (153, "availableOutgoingBitrate"), (154, "availableIncomingBitrate"), (155, "requestsReceived"),
    (156, "requestsSent"), (157, "responsesReceived"), (158, "responsesSent"),
    (159, "consentRequestsSent"), (160, "packetsDiscardedOnSend"), (161, "bytesDiscardedOnSend"),
];

/// Reads a dump that is not compressed. What was readable is returned together with the first error
/// in [`Dump::cut`]: a line that cannot be read ends the reading.
///
/// # Errors
/// If the first line cannot be read, or the dump has no RTP statistics.
pub fn read(bytes: impl Read) -> Result<Dump, DumpError> {
    let mut lines = Lines { bytes: BufReader::new(bytes), offset: 0, line: Vec::new() };
    let mut reader = Reader::default();
    let cut = loop {
        let offset = lines.offset;
        let taken = match lines.next() {
            Ok(None) => break None,
            Ok(Some(line)) => reader.take(offset, line),
            Err(error) => Err(Cut { offset, why: error }),
        };
        if let Err(cut) = taken {
            break Some(cut);
        }
    };
    let dump = Dump {
        browser: reader.browser,
        connections: reader.connections.into_values().map(|one| one.connection).collect(),
        cut,
    };
    if dump.connections.iter().any(Connection::has_rtp) {
        return Ok(dump);
    }
    Err(dump.cut.map_or(DumpError::NoRtp, DumpError::Cut))
}

/// Applies the changes of a report to the report before.
pub(super) fn apply(stats: &mut Map<String, Value>, change: &Map<String, Value>) {
    let time = change.get("t").or_else(|| change.get("timestamp")).filter(|at| at.is_number());
    for (id, members) in change {
        match members {
            Value::Null => {
                stats.remove(id);
            }
            Value::Object(members) => {
                let object = stats.entry(id).or_insert_with(|| Value::Object(Map::new()));
                if let (Value::Object(object), Some(time)) = (&mut *object, time) {
                    object.insert("timestamp".to_owned(), time.clone());
                }
                merge(object, members);
            }
            _ => {}
        }
    }
    for object in stats.values_mut().filter_map(Value::as_object_mut) {
        if let Some(time) = time.filter(|_| !object.contains_key("timestamp")) {
            object.insert("timestamp".to_owned(), time.clone());
        }
    }
}

fn merge(object: &mut Value, members: &Map<String, Value>) {
    let Some(object) = object.as_object_mut() else { return };
    for (name, value) in members {
        let Some(name) = member(name) else { continue };
        let value = match (name, value.as_u64()) {
            ("type", Some(number)) => {
                let index = usize::try_from(number).unwrap_or(0);
                let kind = index.checked_sub(1).and_then(|index| TYPES.get(index));
                kind.map_or(Value::Null, |kind| Value::from(*kind))
            }
            _ => value.clone(),
        };
        match (object.get_mut(name), &value) {
            (Some(Value::Object(before)), Value::Object(after)) => before.extend(after.clone()),
            _ => {
                object.insert(name.to_owned(), value);
            }
        }
    }
}

/// The name of a member; `None` if its number is unknown.
fn member(name: &str) -> Option<&str> {
    if name == "t" {
        return Some("timestamp");
    }
    match name.parse::<u16>() {
        Err(_) => Some(name),
        Ok(number) => {
            let found = MEMBERS.iter().find(|(other, _)| *other == number);
            found.map(|(_, name)| *name)
        }
    }
}

struct Lines<R> {
    bytes: R,
    offset: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<&[u8]>, String> {
        self.line.clear();
        let mut bytes = self.bytes.by_ref().take(MAX_LINE);
        let got = bytes.read_until(b'\n', &mut self.line).map_err(|error| error.to_string())?;
        self.offset += got as u64;
        if got as u64 == MAX_LINE && !self.line.ends_with(b"\n") {
            return Err(format!("a line has more than {} MB", MAX_LINE >> 20));
        }
        Ok((got > 0).then_some(&self.line))
    }
}

#[derive(Default)]
struct Partial {
    connection: Connection,
    members: BTreeSet<(String, String)>,
}

#[derive(Default)]
struct Reader {
    browser: Option<String>,
    connections: BTreeMap<String, Partial>,
    /// The time of the event before, ms since 1970.
    time: f64,
    reports: usize,
}

impl Reader {
    fn take(&mut self, offset: u64, line: &[u8]) -> Result<(), Cut> {
        let cut = |why: String| Cut { offset, why };
        if line == HEADER || line.trim_ascii().is_empty() {
            return Ok(());
        }
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| cut(format!("the line that begins here is not JSON ({error})")))?;
        let Value::Array(event) = value else {
            let agent = value.get("userAgent").and_then(Value::as_str);
            let told = agent.map(|agent| serde_json::json!({ "UserAgent": agent }));
            self.browser = self.browser.take().or_else(|| told.as_ref().and_then(browser));
            return Ok(());
        };
        let [method, connection, .., time] = &event[..] else { return Ok(()) };
        if let Some(time) = time.as_f64().filter(|time| time.is_finite()) {
            self.time = if time > SINCE_1970 { time } else { self.time + time };
        }
        let is_report = match method {
            Value::String(name) => name == "g" || name.eq_ignore_ascii_case("getstats"),
            Value::Number(number) => number.as_u64() == Some(1),
            _ => false,
        };
        let (Some(id), Some(Value::Object(change))) = (connection.as_str(), event.get(2)) else {
            return Ok(());
        };
        // Four elements: method, connection, report, time.
        if !is_report || event.len() < 4 {
            return Ok(());
        }
        self.reports += line.len();
        if self.reports > MAX_REPORTS {
            return Err(cut(format!("more than {} MB of statistics", MAX_REPORTS >> 20)));
        }
        if !self.connections.contains_key(id) && self.connections.len() == MAX_CONNECTIONS {
            return Err(cut(format!("more than {MAX_CONNECTIONS} connections")));
        }
        let partial = self.connections.entry(id.to_owned()).or_default();
        let connection = &mut partial.connection;
        if connection.polls.len() == MAX_POLLS {
            return Err(cut(format!("more than {MAX_POLLS} reports of a connection")));
        }
        // Reports of one poll are in order; a clock that was set back ends nothing.
        let newest = connection.polls.last().copied().unwrap_or(f64::NEG_INFINITY);
        connection.polls.push(self.time.max(newest));
        for (id, members) in change {
            let names = members.as_object().into_iter().flat_map(Map::keys);
            partial.members.extend(names.map(|name| (id.clone(), name.clone())));
        }
        if partial.members.len() > MAX_MEMBERS {
            return Err(cut(format!("more than {MAX_MEMBERS} members of statistics objects")));
        }
        connection.members = partial.members.len();
        connection.changes.push(change.clone());
        Ok(())
    }
}
