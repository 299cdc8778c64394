//! The remedies. To add one, add an entry to the list of its kind.

mod class;
mod controller;
mod lte;
mod queue;
mod wifi;

use super::Situation;
use super::situation::Section;
use document::{KeyPath, Problem};
use experiment::{Experiment, MARKS, marked};
use net::Dscp;
use schemars::JsonSchema;
use serde::Serialize;
use sim::Marks;
use std::fmt;
use units::Bytes;

/// Where a remedy is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RemedyKind {
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

impl RemedyKind {
    /// All kinds, in the order of the catalogue.
    pub const ALL: [Self; 5] = [Self::Queue, Self::Class, Self::Wifi, Self::Lte, Self::Controller];

    /// The word for the kind in tables and JSON.
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

impl fmt::Display for RemedyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A change of the network or of the application that may improve a call.
#[derive(Serialize, JsonSchema)]
pub struct Remedy {
    /// The name: `fq_codel`.
    pub name: &'static str,
    /// Where it is applied.
    pub kind: RemedyKind,
    /// A description of one line.
    pub about: &'static str,
    /// The publication that proposes or measures it.
    pub source: &'static str,
    #[serde(skip)]
    plan: Plan,
}

/// Computes the changes of a remedy in a situation.
type Plan = Box<dyn Fn(&Situation) -> Result<Edits, Unfit> + Send + Sync>;

impl fmt::Debug for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remedy")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The changes of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// (path, value), as for `--set`.
    set: Vec<(String, String)>,
    /// The lines whose queue is changed.
    lines: Vec<String>,
}

/// Why a remedy cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The experiment has the remedy already.
    #[error("already configured; nothing to change")]
    AlreadyConfigured,
    /// `advise.lines` is empty.
    #[error("advise.lines is empty: no queue may be changed")]
    NoOwnLine,
    /// `advise.dscp` is false.
    #[error("advise.dscp is false: DSCP marks have no effect")]
    NoDscp,
    /// `advise.radio` is false, and the call passes a Wi-Fi cell.
    #[error("advise.radio is false: the access point may not be changed")]
    NotOwnAccessPoint,
    /// `advise.radio` is false, and the call passes an LTE network.
    #[error("advise.radio is false: the base station may not be changed")]
    NotOwnBaseStation,
    /// `advise.controller` is false.
    #[error("advise.controller is false: the controller may not be changed")]
    NotOwnController,
    /// The call passes no wired line with a limited rate.
    #[error("the call passes no wired line with a limited rate")]
    NoWiredLine,
    /// The call passes no Wi-Fi cell.
    #[error("the call passes no Wi-Fi cell")]
    NoWifi,
    /// The call passes no LTE network.
    #[error("the call passes no LTE network")]
    NoLte,
    /// The call passes no media relay.
    #[error("the call passes no media relay; give the call a relay")]
    NoRelay,
    /// There is no other call.
    #[error("there is no other call; htb-priority is the same")]
    NoOtherCall,
    /// The LTE network has a dedicated bearer.
    #[error("the LTE network has a dedicated bearer already")]
    DedicatedBearer,
    /// The rate of this line changes.
    #[error("the rate of {0} changes, but the queue needs a constant rate")]
    VariableRate(String),
    /// The buffer of a line is already as short as the remedy makes it.
    #[error("the buffer of {line} is already as short: {size}")]
    ShortBuffer {
        /// The line.
        line: String,
        /// The size of its buffer.
        size: Bytes,
    },
    /// This line is faster than ADSL.
    #[error("{0} is faster than 10 Mbit/s; this queue of half a second is for ADSL")]
    FastLine(String),
    /// A call has a DSCP mark that the traffic class does not match.
    #[error("'{call}' has the DSCP mark {mark}, but the class matches only EF and AF41")]
    ForeignMark {
        /// The section of the call.
        call: String,
        /// The mark.
        mark: u8,
    },
    /// The queue of the remedy cannot be read.
    #[error(transparent)]
    Queue(#[from] net::QueueConfigError),
    /// The controller does not support the improvement, or has it already.
    #[error(transparent)]
    Improvement(#[from] cc::ImprovementError),
    /// The experiment with the remedy has an error.
    #[error("the experiment does not accept the change: {key}: {reason}")]
    Experiment {
        /// The key in the file.
        key: String,
        /// What is wrong.
        reason: String,
    },
}

/// A remedy applied to a situation.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The experiment with the remedy.
    pub experiment: Experiment,
    /// The changes: (path, value), as for `--set`.
    pub set: Vec<(String, String)>,
    /// The lines whose queue is changed.
    pub lines: Vec<String>,
}

