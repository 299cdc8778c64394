//! What the call page and its server say to each other, and what a measured call's page is told to do.
//!
//! The page's types (`web/src/generated`) are made of these by a test.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// How a page makes its call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CallSettings {
    /// Whether this end sends at all; otherwise it only receives.
    pub sends: bool,
    /// Whether it sends audio.
    pub audio: bool,
    /// The video that it sends; none if left out.
    pub video: Option<VideoSettings>,
    /// The priority of audio packets, by which the browser marks them (`RTCRtpEncodingParameters.networkPriority`, RFC 8837).
    pub audio_priority: Option<Priority>,
    /// Where sound and picture come from.
    pub source: Source,
    /// ICE servers, as `RTCConfiguration.iceServers` has them.
    pub ice_servers: Vec<IceServer>,
    /// Whether only relayed candidates are used (`iceTransportPolicy: "relay"`).
    pub relay: bool,
    /// Whether the pictures are shown; a page that does not show them leaves more of the machine to the call.
    pub render: bool,
    /// Milliseconds between two calls of `getStats`; 0: none are sent to the server.
    pub stats_interval: u32,
}

/// The video that an end sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VideoSettings {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames a second.
    pub frame_rate: u32,
    /// The codec that is preferred, `vp8`, `vp9`, `h264` or `av1`; the browser's own order if left out.
    pub codec: Option<String>,
    /// The most that is sent, bit/s (`RTCRtpEncodingParameters.maxBitrate`); the browser's own if left out.
    #[ts(type = "number | null")]
    pub max_bitrate: Option<u64>,
    /// The priority of its packets.
    pub priority: Option<Priority>,
}

/// W3C `RTCPriorityType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// CS1.
    VeryLow,
    /// Default forwarding.
    Low,
    /// AF42, audio EF.
    Medium,
    /// AF41, audio EF.
    High,
}

/// Where a page takes sound and picture from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// Camera and microphone (`getUserMedia`); Chromium can be given files for them.
    #[default]
    Devices,
    /// The film at `/media/film.webm`, played in a loop and captured (`captureStream`).
    Film,
}

/// W3C `RTCIceServer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IceServer {
    /// `stun:` and `turn:` addresses.
    pub urls: Vec<String>,
    /// For TURN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub username: Option<String>,
    /// For TURN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub credential: Option<String>,
}

/// One `RTCStatsReport`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct StatsReport {
    /// When it was asked for, milliseconds since 1970 by the page's clock.
    pub at: f64,
    /// The statistics objects by their `id`, each with `type`, `timestamp` and its members.
    #[ts(type = "Record<string, Record<string, unknown>>")]
    pub stats: Map<String, Value>,
}

/// What the page of a measured call tells.
#[derive(Clone, Debug, PartialEq)]
pub enum PageEvent {
    /// It is loaded, has its sound and picture, and waits for the start.
    Ready,
    /// `RTCPeerConnection.connectionState` has become this.
    ConnectionState(String),
    /// Statistics.
    Stats(StatsReport),
    /// Something failed, which ends the call: what, for people.
    Failed(String),
    /// The page is gone.
    Left,
}
