//! The keys that calls, TCP flows and programs share: hosts, times and DSCP mark.

use document::{Fault, Node, Problem, Reader, Table, Value};
use net::{Dscp, HostId, NetworkConfig};
use units::{Duration, Time};

/// The keys of `[defaults.call]` and `[defaults.tcp]`.
#[derive(Default)]
pub(super) struct Defaults {
    pub(super) call: Table,
    pub(super) tcp: Table,
}

impl Defaults {
    pub(super) fn read(top: &mut Reader<'_>) -> Result<Self, Fault> {
        let Some(node) = top.node("defaults") else { return Ok(Self::default()) };
        let mut table = Reader::new(node, "defaults")?;
        let mut read = |key: &'static str| match table.node(key) {
            None => Ok(Table::default()),
            Some(Node { value: Value::Table(table), .. }) => Ok(table.clone()),
            Some(node) => {
                let reason = format!("{} where a table belongs", node.value.what());
                Err(Fault::new(node.location, format!("defaults.{key}"), reason, ""))
            }
        };
        let defaults = Self { call: read("call")?, tcp: read("tcp")? };
        table.finish()?;
        Ok(defaults)
    }
}

/// The hosts under `from` and `to` of a call or a flow; `what` says which.
pub(super) fn from_and_to(
    table: &mut Reader<'_>,
    network: &NetworkConfig,
    what: &str,
) -> Result<(HostId, HostId), Fault> {
    let (from, to) = (host(table, network, "from")?, host(table, network, "to")?);
    if from == to {
        let reason = format!("the {what} is from a host to itself");
        return Err(table.fault("to", reason, "name another host"));
    }
    Ok((from, to))
}

/// The host that a key names.
pub(super) fn host(
    table: &mut Reader<'_>,
    network: &NetworkConfig,
    key: &'static str,
) -> Result<HostId, Fault> {
    let wanted: String = table.required(key)?;
    find_host(network, &wanted).map_err(|problem| table.problem(key, problem))
}

/// The host of this name.
///
/// # Errors
/// If there is none.
pub fn find_host(network: &NetworkConfig, name: &str) -> Result<HostId, Problem> {
    network.host_named(name).ok_or_else(|| {
        let names = network.hosts.iter().map(|host| host.name.as_str());
        unknown_host(name, names)
    })
}

/// The problem of a host's name that is not among `names`.
pub(super) fn unknown_host<'n>(
    name: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Problem {
    Problem::unknown("host", name, names, "the hosts are")
}

/// The times under `start` and `stop`; the whole run if the keys are missing. `what` has them: a
/// call, a flow, a program.
pub(super) fn start_and_stop(
    table: &mut Reader<'_>,
    duration: Duration,
    what: &str,
) -> Result<(Time, Time), Fault> {
    let end = Time::ZERO + duration;
    let start = table.or("start", Time::ZERO)?;
    let stop = table.or("stop", end)?;
    if start >= end {
        let reason = format!("the {what} starts at {start}, but the run ends at {end}");
        return Err(table.fault("start", reason, "start it earlier or lengthen the run"));
    }
    if stop <= start {
        let reason = format!("{stop} is not after the start at {start}");
        return Err(table.fault(
            "stop",
            reason,
            "write a later time, or leave it out for the end of the run",
        ));
    }
    Ok((start, stop.min(end)))
}

/// The DSCP mark under `key`; best effort if the key is missing.
pub(super) fn dscp(table: &mut Reader<'_>, key: &'static str) -> Result<Dscp, Fault> {
    let dscp = match table.node(key).map(|node| &node.value) {
        None => Some(Dscp::DEFAULT),
        Some(Value::Text(name)) => Dscp::named(name),
        Some(Value::Integer(number)) => {
            u8::try_from(*number).ok().filter(|number| *number < 64).map(Dscp)
        }
        Some(_) => None,
    };
    let suggestion = "write 0 to 63, or a name such as \"ef\", \"af41\", \"cs1\" or \"be\"";
    dscp.ok_or_else(|| table.fault(key, "this is not a DSCP", suggestion))
}
