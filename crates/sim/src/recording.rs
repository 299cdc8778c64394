//! What a run leaves behind: samples at a fixed interval, points at their own times, and totals,
//! named by the W3C webrtc-stats identifiers where one exists.

use units::{Duration, Time};

/// What a stream of records is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One direction of a call's video, from sender to receiver: outbound-rtp at the sender,
    /// inbound-rtp at the receiver, remote-inbound-rtp, and the controller's signals.
    Video,
    /// One direction of a call's audio.
    Audio,
    /// One direction of a TCP connection: the sender's state and both ends' counters.
    Tcp,
    /// One direction of a host's access: what the network itself knows, the truth.
    Line,
    /// A statistics object of a real browser with all its members, or the machine's own load: as it
    /// was told, in its own words and units.
    Stats,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Video, Self::Audio, Self::Tcp, Self::Line, Self::Stats];

    /// The word for it in stores and exports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Tcp => "tcp",
            Self::Line => "line",
            Self::Stats => "stats",
        }
    }

    /// Whether it is media or TCP between two hosts, of which metrics are made.
    #[must_use]
    pub const fn is_flow(self) -> bool {
        matches!(self, Self::Video | Self::Audio | Self::Tcp)
    }
}

/// Samples of one quantity, one a sampling interval; not-a-number where there is none yet.
///
/// The first value is taken at one interval after the start of the run. Counters (`bytesSent`, …)
/// are cumulative, as in webrtc-stats; rates are made of them by the metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The identifier, for example `bytesReceived`.
    pub name: &'static str,
    /// One value a sample.
    pub values: Vec<f64>,
}

/// Values at their own times, for example each round-trip time that an RTCP report measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// The identifier, for example `roundTripTime`.
    pub name: &'static str,
    /// (when, value), in order of time.
    pub values: Vec<(Time, f64)>,
}

/// The records of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRecord {
    /// Its name in the run: `call1.video`, `call1.video.back` (the callee's), `call1.audio`,
    /// `upload.tcp`, `alice.up`.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// When it began and ended; samples outside are not-a-number.
    pub active: (Time, Time),
    /// Sampled quantities.
    pub columns: Vec<Column>,
    /// Irregular quantities.
    pub points: Vec<Points>,
}

impl StreamRecord {
    /// The samples of `name`, if it was recorded.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns
            .iter()
            .find(|column| column.name == name)
            .map(|column| column.values.as_slice())
    }

    /// The points of `name`, if it was recorded.
    #[must_use]
    pub fn points(&self, name: &str) -> Option<&[(Time, f64)]> {
        self.points.iter().find(|points| points.name == name).map(|points| points.values.as_slice())
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Time,
    /// The stream's name.
    pub stream: String,
    /// What, of a measured call also `connectionFailed` (a connection that stood broke; the value
    /// is the seconds since the call's start): `freeze` (at its end; the value is its length in
    /// seconds), `keyFrameRequest` (a PLI; the value is 1), `mediaTimeout` (an end gave the call
    /// up; the value is the silence or the round trip, in seconds) or `circuitBreaker` (the value
    /// is its number in RFC 8083 § 4) of video; `completed` (the value is the seconds since its
    /// start), `incomplete` or `timedOut` (the value is the bytes that are acknowledged) of TCP.
    pub what: &'static str,
    /// Its size, in the unit of its kind.
    pub value: f64,
}

/// Everything that one run recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The sampling interval.
    pub interval: Duration,
    /// How long the run was.
    pub duration: Duration,
    /// Streams in the order of the experiment file: calls, TCP flows, then lines; last what
    /// browsers said besides.
    pub streams: Vec<StreamRecord>,
    /// Events in order of time.
    pub events: Vec<Event>,
}

impl Recording {
    /// The stream called `name`.
    #[must_use]
    pub fn stream(&self, name: &str) -> Option<&StreamRecord> {
        self.streams.iter().find(|stream| stream.name == name)
    }

    /// The instant of the sample with the given index.
    #[must_use]
    pub fn sample_time(&self, index: usize) -> Time {
        Time::ZERO + self.interval * (index as u64 + 1)
    }
}
