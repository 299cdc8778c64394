use super::access::SharedAccesses;
use super::files::Files;
use super::name::check_name;
use super::schedule::read_schedule;
use document::{Fault, Node, Reader};
use net::{Direction, HostConfig, NetworkConfig, Schedule};
use sim::tcp::TcpStack;
use units::Duration;

/// The maximum number of hosts: a mesh of this size has four million paths.
pub(super) const MAX_HOSTS: usize = 2_000;

/// The network of a document and the TCP stacks of its hosts, in the order of the file.
pub(super) fn read_hosts(
    top: &mut Reader<'_>,
    files: &Files,
) -> Result<(NetworkConfig, Vec<TcpStack>), Fault> {
    let core_delay = match top.node("core_delay") {
        Some(node) => read_schedule(node, "core_delay")?,
        None => Schedule::constant(Duration::ZERO),
    };
    let entries = top.entries("host")?;
    if entries.len() < 2 || entries.len() > MAX_HOSTS {
        let reason = format!("there are {} hosts", entries.len());
        let suggestion = format!("write 2 to {MAX_HOSTS} sections such as [host.alice]");
        return Err(top.fault("host", reason, suggestion));
    }
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    let shared = SharedAccesses::read(top, &names, files)?;
    let hosts = entries.into_iter().map(|(name, node)| host(name, node, &shared, files));
    let (hosts, stacks) = hosts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    Ok((shared.into_network(hosts, core_delay)?, stacks))
}

fn host(
    name: &str,
    node: &Node,
    shared: &SharedAccesses,
    files: &Files,
) -> Result<(HostConfig, TcpStack), Fault> {
    let path = format!("host.{name}");
    check_name(node.location, &path, name)?;
    let mut table = Reader::new(node, &path)?;
    let access = shared.access(&mut table, files)?;
    let stack = TcpStack {
        tsq: table.or("tsq", false)?,
        gso: table.or("gso", false)?,
        whole_segments: table.or("whole_segments", false)?,
    };
    if stack.tsq && !access.is_limited(Direction::Up) {
        let reason = "tsq limits a queue, but no packet waits for 'up' because it has no rate";
        return Err(table.fault("tsq", reason, "give 'up' a rate, or leave tsq out"));
    }
    table.finish()?;
    Ok((HostConfig { name: name.to_owned(), access }, stack))
}
