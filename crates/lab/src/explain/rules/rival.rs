//! A flow that behaves like loss-based TCP.

use super::{Rule, exceeds, has, is_known, joined, kbps, ms, runs};
use crate::explain::path::QUEUED;
use crate::explain::{Cause, Finding, Path, Signals};

/// The queue does not empty for this many steps. A delay-based controller empties the queue that it
/// made within a few round trips (Carlucci 2017 § IV: it decreases until the queue is empty), a
/// loss-based flow fills it again after each loss (RFC 9438 § 4.6: it keeps 70 % of its window).
const STANDING: usize = 6;
/// The least queuing delay of such a time, s, and the share of the longest queue of the call that
/// it must be. A queue of CUBIC empties to 70 % of the buffer and path (RFC 9438 § 4.6), so to
/// nothing if the buffer is shorter than 43 % of the round-trip time. Our choice.
const LEAST_DELAY: f64 = 0.03;
/// The call sends at most this share of what it carried before: another flow has the rest. Our
/// choice.
const YIELDED: f64 = 0.8;
/// The shortest time. Our choice.
const LEAST: usize = 8;
/// A time of the call that is compared with, before or after. Our choice.
const COMPARED: usize = 20;
/// A call that fills the path alone carries the same in every step: the middle 80 % of its rates
/// lie within this share of their median. Our choice.
const ALONE: f64 = 0.1;
/// The path has not changed if a queue tells at most this factor of the rate after the time: then
/// the call had the whole path. Our choice.
const SAME: f64 = 1.25;
/// A peak of the sawtooth: the delay falls to this share of it within three steps. Our choice.
const FALLS: f64 = 0.8;

pub(super) struct Rival;

impl Rule for Rival {
    fn cause(&self) -> Cause {
        Cause::Rival
    }

    fn says(&self) -> &'static str {
        "the queue stays long although the call sends less than it did without this queue"
    }

    fn source(&self) -> &'static str {
        "RFC 9438 § 4.6; Carlucci 2017 § IV"
    }

    fn remedies(&self) -> &'static [&'static str] {
        &["fq_codel", "cake", "fq", "codel"]
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.queue)).then_some("round-trip or one-way times")
    }

    fn find(&self, signals: &Signals, path: &Path, found: &[Finding]) -> Vec<Finding> {
        // The least delay of the window around each step.
        let stands = |step: usize| {
            let from = step.saturating_sub(STANDING / 2);
            let least = Signals::quantile(&signals.queue, from, from + STANDING, 0.0);
            least > LEAST_DELAY
                && !has(found, Cause::Outage, step)
                && !has(found, Cause::Application, step)
        };
        let times = joined(runs(signals.begin..signals.len, stands), 4, LEAST);
        // The queue of the flow grows before it stands, and empties afterwards.
        let whole = |(mut from, mut to): (usize, usize)| {
            let is_queue = |step: usize| signals.queue.get(step).is_some_and(|one| *one > QUEUED);
            let (first, last) = (from.saturating_sub(STANDING), to + STANDING);
            while from > first.max(signals.begin) && is_queue(from - 1) {
                from -= 1;
            }
            while to < last.min(signals.len) && is_queue(to) {
                to += 1;
            }
            (from, to)
        };
        let finding = |steps: (usize, usize)| {
            let rate = |from: usize, to: usize| Signals::mean(&signals.carried, from, to);
            let during = rate(steps.0 + 1, steps.1);
            let before = rate(steps.0.saturating_sub(COMPARED).max(signals.begin), steps.0);
            let after = rate(steps.1 + 3, (steps.1 + 3 + COMPARED).min(signals.len));
            let without = [before, after].into_iter().filter(|rate| rate.is_finite());
            let without = without.fold(f64::NAN, f64::max);
            let part = |share| Signals::quantile(&signals.carried, steps.0 + 1, steps.1, share);
            let is_alone = part(0.9) - part(0.1) < ALONE * part(0.5);
            let (from, to) = (steps.1 + 2, steps.1 + 2 + COMPARED);
            let told = Signals::quantile(&path.share, from, to, 0.5);
            let near = steps.0.saturating_sub(3)..steps.1;
            let is_backlog = near.into_iter().any(|step| has(found, Cause::Outage, step));
            if !exceeds(YIELDED * without, during) || is_alone || told < SAME * during || is_backlog
            {
                return None;
            }
            let delay = |share| Signals::quantile(&signals.queue, steps.0, steps.1, share);
            let teeth = (steps.0..steps.1)
                .filter(|&step| {
                    let next = Signals::quantile(&signals.queue, step + 1, step + 4, 0.0);
                    let before =
                        Signals::quantile(&signals.queue, step.saturating_sub(2), step, 1.0);
                    signals.queue[step] >= before && next < FALLS * signals.queue[step]
                })
                .count();
            let evidence = format!(
                "a queue of {} to {} did not empty, with {teeth} teeth, while the call carried {} \
                 in place of {}",
                ms(delay(0.05)),
                ms(delay(0.95)),
                kbps(during),
                kbps(without)
            );
            Some(Finding { cause: Cause::Rival, steps, evidence, series: &["queue", "carried"] })
        };
        times.into_iter().map(whole).filter_map(finding).collect()
    }
}
