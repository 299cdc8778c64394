//! The sender's application.

use super::{Rule, has, is_known, joined, kbps, runs};
use crate::explain::path::{QUEUED, USES_TARGET};
use crate::explain::{Cause, Finding, Path, Signals};

/// Shorter times are left out: a still picture. Our choice.
const LEAST: usize = 5;

pub(super) struct Application;

impl Rule for Application {
    fn cause(&self) -> Cause {
        Cause::Application
    }

    fn says(&self) -> &'static str {
        "the video sends less than 65 % of the target while no queue grows, or the controller says so"
    }

    fn source(&self) -> &'static str {
        "libwebrtc modules/congestion_controller/goog_cc/alr_detector.h (65 %)"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        let has = is_known(&signals.target) || is_known(&signals.limited);
        (!has).then_some("the target rate of the sender")
    }

    fn find(&self, signals: &Signals, _: &Path, found: &[Finding]) -> Vec<Finding> {
        let is_limited = |step: usize| {
            let stated = signals.limited[step] > 0.5;
            let below = signals.sent[step] < USES_TARGET * signals.target[step]
                && !(signals.queue[step] > QUEUED);
            (stated || below) && !has(found, Cause::Outage, step) && !has(found, Cause::Cpu, step)
        };
        let limited = joined(runs(signals.begin..signals.len, is_limited), 2, LEAST);
        let finding = |steps: (usize, usize)| {
            let [sent, target] =
                [&signals.sent, &signals.target].map(|all| Signals::mean(all, steps.0, steps.1));
            let evidence = format!("{} sent of {} allowed", kbps(sent), kbps(target));
            Finding { cause: Cause::Application, steps, evidence, series: &["sent", "target"] }
        };
        limited.into_iter().map(finding).collect()
    }
}
