//! The configuration of a TCP flow.

use net::{Dscp, HostId};
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Duration, Time};

/// One direction of a TCP connection.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpConfig {
    /// The flow's name, unique in the run. Its records are called `NAME.tcp`.
    pub name: String,
    /// The host that sends the data and opens the connection.
    pub from: HostId,
    /// The host that receives the data.
    pub to: HostId,
    /// When the connection is opened.
    pub start: Time,
    /// When the connection is cut off.
    pub stop: Time,
    /// What the sending application writes.
    pub application: TcpApplication,
    /// The sender's congestion control.
    pub congestion_control: TcpCongestionControl,
    /// The receive window. It is fixed, because the receiver reads at once and Linux's auto-tuning
    /// is not modelled.
    pub receive_window: Bytes,
    /// Whether the ends negotiate ECN (RFC 3168). Prague always does.
    pub ecn: bool,
    /// The DSCP of the packets of both directions.
    pub dscp: Dscp,
    /// The timer frequency of both hosts' kernels.
    pub hz: TimerFrequency,
}

/// The frequency of a kernel's timer interrupt (Linux `kernel/Kconfig.hz`), which is the resolution
/// of TCP's timers. 300 Hz is left out: its period is not a whole number of nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TimerFrequency {
    /// `CONFIG_HZ_100`.
    Hz100,
    /// `CONFIG_HZ_250`, the default of Linux.
    #[default]
    Hz250,
    /// `CONFIG_HZ_1000`.
    Hz1000,
}

impl TimerFrequency {
    /// All frequencies in Hz.
    pub const ALL: [(u32, Self); 3] =
        [(100, Self::Hz100), (250, Self::Hz250), (1_000, Self::Hz1000)];

    /// The time between two interrupts, called a jiffy.
    #[must_use]
    pub const fn period(self) -> Duration {
        Duration::from_millis(match self {
            Self::Hz100 => 10,
            Self::Hz250 => 4,
            Self::Hz1000 => 1,
        })
    }
}

/// The application at the sending end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TcpApplication {
    /// Writes a byte stream.
    Stream(TcpSource),
    /// Writes web pages, each after the reader has read the previous one.
    Pages(TcpPages),
}

impl From<TcpSource> for TcpApplication {
    fn from(source: TcpSource) -> Self {
        Self::Stream(source)
    }
}

/// A web session (Kilinc and Andersson 2014 § 4.1; RFC 8868 § 5.1: short TCP flows): pages on one
/// connection. Each page is requested when the previous one has been acknowledged completely and
/// then read. The stream ends with the last page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpPages {
    /// The number of pages, at least 1.
    pub count: u32,
    /// The size of each page: minimum, at least 1 B, and maximum of a uniform distribution.
    pub size: (Bytes, Bytes),
    /// The reading time of each page.
    pub reading: Reading,
    /// Whether a reading time precedes the first page.
    pub reads_first: bool,
}

/// The distribution of the time between the end of a page and the request of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Reading {
    /// Uniform between these times.
    Uniform(Duration, Duration),
    /// Exponential with this mean (RFC 8868 § 5.1).
    Exponential(Duration),
}

impl Reading {
    /// The mean.
    #[must_use]
    pub fn mean(self) -> Duration {
        match self {
            Self::Uniform(least, most) => (least + most) / 2,
            Self::Exponential(mean) => mean,
        }
    }
}

/// The data of a byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TcpSource {
    /// An endless stream, as iperf3 sends.
    Endless,
    /// This many bytes, then the end of the stream.
    Finite(Bytes),
    /// Alternates between writing without limit and writing nothing, on one connection.
    OnOff {
        /// The duration of writing.
        on: Duration,
        /// The duration of silence.
        off: Duration,
    },
}

/// The congestion controls, named as in Linux's `net.ipv4.tcp_congestion_control`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TcpCongestionControl {
    /// NewReno (RFC 5681, RFC 6582).
    NewReno,
    /// CUBIC (RFC 9438), Linux's default.
    #[default]
    Cubic,
    /// BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr,
    /// TCP Prague (draft-briscoe-iccrg-prague-congestion-control), with ECT(1) and accurate ECN
    /// feedback (RFC 9768), whatever [`TcpConfig::ecn`] says.
    Prague,
}

impl TcpCongestionControl {
    /// All congestion controls with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("reno", Self::NewReno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
        ("prague", Self::Prague),
    ];

    /// Whether it needs accurate ECN feedback and sends ECT(1) (RFC 9331 § 4).
    #[must_use]
    pub const fn is_l4s(self) -> bool {
        matches!(self, Self::Prague)
    }
}

/// No congestion control has this name; [`TcpCongestionControl::ALL`] has the names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no congestion control '{name}'")]
pub struct UnknownCongestionControl {
    /// The name that was looked for.
    pub name: String,
}

impl FromStr for TcpCongestionControl {
    type Err = UnknownCongestionControl;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, control)| *control);
        known.ok_or_else(|| UnknownCongestionControl { name: word.to_owned() })
    }
}

impl fmt::Display for TcpCongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::ALL[*self as usize];
        f.write_str(name)
    }
}

/// The properties of a host's TCP stack that matter at a bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpStack {
    /// TCP Small Queues: the shaper of the host's uplink runs on the host itself, so a sender keeps
    /// few unsent bytes in its queue (Linux `net/ipv4/tcp_output.c`, `tcp_small_queue_check`) and
    /// learns at once of a packet that the queue refuses.
    pub tsq: bool,
    /// Generic segmentation offload: a sender passes on bursts of several segments (Linux
    /// `tcp_write_xmit`). The last segment of a burst has PSH, so that the receiver acknowledges it
    /// at once.
    pub gso: bool,
    /// Congestion windows are whole numbers of segments, with Linux's integer arithmetic. Without
    /// it they have fractions.
    pub whole_segments: bool,
}
