//! `[program.NAME]` sections.

use super::UPLOAD_PORT;
use super::ports::{self, IPERF3_PORT};
use super::{Iperf3, Program, ProgramKind, Upload};
use crate::name::check_name;
use crate::values::positive;
use crate::{tcp, traffic};
use document::{Fault, Node, Reader, Value};
use net::{HostId, NetworkConfig};
use sim::tcp::TcpConfig;
use units::{Bitrate, Bytes, Duration};

/// The shortest interval that `ping` accepts without root (iputils: `MIN_USER_INTERVAL_MS`).
const MIN_INTERVAL: Duration = Duration::from_millis(2);
/// The default interval of `ping`.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// The default data size of `ping`.
const PING_SIZE: Bytes = Bytes::new(56);
/// The data in an IPv4 packet of 65,535 bytes, without its header and ICMP's.
const MAX_PING_SIZE: Bytes = Bytes::new(65_507);
/// The maximum number of parallel flows, iperf3's `MAX_STREAMS`.
const MAX_FLOWS: u32 = 128;
/// The maximum number of programs of a file.
const MAX_PROGRAMS: usize = 1_000;
/// The maximum length of a congestion control's name: Linux's `TCP_CA_NAME_MAX` without the final
/// zero.
const MAX_NAME: usize = 15;

const ONE_OF: &str = "write one of ping, iperf3, upload, command";

/// The programs of a document, in the order of the file. A program with the name of one of `flows`
/// runs instead of that flow and must have the same hosts.
pub(crate) fn read(
    top: &mut Reader<'_>,
    network: &NetworkConfig,
    duration: Duration,
    flows: &[TcpConfig],
) -> Result<Vec<Program>, Fault> {
    let entries = top.entries("program")?;
    if entries.len() > MAX_PROGRAMS {
        let reason = format!("there are {} programs", entries.len());
        return Err(top.fault("program", reason, format!("write up to {MAX_PROGRAMS}")));
    }
    let (mut programs, mut locations, mut without_port) = (Vec::new(), Vec::new(), Vec::new());
    for (name, node) in entries {
        check_name(node.location, &format!("program.{name}"), name)?;
        let (program, has_port) = ProgramSection { name, network }.read(node, duration)?;
        if let Some(flow) = flows.iter().find(|flow| flow.name == name)
            && !replaces(&program, flow)
        {
            let reason = "there is a TCP flow of this name, which this program cannot replace";
            let suggestion = "use iperf3 or upload from the flow's sender to its receiver, or rename the program";
            return Err(Fault::new(node.location, format!("program.{name}"), reason, suggestion));
        }
        if !has_port {
            without_port.push(programs.len());
        }
        programs.push(program);
        locations.push(node.location);
    }
    ports::assign(&mut programs, &without_port, &locations)?;
    Ok(programs)
}

/// Whether the program sends TCP from the flow's sender to its receiver.
fn replaces(program: &Program, flow: &TcpConfig) -> bool {
    let ends = match &program.kind {
        ProgramKind::Iperf3(client) if client.udp_rate.is_some() => return false,
        ProgramKind::Iperf3(client) if client.reverse => (client.to, program.host),
        ProgramKind::Iperf3(Iperf3 { to, .. }) | ProgramKind::Upload(Upload { to, .. }) => {
            (program.host, *to)
        }
        _ => return false,
    };
    ends == (flow.from, flow.to)
}

struct ProgramSection<'a> {
    name: &'a str,
    network: &'a NetworkConfig,
}

