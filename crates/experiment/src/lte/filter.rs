//! A packet filter of a bearer's traffic flow template (24.008 § 10.5.6.12).

use crate::ends;
use document::{Fault, Node, Reader, Value, did_you_mean};
use net::{Field, Filter, HostId, Match};

/// The bits of the TOS byte that are the DSCP (RFC 2474 § 3).
const DSCP_MASK: u32 = 0xfc;
/// IANA's numbers.
const PROTOCOLS: [(&str, u8); 3] = [("icmp", 1), ("tcp", 6), ("udp", 17)];

/// `{ dscp = "af41", protocol = "udp", from = "HOST", to = "HOST", src_port = 5000, dst_port = 5000
/// }`: all of it must fit. `bearer` is the place of its bearer, by which filters are asked.
pub(super) fn read(
    node: &Node,
    path: &str,
    bearer: usize,
    hosts: &[&str],
) -> Result<Filter, Fault> {
    let mut table = Reader::new(node, path)?;
    let mut matches = Vec::new();
    if table.node("dscp").is_some() {
        let value = u32::from(ends::dscp(&mut table, "dscp")?.0) << DSCP_MASK.trailing_zeros();
        matches.push(Match { field: Field::Tos, value, mask: DSCP_MASK });
    }
    if let Some(number) = protocol(&mut table)? {
        matches.push(Match { field: Field::Protocol, value: number.into(), mask: u8::MAX.into() });
    }
    for (key, field) in [("from", Field::Src), ("to", Field::Dst)] {
        if let Some(host) = host(&mut table, key, hosts)? {
            matches.push(Match { field, value: host.address().to_bits(), mask: u32::MAX });
        }
    }
    for (key, field) in [("src_port", Field::SrcPort), ("dst_port", Field::DstPort)] {
        if let Some(port) = port(&mut table, key)? {
            matches.push(Match { field, value: port.into(), mask: u16::MAX.into() });
        }
    }
    let location = table.location();
    table.finish()?;
    if matches.is_empty() {
        let suggestion = "write what must fit, such as { dscp = \"af41\" }";
        return Err(Fault::new(
            location,
            path,
            "every packet fits, and the default bearer is idle",
            suggestion,
        ));
    }
    let index = u16::try_from(bearer).unwrap_or(u16::MAX);
    Ok(Filter { prio: index, ipv6: None, matches, class: index })
}

/// A name or IANA's number.
fn protocol(table: &mut Reader<'_>) -> Result<Option<u8>, Fault> {
    let number = match table.node("protocol").map(|node| &node.value) {
        None => return Ok(None),
        Some(Value::Text(word)) => {
            PROTOCOLS.iter().find(|(name, _)| name == word).map(|(_, number)| *number)
        }
        Some(Value::Integer(number)) => u8::try_from(*number).ok(),
        Some(_) => None,
    };
    let suggestion = "write udp, tcp, icmp, or a number from 0 to 255";
    number.map(Some).ok_or_else(|| table.fault("protocol", "not a protocol", suggestion))
}

fn host(
    table: &mut Reader<'_>,
    key: &'static str,
    hosts: &[&str],
) -> Result<Option<HostId>, Fault> {
    let Some(wanted) = table.optional::<String>(key)? else { return Ok(None) };
    let found = (0..).zip(hosts).find(|(_, name)| **name == wanted).map(|(index, _)| HostId(index));
    found.map(Some).ok_or_else(|| {
        let suggestion = did_you_mean(&wanted, hosts.iter().copied(), "the hosts are");
        table.fault(key, format!("there is no host '{wanted}'"), suggestion)
    })
}

fn port(table: &mut Reader<'_>, key: &'static str) -> Result<Option<u16>, Fault> {
    let Some(number) = table.optional::<u64>(key)? else { return Ok(None) };
    let port = u16::try_from(number).ok().filter(|port| *port > 0);
    let fault = || table.fault(key, format!("{number} is not a port"), "write 1 to 65535");
    port.map(Some).ok_or_else(fault)
}
