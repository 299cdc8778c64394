//! The records of a run: samples at a fixed interval, points at their own times, and events. Names
//! are the W3C webrtc-stats identifiers where one exists.

use units::{Duration, Time};

/// The greatest number of samples of a stream: over a day at one per 10 ms. Our choice.
pub const MAX_SAMPLES: u64 = 10_000_000;
/// The greatest number of values of a recording, 512 MiB; a point is two values, its time and its
/// value. Bounds the memory that a typo in an experiment or a damaged store can take. Our choice:
/// a run with 30 streams of 64 columns may take a sample every 100 ms for an hour.
pub const MAX_VALUES: u64 = 1 << 26;

/// The kind of a recorded stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKind {
    /// One direction of a call's video, from sender to receiver: outbound-rtp at the sender,
    /// inbound-rtp at the receiver, remote-inbound-rtp, and the controller's signals.
    Video,
    /// One direction of a call's audio.
    Audio,
    /// One direction of a TCP connection: the sender's state and both ends' counters.
    Tcp,
    /// One direction of a host's access link: the true state of the network.
    Line,
    /// A statistics object of a real browser with all its members, or the load of the machine, with
    /// its original names and units.
    Stats,
}

impl StreamKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Video, Self::Audio, Self::Tcp, Self::Line, Self::Stats];

    /// The name in stores and exports.
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

    /// At least as many columns as the simulator records of such a stream (`docs/COLUMNS.md`), for
    /// video with parity and the signals of any controller; zero for statistics of a browser.
    #[must_use]
    pub const fn most_columns(self) -> u64 {
        match self {
            Self::Video => 72,
            Self::Audio => 12,
            Self::Tcp => 26,
            Self::Line => 20,
            Self::Stats => 0,
        }
    }

    /// Whether the stream is media or TCP between two hosts. Metrics are computed from these.
    #[must_use]
    pub const fn is_flow(self) -> bool {
        matches!(self, Self::Video | Self::Audio | Self::Tcp)
    }
}

/// Samples of one quantity, one per sampling interval; NaN where there is no value.
///
/// The first value is taken one interval after the start of the run. Counters (`bytesSent`, …) are
/// cumulative, as in webrtc-stats; metrics derive rates from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The identifier, for example `bytesReceived`.
    pub name: &'static str,
    /// One value per sample.
    pub values: Vec<f64>,
}

/// Values at their own times, for example one round-trip time per RTCP report.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// The identifier, for example `roundTripTime`.
    pub name: &'static str,
    /// (time, value), in order of time.
    pub values: Vec<(Time, f64)>,
}

/// The records of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRecord {
    /// The name in the run: `call1.video`, `call1.video.back` (from the callee), `call1.audio`,
    /// `upload.tcp`, `alice.up`.
    pub name: String,
    /// The kind of the stream.
    pub kind: StreamKind,
    /// When the stream started and ended; samples outside are NaN.
    pub active: (Time, Time),
    /// Sampled quantities.
    pub columns: Vec<Column>,
    /// Irregular quantities.
    pub points: Vec<Points>,
}

impl StreamRecord {
    /// The samples of `name`; `None` if it was not recorded.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns
            .iter()
            .find(|column| column.name == name)
            .map(|column| column.values.as_slice())
    }

    /// The points of `name`; `None` if it was not recorded.
    #[must_use]
    pub fn points(&self, name: &str) -> Option<&[(Time, f64)]> {
        self.points.iter().find(|points| points.name == name).map(|points| points.values.as_slice())
    }
}

/// An event in a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When the event happened.
    pub at: Time,
    /// The stream's name.
    pub stream: String,
    /// The type of the event. Of video: `freeze` (at its end; the value is its length in seconds),
    /// `keyFrameRequest` (a PLI; the value is 1), `mediaTimeout` (an end ended the call; the value
    /// is the silence or the round-trip time, in seconds), `circuitBreaker` (the value is its
    /// number in RFC 8083 § 4) and, in a measured call, `connectionFailed` (an established
    /// connection failed; the value is the seconds since the call's start). Of TCP: `completed`
    /// (the value is the seconds since the flow's start), `incomplete` and `timedOut` (the value is
    /// the acknowledged bytes).
    pub what: &'static str,
    /// The value, in the unit of its type.
    pub value: f64,
}

/// Everything that one run recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The sampling interval.
    pub interval: Duration,
    /// The length of the run.
    pub duration: Duration,
    /// Streams in the order of the experiment file: calls, TCP flows, then links; last, the
    /// statistics objects of browsers.
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

    /// The time of the sample with the given index.
    #[must_use]
    pub fn sample_time(&self, index: usize) -> Time {
        Time::ZERO + self.interval * (index as u64 + 1)
    }
}
