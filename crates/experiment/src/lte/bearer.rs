//! `[lte.NAME.bearer.NAME]`: the bearers of every terminal of a network.

use super::filter;
use crate::name::check_name;
use crate::values::{choice, in_range, queue, within};
use document::{Fault, Node, Reader, Value};
use net::{BearerConfig, QueueConfig, RlcMode};
use std::ops::RangeInclusive;
use units::{Bitrate, Bytes, Duration};

/// The name of the bearer that every terminal has.
const DEFAULT: &str = "default";
/// The maximum number of data bearers of a terminal, maxDRB (36.331 § 6.4).
const MAX_BEARERS: usize = 11;
/// The standardised classes (23.203 table 6.1.7).
const QCIS: RangeInclusive<u8> = 1..=9;
/// discardTimer is 50 to 1500 ms or infinity (36.331 § 6.3.2, PDCP-Config).
const DISCARD_TIMERS: RangeInclusive<Duration> =
    Duration::from_millis(50)..=Duration::from_millis(1_500);
/// The smallest limit of a buffer: a full Ethernet packet.
const MIN_BUFFER: Bytes = Bytes::new(1_500);

/// The bearers under `bearer`, the default bearer first and the others in the order of the file.
pub(super) fn read(table: &mut Reader<'_>, hosts: &[&str]) -> Result<Vec<BearerConfig>, Fault> {
    let path = table.path("bearer");
    let entries = table.entries("bearer")?;
    let mut bearers = vec![BearerConfig::default()];
    for (name, node) in entries {
        let path = format!("{path}.{name}");
        check_name(node.location, &path, name)?;
        if name == DEFAULT {
            bearers[0] = default(node, &path)?;
        } else if bearers.len() == MAX_BEARERS {
            let reason = format!("more than {MAX_BEARERS} bearers, the default bearer included");
            return Err(Fault::new(node.location, path, reason, "leave some out"));
        } else {
            bearers.push(dedicated(node, &path, bearers.len(), hosts)?);
        }
    }
    Ok(bearers)
}

/// The default bearer, which takes the packets that no filter matches.
fn default(node: &Node, path: &str) -> Result<BearerConfig, Fault> {
    let mut table = Reader::new(node, path)?;
    let bearer = common(&mut table)?;
    if bearer.is_gbr() {
        let reason = format!(
            "QCI {} has a guaranteed bit rate, which the default bearer cannot have",
            bearer.qci
        );
        return Err(table.fault("qci", reason, "write 5 to 9"));
    }
    if table.node("filter").is_some() {
        let reason = "the default bearer takes the packets that no filter matches";
        return Err(table.fault("filter", reason, "leave it out, or give the bearer another name"));
    }
    table.finish()?;
    Ok(bearer)
}

/// A dedicated bearer, whose packets filters select; `index` is its index in the list of bearers.
fn dedicated(node: &Node, path: &str, index: usize, hosts: &[&str]) -> Result<BearerConfig, Fault> {
    let mut table = Reader::new(node, path)?;
    let bearer = common(&mut table)?;
    let path = table.path("filter");
    let nodes = match table.node("filter") {
        Some(Node { value: Value::List(items), .. }) => items.as_slice(),
        Some(node) => std::slice::from_ref(node),
        None => &[],
    };
    if nodes.is_empty() {
        let suggestion =
            format!("write filter = {{ dscp = \"af41\" }}, or call the bearer {DEFAULT}");
        return Err(table.fault(
            "filter",
            "no packet matches a bearer without a filter",
            suggestion,
        ));
    }
    let filters = nodes.iter().map(|node| filter::read(node, &path, index, hosts));
    let filters = filters.collect::<Result<_, _>>()?;
    table.finish()?;
    Ok(BearerConfig { filters, ..bearer })
}

/// The keys that every bearer has.
fn common(table: &mut Reader<'_>) -> Result<BearerConfig, Fault> {
    let usual = BearerConfig::default();
    let qci = within(table, "qci", usual.qci, QCIS)?;
    let gbr: Option<Bitrate> = table.optional("gbr")?;
    let rlc =
        choice(table, "rlc", &[("am", RlcMode::Acknowledged), ("um", RlcMode::Unacknowledged)])?;
    let both = buffer(table, "queue")?;
    let up = buffer(table, "up")?.or_else(|| both.clone()).unwrap_or(usual.up);
    let down = buffer(table, "down")?.or(both).unwrap_or(usual.down);
    let discard_timer = discard_timer(table)?;
    let bearer = BearerConfig { qci, gbr, rlc, up, down, discard_timer, filters: Vec::new() };
    match gbr {
        None if bearer.is_gbr() => {
            let reason = format!("QCI {qci} needs a guaranteed bit rate (23.203 table 6.1.7)");
            Err(table.fault(
                "gbr",
                reason,
                "write gbr = a rate such as \"500kbit/s\", or a QCI of 5 to 9",
            ))
        }
        Some(_) if !bearer.is_gbr() => {
            let reason = format!("QCI {qci} has no guaranteed bit rate (23.203 table 6.1.7)");
            Err(table.fault("gbr", reason, "leave it out, or write a QCI of 1 to 4"))
        }
        Some(Bitrate::ZERO) => {
            Err(table.fault("gbr", "zero is not allowed", "write a rate such as \"500kbit/s\""))
        }
        _ => Ok(bearer),
    }
}

/// A queue that can hold at least one packet.
fn buffer(table: &mut Reader<'_>, key: &'static str) -> Result<Option<QueueConfig>, Fault> {
    let queue = queue(table, key)?;
    if let Some(QueueConfig::Bfifo(limit)) = queue
        && limit < MIN_BUFFER
    {
        let reason =
            format!("a limit of {limit} is too small for a packet of {} bytes", MIN_BUFFER.get());
        return Err(table.fault(key, reason, "write a larger limit"));
    }
    Ok(queue)
}

/// The discard timer: a time, or the standard's word `infinity` for none.
fn discard_timer(table: &mut Reader<'_>) -> Result<Option<Duration>, Fault> {
    if let Some(Node { value: Value::Text(word), .. }) = table.node("discard_timer")
        && word == "infinity"
    {
        return Ok(None);
    }
    let Some(timer) = table.optional::<Duration>("discard_timer")? else { return Ok(None) };
    in_range(table, "discard_timer", timer, &DISCARD_TIMERS).map(Some)
}
