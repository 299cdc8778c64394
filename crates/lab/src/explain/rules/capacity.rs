//! The capacity of the path.

use super::{Rule, has, is_known, joined, kbps, ms, runs};
use crate::explain::path::QUEUED;
use crate::explain::{Cause, Finding, Path, Signals};

/// A queue that a controller makes comes back at least this often, in steps: with the additive
/// increase of GCC, half a packet per round trip, a period is below 20 s (Carlucci 2017, Fig. 8).
const PERIOD: usize = 12;
/// Shorter times are left out. Our choice.
const LEAST: usize = 5;

pub(super) struct Capacity;

impl Rule for Capacity {
    fn cause(&self) -> Cause {
        Cause::Capacity
    }

    fn says(&self) -> &'static str {
        "a queue or an over-use signal appears again and again within 12 s, and the call sends \
         what its target allows"
    }

    fn source(&self) -> &'static str {
        "Carlucci 2017 Table 1 (12.5 ms) and Fig. 8"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.queue)).then_some("round-trip or one-way times")
    }

    fn find(&self, signals: &Signals, path: &Path, found: &[Finding]) -> Vec<Finding> {
        let is_queue =
            |step: usize| signals.queue[step] > QUEUED || signals.overused[step].is_finite();
        let queues = |step: usize| {
            is_queue(step)
                && !has(found, Cause::Application, step)
                && !has(found, Cause::Outage, step)
                && !has(found, Cause::Rival, step)
        };
        let times = joined(runs(signals.begin..signals.len, queues), PERIOD, LEAST);
        let finding = |steps: (usize, usize)| {
            let count = (steps.0..steps.1).filter(|step| is_queue(*step)).count();
            // A single short queue, as of a key frame, is none.
            (count >= 3).then(|| {
                let share = Signals::quantile(&path.share, steps.0, steps.1, 0.5);
                let rate = if share.is_finite() {
                    share
                } else {
                    Signals::quantile(&signals.carried, steps.0, steps.1, 0.5)
                };
                let most = Signals::quantile(&signals.queue, steps.0, steps.1, 0.95);
                let evidence = format!(
                    "queues of up to {} in {count} of {} s, at {}",
                    ms(most),
                    steps.1 - steps.0,
                    kbps(rate)
                );
                Finding { cause: Cause::Capacity, steps, evidence, series: &["queue", "carried"] }
            })
        };
        times.into_iter().filter_map(finding).collect()
    }
}