impl ProgramSection<'_> {
    /// The program, and whether its port is known.
    fn read(&self, node: &Node, duration: Duration) -> Result<(Program, bool), Fault> {
        let mut table = Reader::new(node, &format!("program.{}", self.name))?;
        let host = traffic::host(&mut table, self.network, "host")?;
        let (start, stop) = traffic::start_and_stop(&mut table, duration, "program")?;
        let Some((kind, has_port)) = self.kind(&mut table)? else {
            // A typo in the key is likelier than no key: it is reported first.
            table.finish()?;
            let (path, reason) = (format!("program.{}", self.name), "the section names no program");
            return Err(Fault::new(node.location, path, reason, ONE_OF));
        };
        table.finish()?;
        let to = match &kind {
            ProgramKind::Ping { to, .. } => Some(*to),
            ProgramKind::Iperf3(client) => Some(client.to),
            ProgramKind::Upload(client) => Some(client.to),
            _ => None,
        };
        if to == Some(host) {
            let reason = "the program sends to its own host, not over the network";
            let path = format!("program.{}", self.name);
            return Err(Fault::new(node.location, path, reason, "name another host after 'to'"));
        }
        Ok((Program { name: self.name.to_owned(), host, start, stop, kind }, has_port))
    }

    /// The program, and whether its port is known; `None` if the section names none.
    fn kind(&self, table: &mut Reader<'_>) -> Result<Option<(ProgramKind, bool)>, Fault> {
        let given: Vec<(&str, &Node)> = ["ping", "iperf3", "upload", "command"]
            .into_iter()
            .filter_map(|key| table.node(key).map(|node| (key, node)))
            .collect();
        let (key, node) = match given[..] {
            [] => return Ok(None),
            [only] => only,
            [.., (last, _)] => {
                let words: Vec<&str> = given.iter().map(|(key, _)| *key).collect();
                let reason = format!("the section names several programs: {}", words.join(", "));
                return Err(table.fault(last, reason, ONE_OF));
            }
        };
        match key {
            "ping" => Ok(Some((self.ping(table, node)?, true))),
            "iperf3" => self.iperf3(table, node).map(Some),
            "upload" => Ok(Some((self.upload(table, node)?, true))),
            _ => Ok(Some((command_line(table)?, true))),
        }
    }

    /// Reads `ping = "bob"` or a table.
    fn ping(&self, table: &mut Reader<'_>, node: &Node) -> Result<ProgramKind, Fault> {
        if matches!(node.value, Value::Text(_)) {
            let to = traffic::host(table, self.network, "ping")?;
            return Ok(ProgramKind::Ping { to, interval: PING_INTERVAL, size: PING_SIZE });
        }
        let mut inner = Reader::new(node, &table.path("ping"))?;
        let to = traffic::host(&mut inner, self.network, "to")?;
        let interval = inner.or("interval", PING_INTERVAL)?;
        if interval < MIN_INTERVAL {
            let reason = format!("{interval} is below {MIN_INTERVAL}");
            return Err(inner.fault(
                "interval",
                reason,
                format!("write a time from {MIN_INTERVAL} up"),
            ));
        }
        let size = inner.or("size", PING_SIZE)?;
        if size > MAX_PING_SIZE {
            let reason = format!("{size} does not fit into a packet");
            return Err(inner.fault("size", reason, format!("write up to {MAX_PING_SIZE}")));
        }
        inner.finish()?;
        Ok(ProgramKind::Ping { to, interval, size })
    }

    /// Reads `iperf3 = "server"`, `iperf3 = "bob"` or a table.
    fn iperf3(&self, table: &mut Reader<'_>, node: &Node) -> Result<(ProgramKind, bool), Fault> {
        if matches!(&node.value, Value::Text(word) if word == "server") {
            return Ok((ProgramKind::Iperf3Server { port: IPERF3_PORT }, true));
        }
        if matches!(node.value, Value::Text(_)) {
            let to = traffic::host(table, self.network, "iperf3")?;
            return Ok((ProgramKind::Iperf3(plain_iperf3(to)), false));
        }
        let mut inner = Reader::new(node, &table.path("iperf3"))?;
        let to = traffic::host(&mut inner, self.network, "to")?;
        let congestion_control = congestion_control(&mut inner)?;
        let udp_rate: Option<Bitrate> = inner.optional("udp_rate")?;
        positive(&inner, "udp_rate", udp_rate != Some(Bitrate::ZERO))?;
        if udp_rate.is_some() && congestion_control.is_some() {
            let reason = "UDP has no congestion control";
            return Err(inner.fault(
                "congestion_control",
                reason,
                "leave out congestion_control or udp_rate",
            ));
        }
        let flows = inner.or("flows", 1)?;
        if !(1..=MAX_FLOWS).contains(&flows) {
            return Err(inner.fault(
                "flows",
                format!("{flows} is out of range"),
                format!("write 1 to {MAX_FLOWS}"),
            ));
        }
        let bytes = inner.optional("bytes")?;
        positive(&inner, "bytes", bytes != Some(Bytes::ZERO))?;
        let (reverse, dscp) = (inner.or("reverse", false)?, traffic::dscp(&mut inner, "dscp")?);
        let port = port(&mut inner)?;
        inner.finish()?;
        let client = Iperf3 {
            congestion_control,
            flows,
            bytes,
            reverse,
            udp_rate,
            dscp,
            port: port.unwrap_or(IPERF3_PORT),
            ..plain_iperf3(to)
        };
        Ok((ProgramKind::Iperf3(client), port.is_some()))
    }

    /// Reads `upload = "bob"` or a table.
    fn upload(&self, table: &mut Reader<'_>, node: &Node) -> Result<ProgramKind, Fault> {
        if matches!(node.value, Value::Text(_)) {
            let to = traffic::host(table, self.network, "upload")?;
            let source = sim::tcp::TcpSource::Endless;
            let dscp = net::Dscp::DEFAULT;
            return Ok(ProgramKind::Upload(Upload {
                to,
                port: UPLOAD_PORT,
                source,
                congestion_control: None,
                dscp,
            }));
        }
        let mut inner = Reader::new(node, &table.path("upload"))?;
        let to = traffic::host(&mut inner, self.network, "to")?;
        let source = tcp::source(&mut inner)?;
        let congestion_control = congestion_control(&mut inner)?;
        let dscp = traffic::dscp(&mut inner, "dscp")?;
        let port = port(&mut inner)?.unwrap_or(UPLOAD_PORT);
        inner.finish()?;
        Ok(ProgramKind::Upload(Upload { to, port, source, congestion_control, dscp }))
    }
}

fn plain_iperf3(to: HostId) -> Iperf3 {
    Iperf3 {
        to,
        port: IPERF3_PORT,
        congestion_control: None,
        flows: 1,
        bytes: None,
        reverse: false,
        udp_rate: None,
        dscp: net::Dscp::DEFAULT,
    }
}

fn command_line(table: &mut Reader<'_>) -> Result<ProgramKind, Fault> {
    let line: String = table.required("command")?;
    if line.trim().is_empty() || line.contains('\0') {
        return Err(table.fault(
            "command",
            "this is not a command line",
            "write a command for sh -c",
        ));
    }
    Ok(ProgramKind::Command(line))
}

/// The name of a congestion control of Linux. Whether the kernel has it is found out when it runs.
fn congestion_control(table: &mut Reader<'_>) -> Result<Option<String>, Fault> {
    let Some(name) = table.optional::<String>("congestion_control")? else { return Ok(None) };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(plain) {
        let reason = format!("'{name}' is not the name of a congestion control");
        return Err(table.fault(
            "congestion_control",
            reason,
            "write for example cubic, reno or bbr",
        ));
    }
    Ok(Some(name))
}

fn port(table: &mut Reader<'_>) -> Result<Option<u16>, Fault> {
    let Some(number) = table.optional::<u32>("port")? else { return Ok(None) };
    match u16::try_from(number) {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err(table.fault("port", format!("{number} is not a port"), "write 1 to 65535")),
    }
}
