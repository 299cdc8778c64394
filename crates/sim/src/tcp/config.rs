//! A TCP flow as plain data.

use net::{Dscp, HostId};
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Duration, Time};

/// One direction of a TCP connection: who sends to whom, how much and when.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// Its name, unique in the run: the records are called `NAME.tcp`.
    pub name: String,
    /// Who sends the data, and opens the connection.
    pub from: HostId,
    /// Who receives it.
    pub to: HostId,
    /// When the connection is opened.
    pub start: Time,
    /// When it is cut off.
    pub stop: Time,
    /// What the application gives it to send.
    pub application: TcpApplication,
    /// The sender's congestion control.
    pub congestion_control: TcpCongestionControl,
    /// The receiver's window. Fixed: the receiver reads at once, and Linux's auto-tuning has no
    /// place here.
    pub receive_window: Bytes,
    /// Whether the ends negotiate ECN (RFC 3168).
    pub ecn: bool,
    /// The mark on the packets of both directions.
    pub dscp: Dscp,
}

/// The application at the sending end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpApplication {
    /// It writes as time goes by.
    Stream(TcpSource),
    /// It writes pages for somebody who reads them.
    Pages(TcpPages),
}

impl From<TcpSource> for TcpApplication {
    fn from(source: TcpSource) -> Self {
        Self::Stream(source)
    }
}

/// A session on the web (Kilinc and Andersson 2014 § 4.1): pages on one connection, each when the
/// one before has been acknowledged wholly and was read. The stream ends with the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPages {
    /// How many, at least 1.
    pub count: u32,
    /// How long each is, at least 1 B.
    pub size: Bytes,
    /// For how long each is read: between these, uniformly distributed.
    pub reading: (Duration, Duration),
}

/// What an application writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpSource {
    /// Without end, as iperf3 does.
    Endless,
    /// So many bytes, then the end of the stream.
    Finite(Bytes),
    /// Without end for a time, nothing for a time, and so on, on one connection.
    OnOff {
        /// How long it writes.
        on: Duration,
        /// How long it does not.
        off: Duration,
    },
}

/// The congestion controls, by the names of Linux's `net.ipv4.tcp_congestion_control`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TcpCongestionControl {
    /// NewReno (RFC 5681, RFC 6582).
    NewReno,
    /// CUBIC (RFC 9438), Linux's own choice.
    #[default]
    Cubic,
    /// BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr,
}

impl TcpCongestionControl {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("reno", Self::NewReno), ("cubic", Self::Cubic), ("bbr", Self::Bbr)];
}

impl FromStr for TcpCongestionControl {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, control)| *control);
        known.ok_or_else(|| format!("no congestion control '{word}'"))
    }
}

impl fmt::Display for TcpCongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::ALL[*self as usize];
        f.write_str(name)
    }
}

/// What of a host's TCP stack shows at a bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// TCP Small Queues: the shaper of the host's way up stands on the host itself, so a sender
    /// keeps few unsent bytes in its queue (Linux `net/ipv4/tcp_output.c`, `tcp_small_queue_check`)
    /// and learns at once of a packet that does not fit.
    pub tsq: bool,
    /// Generic segmentation offload: a sender hands over bursts of several segments.
    pub gso: bool,
}
