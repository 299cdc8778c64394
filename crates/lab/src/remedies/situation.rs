//! What a cell of an experiment is to somebody who wants advice.

use document::did_you_mean;
use experiment::{Advise, Experiment, ExperimentError, Origins, path_of};
use net::{AccessConfig, Direction, HostId, QueueConfig, RateConfig};
use sim::tcp::{TcpApplication, TcpSource};
use sim::{CallConfig, Scenario};
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
    /// The delay of a call without video.
    Voice,
    /// The time that a flow of so many bytes takes.
    CompletionTime,
    /// The time until a page is there.
    PageLoadTime,
    /// The rate of a flow without an end.
    Rate,
}

impl Measure {
    /// Whether it is of calls; else it is of flows.
    pub(crate) const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Voice)
    }
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
        let origins = experiment.cells()[0].origins();
        let mut calls = sections(&origins.calls);
        let names: Vec<String> = calls.iter().map(|section| section.name.clone()).collect();
        calls.iter_mut().for_each(|section| section.name = told_apart(section, &names));
        let Some(call) = judged(&experiment, &scenario, &calls)? else { return Ok(None) };
        let beside = calls.into_iter().filter(|other| *other != call).map(|section| Beside {
            name: section.name.clone(),
            measure: if has_video(&scenario, &section) { Measure::Call } else { Measure::Voice },
            section,
        });
        let mut beside: Vec<Beside> = beside.chain(flow_sections(origins, &scenario)).collect();
        // A call may be called as a flow is.
        let names: Vec<String> =
            beside.iter().map(|other| &other.name).chain([&call.name]).cloned().collect();
        for other in beside.iter_mut().filter(|other| !other.measure.is_call()) {
            other.name = told_apart(&other.section, &names);
        }
        let lines = lines(&experiment, &scenario, &call)?;
        let shared = |of: fn(&AccessConfig) -> Option<usize>| {
            let mut found: Vec<usize> = ways(&scenario, &call)
                .filter_map(|(host, _)| of(access(&scenario, host)))
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let wifi = shared(AccessConfig::wifi_cell);
        let lte = shared(AccessConfig::lte_network);
        let wifi = wifi.into_iter().map(|cell| scenario.network.wifi[cell].name.clone()).collect();
        let lte =
            lte.into_iter().map(|network| scenario.network.lte[network].name.clone()).collect();
        let advise = experiment.advise.clone();
        Ok(Some(Self { experiment, label, call, beside, lines, wifi, lte, advise, scenario }))
    }

    /// Its name: that of its experiment, and of a grid the cell.
    #[must_use]
    pub fn name(&self) -> String {
        let name = &self.experiment.name;
        if self.label.is_empty() { name.clone() } else { format!("{name}, {}", self.label) }
    }

    /// The situation with the judged call alone.
    pub(crate) fn alone(&self) -> Result<Experiment, ExperimentError> {
        let (kind, name) = (self.call.kind(), name_of(&self.call.path));
        self.experiment.edited(|document| {
            document.retain(|key| {
                !["tcp", "program", "call", "conference", "users"].contains(&key) || key == kind
            });
            document.edit(kind, |sections| sections.retain(|section| section == name));
            if kind == "users" {
                document.edit(kind, |groups| {
                    groups.edit(name, |group| group.retain(|key| key != "web"));
                });
            }
        })
    }

    /// The calls of a section.
    pub(crate) fn calls<'a>(
        &'a self,
        section: &'a Section,
    ) -> impl Iterator<Item = &'a CallConfig> + 'a {
        section.members.iter().map(|place| &self.scenario.calls[*place])
    }

    /// The sections of the calls beside the judged one.
    pub(crate) fn other_calls(&self) -> impl Iterator<Item = &Section> {
        let calls = self.beside.iter().filter(|beside| beside.measure.is_call());
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

/// The sections that made flows.
fn flow_sections(origins: &Origins, scenario: &Scenario) -> impl Iterator<Item = Beside> {
    sections(&origins.tcp).into_iter().map(|section| {
        let measure = match &scenario.tcp[section.members[0]].application {
            TcpApplication::Pages(_) => Measure::PageLoadTime,
            TcpApplication::Stream(TcpSource::Finite(_)) => Measure::CompletionTime,
            TcpApplication::Stream(_) => Measure::Rate,
        };
        Beside { name: section.name.clone(), measure, section }
    })
}

/// `city` of `users.city.call`.
fn name_of(path: &str) -> &str {
    path.split('.').nth(1).unwrap_or_default()
}

/// The name of a section, with its kind if it is several times among the names of all: `call.room`
/// beside `conference.room`.
fn told_apart(section: &Section, names: &[String]) -> String {
    let name = name_of(&section.path);
    match names.iter().filter(|other| *other == name).count() {
        0 | 1 => name.to_owned(),
        _ => format!("{}.{name}", section.kind()),
    }
}

/// The sections at these paths, of which there is one for each thing that was made.
fn sections(origins: &[String]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (place, path) in origins.iter().enumerate() {
        match sections.iter_mut().find(|section| section.path == *path) {
            Some(section) => section.members.push(place),
            None => {
                let name = name_of(path).to_owned();
                sections.push(Section { name, path: path.clone(), members: vec![place] });
            }
        }
    }
    sections
}

/// Whether calls of a section have video: they are of one description.
fn has_video(scenario: &Scenario, section: &Section) -> bool {
    section.members.iter().any(|place| scenario.calls[*place].video.is_some())
}

/// The section that `[advise]` names, or the first whose calls have video.
fn judged(
    experiment: &Experiment,
    scenario: &Scenario,
    sections: &[Section],
) -> Result<Option<Section>, ExperimentError> {
    let Some(wanted) = &experiment.advise.call else {
        return Ok(sections.iter().find(|section| has_video(scenario, section)).cloned());
    };
    let error =
        |reason, suggestion| experiment.advise.fault(&experiment.path, "call", reason, suggestion);
    match sections.iter().find(|section| section.name == *wanted) {
        None => {
            let names = sections.iter().map(|section| section.name.as_str());
            Err(error(
                format!("there is no call '{wanted}'"),
                did_you_mean(wanted, names, "the calls are"),
            ))
        }
        Some(section) if !has_video(scenario, section) => {
            let suggestion = "name a call with video, whose frames tell how it fares".to_owned();
            Err(error(format!("'{wanted}' has no video"), suggestion))
        }
        Some(section) => Ok(Some(section.clone())),
    }
}

/// The ways of hosts that a section's calls pass.
fn ways<'s>(
    scenario: &'s Scenario,
    section: &'s Section,
) -> impl Iterator<Item = (HostId, Direction)> + 's {
    section.members.iter().flat_map(|place| path_of(&scenario.calls[*place]))
}

