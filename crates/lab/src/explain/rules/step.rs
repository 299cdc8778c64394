//! A step of the capacity.

use super::{Rule, has, is_known, kbps};
use crate::explain::{Cause, Finding, Path, Signals};

/// The times before and after that are compared, in steps, and the steps in between that are left
/// out, in which the controller follows. Our choice.
const SIDE: usize = 8;
const FOLLOWS: usize = 4;
/// Rates that differ by this factor or more. GCC decreases by 15 % (Carlucci 2017 eq. 3), so that
/// its own oscillation stays below. Our choice.
const FACTOR: f64 = 1.5;
/// The queue that shows a step down, s: at half the capacity, the packets of 100 ms take 200 ms.
/// Our choice.
const SPIKE: f64 = 0.05;

pub(super) struct Step;

impl Step {
    /// The capacity on both sides of a step; `None` where it is not told.
    fn sides(signals: &Signals, path: &Path, step: usize) -> Option<(f64, f64)> {
        let side = |from: usize, to: usize| {
            let seen = path.share.get(from..to.min(signals.len))?;
            let told = seen.iter().filter(|share| share.is_finite()).count();
            let rate = if told > 0 {
                Signals::quantile(&path.share, from, to, 0.5)
            } else {
                Signals::quantile(&signals.carried, from, to, 0.5)
            };
            rate.is_finite().then_some((rate, told > 0))
        };
        let (before, told_before) = side(step.checked_sub(SIDE)?, step)?;
        let (after, told_after) = side(step + FOLLOWS, step + FOLLOWS + SIDE)?;
        (told_before || told_after).then_some((before, after))
    }
}

impl Rule for Step {
    fn cause(&self) -> Cause {
        Cause::Step
    }

    fn says(&self) -> &'static str {
        "the capacity differs by a factor of 1.5 or more between the 8 s before and after"
    }

    fn source(&self) -> &'static str {
        "Carlucci 2017 eq. 3 (decreases by 15 % are the controller's own)"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.queue)).then_some("round-trip or one-way times")
    }

    fn find(&self, signals: &Signals, path: &Path, found: &[Finding]) -> Vec<Finding> {
        let mut steps: Vec<(usize, f64, f64)> = Vec::new();
        // The start of the call is not a step.
        for step in signals.begin + SIDE + FOLLOWS..signals.len.saturating_sub(SIDE) {
            let near = step.saturating_sub(SIDE)..step + FOLLOWS + SIDE;
            let other = [Cause::Rival, Cause::Outage, Cause::Application];
            if near.clone().any(|step| other.iter().any(|cause| has(found, *cause, step))) {
                continue;
            }
            let Some((before, after)) = Self::sides(signals, path, step) else { continue };
            let falls = before >= FACTOR * after
                && Signals::quantile(&signals.queue, step, step + FOLLOWS, 1.0) > SPIKE;
            let rises = after >= FACTOR * before;
            if !falls && !rises {
                continue;
            }
            let sharper = |one: f64, other: f64| (one / other).ln().abs();
            match steps.last_mut() {
                Some(last) if step - last.0 <= SIDE + FOLLOWS => {
                    if sharper(before, after) > sharper(last.1, last.2) {
                        *last = (step, before, after);
                    }
                }
                _ => steps.push((step, before, after)),
            }
        }
        let finding = |(step, before, after): (usize, f64, f64)| Finding {
            cause: Cause::Step,
            steps: (step, step + FOLLOWS),
            evidence: format!("from {} to {}", kbps(before), kbps(after)),
            series: &["carried", "queue"],
        };
        steps.into_iter().map(finding).collect()
    }
}
