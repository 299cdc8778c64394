//! The remedies. Adding one: an entry in the list of its kind.

mod class;
mod controller;
mod lte;
mod queue;
mod wifi;

use super::Situation;
use super::situation::Section;
use document::KeyPath;
use experiment::{Experiment, MARKS, marked};
use net::Dscp;
use serde::Serialize;
use sim::Marks;
use std::fmt;

/// Where a remedy is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The queue of a line.
    Queue,
    /// Classes of traffic at a line.
    Class,
    /// The access point of a Wi-Fi cell.
    Wifi,
    /// The base station and the bearers of an LTE network.
    Lte,
    /// The application's congestion controller.
    Controller,
}

impl Kind {
    /// All of them, in the order of the catalogue.
    pub const ALL: [Self; 5] = [Self::Queue, Self::Class, Self::Wifi, Self::Lte, Self::Controller];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Class => "class",
            Self::Wifi => "wifi",
            Self::Lte => "lte",
            Self::Controller => "controller",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something that can be done for a call.
#[derive(Serialize)]
pub struct Remedy {
    /// Its name: `fq_codel`.
    pub name: &'static str,
    /// Where it is applied.
    pub kind: Kind,
    /// What it is, in a line.
    pub about: &'static str,
    /// Who proposed or measured it.
    pub source: &'static str,
    #[serde(skip)]
    plan: Plan,
}

/// What a remedy changes in a situation.
type Plan = Box<dyn Fn(&Situation) -> Result<Edits, Unfit> + Send + Sync>;

impl fmt::Debug for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remedy")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Changes of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// Path and value, as of `--set`.
    set: Vec<(String, String)>,
    /// The lines whose queue is changed.
    lines: Vec<String>,
}

/// Why a remedy cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A remedy applied to a situation.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The experiment with it.
    pub experiment: Experiment,
    /// What it changes: path and value, as of `--set`.
    pub set: Vec<(String, String)>,
    /// The lines whose queue it changes.
    pub lines: Vec<String>,
}

impl Remedy {
    /// The experiment with this remedy.
    ///
    /// # Errors
    /// Why it cannot be applied there.
    pub fn apply(&self, situation: &Situation) -> Result<Settled, Unfit> {
        let Edits { set, lines } = (self.plan)(situation)?;
        let changed = situation.experiment.with_overrides(&set);
        let experiment = changed.map_err(|error| {
            // Where in the file does not matter: the same reason is said once for all cells.
            Unfit(format!("the file does not take it: {}: {}", error.key, error.reason))
        })?;
        if experiment.simulates(&situation.experiment) {
            return Err(Unfit("it is so already".to_owned()));
        }
        Ok(Settled { experiment, set, lines })
    }

    fn new(
        (name, kind): (&'static str, Kind),
        about: &'static str,
        source: &'static str,
        plan: impl Fn(&Situation) -> Result<Edits, Unfit> + Send + Sync + 'static,
    ) -> Self {
        Self { name, kind, about, source, plan: Box::new(plan) }
    }
}

/// Every remedy, kind by kind.
#[must_use]
pub fn remedies() -> Vec<Remedy> {
    let kinds = [
        queue::remedies(),
        class::remedies(),
        wifi::remedies(),
        lte::remedies(),
        controller::remedies(),
    ];
    kinds.into_iter().flatten().collect()
}

/// Marks on the packets of these calls, where they have none: EF on audio, AF41 on video (RFC 8837
/// § 5, table 1).
fn marks(situation: &Situation, sections: Vec<&Section>) -> Result<Vec<(String, String)>, Unfit> {
    if !situation.advise.dscp {
        return Err(Unfit("no DSCP on the way: advise.dscp is false".to_owned()));
    }
    let missing = sections.into_iter().filter_map(|section| {
        let call = situation.calls(section).next()?;
        let (own, Marks { audio, video }) = (call.dscp, marked(call.dscp));
        let is_so = (call.audio.is_none() || audio == own.audio)
            && (call.video.is_none() || video == own.video);
        let words = format!("{{ audio = {}, video = {} }}", word(audio), word(video));
        (!is_so).then(|| (format!("{}.dscp", section.path), words))
    });
    Ok(missing.collect())
}

/// A mark as it is written in a file.
fn word(mark: Dscp) -> String {
    match mark {
        Dscp::EF => "\"ef\"".to_owned(),
        Dscp::AF41 => "\"af41\"".to_owned(),
        Dscp(other) => other.to_string(),
    }
}

/// The same of every call, for a class that takes EF and AF41 alone.
fn class_marks(situation: &Situation) -> Result<Vec<(String, String)>, Unfit> {
    for section in situation.every_call() {
        let own = situation.calls(section).flat_map(|call| [call.dscp.audio, call.dscp.video]);
        if let Some(other) =
            own.into_iter().find(|mark| *mark != Dscp::DEFAULT && !MARKS.contains(mark))
        {
            let reason =
                format!("'{}' has mark {}, and the class takes EF and AF41", section.name, other.0);
            return Err(Unfit(reason));
        }
    }
    marks(situation, situation.every_call())
}

/// `start.name.end`, the name quoted where it must be.
fn path(start: &str, name: &str, end: &str) -> String {
    format!("{start}.{}.{end}", KeyPath::of(&[name.to_owned()]))
}
