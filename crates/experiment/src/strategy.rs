//! `[strategy]`: how an operator helps calls on its gateways without being part of them. It becomes
//! queues, relays and marks, as if somebody had written these, so that they are read and checked as
//! any other.
//!
//! Janczukowicz 2017 § 4.3 and § 4.4 have the three strategies, § 7.6 which queues go with each:
//! *neutral*, one that keeps delays low for every packet; *ott*, a class for those calls of a
//! service that are marked and pass an eligible relay; *enterprise*, a class for those that the
//! policy in an enterprise's browsers marks.

mod class;
mod line;
pub mod tree;

use super::calls;
use super::words::{choice, parse_queue};
use class::Class;
use document::{Fault, Location, Node, Reader, Table, Value, did_you_mean, read as read_value};
use line::GatewayLine;
use metrics::matches;
use net::{Direction, HostId, QueueConfig};
use tree::Eligible;

/// The queue of the neutral strategy (Janczukowicz 2017 § 7.6.1).
const NEUTRAL: &str = "fq_codel";
/// What can be eligible.
const CALLS: [&str; 2] = ["call", "conference"];

/// The document with its strategy written out.
pub(super) fn expand(mut document: Table) -> Result<Table, Fault> {
    let Some(node) = document.get("strategy").cloned() else { return Ok(document) };
    document.retain(|key| key != "strategy");
    let mut table = Reader::new(&node, "strategy")?;
    let strategy = Strategy::read(&mut table, &document)?;
    table.finish()?;
    strategy.write(&mut document)?;
    Ok(document)
}

/// Takes calls that a point of an axis leaves out off the list of those that are eligible: there
/// they are not unknown, but absent.
pub(super) fn forget(document: &mut Table, is_left_out: impl Fn(&str) -> bool) {
    let Some(Node { value: Value::Table(mut strategy), location }) =
        document.get("strategy").cloned()
    else {
        return;
    };
    let Some(Node { value: Value::List(calls), location: at }) = strategy.get("calls").cloned()
    else {
        return;
    };
    let stays = |node: &Node| !matches!(&node.value, Value::Text(name) if is_left_out(name));
    let calls = calls.into_iter().filter(stays).collect();
    strategy.insert("calls", Node { value: Value::List(calls), location: at });
    document.insert("strategy", Node { value: Value::Table(strategy), location });
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    None,
    Neutral,
    Ott,
    Enterprise,
}

/// What is changed.
struct Strategy {
    kind: Kind,
    location: Location,
    /// Lines and their queues.
    queues: Vec<(GatewayLine, String)>,
    /// Kind and name of each eligible section.
    eligible: Vec<(&'static str, String)>,
    relay: Option<String>,
}

impl Strategy {
    fn read(table: &mut Reader<'_>, document: &Table) -> Result<Self, Fault> {
        let kinds = [
            ("none", Kind::None),
            ("neutral", Kind::Neutral),
            ("ott", Kind::Ott),
            ("enterprise", Kind::Enterprise),
        ];
        let kind = choice(table, "kind", &kinds)?;
        let lines = line::read(table, document)?;
        let queue = match table.optional::<String>("queue")? {
            Some(words) => Some(
                parse_queue(&words)
                    .map_err(|(reason, suggestion)| table.fault("queue", reason, suggestion))?,
            ),
            None => None,
        };
        let class = Class::read(table)?;
        let eligible = eligible(table, document)?;
        let relay = relay(table, document)?;
        if kind == Kind::Ott && relay.is_none() {
            return Err(table.missing("relay", "\"…\", the host of the eligible media relay"));
        }
        let classful = matches!(kind, Kind::Ott | Kind::Enterprise);
        if classful && eligible.is_none() {
            return Err(table.missing("calls", "[\"…\"], the calls that are eligible, or [\"*\"]"));
        }
        if kind != Kind::None && lines.is_empty() {
            let suggestion = "give a host's up or down a rate, and a queue that packets wait in";
            return Err(table.fault(
                "lines",
                "no wired line has a rate: there is no gateway",
                suggestion,
            ));
        }
        let queues = lines.into_iter().map(|line| {
            let words = match kind {
                Kind::None => String::new(),
                Kind::Neutral => queue.as_ref().map_or(NEUTRAL.to_owned(), QueueConfig::to_string),
                Kind::Ott | Kind::Enterprise => {
                    let relay = relay.as_ref().filter(|_| kind == Kind::Ott);
                    let eligible = relay.map_or(Eligible::Marked, |relay| passing(relay, &line));
                    class.script(table, eligible, queue.as_ref(), &line)?
                }
            };
            Ok((line, words))
        });
        let queues = queues.collect::<Result<_, Fault>>()?;
        let relay = relay.map(|(name, _)| name);
        Ok(Self {
            kind,
            location: table.location(),
            queues,
            eligible: eligible.unwrap_or_default(),
            relay,
        })
    }

