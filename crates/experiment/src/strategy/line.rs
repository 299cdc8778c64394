//! The lines of gateways that a strategy is about.

use super::super::schedule::read_schedule;
use super::super::words::parse_queue;
use super::{inner, read_value};
use document::{Fault, Node, Reader, Table, Value, did_you_mean};
use net::{Direction, QueueConfig};
use std::fmt;
use units::Bitrate;

/// The keys of a host's lines.
const WAYS: [(&str, Direction); 2] = [("up", Direction::Up), ("down", Direction::Down)];

/// One way of a wired host, as it is written.
pub(super) struct GatewayLine {
    pub(super) host: String,
    pub(super) way: Direction,
    /// Its rate, constant or not.
    rate: Node,
    queue: Option<Node>,
}

impl fmt::Display for GatewayLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.host, self.key())
    }
}

/// The lines under `lines`; every wired line with a rate if it is left out.
pub(super) fn read(table: &mut Reader<'_>, document: &Table) -> Result<Vec<GatewayLine>, Fault> {
    match table.optional::<Vec<String>>("lines")? {
        None => Ok(wired(document).filter_map(|(host, way, keys)| line(host, way, keys)).collect()),
        Some(names) => names.iter().map(|name| named(table, document, name)).collect(),
    }
}

/// Hosts with lines and both their ways, whose keys may be missing.
fn wired(document: &Table) -> impl Iterator<Item = (&str, Direction, Option<&Table>)> {
    let hosts = inner(document, "host").into_iter().flat_map(Table::iter);
    let tables = hosts.filter_map(|(name, node)| match &node.value {
        Value::Table(keys) => Some((name, keys)),
        _ => None,
    });
    let wired = tables.filter(|(_, keys)| air(keys).is_none());
    wired.flat_map(|(name, keys)| WAYS.map(|(key, way)| (name, way, inner(keys, key))))
}

/// What a host without lines is in.
fn air(host: &Table) -> Option<&'static str> {
    [("wifi", "a Wi-Fi cell"), ("lte", "an LTE network")]
        .into_iter()
        .find_map(|(key, what)| host.get(key).map(|_| what))
}

/// The line, if it has a rate.
fn line(host: &str, way: Direction, keys: Option<&Table>) -> Option<GatewayLine> {
    let (rate, queue) = (keys?.get("rate")?.clone(), keys?.get("queue").cloned());
    Some(GatewayLine { host: host.to_owned(), way, rate, queue })
}

/// The line called `alice.up`.
fn named(table: &Reader<'_>, document: &Table, name: &str) -> Result<GatewayLine, Fault> {
    let other = "name a wired line with a rate, or leave this one out";
    let (host, _) = name.split_once('.').unwrap_or((name, ""));
    let of_host = inner(document, "host").and_then(|hosts| inner(hosts, host));
    if let Some(air) = of_host.and_then(air) {
        let reason = format!("'{name}': {host} is in {air}, which has no line");
        return Err(table.fault("lines", reason, other));
    }
    let names =
        wired(document).map(|(host, way, keys)| (format!("{host}.{}", word(way)), host, way, keys));
    let names: Vec<_> = names.collect();
    let Some((_, host, way, keys)) = names.iter().find(|(known, ..)| known == name) else {
        let suggestion =
            did_you_mean(name, names.iter().map(|(known, ..)| known.as_str()), "the lines are");
        return Err(table.fault("lines", format!("there is no line '{name}'"), suggestion));
    };
    line(host, *way, *keys).ok_or_else(|| {
        let reason = format!("{name} is unlimited: nothing would wait there");
        table.fault("lines", reason, format!("give host.{name} a rate, or leave this line out"))
    })
}

const fn word(way: Direction) -> &'static str {
    match way {
        Direction::Up => WAYS[0].0,
        Direction::Down => WAYS[1].0,
    }
}

impl GatewayLine {
    /// The key of its host.
    pub(super) const fn key(&self) -> &'static str {
        word(self.way)
    }

    /// Its rate, which a class needs to be one for the whole run.
    pub(super) fn constant_rate(&self, table: &Reader<'_>) -> Result<Bitrate, Fault> {
        let suggestion = "write one rate for the whole run, or name other lines under lines";
        let varies = |how| {
            table.fault(
                "lines",
                format!("the rate of {self} {how}: its classes need one"),
                suggestion,
            )
        };
        if let Value::Table(_) = self.rate.value {
            return Err(varies("is recorded"));
        }
        let schedule = read_schedule::<Bitrate>(&self.rate, &format!("host.{self}.rate"))?;
        match schedule.as_steps() {
            [(_, rate)] => Ok(*rate),
            _ => Err(varies("changes over time")),
        }
    }

    /// Its own queue.
    pub(super) fn queue(&self) -> Result<QueueConfig, Fault> {
        let Some(node) = &self.queue else { return Ok(QueueConfig::default()) };
        let path = format!("host.{self}.queue");
        let words: String = read_value(node, &path)?;
        parse_queue(&words)
            .map_err(|(reason, suggestion)| Fault::new(node.location, path, reason, suggestion))
    }
}
