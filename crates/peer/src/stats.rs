//! Statistics objects of W3C webrtc-stats.

use crate::audio;
use crate::counted::{Inbound, Media, Outbound, Report, Streams};
use crate::rtc_end::CLOCK_RATE;
use crate::video::Video;
use serde_json::{Map, Value, json};
use units::{Bitrate, Time};

/// Of what `rtc` reports of the transport, these are the members that it knows; the others would be
/// zeros that nobody counted.
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

/// A kind of media, and the identifiers of its objects.
struct Names {
    kind: &'static str,
    codec: &'static str,
    outbound: &'static str,
    remote_inbound: &'static str,
    inbound: &'static str,
}

const VIDEO: Names =
    Names { kind: "video", codec: "C", outbound: "OV", remote_inbound: "RV", inbound: "IV" };
const AUDIO: Names =
    Names { kind: "audio", codec: "CA", outbound: "OA", remote_inbound: "RA", inbound: "IA" };

/// An instant by the end's clock, and in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) now: Time,
    pub(crate) timestamp: f64,
}

impl At {
    /// `DOMHighResTimeStamp` of an instant before.
    fn stamp(self, at: Time) -> f64 {
        self.timestamp - self.now.saturating_since(at).as_secs_f64() * 1e3
    }
}

/// The members of an object that are to be kept.
pub(crate) fn chosen(object: Value, members: &[&str]) -> Map<String, Value> {
    let Value::Object(all) = object else { return Map::new() };
    all.into_iter().filter(|(name, _)| members.contains(&name.as_str())).collect()
}

/// All objects by their `id`.
pub(crate) fn objects(
    streams: &Media<&Streams>,
    sender: Option<(&Video, Bitrate)>,
    transport: Vec<Map<String, Value>>,
    at: At,
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

fn outbound(names: &Names, sent: &Outbound, at: At) -> Value {
    json!({
        "id": names.outbound, "timestamp": at.timestamp, "type": "outbound-rtp", "ssrc": sent.ssrc,
        "kind": names.kind, "transportId": TRANSPORT, "codecId": names.codec, "remoteId": names.remote_inbound,
        "packetsSent": sent.packets, "bytesSent": sent.bytes, "headerBytesSent": sent.headers,
    })
}

fn requests(sent: &Outbound) -> Value {
    json!({
        "retransmittedPacketsSent": sent.packets_again, "retransmittedBytesSent": sent.bytes_again,
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

fn remote_inbound(names: &Names, sent: &Outbound, report: &Report, at: At) -> Value {
    let known = json!({
        "id": names.remote_inbound, "timestamp": at.stamp(report.at), "type": "remote-inbound-rtp",
        "ssrc": sent.ssrc, "kind": names.kind, "transportId": TRANSPORT, "codecId": names.codec,
        "localId": names.outbound,
        "packetsLost": report.packets_lost, "fractionLost": report.fraction_lost, "jitter": report.jitter,
        "totalRoundTripTime": report.total_rtt.as_secs_f64(), "roundTripTimeMeasurements": report.measurements,
    });
    merged(known, report.rtt.map(|rtt| json!({ "roundTripTime": rtt.as_secs_f64() })))
}

fn inbound(names: &Names, received: &Inbound, at: At) -> Value {
    let reception = &received.reception;
    json!({
        "id": names.inbound, "timestamp": at.timestamp, "type": "inbound-rtp", "ssrc": received.ssrc,
        "kind": names.kind, "transportId": TRANSPORT, "codecId": names.codec,
        "packetsReceived": reception.received + received.packets_again,
        "bytesReceived": reception.payload.get() + received.bytes_again,
        "headerBytesReceived": reception.headers.get() + received.headers_again,
        "lastPacketReceivedTimestamp": at.stamp(received.last),
        "packetsLost": reception.lost(), "jitter": reception.jitter_secs(),
    })
}

fn frames(received: &Inbound, now: Time) -> Value {
    let frames = &received.frames;
    let known = json!({
        "retransmittedPacketsReceived": received.packets_again,
        "retransmittedBytesReceived": received.bytes_again,
        "framesReceived": frames.received, "framesDecoded": frames.decoded, "keyFramesDecoded": frames.keys,
        "framesPerSecond": frames.per_second(now),
        "freezeCount": frames.freezes, "totalFreezesDuration": frames.frozen.as_secs_f64(),
        "nackCount": received.nacks, "pliCount": received.plis,
    });
    let size = |(width, height): (u16, u16)| json!({ "frameWidth": width, "frameHeight": height });
    merged(known, frames.resolution.map(size))
}
