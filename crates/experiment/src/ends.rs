//! What calls, TCP flows and programs have in common: between whom, when, and with which mark.

use document::{Fault, Node, Reader, Table, Value, did_you_mean};
use net::{Dscp, HostId, NetworkConfig};
use units::{Duration, Time};

/// What `[defaults.call]` and `[defaults.tcp]` say for every section of that kind.
#[derive(Default)]
pub(super) struct Defaults {
    pub(super) call: Table,
    pub(super) tcp: Table,
}

impl Defaults {
    pub(super) fn read(top: &mut Reader<'_>) -> Result<Self, Fault> {
        let Some(node) = top.node("defaults") else { return Ok(Self::default()) };
        let mut table = Reader::new(node, "defaults")?;
        let mut of = |key: &'static str| match table.node(key) {
            None => Ok(Table::default()),
            Some(Node { value: Value::Table(table), .. }) => Ok(table.clone()),
            Some(node) => {
                let reason = format!("{} where a table belongs", node.value.what());
                Err(Fault::new(node.location, format!("defaults.{key}"), reason, ""))
            }
        };
        let defaults = Self { call: of("call")?, tcp: of("tcp")? };
        table.finish()?;
        Ok(defaults)
    }
}

/// The hosts under `from` and `to`; `what`: a call, a flow.
pub(super) fn hosts(
    table: &mut Reader<'_>,
    network: &NetworkConfig,
    what: &str,
) -> Result<(HostId, HostId), Fault> {
    let (from, to) = (host(table, network, "from")?, host(table, network, "to")?);
    if from == to {
        return Err(table.fault(
            "to",
            format!("a {what} from a host to itself"),
            "name another host",
        ));
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
    find_host(network, &wanted).map_err(|(reason, suggestion)| table.fault(key, reason, suggestion))
}

/// The host of this name, or what is wrong and the suggestion.
pub fn find_host(network: &NetworkConfig, wanted: &str) -> Result<HostId, (String, String)> {
    network.host_named(wanted).ok_or_else(|| {
        let names = network.hosts.iter().map(|host| host.name.as_str());
        (format!("there is no host '{wanted}'"), did_you_mean(wanted, names, "the hosts are"))
    })
}

/// The times under `start` and `stop`; the whole run if they are left out.
pub(super) fn times(
    table: &mut Reader<'_>,
    duration: Duration,
    what: &str,
) -> Result<(Time, Time), Fault> {
    let end = Time::ZERO + duration;
    let start = table.or("start", Time::ZERO)?;
    let stop = table.or("stop", end)?;
    if start >= end {
        let reason = format!("the {what} would start at {start}, but the run ends at {end}");
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

/// The mark under a key; none is best effort.
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
    dscp.ok_or_else(|| table.fault(key, "not a DSCP", suggestion))
}

/// Refuses a zero.
pub(super) fn positive(table: &Reader<'_>, key: &str, is: bool) -> Result<(), Fault> {
    if is { Ok(()) } else { Err(table.fault(key, "zero", "write a value above zero")) }
}
