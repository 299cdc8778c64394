//! `[users.NAME]`: many users who arrive one after the other, from one description. The section is
//! replaced by `[host.NAME001]`, `[call.NAME001]`, `[tcp.NAME001-web]` and so on, which are then
//! read and checked like those of the file.
//!
//! Kilinc and Andersson 2014 § 4.1 load a cell in this way: users arrive at a constant rate and
//! stay for a minute each; there are none at the start.

use super::hosts::MAX_HOSTS;
use super::name::check_name;
use super::origins::Expanded;
use super::traffic::unknown_host;
use super::values::positive;
use document::{Fault, Location, Node, Reader, Table, Value, read as read_value};
use std::collections::BTreeSet;
use units::{Duration, Time};

/// The keys that a call or a flow of a user must not have, because the group decides them.
const RESERVED_KEYS: [&str; 4] = ["from", "to", "start", "stop"];
/// The minimum number of digits in a user's number, so that ten and a hundred users have the same
/// names.
const MIN_DIGITS: usize = 3;

/// The document with its groups of users replaced by sections for each user, and the origins of
/// these sections.
pub(super) fn expand(mut document: Table) -> Result<(Table, Expanded), Fault> {
    let mut expanded = Expanded::default();
    let Some(node) = document.get("users").cloned() else { return Ok((document, expanded)) };
    // The reader of the duration reports an error in it.
    let Some(Ok(duration)) =
        document.get("duration").map(|node| read_value::<Duration>(node, "duration"))
    else {
        return Ok((document, expanded));
    };
    document.retain(|key| key != "users");
    let holder = Node { value: Value::Table(Table::default()), location: node.location };
    let mut top = Table::default();
    top.insert("users", node);
    let top = Node { value: Value::Table(top), ..holder };
    for (name, node) in Reader::new(&top, "")?.entries("users")? {
        let path = format!("users.{name}");
        check_name(node.location, &path, name)?;
        let group = Group::read(name, Reader::new(node, &path)?, &document, duration)?;
        group.write(&mut document, &mut expanded)?;
    }
    Ok((document, expanded))
}

/// The direction of the users' calls.
#[derive(Clone, Copy, PartialEq)]
enum TrafficDirection {
    Up,
    Down,
    Both,
}

struct Group<'a> {
    name: &'a str,
    location: Location,
    count: u64,
    present: u32,
    lifetime: Duration,
    duration: Duration,
    peer: String,
    direction: TrafficDirection,
    host: &'a Table,
    call: Option<&'a Table>,
    web: Option<&'a Table>,
}

impl<'a> Group<'a> {
    fn read(
        name: &'a str,
        mut table: Reader<'a>,
        document: &Table,
        duration: Duration,
    ) -> Result<Self, Fault> {
        let (present, lifetime): (u32, Duration) =
            (table.required("present")?, table.required("lifetime")?);
        positive(&table, "present", present > 0)?;
        positive(&table, "lifetime", lifetime > Duration::ZERO)?;
        let count = arrivals(duration, lifetime, present);
        let hosts = entries(document, "host").count() as u64;
        if hosts.saturating_add(count) > MAX_HOSTS as u64 {
            let reason = format!("there are {count} users in the run and {hosts} other hosts");
            let suggestion = format!(
                "write a smaller number, a longer lifetime or a shorter run; there can be {MAX_HOSTS} hosts"
            );
            return Err(table.fault("present", reason, suggestion));
        }
        let peer: String = table.required("peer")?;
        let names = entries(document, "host").map(|(name, _)| name);
        if !names.clone().any(|name| name == peer) {
            return Err(table.problem("peer", unknown_host(&peer, names)));
        }
        let direction = match table.or("direction", "down".to_owned())?.as_str() {
            "down" => TrafficDirection::Down,
            "up" => TrafficDirection::Up,
            "both" => TrafficDirection::Both,
            other => {
                let reason = format!("there is no direction '{other}'");
                return Err(table.fault("direction", reason, "write down, up or both"));
            }
        };
        let Some(host) = section(&mut table, "host", &[])? else {
            return Err(table.missing("host", "{ … }, as under [host.NAME]"));
        };
        let call = section(&mut table, "call", &["two_way"])?;
        let web = section(&mut table, "web", &[])?;
        if call.is_none() && web.is_none() {
            let suggestion = "write call = { … } or web = { … }";
            return Err(table.fault(
                "call",
                "the users have neither a call nor web pages",
                suggestion,
            ));
        }
        let location = table.location();
        table.finish()?;
        Ok(Self {
            name,
            location,
            count,
            present,
            lifetime,
            duration,
            peer,
            direction,
            host,
            call,
            web,
        })
    }

