//! What a cell of an experiment is to somebody who wants advice.

use crate::document::did_you_mean;
use crate::experiment::{Advise, Experiment, ExperimentError, path_of};
use net::{AccessConfig, Direction, HostId, QueueConfig, RateConfig};
use sim::tcp::{TcpApplication, TcpSource};
use sim::{CallConfig, Scenario, Sfu};
use std::fmt::Write as _;
use units::Bitrate;

/// A cell of an experiment, whose call is to live.
#[derive(Debug)]
pub struct Situation {
    /// The cell as an experiment of its own, as it stands.
    pub experiment: Experiment,
    /// Which cell of its experiment: `config=Droptail 125kB`; empty if it has one.
    pub label: String,
    /// The call that is judged.
    pub(crate) call: Section,
    /// What crosses the network beside it.
    pub beside: Vec<Beside>,
    /// The lines whose queue is one's own.
    pub(crate) lines: Vec<Line>,
    /// The Wi-Fi cells that the call passes, by name.
    pub(crate) wifi: Vec<String>,
    /// The LTE networks that the call passes, by name.
    pub(crate) lte: Vec<String>,
    pub(crate) advise: Advise,
    pub(crate) scenario: Scenario,
}

/// A section of the file that makes calls or flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Its name: `main` of `[call.main]`.
    pub(crate) name: String,
    /// Where a call's keys are: `call.main`, `users.city.call`.
    pub(crate) path: String,
    /// Its calls or flows: places in the scenario.
    pub(crate) members: Vec<usize>,
}

/// Traffic that shares the network with the call.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Its section's name.
    pub name: String,
    /// What of it is measured.
    pub measure: Measure,
    pub(crate) section: Section,
}

/// What is measured of traffic beside the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The quality of another call.
    Call,
    /// The time that a flow of so many bytes takes.
    CompletionTime,
    /// The time until a page is there.
    PageLoadTime,
    /// The rate of a flow without an end.
    Rate,
}

/// A line with a rate that the call passes.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// `alice.up`.
    pub(crate) name: String,
    /// Where it stands in the file: `host.alice.up`.
    pub(crate) path: String,
    /// Whose it is,
    pub(crate) host: HostId,
    /// and which way.
    pub(crate) direction: Direction,
    /// Its rate, if that does not change.
    pub(crate) rate: Option<Bitrate>,
    /// Its queue, as it stands.
    pub(crate) queue: QueueConfig,
}

impl Situation {
    /// The cell as a situation; `None` if it has no call with video that could be judged.
    ///
    /// # Errors
    /// When `[advise]` names a call or a line that is not there.
    pub fn of(experiment: &Experiment, cell: usize) -> Result<Option<Self>, ExperimentError> {
        let label = experiment.cells()[cell].label();
        let experiment = experiment.only(cell)?;
        let scenario = experiment.cells()[0].scenario(experiment.seed);
        let calls = call_sections(&experiment, &scenario);
        let Some(call) = judged(&experiment, &scenario, &calls)? else { return Ok(None) };
        let beside = calls.into_iter().filter(|other| *other != call).map(|section| Beside {
            name: section.name.clone(),
            measure: Measure::Call,
            section,
        });
        let beside = beside.chain(flow_sections(&experiment, &scenario)).collect();
        let lines = lines(&experiment, &scenario, &call)?;
        let shared = |of: fn(&AccessConfig) -> Option<usize>| {
            let mut found: Vec<usize> =
                ways(&scenario, &call).filter_map(|(host, _)| of(access(&scenario, host))).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let wifi = shared(|access| match access {
            AccessConfig::Wifi(station) => Some(station.cell),
            _ => None,
        });
        let lte = shared(|access| match access {
            AccessConfig::Lte(terminal) => Some(terminal.network),
            _ => None,
        });
        let wifi = wifi.into_iter().map(|cell| scenario.network.wifi[cell].name.clone()).collect();
        let lte = lte.into_iter().map(|network| scenario.network.lte[network].name.clone()).collect();
        let advise = experiment.advise.clone();
        Ok(Some(Self { experiment, label, call, beside, lines, wifi, lte, advise, scenario }))
    }

    /// The situation with the judged call alone.
    pub(crate) fn alone(&self) -> Result<Experiment, ExperimentError> {
        let (kind, name) = (self.call.kind(), self.call.name.as_str());
        self.experiment.edited(|document| {
            document.retain(|key| {
                !["tcp", "program", "call", "conference", "users"].contains(&key) || key == kind
            });
            document.edit(kind, |sections| sections.retain(|section| section == name));
            if kind == "users" {
                document.edit(kind, |groups| groups.edit(name, |group| group.retain(|key| key != "web")));
            }
        })
    }

    /// The calls of a section.
    pub(crate) fn calls<'a>(&'a self, section: &'a Section) -> impl Iterator<Item = &'a CallConfig> + 'a {
        section.members.iter().map(|place| &self.scenario.calls[*place])
    }

