//! The lines of gateways whose queues a strategy changes.

use super::super::access::technology_of;
use super::super::schedule::read_schedule;
use super::super::values::parse_queue;
use super::{read_value, subtable};
use document::{Fault, Node, Problem, Reader, Table, Value};
use net::{Direction, QueueConfig};
use std::fmt;
use units::Bitrate;

/// The keys of a host's lines.
const DIRECTIONS: [(&str, Direction); 2] = [("up", Direction::Up), ("down", Direction::Down)];

/// One direction of a wired host as the file describes it.
pub(super) struct GatewayLine {
    pub(super) host: String,
    pub(super) direction: Direction,
    /// The rate, constant or not.
    rate: Node,
    queue: Option<Node>,
}

impl fmt::Display for GatewayLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.host, self.key())
    }
}

/// The lines under `lines`; every wired line with a rate if the key is missing.
pub(super) fn read(table: &mut Reader<'_>, document: &Table) -> Result<Vec<GatewayLine>, Fault> {
    match table.optional::<Vec<String>>("lines")? {
        None => {
            let lines = wired(document);
            Ok(lines.filter_map(|(host, direction, keys)| line(host, direction, keys)).collect())
        }
        Some(names) => names.iter().map(|name| named(table, document, name)).collect(),
    }
}

/// The two lines of every wired host; a line's table may be missing.
fn wired(document: &Table) -> impl Iterator<Item = (&str, Direction, Option<&Table>)> {
    let hosts = subtable(document, "host").into_iter().flat_map(Table::iter);
    let tables = hosts.filter_map(|(name, node)| match &node.value {
        Value::Table(keys) => Some((name, keys)),
        _ => None,
    });
    let wired = tables.filter(|(_, keys)| technology_of(keys).is_none());
    wired.flat_map(|(name, keys)| {
        DIRECTIONS.map(|(key, direction)| (name, direction, subtable(keys, key)))
    })
}

/// The line with these keys; `None` if it has no rate.
fn line(host: &str, direction: Direction, keys: Option<&Table>) -> Option<GatewayLine> {
    let (rate, queue) = (keys?.get("rate")?.clone(), keys?.get("queue").cloned());
    Some(GatewayLine { host: host.to_owned(), direction, rate, queue })
}

/// The line called `alice.up`.
fn named(table: &Reader<'_>, document: &Table, name: &str) -> Result<GatewayLine, Fault> {
    let suggestion = "name a wired line with a rate, or leave this one out";
    let (host, _) = name.split_once('.').unwrap_or((name, ""));
    let of_host = subtable(document, "host").and_then(|hosts| subtable(hosts, host));
    if let Some(technology) = of_host.and_then(technology_of) {
        let reason = format!("'{name}': {host} is in {}, which has no line", technology.member_of);
        return Err(table.fault("lines", reason, suggestion));
    }
    let lines = wired(document).map(|(host, direction, keys)| {
        (format!("{host}.{}", key(direction)), host, direction, keys)
    });
    let lines: Vec<_> = lines.collect();
    let Some((_, host, direction, keys)) = lines.iter().find(|(known, ..)| known == name) else {
        let names = lines.iter().map(|(known, ..)| known.as_str());
        return Err(table.problem("lines", Problem::unknown("line", name, names, "the lines are")));
    };
    line(host, *direction, *keys).ok_or_else(|| {
        let reason = format!("{name} has no rate, so no packet waits there");
        table.fault("lines", reason, format!("give host.{name} a rate, or leave this line out"))
    })
}

const fn key(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => DIRECTIONS[0].0,
        Direction::Down => DIRECTIONS[1].0,
    }
}

impl GatewayLine {
    /// The line's key in its host: `up` or `down`.
    pub(super) const fn key(&self) -> &'static str {
        key(self.direction)
    }

    /// The rate, which must be constant because a class has a constant rate.
    pub(super) fn constant_rate(&self, table: &Reader<'_>) -> Result<Bitrate, Fault> {
        let suggestion = "write one rate for the whole run, or name other lines under lines";
        let varies = |how| {
            let reason = format!("the rate of {self} {how}, but a class needs a constant rate");
            table.fault("lines", reason, suggestion)
        };
        if let Value::Table(_) = self.rate.value {
            return Err(varies("is a trace"));
        }
        let schedule = read_schedule::<Bitrate>(&self.rate, &format!("host.{self}.rate"))?;
        match schedule.as_steps() {
            [(_, rate)] => Ok(*rate),
            _ => Err(varies("changes over time")),
        }
    }

    /// The queue that the file gives the line.
    pub(super) fn queue(&self) -> Result<QueueConfig, Fault> {
        let Some(node) = &self.queue else { return Ok(QueueConfig::default()) };
        let path = format!("host.{self}.queue");
        let words: String = read_value(node, &path)?;
        parse_queue(&words).map_err(|problem| Fault::of(node.location, path, problem))
    }
}