    /// Adds the users' sections to the document.
    fn write(&self, document: &mut Table, expanded: &mut Expanded) -> Result<(), Fault> {
        let digits = self.count.to_string().len().max(MIN_DIGITS);
        let all =
            (1..=self.count).map(|number| (number, format!("{}{number:0digits$}", self.name)));
        let users: Vec<_> = all.collect();
        let hosts = users.iter().map(|(_, user)| (user.clone(), self.host.clone()));
        let mut add = |kind, key, sections| self.add(document, expanded, (kind, key), sections);
        add("host", "host", hosts.collect())?;
        if let Some(call) = self.call {
            let calls = users.iter().map(|(number, user)| {
                let mut keys =
                    self.session(call, *number, user, self.direction != TrafficDirection::Down);
                keys.insert(
                    "two_way",
                    self.node(Value::Bool(self.direction == TrafficDirection::Both)),
                );
                (user.clone(), keys)
            });
            add("call", "call", calls.collect())?;
        }
        if let Some(web) = self.web {
            let flows = users.iter().map(|(number, user)| {
                (
                    format!("{user}-web"),
                    self.session(web, *number, user, self.direction == TrafficDirection::Up),
                )
            });
            add("tcp", "web", flows.collect())?;
        }
        Ok(())
    }

    /// The keys of a call or flow of a user, who sends it if `from_user` is true.
    fn session(&self, keys: &Table, number: u64, user: &str, from_user: bool) -> Table {
        let ends = if from_user { [user, &self.peer] } else { [&self.peer, user] };
        let start = Time::ZERO + arrival(number - 1, self.lifetime, self.present);
        let mut keys = keys.clone();
        let text = |text: String| self.node(Value::Text(text));
        keys.insert("from", text(ends[0].to_owned()));
        keys.insert("to", text(ends[1].to_owned()));
        keys.insert("start", text(start.to_string()));
        let stop = start + self.lifetime;
        if stop < Time::ZERO + self.duration {
            keys.insert("stop", text(stop.to_string()));
        }
        keys
    }

    fn node(&self, value: Value) -> Node {
        Node { value, location: self.location }
    }

    /// Adds sections of this kind, which must not exist yet. They come from the keys under `key` of
    /// the group.
    fn add(
        &self,
        document: &mut Table,
        expanded: &mut Expanded,
        (kind, key): (&str, &str),
        sections: Vec<(String, Table)>,
    ) -> Result<(), Fault> {
        let known: BTreeSet<&str> = entries(document, kind).map(|(name, _)| name).collect();
        if let Some((twice, _)) = sections.iter().find(|(name, _)| known.contains(name.as_str())) {
            let reason = format!("the file has a section [{kind}.{twice}] too");
            return Err(Fault::new(
                self.location,
                format!("users.{}", self.name),
                reason,
                "rename one of them",
            ));
        }
        for (name, _) in &sections {
            expanded.add(format!("{kind}.{name}"), format!("users.{}.{key}", self.name));
        }
        if document.get(kind).is_none() {
            document.insert(kind, self.node(Value::Table(Table::default())));
        }
        document.edit(kind, |table| {
            table.extend(
                sections.into_iter().map(|(name, keys)| (name, self.node(Value::Table(keys)))),
            );
        });
        Ok(())
    }
}

/// The sections of a kind; none if the document has none.
fn entries<'a>(
    document: &'a Table,
    kind: &str,
) -> impl Iterator<Item = (&'a str, &'a Node)> + Clone + use<'a> {
    let table = match document.get(kind).map(|node| &node.value) {
        Some(Value::Table(table)) => Some(table),
        _ => None,
    };
    table.into_iter().flat_map(Table::iter)
}

/// The table under a key, which must not have a reserved key or one of `more`.
fn section<'a>(
    table: &mut Reader<'a>,
    key: &'static str,
    more: &[&str],
) -> Result<Option<&'a Table>, Fault> {
    let Some(node) = table.node(key) else { return Ok(None) };
    let path = table.path(key);
    let Value::Table(keys) = &node.value else {
        let reason = format!("{} where a table belongs", node.value.what());
        return Err(Fault::new(
            node.location,
            path,
            reason,
            "write { … }, or a section of its own",
        ));
    };
    let reserved = RESERVED_KEYS.iter().chain(more).find_map(|key| Some((key, keys.get(key)?)));
    match reserved {
        None => Ok(Some(keys)),
        Some((key, node)) => {
            let reason = "peer, direction, present and lifetime of the users decide this";
            Err(Fault::new(node.location, format!("{path}.{key}"), reason, "leave it out"))
        }
    }
}

/// The arrival of the user with this number, counted from 0. A user arrives every
/// `lifetime/present`, so that `present` users are there once the first leave.
fn arrival(number: u64, lifetime: Duration, present: u32) -> Duration {
    let nanos = u128::from(lifetime.as_nanos()) * u128::from(number) / u128::from(present);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The number of users that arrive before the run ends.
fn arrivals(duration: Duration, lifetime: Duration, present: u32) -> u64 {
    let all = u128::from(duration.as_nanos()) * u128::from(present);
    u64::try_from(all.div_ceil(u128::from(lifetime.as_nanos()))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
