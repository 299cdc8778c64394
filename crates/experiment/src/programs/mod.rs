//! Programs that run on a host when the network of an experiment is emulated.
//!
//! `[program.NAME]` sections ─▶ [`Program`]s with ports ─▶ [`Program::command`], for the host's
//! namespace. A simulation ignores them.

mod command;
mod ports;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::read;

use net::{Dscp, HostId, NetworkConfig};
use sim::tcp::{TcpApplication, TcpConfig, TcpSource};
use units::{Bitrate, Bytes, Duration, Time};

/// The default port of an upload server.
pub const UPLOAD_PORT: u16 = 5601;
/// The interval at which the upload clients and servers of an emulation report. The values of a
/// sample are at most this old.
pub const UPLOAD_SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// A program on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name, unique among the programs of the file. A server that is started automatically is
    /// called `HOST.iperf3-5201`.
    pub name: String,
    /// The host on which it runs.
    pub host: HostId,
    /// The time at which it is started.
    pub start: Time,
    /// The time at which it is stopped if it still runs.
    pub stop: Time,
    /// The program and its arguments.
    pub kind: ProgramKind,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Echo requests with `ping` of iputils.
    Ping {
        /// The host that answers.
        to: HostId,
        /// The time between two requests, at least 2 ms.
        interval: Duration,
        /// The data in each request, without the 28 bytes of IPv4 and ICMP; at most 65,507 B.
        size: Bytes,
    },
    /// A client of `iperf3`.
    Iperf3(Iperf3),
    /// A server of `iperf3`, for one client at a time.
    Iperf3Server {
        /// The port on which it listens.
        port: u16,
    },
    /// A client of Weir's upload (`weir upload client`).
    Upload(Upload),
    /// A server of Weir's upload (`weir upload server`), for many clients.
    UploadServer {
        /// The port on which it listens.
        port: u16,
    },
    /// A command line, which `sh -c` runs.
    Command(String),
}

/// The arguments of an `iperf3` client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iperf3 {
    /// The host of the server.
    pub to: HostId,
    /// The server's port.
    pub port: u16,
    /// Linux's name of the sender's congestion control; `None`: the host's default.
    pub congestion_control: Option<String>,
    /// Parallel connections, 1 to 128.
    pub flows: u32,
    /// The bytes that are sent; `None`: it sends from start to stop.
    pub bytes: Option<Bytes>,
    /// Whether the server sends instead of the client.
    pub reverse: bool,
    /// The rate per flow of UDP; `None`: TCP.
    pub udp_rate: Option<Bitrate>,
    /// The DSCP mark of its packets.
    pub dscp: Dscp,
}

/// The arguments of a `weir upload` client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The host of the server.
    pub to: HostId,
    /// The server's port.
    pub port: u16,
    /// The data that is sent.
    pub source: TcpSource,
    /// Linux's name of the sender's congestion control; `None`: the host's default.
    pub congestion_control: Option<String>,
    /// The DSCP mark of its packets.
    pub dscp: Dscp,
}

/// A TCP flow of an experiment as an upload program of the same name, with its bytes, on and off,
/// congestion control, mark and times. `ecn`, `receive_window` and `hz` are settings of the hosts
/// (net.ipv4.tcp_ecn, net.ipv4.tcp_rmem, CONFIG_HZ) and are ignored. `None` for a flow of web
/// pages.
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

/// The servers that the clients among these programs need, each once, except those that are
/// programs themselves. They are to run from the start of the run until the last of their clients
/// stops.
#[must_use]
pub fn servers(programs: &[Program], network: &NetworkConfig) -> Vec<Program> {
    let mut servers: Vec<Program> = Vec::new();
    for client in programs {
        let Some((host, kind)) = client.kind.server() else { continue };
        let same = |other: &&mut Program| other.host == host && other.kind == kind;
        if let Some(known) = servers.iter_mut().find(same) {
            known.stop = known.stop.max(client.stop);
        } else if !programs.iter().any(|other| other.host == host && other.kind == kind) {
            let host_name =
                network.hosts.get(usize::from(host.0)).map_or("", |host| host.name.as_str());
            let name = match kind {
                ProgramKind::Iperf3Server { port } => format!("{host_name}.iperf3-{port}"),
                ProgramKind::UploadServer { port } => format!("{host_name}.upload-{port}"),
                _ => continue,
            };
            servers.push(Program { name, host, start: Time::ZERO, stop: client.stop, kind });
        }
    }
    servers
}

impl ProgramKind {
    /// The server that the program needs, and the server's host; `None` if it needs none.
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
