//! The remedies. Adding one: an entry in the list of its kind.

mod class;
mod controller;
mod lte;
mod queue;
mod wifi;

use super::Situation;
use crate::document::KeyPath;
use crate::experiment::Experiment;
use net::Dscp;
use serde::Serialize;
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
pub struct Remedy {
    /// Its name: `fq_codel`.
    pub name: &'static str,
    /// Where it is applied.
    pub kind: Kind,
    /// What it is, in a line.
    pub about: &'static str,
    /// Who proposed or measured it.
    pub source: &'static str,
    plan: Plan,
}

/// What a remedy changes in a situation.
type Plan = Box<dyn Fn(&Situation) -> Result<Edits, Unfit> + Send + Sync>;

impl fmt::Debug for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remedy").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
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
        let experiment = changed.map_err(|error| Unfit(format!("the file does not take it: {error}")))?;
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
    let kinds =
        [queue::remedies(), class::remedies(), wifi::remedies(), lte::remedies(), controller::remedies()];
    kinds.into_iter().flatten().collect()
}

/// Marks on the packets of every call that has none, as RFC 8837 § 5, table 1 has them: EF on audio, AF41 on video.
fn marks(situation: &Situation) -> Result<Vec<(String, String)>, Unfit> {
    if !situation.advise.dscp {
        return Err(Unfit("no DSCP on the way: advise.dscp is false".to_owned()));
    }
    let sections = std::iter::once(&situation.call).chain(situation.other_calls());
    let unmarked = sections.filter(|section| {
        situation
            .calls(section)
            .any(|call| call.dscp.video == Dscp::default() && call.dscp.audio == Dscp::default())
    });
    let mark = |path: &str| (format!("{path}.dscp"), "{ audio = \"ef\", video = \"af41\" }".to_owned());
    Ok(unmarked.map(|section| mark(&section.path)).collect())
}

/// `start.name.end`, the name quoted where it must be.
fn path(start: &str, name: &str, end: &str) -> String {
    format!("{start}.{}.{end}", KeyPath::of(&[name.to_owned()]))
}
