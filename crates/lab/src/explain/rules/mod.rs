//! The rules: one module per cause, each with its thresholds and their sources.

mod application;
mod capacity;
mod cpu;
mod delay;
mod loss;
mod outage;
mod probing;
mod receiver;
mod rival;
mod start;
mod step;

use super::signals::exceeds;
use super::{Cause, Finding, Path, Signals};
use std::ops::Range;

/// Finds a cause.
pub trait Rule: Sync {
    /// The cause.
    fn cause(&self) -> Cause;
    /// The rule in one sentence.
    fn says(&self) -> &'static str;
    /// Where the rule and its thresholds come from.
    fn source(&self) -> &'static str;
    /// Remedies of `weir advise` to try; empty if none of them helps.
    fn remedies(&self) -> &'static [&'static str] {
        &[]
    }
    /// What a recording must have for the rule, if this one does not have it.
    fn missing(&self, signals: &Signals) -> Option<&'static str>;
    /// The times of the cause, given those that rules before this one found.
    fn find(&self, signals: &Signals, path: &Path, found: &[Finding]) -> Vec<Finding>;
}

/// All rules, in the order in which they are applied: later ones use what earlier ones found.
pub static CAUSES: &[&dyn Rule] = &[
    &outage::Outage,
    &cpu::Cpu,
    &receiver::Receiver,
    &application::Application,
    &rival::Rival,
    &loss::Loss,
    &capacity::Capacity,
    &step::Step,
    &delay::Delay,
    &start::Start,
    &probing::Probing,
];

/// Runs of consecutive steps for which something is true: the first step and the step after the
/// last.
pub(super) fn runs(steps: Range<usize>, is: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for step in steps.filter(|step| is(*step)) {
        match runs.last_mut() {
            Some((_, end)) if *end == step => *end += 1,
            _ => runs.push((step, step + 1)),
        }
    }
    runs
}

/// Joins runs with at most `gap` steps between them, and leaves out those shorter than `least`.
fn joined(runs: Vec<(usize, usize)>, gap: usize, least: usize) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (from, to) in runs {
        match joined.last_mut() {
            Some((_, end)) if from <= *end + gap => *end = to,
            _ => joined.push((from, to)),
        }
    }
    joined.retain(|(from, to)| to - from >= least);
    joined
}

/// Whether a cause was found in a step.
fn has(found: &[Finding], cause: Cause, step: usize) -> bool {
    found.iter().any(|one| one.cause == cause && (one.steps.0..one.steps.1).contains(&step))
}

/// Whether a series has any value.
fn is_known(series: &[f64]) -> bool {
    series.iter().any(|value| value.is_finite())
}

fn kbps(rate: f64) -> String {
    format!("{:.0} kbit/s", rate / 1e3)
}

fn ms(seconds: f64) -> String {
    format!("{:.0} ms", seconds * 1e3)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
