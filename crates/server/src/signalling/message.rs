//! The messages between the call page and its server, and the settings of a measured call.
//!
//! A test generates the types of the page (`web/src/generated/messages.ts`) from these.

use crate::IceServer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// The settings with which a page makes its call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CallSettings {
    /// Whether this page sends media; otherwise it only receives.
    pub sends: bool,
    /// Whether the page sends audio.
    pub audio: bool,
    /// The video that the page sends; `null` for none.
    pub video: Option<VideoSettings>,
    /// The priority of audio packets, from which the browser chooses their DSCP
    /// (`RTCRtpEncodingParameters.networkPriority`, RFC 8837).
    pub audio_priority: Option<Priority>,
    /// The source of audio and video.
    pub source: Source,
    /// The ICE servers (`RTCConfiguration.iceServers`).
    pub ice_servers: Vec<IceServer>,
    /// Whether to use only relayed candidates (`iceTransportPolicy: "relay"`).
    pub relay: bool,
    /// Whether the page shows the video. Without it, the call gets more of the processor time.
    pub render: bool,
    /// The interval between two calls of `getStats`, milliseconds; 0 if the page sends no
    /// statistics.
    pub stats_interval: u32,
    /// The IP multimedia subsystem (IMS) that the call passes; `null` for none.
    pub ims: Option<ImsSettings>,
}

/// How a page registers with an IMS, and calls. Its `Debug` form does not show the password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImsSettings {
    /// The `wss:` URL of the P-CSCF.
    pub server: String,
    /// The user, without domain: `alice` of `sip:alice@ims.test`.
    pub user: String,
    /// The home domain, which is also the realm of SIP Digest.
    pub domain: String,
    /// The password of SIP Digest.
    pub password: String,
    /// The own IPv4 address, for Contact and Via.
    pub address: String,
    /// The user that the page calls; `null` if it is called.
    pub callee: Option<String>,
}

impl std::fmt::Debug for ImsSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ImsSettings({}@{} at {})", self.user, self.domain, self.server)
    }
}

/// A step of a call through an IMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Milestone {
    /// The registrar has accepted the registration; timed from the first REGISTER.
    Registered,
    /// The called user has accepted the call; timed from the INVITE.
    Accepted,
}

/// The video that a page sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VideoSettings {
    /// The width, pixels.
    pub width: u32,
    /// The height, pixels.
    pub height: u32,
    /// Frames per second.
    pub frame_rate: u32,
    /// The preferred codec, `vp8`, `vp9`, `h264` or `av1`; `null` for the order of the browser.
    pub codec: Option<String>,
    /// The maximum bitrate, bit/s (`RTCRtpEncodingParameters.maxBitrate`); `null` for the limit of
    /// the browser.
    #[ts(type = "number | null")]
    pub max_bitrate: Option<u64>,
    /// The priority of video packets; `null` for the default of the browser.
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

/// The source of a page's audio and video.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// Camera and microphone (`getUserMedia`). Chromium can replace them by files.
    #[default]
    Devices,
    /// The film at `/media/film.webm`, played in a loop and captured with `captureStream`.
    Film,
}

/// One `RTCStatsReport`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct StatsReport {
    /// When the page called `getStats`, milliseconds since 1970 by the page's clock.
    pub at: f64,
    /// The statistics objects by their `id`, each with `type`, `timestamp` and its other members.
    #[ts(type = "Record<string, Record<string, unknown>>")]
    pub stats: Map<String, Value>,
}

/// W3C `RTCIceCandidateInit`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IceCandidate {
    /// The candidate attribute (RFC 8839 § 5.1); empty after the last candidate.
    pub candidate: String,
    /// The identification tag (`mid`) of the media description that the candidate belongs to.
    #[serde(default)]
    pub sdp_mid: Option<String>,
    /// The index of that media description in the session description.
    #[serde(default)]
    pub sdp_m_line_index: Option<u16>,
    /// The user name fragment of the ICE credentials.
    #[serde(default)]
    pub username_fragment: Option<String>,
}

/// The role of a participant in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum CallRole {
    /// Sends the offer.
    Caller,
    /// Sends the answer.
    Callee,
}

impl CallRole {
    /// Both roles, caller first.
    pub const ALL: [Self; 2] = [Self::Caller, Self::Callee];

    /// Its index in arrays with one element per participant.
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Caller => 0,
            Self::Callee => 1,
        }
    }

    /// The role of the other participant.
    pub(super) const fn peer(self) -> Self {
        match self {
            Self::Caller => Self::Callee,
            Self::Callee => Self::Caller,
        }
    }

    /// Its name in messages and addresses.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Callee => "callee",
        }
    }
}