    fn write(&self, document: &mut Table) -> Result<(), Fault> {
        if self.kind == Kind::None {
            return Ok(());
        }
        for (line, words) in &self.queues {
            let queue = self.node(Value::Text(words.clone()));
            let way = line.key();
            document.edit("host", |hosts| {
                hosts.edit(&line.host, |host| host.edit(way, |line| line.insert("queue", queue)));
            });
        }
        if self.kind == Kind::Neutral {
            return Ok(());
        }
        for (kind, name) in sections(document) {
            let is_eligible = self.eligible.iter().any(|(of, call)| *of == kind && *call == name);
            let marks = match (is_eligible, self.kind) {
                (true, _) => Some(self.marks(document, kind, &name)?),
                // The policy is in the browser: what it does not want has no mark.
                (false, Kind::Enterprise) => Some(self.node(Value::Text("be".to_owned()))),
                (false, _) => None,
            };
            let relay = self.relay.as_ref().filter(|_| is_eligible && self.kind == Kind::Ott);
            let relay = relay.map(|relay| self.node(Value::Text(relay.clone())));
            document.edit(kind, |calls| {
                calls.edit(&name, |call| {
                    for (key, node) in [("dscp", marks), ("relay", relay)] {
                        if let Some(node) = node {
                            call.insert(key, node);
                        }
                    }
                });
            });
        }
        Ok(())
    }

    /// The marks of an eligible call: its own, and those of the class where it has none.
    fn marks(&self, document: &Table, kind: &str, name: &str) -> Result<Node, Fault> {
        let path = format!("{kind}.{name}");
        let Some(mut node) = inner(document, kind).and_then(|calls| calls.get(name)).cloned()
        else {
            return Ok(self.node(Value::Table(Table::default())));
        };
        if let (Value::Table(call), Some(defaults)) = (&mut node.value, inner(document, "defaults"))
            && let Some(defaults) = inner(defaults, "call")
        {
            call.merge_defaults(defaults);
        }
        let mut table = Reader::new(&node, &path)?;
        let own = tree::marked(calls::marks(&mut table)?);
        let mut marks = Table::default();
        for (medium, mark) in [("audio", own.audio), ("video", own.video)] {
            if !tree::MARKS.contains(&mark) {
                let reason = format!(
                    "{medium} has mark {}, which the strategy's class does not take",
                    mark.0
                );
                return Err(table.fault("dscp", reason, "write ef or af41, or leave it out"));
            }
            marks.insert(medium, self.node(Value::Integer(mark.0.into())));
        }
        Ok(self.node(Value::Table(marks)))
    }

    const fn node(&self, value: Value) -> Node {
        Node { value, location: self.location }
    }
}

/// The sections under `calls`, if it is there.
fn eligible(
    table: &mut Reader<'_>,
    document: &Table,
) -> Result<Option<Vec<(&'static str, String)>>, Fault> {
    let Some(wanted) = table.optional::<Vec<String>>("calls")? else { return Ok(None) };
    let known: Vec<_> = sections(document).collect();
    for pattern in wanted.iter().filter(|pattern| *pattern != "*") {
        if !known.iter().any(|(_, name)| matches(pattern, name)) {
            let names = known.iter().map(|(_, name)| name.as_str());
            let suggestion = did_you_mean(pattern, names, "the calls are");
            return Err(table.fault("calls", format!("there is no call '{pattern}'"), suggestion));
        }
    }
    let is_wanted = |name: &str| wanted.iter().any(|pattern| matches(pattern, name));
    Ok(Some(known.into_iter().filter(|(_, name)| is_wanted(name)).collect()))
}

/// The host under `relay`, if it is there.
fn relay(table: &mut Reader<'_>, document: &Table) -> Result<Option<(String, HostId)>, Fault> {
    let Some(wanted) = table.optional::<String>("relay")? else { return Ok(None) };
    let hosts = || inner(document, "host").into_iter().flat_map(Table::iter).map(|(name, _)| name);
    // Too many hosts are answered where they are read.
    match hosts().position(|name| name == wanted).and_then(|index| u16::try_from(index).ok()) {
        Some(index) => Ok(Some((wanted, HostId(index)))),
        None => {
            let names: Vec<&str> = hosts().collect();
            let suggestion = did_you_mean(&wanted, names.into_iter(), "the hosts are");
            Err(table.fault("relay", format!("there is no host '{wanted}'"), suggestion))
        }
    }
}

/// Which packets of this line pass the relay: on a client's line up they go to it. The relay's own
/// lines see the other end of the same leg.
fn passing((name, host): &(String, HostId), line: &GatewayLine) -> Eligible {
    let is_own = line.host == *name;
    match (line.way, is_own) {
        (Direction::Up, false) | (Direction::Down, true) => Eligible::To(*host),
        (Direction::Down, false) | (Direction::Up, true) => Eligible::From(*host),
    }
}

/// Kind and name of what can be eligible, in the order of the file.
fn sections(document: &Table) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let names = |kind| {
        let sections = inner(document, kind).into_iter().flat_map(Table::iter);
        sections.map(move |(name, _)| (kind, name.to_owned())).collect::<Vec<_>>()
    };
    CALLS.map(names).into_iter().flatten()
}

/// The table under a key, if it is one.
fn inner<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    match table.get(key).map(|node| &node.value) {
        Some(Value::Table(inner)) => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
