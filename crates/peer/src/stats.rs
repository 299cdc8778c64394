//! Statistics objects of W3C webrtc-stats.

use crate::audio;
use crate::counters::{Inbound, Media, Outbound, RemoteReport, Streams};
use crate::rtc_endpoint::CLOCK_RATE;
use crate::video::Video;
use serde_json::{Map, Value, json};
use units::{Bitrate, Time};

/// The members that `rtc` fills in its reports on the transport. The other members would be zeros
/// that nothing counts.
pub(crate) const PAIR_MEMBERS: &[&str] = &[
    "id",
    "timestamp",
    "type",
    "transportId",
    "localCandidateId",
    "remoteCandidateId",
    "state",
    "nominated",
    "packetsSent",
    "packetsReceived",
    "bytesSent",
    "bytesReceived",
    "requestsSent",
    "responsesReceived",
    "currentRoundTripTime",
    "totalRoundTripTime",
    "candidateType",
    "protocol",
    "address",
    "port",
];

const TRANSPORT: &str = "T";

/// The name of a kind of media, and the identifiers of its objects.
struct MediaNames {
    kind: &'static str,
    codec: &'static str,
    outbound: &'static str,
    remote_inbound: &'static str,
    inbound: &'static str,
}

const VIDEO: MediaNames =
    MediaNames { kind: "video", codec: "C", outbound: "OV", remote_inbound: "RV", inbound: "IV" };
const AUDIO: MediaNames =
    MediaNames { kind: "audio", codec: "CA", outbound: "OA", remote_inbound: "RA", inbound: "IA" };

/// An instant by the clock of the endpoint, and in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleTime {
    pub(crate) now: Time,
    pub(crate) timestamp: f64,
}

impl SampleTime {
    /// The `DOMHighResTimeStamp` of an earlier instant.
    fn stamp(self, at: Time) -> f64 {
        self.timestamp - self.now.saturating_since(at).as_secs_f64() * 1e3
    }
}

/// Keeps only these members of an object.
pub(crate) fn with_members(object: Value, members: &[&str]) -> Map<String, Value> {
    let Value::Object(all) = object else { return Map::new() };
    all.into_iter().filter(|(name, _)| members.contains(&name.as_str())).collect()
}

/// All statistics objects by their `id`.
pub(crate) fn objects(
    streams: &Media<&Streams>,
    sender: Option<(&Video, Bitrate)>,
    transport: Vec<Map<String, Value>>,
    at: SampleTime,
) -> Map<String, Value> {
    let mut objects = Map::new();
    let mut put = |object: Value| {
        if let Some(id) = object["id"].as_str() {
            objects.insert(id.to_owned(), object);
        }
    };
    put(json!({
        "id": VIDEO.codec, "timestamp": at.timestamp, "type": "codec", "transportId": TRANSPORT,
        "mimeType": "video/VP8", "clockRate": CLOCK_RATE,
    }));
    let Media { video, audio } = streams;
    if let Some(sent) = &video.sent {
        let encoder = sender.map(|(video, _)| encoder(video, at.now));
        put(merged(merged(outbound(&VIDEO, sent, at), Some(requests(sent))), encoder));
    }
    if let Some(received) = &video.received {
        put(merged(inbound(&VIDEO, received, at), Some(frames(received, at.now))));
    }
    if audio.sent.is_some() || audio.received.is_some() {
        put(json!({
            "id": AUDIO.codec, "timestamp": at.timestamp, "type": "codec", "transportId": TRANSPORT,
            "mimeType": "audio/opus", "clockRate": audio::CLOCK_RATE, "channels": 2,
        }));
    }
    if let Some(sent) = &audio.sent {
        put(outbound(&AUDIO, sent, at));
    }
    if let Some(received) = &audio.received {
        put(inbound(&AUDIO, received, at));
    }
    for (names, sent) in [(&VIDEO, &video.sent), (&AUDIO, &audio.sent)] {
        if let Some((sent, report)) =
            sent.as_ref().and_then(|sent| Some((sent, sent.report.as_ref()?)))
        {
            put(remote_inbound(names, sent, report, at));
        }
    }
    let mut selected = None;
    for mut object in transport {
        object.insert("timestamp".to_owned(), at.timestamp.into());
        if object.get("type").is_some_and(|kind| kind == "candidate-pair") {
            object.insert("transportId".to_owned(), TRANSPORT.into());
            if let Some((_, rate)) = sender {
                object.insert("availableOutgoingBitrate".to_owned(), rate.as_bps().into());
            }
            if object.get("nominated").is_some_and(|nominated| nominated == true) {
                selected = object.get("id").cloned();
            }
        }
        put(Value::Object(object));
    }
    put(json!({
        "id": TRANSPORT, "timestamp": at.timestamp, "type": "transport", "selectedCandidatePairId": selected,
    }));
    objects
}

