//! A grid cell of an experiment as the subject of advice: the judged call, the other traffic, and
//! the lines, Wi-Fi cells and LTE networks that the call passes.

use document::did_you_mean;
use experiment::{Advise, Bottleneck, Experiment, ExperimentError, Origins, path_of};
use net::{AccessConfig, Direction, HostId, QueueConfig, RateConfig};
use sim::tcp::{TcpApplication, TcpSource};
use sim::{CallConfig, Scenario};
use std::fmt::Write as _;
use units::Bitrate;

/// A cell of an experiment with the call that is to be improved.
#[derive(Clone, Debug)]
pub struct Situation {
    /// The cell as an experiment without a grid and without a remedy.
    pub experiment: Experiment,
    /// The parameters of the cell: `config=Droptail 125kB`; empty without a grid.
    pub label: String,
    /// The judged call.
    pub(crate) call: Section,
    /// The other traffic.
    pub beside: Vec<Beside>,
    /// The lines whose queue may be changed (`advise.lines`).
    pub(crate) lines: Vec<LimitedLine>,
    /// The Wi-Fi cells that the call passes, by name.
    pub(crate) wifi: Vec<String>,
    /// The LTE networks that the call passes, by name.
    pub(crate) lte: Vec<String>,
    pub(crate) advise: Advise,
    pub(crate) scenario: Scenario,
}

/// A section of the experiment file that defines calls or flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The name: `main` for `[call.main]`.
    pub(crate) name: String,
    /// The path of the keys of a call: `call.main`, `users.city.call`.
    pub(crate) path: String,
    /// The indices of the calls or flows in the scenario.
    pub(crate) members: Vec<usize>,
}

/// Traffic that shares the network with the judged call.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The name of the section.
    pub name: String,
    /// The measured quantity.
    pub measure: Measure,
    pub(crate) section: Section,
}

/// The measured quantity of other traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The quality of a call with video.
    Call,
    /// The delay of a call without video.
    Voice,
    /// The completion time of a flow of limited size.
    CompletionTime,
    /// The page load time of web traffic.
    PageLoadTime,
    /// The rate of an unlimited flow.
    Rate,
}

impl Measure {
    /// Whether the traffic is calls; otherwise it is TCP flows.
    pub(crate) const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Voice)
    }
}

/// A direction of a wired access with a limited rate that the call passes.
#[derive(Clone, Debug)]
pub(crate) struct LimitedLine {
    /// The name: `alice.up`.
    pub(crate) name: String,
    /// The path in the file: `host.alice.up`.
    pub(crate) path: String,
    /// The host of the access.
    pub(crate) host: HostId,
    /// The direction.
    pub(crate) direction: Direction,
    /// The rate that a queue may use: the line's, or behind a modem the shaper's; `None` if the
    /// line's changes.
    pub(crate) rate: Option<Bitrate>,
    /// The rate of a shaper in front of a modem, or of a queue that shapes by itself.
    pub(crate) shaped: Option<Bitrate>,
    /// Whether the packets wait in a modem, unless a shaper is in front of it.
    pub(crate) behind_modem: bool,
    /// The queue without a remedy.
    pub(crate) queue: QueueConfig,
}

impl Situation {
    /// The situation of a cell; `None` if the cell has no call with video.
    ///
    /// # Errors
    /// If `[advise]` names a call or a line that does not exist.
    pub fn of(experiment: &Experiment, cell: usize) -> Result<Option<Self>, ExperimentError> {
        let label = experiment.cells()[cell].label();
        let experiment = experiment.only(cell)?;
        let scenario = experiment.cells()[0].scenario(experiment.seed);
        let origins = experiment.cells()[0].origins();
        let mut calls = sections(&origins.calls);
        let names: Vec<String> = calls.iter().map(|section| section.name.clone()).collect();
        calls.iter_mut().for_each(|section| section.name = distinct_name(section, &names));
        let Some(call) = judged(&experiment, &scenario, &calls)? else { return Ok(None) };
        let beside = calls.into_iter().filter(|other| *other != call).map(|section| Beside {
            name: section.name.clone(),
            measure: if has_video(&scenario, &section) { Measure::Call } else { Measure::Voice },
            section,
        });
        let mut beside: Vec<Beside> = beside.chain(flow_sections(origins, &scenario)).collect();
        // A call and a flow may have the same name.
        let names: Vec<String> =
            beside.iter().map(|other| &other.name).chain([&call.name]).cloned().collect();
        for other in beside.iter_mut().filter(|other| !other.measure.is_call()) {
            other.name = distinct_name(&other.section, &names);
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

    /// The name of the experiment, and the parameters of the cell.
    #[must_use]
    pub fn name(&self) -> String {
        let name = &self.experiment.name;
        if self.label.is_empty() { name.clone() } else { format!("{name}, {}", self.label) }
    }

    /// The experiment with the judged call only.
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
        section.members.iter().map(|index| &self.scenario.calls[*index])
    }

    /// The sections of the other calls.
    pub(crate) fn other_calls(&self) -> impl Iterator<Item = &Section> {
        let calls = self.beside.iter().filter(|beside| beside.measure.is_call());
        calls.map(|beside| &beside.section)
    }

    /// The sections of all calls, the judged call first.
    pub(crate) fn every_call(&self) -> Vec<&Section> {
        std::iter::once(&self.call).chain(self.other_calls()).collect()
    }

    /// The controller of the judged call.
    pub(crate) fn controller(&self) -> &str {
        let mut videos = self.calls(&self.call).filter_map(|call| call.video.as_ref());
        videos.next().map_or("", |video| video.controller.profile.as_str())
    }

    /// The sections of the calls of the same application, which are those with the same controller.
    pub(crate) fn application(&self) -> impl Iterator<Item = &Section> {
        let own = |section: &&Section| {
            let mut videos = self.calls(section).filter_map(|call| call.video.as_ref());
            videos.any(|video| video.controller.profile == self.controller())
        };
        std::iter::once(&self.call).chain(self.other_calls().filter(own))
    }

    /// The judged call and the other traffic as text: `call main, beside upload, web`.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = format!("call {}", self.call.name);
        for (index, beside) in self.beside.iter().enumerate() {
            let separator = if index == 0 { ", beside " } else { ", " };
            let _ = write!(text, "{separator}{}", beside.name);
        }
        text
    }
}

