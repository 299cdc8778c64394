//! Statistics objects of W3C webrtc-stats. Of what `rtc` reports, these are the members that it knows; the others would be zeros that nobody counted.

use crate::Controller;
use crate::config::CLOCK_RATE;
use crate::video::Video;
use rtc::statistics::report::{RTCStatsReport, RTCStatsReportEntry};
use serde_json::{Map, Value, json};

/// Of every object.
const COMMON: &[&str] = &["id", "timestamp", "type"];

const OUTBOUND: &[&str] = &[
    "ssrc",
    "kind",
    "mid",
    "transportId",
    "remoteId",
    "packetsSent",
    "bytesSent",
    "headerBytesSent",
    "nackCount",
    "pliCount",
    "firCount",
];

const INBOUND: &[&str] = &[
    "ssrc",
    "kind",
    "mid",
    "transportId",
    "packetsReceived",
    "bytesReceived",
    "headerBytesReceived",
    "packetsLost",
    "nackCount",
];

const REMOTE_INBOUND: &[&str] = &["ssrc", "kind", "transportId", "packetsLost", "fractionLost"];

const PAIR: &[&str] = &[
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
];

pub(crate) fn objects(
    report: &RTCStatsReport,
    video: Option<&(Controller, Video)>,
) -> Result<Map<String, Value>, serde_json::Error> {
    let mut objects = Map::new();
    for entry in report.iter() {
        let (value, members) = match entry {
            RTCStatsReportEntry::OutboundRtp(stats) => (serde_json::to_value(stats)?, OUTBOUND),
            RTCStatsReportEntry::InboundRtp(stats) => (serde_json::to_value(stats)?, INBOUND),
            RTCStatsReportEntry::RemoteInboundRtp(stats) => (serde_json::to_value(stats)?, REMOTE_INBOUND),
            RTCStatsReportEntry::IceCandidatePair(stats) => (serde_json::to_value(stats)?, PAIR),
            _ => continue,
        };
        let Value::Object(all) = value else { continue };
        // `rtc` reports jitter in ticks of the stream's clock; webrtc-stats has seconds.
        let jitter = all.get("jitter").and_then(Value::as_f64).map(|ticks| ticks / f64::from(CLOCK_RATE));
        let mut object: Map<String, Value> = all
            .into_iter()
            .filter(|(name, _)| COMMON.contains(&name.as_str()) || members.contains(&name.as_str()))
            .collect();
        if let Some(jitter) = jitter {
            object.insert("jitter".to_owned(), jitter.into());
        }
        if let Some((controller, video)) = video {
            object.extend(ours(entry, controller, video));
        }
        objects.insert(entry.id().to_owned(), Value::Object(object));
    }
    Ok(objects)
}

/// What `rtc` can't know: the encoder's, and the controller's.
fn ours(entry: &RTCStatsReportEntry, controller: &Controller, video: &Video) -> Map<String, Value> {
    let known = match entry {
        RTCStatsReportEntry::OutboundRtp(_) => {
            let sent = video.sent();
            let (width, height) = video.encoder().resolution();
            json!({
                "targetBitrate": video.encoder().target().as_bps(),
                "framesEncoded": sent.frames,
                "framesSent": sent.frames,
                "keyFramesEncoded": sent.key_frames,
                "frameWidth": sent.last.map_or(width, |frame| frame.width),
                "frameHeight": sent.last.map_or(height, |frame| frame.height),
                "encoderImplementation": "weir codec model",
            })
        }
        RTCStatsReportEntry::RemoteInboundRtp(_) => {
            controller.rtt().map_or(Value::Null, |rtt| json!({ "roundTripTime": rtt.as_secs_f64() }))
        }
        RTCStatsReportEntry::IceCandidatePair(_) => {
            json!({ "availableOutgoingBitrate": controller.decision().target_rate.as_bps() })
        }
        _ => Value::Null,
    };
    if let Value::Object(known) = known { known } else { Map::new() }
}
