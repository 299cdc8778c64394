//! What the call page and its server say to each other, and what a measured call's page is told to
//! do.
//!
//! The page's types (`web/src/generated/messages.ts`) are made of these by a test.

use crate::IceServer;
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
    /// The priority of audio packets, by which the browser marks them
    /// (`RTCRtpEncodingParameters.networkPriority`, RFC 8837).
    pub audio_priority: Option<Priority>,
    /// Where sound and picture come from.
    pub source: Source,
    /// ICE servers, as `RTCConfiguration.iceServers` has them.
    pub ice_servers: Vec<IceServer>,
    /// Whether only relayed candidates are used (`iceTransportPolicy: "relay"`).
    pub relay: bool,
    /// Whether the pictures are shown; a page that does not show them leaves more of the machine to
    /// the call.
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
    /// The codec that is preferred, `vp8`, `vp9`, `h264` or `av1`; the browser's own order if left
    /// out.
    pub codec: Option<String>,
    /// The most that is sent, bit/s (`RTCRtpEncodingParameters.maxBitrate`); the browser's own if
    /// left out.
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

/// W3C `RTCIceCandidateInit`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IceCandidate {
    /// The candidate-attribute of RFC 8839, section 5.1; empty after the last.
    pub candidate: String,
    /// The media description that it belongs to.
    #[serde(default)]
    pub sdp_mid: Option<String>,
    /// The place of that description.
    #[serde(default)]
    pub sdp_m_line_index: Option<u16>,
    /// The ICE credentials' user fragment.
    #[serde(default)]
    pub username_fragment: Option<String>,
}

/// Where a measured call's page sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Seat {
    /// Makes the offer.
    Caller,
    /// Answers.
    Callee,
}

impl Seat {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Caller, Self::Callee];

    pub(super) fn index(self) -> usize {
        match self {
            Self::Caller => 0,
            Self::Callee => 1,
        }
    }
}

/// What a page says. There is no `Debug`: session descriptions and candidates hold credentials, and
/// belong in no log.
#[derive(Deserialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FromPage {
    /// The first message.
    Hello {
        /// The seat in a measured call.
        #[serde(default)]
        #[ts(optional)]
        seat: Option<Seat>,
        /// The key of that seat.
        #[serde(default)]
        #[ts(optional)]
        key: Option<String>,
    },
    /// A session description of the other end's, SDP.
    Offer {
        /// The description.
        sdp: String,
    },
    /// As `Offer`.
    Answer {
        /// The description.
        sdp: String,
    },
    /// A candidate for the other end.
    Candidate {
        /// The candidate.
        candidate: IceCandidate,
    },
    /// It has hung up; after `stop`, with its last statistics sent.
    Bye,
    /// In a measured call: it has its sound and picture.
    Ready,
    /// In a measured call: `RTCPeerConnection.connectionState` has become this.
    ConnectionState {
        /// The new state.
        state: String,
    },
    /// In a measured call: statistics.
    Stats {
        /// The statistics.
        report: StatsReport,
    },
    /// In a measured call: something worth keeping in the run's log.
    Log {
        /// The line.
        message: String,
    },
    /// In a measured call: something failed, which ends the call.
    Failed {
        /// What failed.
        message: String,
    },
}

/// What the server says to a page.
#[derive(Clone, Serialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToPage {
    /// The answer to `hello`.
    Welcome {
        /// Whether the other end is there already.
        peer: bool,
        /// What a measured call's page is to do; null in a room for people.
        settings: Option<CallSettings>,
    },
    /// The other end has come.
    PeerJoined,
    /// The other end is gone.
    PeerLeft,
    /// Of the other end.
    Offer {
        /// The description.
        sdp: String,
    },
    /// Of the other end.
    Answer {
        /// The description.
        sdp: String,
    },
    /// Of the other end.
    Candidate {
        /// The candidate.
        candidate: IceCandidate,
    },
    /// The other end has hung up.
    Bye,
    /// In a measured call: the caller makes its offer; statistics are due at `epoch` and every
    /// interval after.
    Start {
        /// Milliseconds since 1970.
        epoch: f64,
    },
    /// In a measured call: hang up, send the last statistics and say `bye`.
    Stop,
    /// Why the server closes the connection.
    Error {
        /// For the page.
        reason: Reason,
        /// For people.
        message: String,
    },
}

/// Why a page is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The room's name has other characters than it may.
    RoomName,
    /// Both seats are taken.
    RoomFull,
    /// There are as many rooms as there may be.
    TooManyRooms,
    /// The room is for a measured call, and this page has no key to it; or there is no such call.
    NoKey,
    /// A message that is none, or comes at the wrong time.
    BadMessage,
    /// A message that is too long.
    TooLong,
    /// Too many messages.
    TooFast,
    /// It does not read what it is sent.
    TooSlow,
    /// The measured call is over.
    Over,
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
    /// Something worth keeping: an ICE server that does not answer, a setting that this browser
    /// lacks.
    Log(String),
    /// Something failed, which ends the call: what, for people.
    Failed(String),
    /// It has hung up after [`Measured::stop`](super::Measured::stop); all of its statistics were
    /// told before.
    Bye,
    /// The page is gone.
    Left,
}
