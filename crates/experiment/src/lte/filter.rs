//! A packet filter of a bearer's traffic flow template (24.008 § 10.5.6.12).

use crate::traffic;
use document::{Fault, Node, Reader, Value};
use net::{Field, Filter, HostId, Match};

/// The bits of the TOS byte that are the DSCP (RFC 2474 § 3).
const DSCP_MASK: u32 = 0xfc;
/// The names of protocols and IANA's numbers.
const PROTOCOLS: [(&str, u8); 3] = [("icmp", 1), ("tcp", 6), ("udp", 17)];

/// Reads `{ dscp = "af41", protocol = "udp", from = "HOST", to = "HOST", src_port = 5000, dst_port
/// = 5000 }`; a packet must match every key. `bearer` is the index of the filter's bearer and its
/// precedence.
pub(super) fn read(
    node: &Node,
    path: &str,
    bearer: usize,
    hosts: &[&str],
) -> Result<Filter, Fault> {
    let mut table = Reader::new(node, path)?;
    let mut matches = Vec::new();
    if table.node("dscp").is_some() {
        let value = u32::from(traffic::dscp(&mut table, "dscp")?.0) << DSCP_MASK.trailing_zeros();
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
        let suggestion = "write for example { dscp = \"af41\" }";
        return Err(Fault::new(
            location,
            path,
            "every packet matches, so the default bearer gets none",
            suggestion,
        ));
    }
    let index = u16::try_from(bearer).unwrap_or(u16::MAX);
    Ok(Filter { prio: index, ipv6: None, matches, class: index })
}

/// The protocol's name or IANA's number.
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
    number.map(Some).ok_or_else(|| table.fault("protocol", "this is not a protocol", suggestion))
}

fn host(
    table: &mut Reader<'_>,
    key: &'static str,
    hosts: &[&str],
) -> Result<Option<HostId>, Fault> {
    let Some(wanted) = table.optional::<String>(key)? else { return Ok(None) };
    let found = (0..).zip(hosts).find(|(_, name)| **name == wanted).map(|(index, _)| HostId(index));
    found
        .map(Some)
        .ok_or_else(|| table.problem(key, traffic::unknown_host(&wanted, hosts.iter().copied())))
}

fn port(table: &mut Reader<'_>, key: &'static str) -> Result<Option<u16>, Fault> {
    let Some(number) = table.optional::<u64>(key)? else { return Ok(None) };
    let port = u16::try_from(number).ok().filter(|port| *port > 0);
    let fault = || table.fault(key, format!("{number} is not a port"), "write 1 to 65535");
    port.map(Some).ok_or_else(fault)
}