fn merged(mut object: Value, more: Option<Value>) -> Value {
    if let (Value::Object(object), Some(Value::Object(more))) = (&mut object, more) {
        object.extend(more);
    }
    object
}

fn outbound(names: &MediaNames, sent: &Outbound, at: SampleTime) -> Value {
    json!({
        "id": names.outbound, "timestamp": at.timestamp, "type": "outbound-rtp", "ssrc": sent.ssrc,
        "kind": names.kind, "transportId": TRANSPORT, "codecId": names.codec, "remoteId": names.remote_inbound,
        "packetsSent": sent.packets, "bytesSent": sent.bytes, "headerBytesSent": sent.headers,
    })
}

fn requests(sent: &Outbound) -> Value {
    json!({
        "retransmittedPacketsSent": sent.retransmitted_packets, "retransmittedBytesSent": sent.retransmitted_bytes,
        "nackCount": sent.nacks, "pliCount": sent.plis, "firCount": sent.firs,
    })
}

fn encoder(video: &Video, now: Time) -> Value {
    let (width, height) = video.resolution();
    json!({
        "active": true, "targetBitrate": video.target().as_bps(),
        "framesEncoded": video.sent, "framesSent": video.sent, "keyFramesEncoded": video.keys,
        "framesPerSecond": video.per_second(now), "frameWidth": width, "frameHeight": height,
        "encoderImplementation": "weir codec model",
    })
}

fn remote_inbound(
    names: &MediaNames,
    sent: &Outbound,
    report: &RemoteReport,
    at: SampleTime,
) -> Value {
    let known = json!({
        "id": names.remote_inbound, "timestamp": at.stamp(report.at), "type": "remote-inbound-rtp",
        "ssrc": sent.ssrc, "kind": names.kind, "transportId": TRANSPORT, "codecId": names.codec,
        "localId": names.outbound,
        "packetsLost": report.packets_lost, "fractionLost": report.fraction_lost, "jitter": report.jitter,
        "totalRoundTripTime": report.total_rtt.as_secs_f64(), "roundTripTimeMeasurements": report.measurements,
    });
    merged(known, report.rtt.map(|rtt| json!({ "roundTripTime": rtt.as_secs_f64() })))
}

fn inbound(names: &MediaNames, received: &Inbound, at: SampleTime) -> Value {
    let reception = &received.reception;
    json!({
        "id": names.inbound, "timestamp": at.timestamp, "type": "inbound-rtp", "ssrc": received.ssrc,
        "kind": names.kind, "transportId": TRANSPORT, "codecId": names.codec,
        "packetsReceived": reception.received + received.retransmitted_packets,
        "bytesReceived": reception.payload.get() + received.retransmitted_bytes,
        "headerBytesReceived": reception.headers.get() + received.retransmitted_headers,
        "lastPacketReceivedTimestamp": at.stamp(received.last),
        "packetsLost": reception.lost(), "jitter": reception.jitter_secs(),
    })
}

fn frames(received: &Inbound, now: Time) -> Value {
    let frames = &received.frames;
    let known = json!({
        "retransmittedPacketsReceived": received.retransmitted_packets,
        "retransmittedBytesReceived": received.retransmitted_bytes,
        "framesReceived": frames.received, "framesDecoded": frames.decoded, "keyFramesDecoded": frames.keys,
        "framesPerSecond": frames.per_second(now),
        "freezeCount": frames.freezes, "totalFreezesDuration": frames.frozen.as_secs_f64(),
        "nackCount": received.nacks, "pliCount": received.plis,
    });
    let size = |(width, height): (u16, u16)| json!({ "frameWidth": width, "frameHeight": height });
    merged(known, frames.resolution.map(size))
}