    /// The sections of the calls beside the judged one.
    pub(crate) fn other_calls(&self) -> impl Iterator<Item = &Section> {
        let calls = self.beside.iter().filter(|beside| beside.measure == Measure::Call);
        calls.map(|beside| &beside.section)
    }

    /// The sections of all calls, the judged one first.
    pub(crate) fn every_call(&self) -> Vec<&Section> {
        std::iter::once(&self.call).chain(self.other_calls()).collect()
    }

    /// The controller of the judged call.
    pub(crate) fn controller(&self) -> &str {
        let mut videos = self.calls(&self.call).filter_map(|call| call.video.as_ref());
        videos.next().map_or("", |video| video.controller.profile.as_str())
    }

    /// The sections of the calls of the same application: those under the same controller.
    pub(crate) fn application(&self) -> impl Iterator<Item = &Section> {
        let own = |section: &&Section| {
            let mut videos = self.calls(section).filter_map(|call| call.video.as_ref());
            videos.any(|video| video.controller.profile == self.controller())
        };
        std::iter::once(&self.call).chain(self.other_calls().filter(own))
    }

    /// What is judged beside what, for people: `main, beside upload and web`.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = format!("call {}", self.call.name);
        for (place, beside) in self.beside.iter().enumerate() {
            let joint = if place == 0 { ", beside " } else { ", " };
            let _ = write!(text, "{joint}{}", beside.name);
        }
        text
    }
}

impl Section {
    /// The kind of section: call, conference or users.
    fn kind(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }
}

fn access(scenario: &Scenario, host: HostId) -> &AccessConfig {
    &scenario.network.hosts[usize::from(host.0)].access
}

/// The sections that make calls.
fn call_sections(experiment: &Experiment, scenario: &Scenario) -> Vec<Section> {
    let sections = sections(experiment, ["call", "conference", "users"]);
    let makes = |(kind, name): (&str, &str), call: &str| match kind {
        "call" => call == name,
        "conference" => made_of(call, name, "-").is_some_and(|rest| is_party(scenario, call, rest)),
        _ => made_of(call, name, "").is_some_and(is_number),
    };
    let made = scenario.calls.iter().map(|call| call.name.as_str());
    let path = |(kind, name): (&str, &str)| match kind {
        "users" => format!("users.{name}.call"),
        kind => format!("{kind}.{name}"),
    };
    members(&sections, makes, made)
        .map(|(of, members)| Section { name: of.1.to_owned(), path: path(of), members })
        .collect()
}

/// Whether this is how a conference goes on in the name of a call that it made: `bob` of what a unit takes in, else `alice-bob`.
fn is_party(scenario: &Scenario, call: &str, rest: &str) -> bool {
    let is_host = |name: &str| scenario.network.host_named(name).is_some();
    let call = scenario.calls.iter().find(|other| other.name == call);
    match call.and_then(|call| call.sfu.as_ref()) {
        Some(Sfu::Publish { .. }) => is_host(rest),
        _ => rest.match_indices('-').any(|(at, _)| is_host(&rest[..at]) && is_host(&rest[at + 1..])),
    }
}

/// Kind and name of the sections of these kinds.
fn sections<'e, const N: usize>(
    experiment: &'e Experiment,
    kinds: [&'static str; N],
) -> Vec<(&'static str, &'e str)> {
    let of = |kind| experiment.sections(kind).into_iter().map(move |(name, _)| (kind, name));
    kinds.into_iter().flat_map(of).collect()
}

/// The sections that made something, and what: of several that may have, the one with the longest name.
fn members<'s>(
    sections: &'s [(&'static str, &'s str)],
    makes: impl Fn((&'static str, &'s str), &str) -> bool,
    made: impl Iterator<Item = &'s str>,
) -> impl Iterator<Item = ((&'static str, &'s str), Vec<usize>)> {
    let mut found = vec![Vec::new(); sections.len()];
    for (place, name) in made.enumerate() {
        let fitting = sections.iter().enumerate().filter(|(_, section)| makes(**section, name));
        if let Some((section, _)) = fitting.max_by_key(|(_, (_, section))| section.len()) {
            found[section].push(place);
        }
    }
    sections.iter().copied().zip(found).filter(|(_, members)| !members.is_empty())
}

/// What follows a section's name and `joint` in the name of what it makes.
fn made_of<'n>(made: &'n str, section: &str, joint: &str) -> Option<&'n str> {
    made.strip_prefix(section)?.strip_prefix(joint)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The sections that make flows.
