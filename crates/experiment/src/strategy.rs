//! `[strategy]`: how an operator helps calls with the queues of its gateways. The section is
//! replaced by queues, relays and DSCP marks in other sections, which are then read and checked
//! like those of the file.
//!
//! The three strategies are those of Janczukowicz 2017 § 4.3 and § 4.4, with the queues of § 7.6:
//! *neutral*, a queue that keeps delays low for every packet; *ott*, a class for the marked calls
//! of a service that pass an eligible relay; *enterprise*, a class for the calls that the policy in
//! an enterprise's browsers marks.

mod class;
mod line;
pub mod tree;

use super::calls;
use super::traffic::unknown_host;
use super::values::{choice, parse_queue};
use class::Class;
use document::{Fault, Location, Node, Problem, Reader, Table, Value, read as read_value};
use line::GatewayLine;
use metrics::matches;
use net::{Direction, HostId, QueueConfig};
use tree::Eligible;

/// The queue of the neutral strategy (Janczukowicz 2017 § 7.6.1).
const NEUTRAL: &str = "fq_codel";
/// The sections whose calls can be eligible.
const CALL_SECTIONS: [&str; 2] = ["call", "conference"];

/// The document with its strategy replaced by queues, relays and marks.
pub(super) fn expand(mut document: Table) -> Result<Table, Fault> {
    let Some(node) = document.get("strategy").cloned() else { return Ok(document) };
    document.retain(|key| key != "strategy");
    let mut table = Reader::new(&node, "strategy")?;
    let strategy = Strategy::read(&mut table, &document)?;
    table.finish()?;
    strategy.write(&mut document)?;
    Ok(document)
}

/// Removes the calls that a point of an axis leaves out from the list of eligible calls, so that
/// they are not reported as unknown.
pub(super) fn remove_calls(document: &mut Table, is_left_out: impl Fn(&str) -> bool) {
    let Some(Node { value: Value::Table(mut strategy), location }) =
        document.get("strategy").cloned()
    else {
        return;
    };
    let Some(Node { value: Value::List(calls), location: list_location }) =
        strategy.get("calls").cloned()
    else {
        return;
    };
    let stays = |node: &Node| !matches!(&node.value, Value::Text(name) if is_left_out(name));
    let calls = calls.into_iter().filter(stays).collect();
    strategy.insert("calls", Node { value: Value::List(calls), location: list_location });
    document.insert("strategy", Node { value: Value::Table(strategy), location });
}

#[derive(Clone, Copy, PartialEq)]
enum StrategyKind {
    None,
    Neutral,
    Ott,
    Enterprise,
}

