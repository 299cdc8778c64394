//! The command lines of programs.

use super::UPLOAD_SAMPLE_INTERVAL;
use super::{Iperf3, Program, ProgramKind, Upload};
use net::Dscp;
use sim::tcp::TcpSource;
use std::ffi::OsString;
use std::path::Path;
use units::Duration;

impl Program {
    /// The program and its arguments, for the namespace of its host, in which hosts have the
    /// addresses of [`HostId::address`](net::HostId::address). `weir` is the path of the `weir`
    /// program.
    #[must_use]
    pub fn command(&self, weir: &Path) -> Vec<OsString> {
        let length = self.stop.saturating_since(self.start);
        match &self.kind {
            ProgramKind::Ping { to, interval, size } => CommandLine::of("ping")
                .flag("-D")
                .flag("-n")
                .value("-i", &interval.as_secs_f64())
                .value("-s", &size.get())
                .value("-w", &whole_seconds(length))
                .and(&to.address()),
            ProgramKind::Iperf3(client) => iperf3(client, length),
            ProgramKind::Iperf3Server { port } => {
                CommandLine::of("iperf3").flag("--server").value("--port", port)
            }
            ProgramKind::Upload(client) => upload(client, weir, length),
            ProgramKind::UploadServer { port } => CommandLine::of(weir)
                .and("upload")
                .and("server")
                .value("--listen", &format!("[::]:{port}"))
                .value("--max-clients", &UPLOAD_CLIENTS)
                .value("--max-clients-per-address", &UPLOAD_CLIENTS)
                .value("--idle-timeout", &UPLOAD_IDLE_TIMEOUT)
                .value("--interval", &UPLOAD_SAMPLE_INTERVAL)
                .flag("--json"),
            ProgramKind::Command(line) => CommandLine::of("sh").value("-c", line),
        }
        .0
    }
}

fn iperf3(client: &Iperf3, length: Duration) -> CommandLine {
    let mut words = CommandLine::of("iperf3")
        .value("--client", &client.to.address())
        .value("--port", &client.port)
        .flag("--json")
        .value("--connect-timeout", &CONNECT_TIMEOUT.as_millis());
    words = match client.bytes {
        Some(bytes) => words.value("--bytes", &bytes.get()),
        // iperf3 takes whole seconds. The rest of the time is for its last report.
        None => {
            words.value("--time", &(length.as_nanos() / Duration::from_secs(1).as_nanos()).max(1))
        }
    };
    if let Some(name) = &client.congestion_control {
        words = words.value("--congestion", name);
    }
    if let Some(rate) = client.udp_rate {
        words = words.flag("--udp").value("--bitrate", &rate.as_bps());
    }
    if client.flows > 1 {
        words = words.value("--parallel", &client.flows);
    }
    if client.reverse {
        words = words.flag("--reverse");
    }
    words.mark(client.dscp)
}

/// The clients of an upload server in a run: as many as it can have file descriptors, because they
/// are the experiment's own.
const UPLOAD_CLIENTS: usize = 1_000;
/// The time without data after which the server ends an upload: the longest run. Sources may pause,
/// and lines may stall, for any time.
const UPLOAD_IDLE_TIMEOUT: Duration = Duration::from_secs(86_400);

/// The time after which a client of iperf3 stops trying to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

fn upload(client: &Upload, weir: &Path, length: Duration) -> CommandLine {
    let mut words = CommandLine::of(weir)
        .and("upload")
        .and("client")
        .and(&client.to.address())
        .value("--port", &client.port)
        .flag("--json")
        .value("--interval", &UPLOAD_SAMPLE_INTERVAL)
        .value("--duration", &length);
    words = match client.source {
        TcpSource::Endless => words,
        TcpSource::Finite(bytes) => words.value("--bytes", &bytes),
        TcpSource::OnOff { on, off } => words.value("--on", &on).value("--off", &off),
    };
    if let Some(name) = &client.congestion_control {
        words = words.value("--congestion-control", name);
    }
    words.mark(client.dscp)
}

/// Seconds, rounded up.
fn whole_seconds(length: Duration) -> u64 {
    length.as_nanos().div_ceil(Duration::from_secs(1).as_nanos())
}

/// A builder of a program with its arguments.
struct CommandLine(Vec<OsString>);

impl CommandLine {
    fn of(program: impl Into<OsString>) -> Self {
        Self(vec![program.into()])
    }

    fn and(mut self, word: &(impl ToString + ?Sized)) -> Self {
        self.0.push(word.to_string().into());
        self
    }

    fn flag(self, name: &str) -> Self {
        self.and(name)
    }

    fn value(self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.and(name).and(value)
    }

    fn mark(self, dscp: Dscp) -> Self {
        if dscp == Dscp::DEFAULT { self } else { self.value("--dscp", &dscp.0) }
    }
}