impl Remedy {
    /// The experiment with this remedy.
    ///
    /// # Errors
    /// If the remedy cannot be applied in the situation.
    pub fn apply(&self, situation: &Situation) -> Result<Settled, Unfit> {
        let Edits { set, lines } = (self.plan)(situation)?;
        let changed = situation.experiment.with_overrides(&set);
        let experiment = changed.map_err(|error| {
            // Without the line in the file, so that equal reasons of several cells are shown once.
            Unfit::Experiment { key: error.key, reason: error.reason }
        })?;
        if experiment.simulates(&situation.experiment) {
            return Err(Unfit::AlreadyConfigured);
        }
        Ok(Settled { experiment, set, lines })
    }

    fn new(
        (name, kind): (&'static str, RemedyKind),
        about: &'static str,
        source: &'static str,
        plan: impl Fn(&Situation) -> Result<Edits, Unfit> + Send + Sync + 'static,
    ) -> Self {
        Self { name, kind, about, source, plan: Box::new(plan) }
    }
}

/// All remedies, ordered by kind.
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

/// The remedies that these words name, each by its name or its kind; all remedies without words.
///
/// # Errors
/// If a word is neither a remedy nor a kind.
pub fn selected(words: &[String]) -> Result<Vec<Remedy>, Problem> {
    let is_of = |remedy: &Remedy, word: &str| remedy.name == word || remedy.kind.as_str() == word;
    let all = remedies();
    if let Some(word) = words.iter().find(|word| !all.iter().any(|remedy| is_of(remedy, word))) {
        let names: Vec<&str> = all.iter().map(|remedy| remedy.name).collect();
        let suggestion = match document::nearest(word, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "the kinds are queue, class, wifi, lte and controller; the remedies are {}",
                names.join(", ")
            ),
        };
        return Err(Problem::new(format!("there is no remedy or kind '{word}'"), suggestion));
    }
    let is_wanted =
        |remedy: &Remedy| words.is_empty() || words.iter().any(|word| is_of(remedy, word));
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// DSCP marks for the calls that have none: EF for audio, AF41 for video (RFC 8837 § 5, table 1).
fn marks(situation: &Situation, sections: Vec<&Section>) -> Result<Vec<(String, String)>, Unfit> {
    if !situation.advise.dscp {
        return Err(Unfit::NoDscp);
    }
    let missing = sections.into_iter().filter_map(|section| {
        let call = situation.calls(section).next()?;
        let (own, Marks { audio, video }) = (call.dscp, marked(call.dscp));
        let is_marked = (call.audio.is_none() || audio == own.audio)
            && (call.video.is_none() || video == own.video);
        let words = format!("{{ audio = {}, video = {} }}", word(audio), word(video));
        (!is_marked).then(|| (format!("{}.dscp", section.path), words))
    });
    Ok(missing.collect())
}

/// A DSCP mark in the syntax of an experiment file.
fn word(mark: Dscp) -> String {
    match mark {
        Dscp::EF => "\"ef\"".to_owned(),
        Dscp::AF41 => "\"af41\"".to_owned(),
        Dscp(other) => other.to_string(),
    }
}

/// Marks for all calls, for a class that matches only EF and AF41.
fn class_marks(situation: &Situation) -> Result<Vec<(String, String)>, Unfit> {
    for section in situation.every_call() {
        let own = situation.calls(section).flat_map(|call| [call.dscp.audio, call.dscp.video]);
        if let Some(other) =
            own.into_iter().find(|mark| *mark != Dscp::DEFAULT && !MARKS.contains(mark))
        {
            return Err(Unfit::ForeignMark { call: section.name.clone(), mark: other.0 });
        }
    }
    marks(situation, situation.every_call())
}

/// The path `start.name.end`, with the name quoted if necessary.
fn path(start: &str, name: &str, end: &str) -> String {
    format!("{start}.{}.{end}", KeyPath::of(&[name.to_owned()]))
}