impl Section {
    /// The kind of the section: call, conference or users.
    fn kind(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }
}

fn access(scenario: &Scenario, host: HostId) -> &AccessConfig {
    &scenario.network.hosts[usize::from(host.0)].access
}

/// The sections of the flows.
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

/// The name in a path: `city` in `users.city.call`.
fn name_of(path: &str) -> &str {
    path.split('.').nth(1).unwrap_or_default()
}

/// The name of a section. If several sections of `names` have it, it is preceded by the kind:
/// `call.room` and `conference.room`.
fn distinct_name(section: &Section, names: &[String]) -> String {
    let name = name_of(&section.path);
    match names.iter().filter(|other| *other == name).count() {
        0 | 1 => name.to_owned(),
        _ => format!("{}.{name}", section.kind()),
    }
}

/// The sections with these paths. `origins` has one path per call or flow.
fn sections(origins: &[String]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, path) in origins.iter().enumerate() {
        match sections.iter_mut().find(|section| section.path == *path) {
            Some(section) => section.members.push(index),
            None => {
                let name = name_of(path).to_owned();
                sections.push(Section { name, path: path.clone(), members: vec![index] });
            }
        }
    }
    sections
}

/// Whether the calls of a section have video. All calls of a section have the same media.
fn has_video(scenario: &Scenario, section: &Section) -> bool {
    section.members.iter().any(|index| scenario.calls[*index].video.is_some())
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
            let suggestion = "name a call with video; its frames are measured".to_owned();
            Err(error(format!("'{wanted}' has no video"), suggestion))
        }
        Some(section) => Ok(Some(section.clone())),
    }
}

/// The hosts and directions that the calls of a section pass.
fn ways<'s>(
    scenario: &'s Scenario,
    section: &'s Section,
) -> impl Iterator<Item = (HostId, Direction)> + 's {
    section.members.iter().flat_map(|index| path_of(&scenario.calls[*index]))
}

/// The user's own lines that the call passes, each once.
fn lines(
    experiment: &Experiment,
    scenario: &Scenario,
    call: &Section,
) -> Result<Vec<LimitedLine>, ExperimentError> {
    let mut found: Vec<LimitedLine> = Vec::new();
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
            let shaped = rate.map(|rate| rate.scale(experiment.advise.share.as_f64()));
            let behind_modem = experiment.advise.bottleneck == Bottleneck::Modem;
            found.push(LimitedLine {
                name,
                path,
                rate: if behind_modem { shaped } else { rate },
                shaped,
                behind_modem,
                host,
                direction,
                queue: line.queue.clone(),
            });
        }
    }
    let Some(own) = &experiment.advise.lines else { return Ok(found) };
    if let Some(missing) = own.iter().find(|own| !found.iter().any(|line| line.name == **own)) {
        let names = found.iter().map(|line| line.name.as_str());
        let suggestion = if found.is_empty() {
            "the call passes no line with a limited rate".to_owned()
        } else {
            did_you_mean(missing, names, "the call passes")
        };
        let reason = format!("the call passes no line '{missing}' with a limited rate");
        return Err(experiment.advise.fault(&experiment.path, "lines", reason, suggestion));
    }
    found.retain(|line| own.contains(&line.name));
    Ok(found)
}
