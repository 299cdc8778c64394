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

/// Two capacities, and the steps between them.
#[derive(Clone, Copy)]
struct Change {
    from: usize,
    to: usize,
    before: f64,
    after: f64,
    /// The greater of the two is what the call carried: the capacity was at least that.
    is_least: bool,
}

impl Change {
    fn factor(&self) -> f64 {
        factor(self.before, self.after)
    }

    /// Two known capacities say more than a known one and a bound; then the greater change counts.
    fn is_sharper(&self, other: &Self) -> bool {
        match (self.is_least, other.is_least) {
            (false, true) => true,
            (true, false) => false,
            _ => self.factor() > other.factor(),
        }
    }
}

pub(super) struct Step;

impl Rule for Step {
    fn cause(&self) -> Cause {
        Cause::Step
    }

    fn says(&self) -> &'static str {
        "the capacity that queues told differs by a factor of 1.5 or more before and after, or from \
         what the call carried"
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
        // The median of the nearest values, if the nearest one and enough of the others agree.
        let capacity = |steps: &mut dyn Iterator<Item = &usize>| {
            let seen: Vec<f64> = steps.map(|step| path.share[*step]).take(SIDE).collect();
            let median = Signals::quantile(&seen, 0, seen.len(), 0.5);
            let agrees = |share: &f64| factor(*share, median) < FACTOR;
            let enough = seen.iter().filter(|share| agrees(share)).count() >= LEAST;
            (enough && seen.first().is_some_and(agrees)).then_some(median)
        };
        let is_apart = |from: usize, to: usize| {
            to - from > GAP
                || (from..=to)
                    .any(|step| has(found, Cause::Rival, step) || has(found, Cause::Outage, step))
        };
        // What the call carries is not more than the capacity.
        let carried = |from: usize| Signals::quantile(&signals.carried, from, from + LEAST, 0.0);
        let mut changes = Vec::new();
        for index in 1..=told.len() {
            let (from, to) = (told[index - 1], told.get(index).copied());
            let before = capacity(&mut told[..index].iter().rev());
            let after = capacity(&mut told[index..].iter());
            if let (Some(before), Some(after), Some(to)) = (before, after, to)
                && !is_apart(from, to)
            {
                changes.push(Change { from, to, before, after, is_least: false });
            }
            // The queue tells a capacity, and afterwards the call carries more.
            let more = (from + 1..signals.len.saturating_sub(LEAST)).take(GAP);
            let mut more = more.take_while(|to| !is_told(to) && !is_apart(from, *to));
            if let Some(before) = before
                && let Some(to) = more.find(|to| carried(*to) >= FACTOR * before)
            {
                let after = carried(to);
                changes.push(Change { from, to, before, after, is_least: true });
            }
            // The call has carried more, and then the queue tells a capacity.
            let Some((to, after)) = to.zip(after) else { continue };
            let more = (signals.begin + LEAST..=to).rev().take(GAP);
            let mut more = more.take_while(|end| {
                (*end == to || !is_told(end)) && !is_apart(end.saturating_sub(LEAST), to)
            });
            if let Some(end) = more.find(|end| carried(end - LEAST) >= FACTOR * after) {
                let (from, before) = (end - 1, carried(end - LEAST));
                changes.push(Change { from, to, before, after, is_least: true });
            }
        }
        changes.retain(|change| change.factor() >= FACTOR);
        changes.sort_by_key(|change| (change.to, change.from));
        let mut steps: Vec<Change> = Vec::new();
        for change in changes {
            match steps.last_mut() {
                Some(last) if change.to <= last.to + SIDE => {
                    if change.is_sharper(last) {
                        *last = change;
                    }
                }
                _ => steps.push(change),
            }
        }
        let finding = |change: Change| {
            let (more, less) = if change.is_least { ("at least ", "") } else { ("", "") };
            let (first, second) =
                if change.before > change.after { (more, less) } else { (less, more) };
            Finding {
                cause: Cause::Step,
                steps: (change.from, change.to + 1),
                evidence: format!(
                    "from {first}{} to {second}{}",
                    kbps(change.before),
                    kbps(change.after)
                ),
                series: &["carried", "queue"],
            }
        };
        steps.into_iter().map(finding).collect()
    }
}
