//! A step of the capacity.

use super::{Rule, has, is_known, kbps};
use crate::explain::{Cause, Finding, Path, Signals};

/// The steps before and after in which a queue told the capacity, that are compared. Our choice.
const SIDE: usize = 6;
/// Fewer tell nothing: a queue of one key frame lasts for two steps. Our choice.
const LEAST: usize = 3;
/// The longest time between both sides, in steps: a controller that grows by 8 % per second
/// (Carlucci 2017 eq. 3) needs 15 s for three times its rate. Our choice.
const GAP: usize = 20;
/// Capacities that differ by this factor or more. GCC decreases by 15 % (Carlucci 2017 eq. 3), so
/// that its own oscillation stays below. Our choice.
const FACTOR: f64 = 1.5;

/// The factor by which two capacities differ, at least 1.
fn factor(before: f64, after: f64) -> f64 {
    (after / before).max(before / after)
}

pub(super) struct Step;

impl Rule for Step {
    fn cause(&self) -> Cause {
        Cause::Step
    }

    fn says(&self) -> &'static str {
        "the capacity that queues told differs by a factor of 1.5 or more before and after"
    }

    fn source(&self) -> &'static str {
        "Carlucci 2017 eq. 3 (decreases by 15 % are the controller's own)"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.queue)).then_some("round-trip or one-way times")
    }

    fn find(&self, signals: &Signals, path: &Path, found: &[Finding]) -> Vec<Finding> {
        // What a rival left, and what an outage held back, is not the capacity.
        let is_told = |step: &usize| {
            path.share[*step].is_finite()
                && !has(found, Cause::Rival, *step)
                && !has(found, Cause::Outage, *step)
                && !has(found, Cause::Outage, step.saturating_sub(2))
        };
        let told: Vec<usize> = (signals.begin..signals.len).filter(is_told).collect();
        let capacity = |steps: &[usize]| {
            let seen: Vec<f64> = steps.iter().map(|step| path.share[*step]).collect();
            Signals::quantile(&seen, 0, seen.len(), 0.5)
        };
        let other = |from: usize, to: usize| {
            (from..=to)
                .any(|step| has(found, Cause::Rival, step) || has(found, Cause::Outage, step))
        };
        let mut steps: Vec<(usize, usize, f64, f64)> = Vec::new();
        for index in LEAST..told.len().saturating_sub(LEAST - 1) {
            let before = &told[index.saturating_sub(SIDE)..index];
            let after = &told[index..(index + SIDE).min(told.len())];
            let (from, to) = (told[index - 1], told[index]);
            if to - from > GAP || other(from, to) {
                continue;
            }
            let (before, after) = (capacity(before), capacity(after));
            if factor(before, after) < FACTOR {
                continue;
            }
            let sharper =
                |last: &(usize, usize, f64, f64)| factor(before, after) > factor(last.2, last.3);
            match steps.last_mut() {
                Some(last) if to <= last.1 + SIDE => {
                    if sharper(last) {
                        *last = (from, to, before, after);
                    }
                }
                _ => steps.push((from, to, before, after)),
            }
        }
        let finding = |(from, to, before, after): (usize, usize, f64, f64)| Finding {
            cause: Cause::Step,
            steps: (from, to + 1),
            evidence: format!("from {} to {}", kbps(before), kbps(after)),
            series: &["carried", "queue"],
        };
        steps.into_iter().map(finding).collect()
    }
}