fn flow_sections(experiment: &Experiment, scenario: &Scenario) -> Vec<Beside> {
    let sections = sections(experiment, ["tcp", "users"]);
    let makes = |(kind, name): (&str, &str), flow: &str| match kind {
        "tcp" => flow == name || made_of(flow, name, "-").is_some_and(is_number),
        _ => made_of(flow, name, "").and_then(|rest| rest.strip_suffix("-web")).is_some_and(is_number),
    };
    let made = scenario.tcp.iter().map(|flow| flow.name.as_str());
    let beside = |((kind, name), members): ((&str, &str), Vec<usize>)| {
        let measure = match &scenario.tcp[members[0]].application {
            TcpApplication::Pages(_) => Measure::PageLoadTime,
            TcpApplication::Stream(TcpSource::Finite(_)) => Measure::CompletionTime,
            TcpApplication::Stream(_) => Measure::Rate,
        };
        let section = Section { name: name.to_owned(), path: format!("{kind}.{name}"), members };
        Beside { name: name.to_owned(), measure, section }
    };
    members(&sections, makes, made).map(beside).collect()
}

/// The section that `[advise]` names, or the first whose calls have video.
fn judged(
    experiment: &Experiment,
    scenario: &Scenario,
    sections: &[Section],
) -> Result<Option<Section>, ExperimentError> {
    let has_video =
        |section: &Section| section.members.iter().any(|place| scenario.calls[*place].video.is_some());
    let Some(wanted) = &experiment.advise.call else {
        return Ok(sections.iter().find(|section| has_video(section)).cloned());
    };
    let error = |reason, mend| experiment.advise.fault(&experiment.path, "call", reason, mend);
    match sections.iter().find(|section| section.name == *wanted) {
        None => {
            let names = sections.iter().map(|section| section.name.as_str());
            Err(error(format!("there is no call '{wanted}'"), did_you_mean(wanted, names, "the calls are")))
        }
        Some(section) if !has_video(section) => {
            let mend = "name a call with video, whose frames tell how it fares".to_owned();
            Err(error(format!("'{wanted}' has no video"), mend))
        }
        Some(section) => Ok(Some(section.clone())),
    }
}

/// The ways of hosts that a section's calls pass.
fn ways<'s>(scenario: &'s Scenario, section: &'s Section) -> impl Iterator<Item = (HostId, Direction)> + 's {
    section.members.iter().flat_map(|place| path_of(&scenario.calls[*place]))
}

/// The lines of one's own that the call passes, each once.
fn lines(experiment: &Experiment, scenario: &Scenario, call: &Section) -> Result<Vec<Line>, ExperimentError> {
    let mut found: Vec<Line> = Vec::new();
    let groups = experiment.sections("users");
    let names_of = |host: &str, way: Direction| {
        let group = groups.iter().find(|(group, _)| made_of(host, group, "").is_some_and(is_number));
        match group.filter(|_| !experiment.sections("host").iter().any(|(name, _)| *name == host)) {
            Some((group, _)) => (format!("{group}.{way}"), format!("users.{group}.host.{way}")),
            None => (format!("{host}.{way}"), format!("host.{host}.{way}")),
        }
    };
    for (host, direction) in ways(scenario, call) {
        let ((AccessConfig::Wired { up: line, .. }, Direction::Up)
        | (AccessConfig::Wired { down: line, .. }, Direction::Down)) = (access(scenario, host), direction)
        else {
            continue;
        };
        let rate = match &line.rate {
            RateConfig::Unlimited => continue,
            RateConfig::Scheduled(schedule) => {
                let mut values = schedule.values();
                values.next().filter(|_| values.next().is_none())
            }
            RateConfig::Trace(_) => None,
        };
        let (name, path) = names_of(scenario.name(host), direction);
        if !found.iter().any(|line| line.name == name) {
            found.push(Line { name, path, rate, host, direction, queue: line.queue.clone() });
        }
    }
    let Some(own) = &experiment.advise.lines else { return Ok(found) };
    if let Some(missing) = own.iter().find(|own| !found.iter().any(|line| line.name == **own)) {
        let names = found.iter().map(|line| line.name.as_str());
        let mend = if found.is_empty() {
            "no line with a rate is on the call's way".to_owned()
        } else {
            did_you_mean(missing, names, "the call passes")
        };
        let reason = format!("the call passes no line '{missing}' with a rate");
        return Err(experiment.advise.fault(&experiment.path, "lines", reason, mend));
    }
    found.retain(|line| own.contains(&line.name));
    Ok(found)
}