/// The changes of a strategy.
struct Strategy {
    kind: StrategyKind,
    location: Location,
    /// The lines with their new queues.
    queues: Vec<(GatewayLine, String)>,
    /// The eligible sections, as (`call` or `conference`, name).
    eligible: Vec<(&'static str, String)>,
    relay: Option<String>,
}

impl Strategy {
    fn read(table: &mut Reader<'_>, document: &Table) -> Result<Self, Fault> {
        let kinds = [
            ("none", StrategyKind::None),
            ("neutral", StrategyKind::Neutral),
            ("ott", StrategyKind::Ott),
            ("enterprise", StrategyKind::Enterprise),
        ];
        let kind = choice(table, "kind", &kinds)?;
        let lines = line::read(table, document)?;
        let queue = match table.optional::<String>("queue")? {
            Some(words) => {
                Some(parse_queue(&words).map_err(|problem| table.problem("queue", problem))?)
            }
            None => None,
        };
        let class = Class::read(table)?;
        let eligible = eligible(table, document)?;
        let relay = relay(table, document)?;
        if kind == StrategyKind::Ott && relay.is_none() {
            return Err(table.missing("relay", "\"…\", the host of the eligible media relay"));
        }
        let classful = matches!(kind, StrategyKind::Ott | StrategyKind::Enterprise);
        if classful && eligible.is_none() {
            return Err(table.missing("calls", "[\"…\"], the calls that are eligible, or [\"*\"]"));
        }
        if kind != StrategyKind::None && lines.is_empty() {
            let suggestion = "give up or down of a host a rate and a queue";
            return Err(table.fault(
                "lines",
                "no wired line has a rate, so there is no gateway",
                suggestion,
            ));
        }
        let queues = lines.into_iter().map(|line| {
            let words = match kind {
                StrategyKind::None => String::new(),
                StrategyKind::Neutral => {
                    queue.as_ref().map_or(NEUTRAL.to_owned(), QueueConfig::to_string)
                }
                StrategyKind::Ott | StrategyKind::Enterprise => {
                    let relay = relay.as_ref().filter(|_| kind == StrategyKind::Ott);
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
        if self.kind == StrategyKind::None {
            return Ok(());
        }
        for (line, words) in &self.queues {
            let queue = self.node(Value::Text(words.clone()));
            let key = line.key();
            document.edit("host", |hosts| {
                hosts.edit(&line.host, |host| host.edit(key, |line| line.insert("queue", queue)));
            });
        }
        if self.kind == StrategyKind::Neutral {
            return Ok(());
        }
        for (kind, name) in sections(document) {
            let is_eligible = self.eligible.iter().any(|(of, call)| *of == kind && *call == name);
            let marks = match (is_eligible, self.kind) {
                (true, _) => Some(self.marks(document, kind, &name)?),
                // The policy in the browser removes the marks of other calls.
                (false, StrategyKind::Enterprise) => Some(self.node(Value::Text("be".to_owned()))),
                (false, _) => None,
            };
            let relay =
                self.relay.as_ref().filter(|_| is_eligible && self.kind == StrategyKind::Ott);
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

    /// The marks of an eligible call: its own, or those of the class for a medium without a mark.
    fn marks(&self, document: &Table, kind: &str, name: &str) -> Result<Node, Fault> {
        let path = format!("{kind}.{name}");
        let Some(mut node) = subtable(document, kind).and_then(|calls| calls.get(name)).cloned()
        else {
            return Ok(self.node(Value::Table(Table::default())));
        };
        if let (Value::Table(call), Some(defaults)) =
            (&mut node.value, subtable(document, "defaults"))
            && let Some(defaults) = subtable(defaults, "call")
        {
            call.merge_defaults(defaults);
        }
        let mut table = Reader::new(&node, &path)?;
        let own = tree::marked(calls::marks(&mut table)?);
        let mut marks = Table::default();
        for (medium, mark) in [("audio", own.audio), ("video", own.video)] {
            if !tree::MARKS.contains(&mark) {
                let reason = format!(
                    "{medium} has mark {}, which is not a mark of the strategy's class",
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

/// The sections under `calls`; `None` if the key is missing.
fn eligible(
    table: &mut Reader<'_>,
    document: &Table,
) -> Result<Option<Vec<(&'static str, String)>>, Fault> {
    let Some(wanted) = table.optional::<Vec<String>>("calls")? else { return Ok(None) };
    let known: Vec<_> = sections(document).collect();
    for pattern in wanted.iter().filter(|pattern| *pattern != "*") {
        if !known.iter().any(|(_, name)| matches(pattern, name)) {
            let names = known.iter().map(|(_, name)| name.as_str());
            let problem = Problem::unknown("call", pattern, names, "the calls are");
            return Err(table.problem("calls", problem));
        }
    }
    let is_wanted = |name: &str| wanted.iter().any(|pattern| matches(pattern, name));
    Ok(Some(known.into_iter().filter(|(_, name)| is_wanted(name)).collect()))
}

/// The host under `relay`; `None` if the key is missing.
fn relay(table: &mut Reader<'_>, document: &Table) -> Result<Option<(String, HostId)>, Fault> {
    let Some(wanted) = table.optional::<String>("relay")? else { return Ok(None) };
    let hosts =
        || subtable(document, "host").into_iter().flat_map(Table::iter).map(|(name, _)| name);
    // The reader of the hosts reports an index above 65535.
    match hosts().position(|name| name == wanted).and_then(|index| u16::try_from(index).ok()) {
        Some(index) => Ok(Some((wanted, HostId(index)))),
        None => {
            let names: Vec<&str> = hosts().collect();
            Err(table.problem("relay", unknown_host(&wanted, names.into_iter())))
        }
    }
}

/// The packets of this line that pass the relay. On a client's uplink they go to the relay, and on
/// its downlink they come from the relay; on the relay's own lines it is the reverse.
fn passing((name, host): &(String, HostId), line: &GatewayLine) -> Eligible {
    let is_own = line.host == *name;
    match (line.direction, is_own) {
        (Direction::Up, false) | (Direction::Down, true) => Eligible::To(*host),
        (Direction::Down, false) | (Direction::Up, true) => Eligible::From(*host),
    }
}

/// The sections that can be eligible, as (`call` or `conference`, name), in the order of the file.
fn sections(document: &Table) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let names = |kind| {
        let sections = subtable(document, kind).into_iter().flat_map(Table::iter);
        sections.map(move |(name, _)| (kind, name.to_owned())).collect::<Vec<_>>()
    };
    CALL_SECTIONS.map(names).into_iter().flatten()
}

/// The table under a key; `None` if there is none.
fn subtable<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    match table.get(key).map(|node| &node.value) {
        Some(Value::Table(table)) => Some(table),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