/// The lines of one's own that the call passes, each once.
fn lines(
    experiment: &Experiment,
    scenario: &Scenario,
    call: &Section,
) -> Result<Vec<Line>, ExperimentError> {
    let mut found: Vec<Line> = Vec::new();
    let origins = experiment.cells()[0].origins();
    for (host, direction) in ways(scenario, call) {
        let Some(line) = access(scenario, host).line(direction) else { continue };
        let rate = match &line.rate {
            RateConfig::Unlimited => continue,
            RateConfig::Scheduled(schedule) => {
                let mut values = schedule.values();
                values.next().filter(|_| values.next().is_none())
            }
            RateConfig::Trace(_) => None,
        };
        let origin = &origins.hosts[usize::from(host.0)];
        let (name, path) =
            (format!("{}.{direction}", name_of(origin)), format!("{origin}.{direction}"));
        if !found.iter().any(|line| line.path == path) {
            found.push(Line { name, path, rate, host, direction, queue: line.queue.clone() });
        }
    }
    let Some(own) = &experiment.advise.lines else { return Ok(found) };
    if let Some(missing) = own.iter().find(|own| !found.iter().any(|line| line.name == **own)) {
        let names = found.iter().map(|line| line.name.as_str());
        let suggestion = if found.is_empty() {
            "no line with a rate is on the call's way".to_owned()
        } else {
            did_you_mean(missing, names, "the call passes")
        };
        let reason = format!("the call passes no line '{missing}' with a rate");
        return Err(experiment.advise.fault(&experiment.path, "lines", reason, suggestion));
    }
    found.retain(|line| own.contains(&line.name));
    Ok(found)
}
