//! What limited a call, and when: rules over the series of its recording.
//!
//! ```text
//! Recording ─▶ signals (one value per second) ─▶ rules (one module per cause) ─▶ Explanation
//!                        └▶ path (capacity, round-trip time, buffer) ──┘            │
//!                                                      network (an experiment) ◀───┘
//! ```
//!
//! The rules see only what an endpoint can know: of a simulated call, not the records of its lines.
//! `judge` measures on calls whose truth is known how often they are right.

pub mod judge;
mod network;
mod path;
mod rules;
mod signals;
#[cfg(test)]
mod tests;

pub use network::network;
pub use path::Path;
pub use rules::{CAUSES, Rule};
pub use signals::{STEP, Signals};

use sim::Recording;
use std::fmt;

/// What can limit a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The capacity of the path.
    Capacity,
    /// The round-trip time is long, by the path or by its queues.
    Delay,
    /// Packets are lost although no queue is full.
    Loss,
    /// A flow that behaves like loss-based TCP fills the queue.
    Rival,
    /// The sender's processor.
    Cpu,
    /// The sender's application sends less than it may.
    Application,
    /// The receiver.
    Receiver,
    /// Probes failed.
    Probing,
    /// The capacity changed at once.
    Step,
    /// Nothing arrived for a time.
    Outage,
    /// The start of the call took long.
    Start,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 11] = [
        Self::Capacity,
        Self::Delay,
        Self::Loss,
        Self::Rival,
        Self::Cpu,
        Self::Application,
        Self::Receiver,
        Self::Probing,
        Self::Step,
        Self::Outage,
        Self::Start,
    ];

    /// The word for the cause in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::Rival => "rival",
            Self::Cpu => "cpu",
            Self::Application => "application",
            Self::Receiver => "receiver",
            Self::Probing => "probing",
            Self::Step => "step",
            Self::Outage => "outage",
            Self::Start => "start",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A cause in a time of the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The cause.
    pub cause: Cause,
    /// The first step, and the step after the last.
    pub steps: (usize, usize),
    /// What was seen there, in one sentence with numbers.
    pub evidence: String,
    /// The series that show it.
    pub series: &'static [&'static str],
}

impl Finding {
    /// The times, s.
    #[must_use]
    pub fn times(&self) -> (f64, f64) {
        (self.steps.0 as f64 * STEP, self.steps.1 as f64 * STEP)
    }
}

/// Why a direction of a call was as it was.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The series.
    pub signals: Signals,
    /// The path as the call saw it.
    pub path: Path,
    /// What was found, in order of time.
    pub findings: Vec<Finding>,
    /// Times in which the call sent less than before, and no rule says why.
    pub unknown: Vec<(usize, usize)>,
    /// What the recording does not contain, so that its causes cannot be found.
    pub missing: Vec<(Cause, &'static str)>,
}

impl Explanation {
    /// Whether the cause was found.
    #[must_use]
    pub fn has(&self, cause: Cause) -> bool {
        self.findings.iter().any(|finding| finding.cause == cause)
    }

    /// The seconds in which the cause was found.
    #[must_use]
    pub fn seconds(&self, cause: Cause) -> f64 {
        let findings = self.findings.iter().filter(|finding| finding.cause == cause);
        findings.map(|finding| (finding.steps.1 - finding.steps.0) as f64 * STEP).sum()
    }
}

/// Explains every video of a recording.
#[must_use]
pub fn explain(recording: &Recording) -> Vec<Explanation> {
    Signals::all(recording).into_iter().filter(|one| one.len > 0).map(of).collect()
}

fn of(signals: Signals) -> Explanation {
    let mut path = Path::of(&signals);
    let mut found: Vec<Finding> = Vec::new();
    for rule in CAUSES {
        let more = rule.find(&signals, &path, &found);
        found.extend(more);
    }
    path.summarise(&found);
    found.sort_by_key(|finding| (finding.steps, finding.cause));
    let unknown = unknown(&signals, &found);
    let missing = CAUSES.iter().filter_map(|rule| Some((rule.cause(), rule.missing(&signals)?)));
    let missing = missing.collect();
    Explanation { path, findings: found, unknown, missing, signals }
}

/// Times of at least this many steps are shown as unknown. Our choice.
const MIN_UNKNOWN: usize = 5;
/// The call sends much less than it did: below this share of its usual rate. Our choice.
const MUCH_LESS: f64 = 0.6;

/// Times in which the rate was far below that of the call's better half, and nothing was found.
fn unknown(signals: &Signals, found: &[Finding]) -> Vec<(usize, usize)> {
    let usual = Signals::quantile(&signals.carried, signals.begin, signals.len, 0.75);
    let is_explained = |step: usize| {
        found.iter().any(|finding| (finding.steps.0..finding.steps.1).contains(&step))
    };
    let is_low = |step: usize| signals.carried[step] < MUCH_LESS * usual && !is_explained(step);
    rules::runs(signals.begin..signals.len, is_low)
        .into_iter()
        .filter(|(from, to)| to - from >= MIN_UNKNOWN)
        .collect()
}
