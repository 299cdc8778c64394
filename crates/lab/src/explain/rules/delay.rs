//! Long round-trip times.

use super::{Rule, is_known, joined, ms, runs};
use crate::explain::{Cause, Finding, Path, Signals};

/// Conversation suffers above a one-way delay of 150 ms (ITU-T G.114 § 4): 300 ms there and back.
const LONG: f64 = 0.3;
/// Shorter times are left out. Our choice.
const LEAST: usize = 5;

pub(super) struct Delay;

impl Rule for Delay {
    fn cause(&self) -> Cause {
        Cause::Delay
    }

    fn says(&self) -> &'static str {
        "the round-trip time exceeds 300 ms for at least 5 s"
    }

    fn source(&self) -> &'static str {
        "ITU-T G.114 § 4 (150 ms one-way)"
    }

    fn remedies(&self) -> &'static [&'static str] {
        &["fq_codel", "cake", "codel"]
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.rtt)).then_some("round-trip times")
    }

    fn find(&self, signals: &Signals, path: &Path, _: &[Finding]) -> Vec<Finding> {
        let long = runs(signals.begin..signals.len, |step| signals.rtt[step] > LONG);
        let finding = |steps: (usize, usize)| {
            let median = Signals::quantile(&signals.rtt, steps.0, steps.1, 0.5);
            let cause = if path.base_rtt > LONG { "the path itself" } else { "queues" };
            let evidence = format!(
                "a median round-trip time of {}, of which {} are the path: {cause}",
                ms(median),
                ms(path.base_rtt)
            );
            Finding { cause: Cause::Delay, steps, evidence, series: &["round-trip time"] }
        };
        joined(long, 2, LEAST).into_iter().map(finding).collect()
    }
}
