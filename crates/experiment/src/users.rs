//! `[users.NAME]`: many users who come one after the other, made out of one description. They
//! become sections of their own, as if somebody had written `[host.NAME001]`, `[call.NAME001]` and
//! `[tcp.NAME001-web]`, and so on, so that these are read and checked as any other.
//!
//! Kilinc and Andersson 2014 § 4.1 load a cell so: a number of users a second, who stay a minute
//! each, starting from none.

use super::hosts::{MAX_HOSTS, check_name};
use super::origins::Expanded;
use document::{Fault, Location, Node, Reader, Table, Value, did_you_mean, read as read_value};
use std::collections::BTreeSet;
use units::{Duration, Time};

/// What a call or a flow of theirs must not say, as the section does.
const OWN: [&str; 4] = ["from", "to", "start", "stop"];
/// The least digits of a user's number, so that names are the same for ten and for a hundred.
const DIGITS: usize = 3;

/// The document with its users written out, and which sections are theirs.
pub(super) fn expand(mut document: Table) -> Result<(Table, Expanded), Fault> {
    let mut expanded = Expanded::default();
    let Some(node) = document.get("users").cloned() else { return Ok((document, expanded)) };
    // What is wrong with it is said where it is read.
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

/// Which way their calls and flows go.
#[derive(Clone, Copy, PartialEq)]
enum Way {
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
    way: Way,
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
        for (key, is) in [("present", present > 0), ("lifetime", lifetime > Duration::ZERO)] {
            super::ends::positive(&table, key, is)?;
        }
        let count = arrivals(duration, lifetime, present);
        let hosts = entries(document, "host").count() as u64;
        if hosts.saturating_add(count) > MAX_HOSTS as u64 {
            let reason = format!("{count} users in the run, and {hosts} other hosts");
            let suggestion = format!(
                "write fewer, or a longer lifetime or a shorter run: the most hosts are {MAX_HOSTS}"
            );
            return Err(table.fault("present", reason, suggestion));
        }
        let peer: String = table.required("peer")?;
        let names = entries(document, "host").map(|(name, _)| name);
        if !names.clone().any(|name| name == peer) {
            let suggestion = did_you_mean(&peer, names, "the hosts are");
            return Err(table.fault("peer", format!("there is no host '{peer}'"), suggestion));
        }
        let way = match table.or("direction", "down".to_owned())?.as_str() {
            "down" => Way::Down,
            "up" => Way::Up,
            "both" => Way::Both,
            other => {
                let reason = format!("no direction '{other}'");
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
            return Err(table.fault("call", "users who do nothing", suggestion));
        }
        let location = table.location();
        table.finish()?;
        Ok(Self { name, location, count, present, lifetime, duration, peer, way, host, call, web })
    }

    /// Adds their sections.
    fn write(&self, document: &mut Table, expanded: &mut Expanded) -> Result<(), Fault> {
        let digits = self.count.to_string().len().max(DIGITS);
        let all =
            (1..=self.count).map(|number| (number, format!("{}{number:0digits$}", self.name)));
        let users: Vec<_> = all.collect();
        let hosts = users.iter().map(|(_, user)| (user.clone(), self.host.clone()));
        let mut add = |kind, key, sections| self.add(document, expanded, (kind, key), sections);
        add("host", "host", hosts.collect())?;
        if let Some(call) = self.call {
            let calls = users.iter().map(|(number, user)| {
                let mut keys = self.session(call, *number, user, self.way != Way::Down);
                keys.insert("two_way", self.node(Value::Bool(self.way == Way::Both)));
                (user.clone(), keys)
            });
            add("call", "call", calls.collect())?;
        }
        if let Some(web) = self.web {
            let flows = users.iter().map(|(number, user)| {
                (format!("{user}-web"), self.session(web, *number, user, self.way == Way::Up))
            });
            add("tcp", "web", flows.collect())?;
        }
        Ok(())
    }

    /// The keys of a call or flow of a user, from or to whom it goes.
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

    /// Adds sections of a kind, none of which may be there already, made of what is under this key.
    fn add(
        &self,
        document: &mut Table,
        expanded: &mut Expanded,
        (kind, key): (&str, &str),
        sections: Vec<(String, Table)>,
    ) -> Result<(), Fault> {
        let known: BTreeSet<&str> = entries(document, kind).map(|(name, _)| name).collect();
        if let Some((twice, _)) = sections.iter().find(|(name, _)| known.contains(name.as_str())) {
            let reason = format!("there is a [{kind}.{twice}] already");
            return Err(Fault::new(
                self.location,
                format!("users.{}", self.name),
                reason,
                "give one another name",
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

/// The tables of a kind, if there are any.
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

/// The table under a key, which has none of the keys that the section itself says.
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
    let own = OWN.iter().chain(more).find_map(|own| Some((own, keys.get(own)?)));
    match own {
        None => Ok(Some(keys)),
        Some((own, node)) => {
            let reason = "peer, direction, present and lifetime say who, whom and when";
            Err(Fault::new(node.location, format!("{path}.{own}"), reason, "leave it out"))
        }
    }
}

/// When the user with this number, from 0, comes: one each lifetime/present, which keeps that many
/// there once the first leave.
fn arrival(number: u64, lifetime: Duration, present: u32) -> Duration {
    let nanos = u128::from(lifetime.as_nanos()) * u128::from(number) / u128::from(present);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// How many come before the run ends.
fn arrivals(duration: Duration, lifetime: Duration, present: u32) -> u64 {
    let all = u128::from(duration.as_nanos()) * u128::from(present);
    u64::try_from(all.div_ceil(u128::from(lifetime.as_nanos()))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