/// A message from a page. There is no `Debug` form, because session descriptions and candidates
/// contain credentials, which must not be logged.
#[derive(Deserialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FromPage {
    /// The first message.
    Hello {
        /// The role in a measured call; left out in an open room.
        #[serde(default)]
        #[ts(optional)]
        role: Option<CallRole>,
        /// The key of that role; in an open room the key of the room. The page that opens a room
        /// has none.
        #[serde(default)]
        #[ts(optional)]
        key: Option<String>,
    },
    /// A session description for the other participant: an offer.
    Offer {
        /// The description in SDP.
        sdp: String,
    },
    /// A session description for the other participant: an answer.
    Answer {
        /// The description in SDP.
        sdp: String,
    },
    /// An ICE candidate for the other participant.
    Candidate {
        /// The candidate.
        candidate: IceCandidate,
    },
    /// The page has hung up. After `stop` this follows its last statistics.
    Bye,
    /// In a measured call: the page has its audio and video.
    Ready,
    /// In a measured call through an IMS: a step is done.
    Milestone {
        /// The step.
        step: Milestone,
        /// Its duration, milliseconds.
        elapsed: f64,
    },
    /// In a measured call: `RTCPeerConnection.connectionState` has changed.
    ConnectionState {
        /// The new state.
        state: String,
    },
    /// In a measured call: statistics.
    Stats {
        /// The statistics.
        report: StatsReport,
    },
    /// In a measured call: a note for the log of the run.
    Log {
        /// The note, one line.
        message: String,
    },
    /// In a measured call: an error that ends the call.
    Failed {
        /// The error, for the user.
        message: String,
    },
}

/// A message from the server to a page.
#[derive(Clone, Serialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToPage {
    /// The answer to `hello`.
    Welcome {
        /// Whether the other participant is in the room already.
        peer: bool,
        /// The settings of a measured call; `null` in an open room.
        settings: Option<CallSettings>,
        /// The key of an open room, which is part of its link; `null` in a measured call.
        key: Option<String>,
    },
    /// The other participant has joined.
    PeerJoined,
    /// The other participant has left.
    PeerLeft,
    /// The offer of the other participant.
    Offer {
        /// The description in SDP.
        sdp: String,
    },
    /// The answer of the other participant.
    Answer {
        /// The description in SDP.
        sdp: String,
    },
    /// An ICE candidate of the other participant.
    Candidate {
        /// The candidate.
        candidate: IceCandidate,
    },
    /// The other participant has hung up.
    Bye,
    /// In a measured call through an IMS: register.
    Register,
    /// In a measured call: the caller sends its offer. Statistics are due at `epoch` and then every
    /// `statsInterval`.
    Start {
        /// The time, milliseconds since 1970.
        epoch: f64,
    },
    /// In a measured call: send the last statistics, then `bye`, and hang up.
    Stop,
    /// The server closes the connection.
    Error {
        /// The reason, for the page.
        reason: Reason,
        /// The reason, for the user.
        message: String,
    },
}

/// Why the server closes the connection of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The room name is not valid.
    RoomName,
    /// The room has two participants already.
    RoomFull,
    /// No further room can be opened.
    TooManyRooms,
    /// The key of the room is missing or wrong, or there is no such measured call.
    NoKey,
    /// A message is not part of the protocol, or not allowed at this time.
    BadMessage,
    /// A message is too long.
    TooLong,
    /// The page sends too many messages.
    TooFast,
    /// The page does not read its messages.
    TooSlow,
    /// The measured call is over.
    Over,
}

/// An event that a participant of a measured call reports to the run.
#[derive(Clone, Debug, PartialEq)]
pub enum PageEvent {
    /// The page has its audio and video, and waits for the start.
    Ready,
    /// A step of a call through an IMS, and its duration in milliseconds.
    Milestone(Milestone, f64),
    /// The new `RTCPeerConnection.connectionState`.
    ConnectionState(String),
    /// Statistics.
    Stats(StatsReport),
    /// A note for the log: for example an ICE server that does not answer, or a setting that this
    /// browser does not support.
    Log(String),
    /// An error that ends the call, for the user.
    Failed(String),
    /// The participant has hung up after [`MeasuredRoom::stop`](super::MeasuredRoom::stop). All of
    /// its statistics came before.
    Bye,
    /// The participant has left the room.
    Left,
}
