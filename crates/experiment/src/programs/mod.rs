//! Programs: what really runs on a host when the network of an experiment is emulated.
//!
//! `[program.NAME]` sections ─▶ [`Program`]s with ports ─▶ [`Program::command`], for the host's
//! namespace. A simulation leaves them out.

mod command;
mod ports;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::read;

use net::{Dscp, HostId, NetworkConfig};
use sim::tcp::{TcpApplication, TcpConfig, TcpSource};
use units::{Bitrate, Bytes, Duration, Time};

/// The port of an upload server if none is given.
pub const UPLOAD_PORT: u16 = 5601;
/// The interval at which the upload clients and servers of an emulation report; the values of a
/// sample are at most this old.
pub const UPLOAD_SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// A program on a host: which, where and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, unique among the programs of the file; of a server that is started by itself
    /// `HOST.iperf3-5201`.
    pub name: String,
    /// The host that it runs on.
    pub host: HostId,
    /// When it is started.
    pub start: Time,
    /// When it is stopped if it is still there.
    pub stop: Time,
    /// What it is.
    pub kind: ProgramKind,
}

/// What a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Echo requests, by `ping` of iputils.
    Ping {
        /// Who answers.
        to: HostId,
        /// Between two requests, from 2 ms up.
        interval: Duration,
        /// The data in each, without the 28 bytes of IPv4 and ICMP; up to 65,507 B.
        size: Bytes,
    },
    /// A client of `iperf3`.
    Iperf3(Iperf3),
    /// A server of `iperf3`, for one client at a time.
    Iperf3Server {
        /// Where it listens.
        port: u16,
    },
    /// Weir's own upload (`weir upload client`).
    Upload(Upload),
    /// The server of uploads (`weir upload server`), for many clients.
    UploadServer {
        /// Where it listens.
        port: u16,
    },
    /// A line for `sh -c`.
    Command(String),
}

/// What a client of `iperf3` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iperf3 {
    /// The host of the server.
    pub to: HostId,
    /// The server's port.
    pub port: u16,
    /// The sender's congestion control, by Linux's name; `None`: the host's own.
    pub congestion_control: Option<String>,
    /// Parallel connections, 1 to 128.
    pub flows: u32,
    /// How much is sent in all; `None`: from start to stop.
    pub bytes: Option<Bytes>,
    /// Whether the server sends.
    pub reverse: bool,
    /// UDP at this rate a flow instead of TCP.
    pub udp_rate: Option<Bitrate>,
    /// The mark on its packets.
    pub dscp: Dscp,
}

/// What a client of `weir upload` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The host of the server.
    pub to: HostId,
    /// The server's port.
    pub port: u16,
    /// What is sent.
    pub source: TcpSource,
    /// The sender's congestion control, by Linux's name; `None`: the host's own.
    pub congestion_control: Option<String>,
    /// The mark on its packets.
    pub dscp: Dscp,
}

/// A TCP flow of an experiment as a real upload, of the same name: bytes, on and off, congestion
/// control, mark and times are kept. `ecn` and `receive_window` belong to the hosts:
/// net.ipv4.tcp_ecn, net.ipv4.tcp_rmem. None of a flow of pages that are read.
#[must_use]
pub fn upload_of(flow: &TcpConfig) -> Option<Program> {
    let TcpApplication::Stream(source) = flow.application else { return None };
    let upload = Upload {
        to: flow.to,
        port: UPLOAD_PORT,
        source,
        congestion_control: Some(flow.congestion_control.to_string()),
        dscp: flow.dscp,
    };
    Some(Program {
        name: flow.name.clone(),
        host: flow.from,
        start: flow.start,
        stop: flow.stop,
        kind: ProgramKind::Upload(upload),
    })
}

/// The servers that these programs need and do not start themselves, each once: to be started
/// before them, from the start of the run until the last of their clients stops. A server that is a
/// program of its own is not among them.
#[must_use]
pub fn servers(programs: &[Program], network: &NetworkConfig) -> Vec<Program> {
    let mut servers: Vec<Program> = Vec::new();
    for client in programs {
        let Some((host, kind)) = client.kind.server() else { continue };
        let same = |other: &&mut Program| other.host == host && other.kind == kind;
        if let Some(known) = servers.iter_mut().find(same) {
            known.stop = known.stop.max(client.stop);
        } else if !programs.iter().any(|other| other.host == host && other.kind == kind) {
            let at = network.hosts.get(usize::from(host.0)).map_or("", |host| host.name.as_str());
            let name = match kind {
                ProgramKind::Iperf3Server { port } => format!("{at}.iperf3-{port}"),
                ProgramKind::UploadServer { port } => format!("{at}.upload-{port}"),
                _ => continue,
            };
            servers.push(Program { name, host, start: Time::ZERO, stop: client.stop, kind });
        }
    }
    servers
}

impl ProgramKind {
    /// The server that it talks to, and the server's host; `None` if it needs none.
    #[must_use]
    pub const fn server(&self) -> Option<(HostId, Self)> {
        match self {
            Self::Iperf3(client) => Some((client.to, Self::Iperf3Server { port: client.port })),
            Self::Upload(client) => Some((client.to, Self::UploadServer { port: client.port })),
            Self::Ping { .. }
            | Self::Iperf3Server { .. }
            | Self::UploadServer { .. }
            | Self::Command(_) => None,
        }
    }
}
