//! The sender's application.

use super::{Rule, exceeds, has, is_known, joined, kbps, runs};
use crate::explain::path::{QUEUED, USES_TARGET};
use crate::explain::{Cause, Finding, Path, Signals};

/// Shorter times are left out: a still picture. Our choice.
const LEAST: usize = 5;

/// A target is at its greatest value for at least this many steps, and within this share of it. Our
/// choice.
const FLAT: usize = 10;
const AT_MOST: f64 = 0.99;

pub(super) struct Application;

impl Rule for Application {
    fn cause(&self) -> Cause {
        Cause::Application
    }

    fn says(&self) -> &'static str {
        "no queue is there, and the video sends less than 65 % of the target, or the target stays at its \
         greatest value, or the controller says so"
    }

    fn source(&self) -> &'static str {
        "libwebrtc modules/congestion_controller/goog_cc/alr_detector.h (65 %)"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        let has = is_known(&signals.target) || is_known(&signals.limited);
        (!has).then_some("the target rate of the sender")
    }

    fn find(&self, signals: &Signals, _: &Path, found: &[Finding]) -> Vec<Finding> {
        let most = Signals::quantile(&signals.target, signals.begin, signals.len, 1.0);
        let is_limited = |step: usize| {
            let stated = signals.limited[step] > 0.5;
            let below = signals.sent[step] < USES_TARGET * signals.target[step];
            // A target at its greatest value, without losses, does not grow because it may not.
            let from = step.saturating_sub(FLAT);
            let is_flat = Signals::quantile(&signals.target, from, step + 1, 0.0) >= AT_MOST * most
                && step >= signals.begin + FLAT
                && !exceeds(signals.loss[step], 0.0);
            (stated || below || is_flat)
                && !exceeds(signals.queue[step], QUEUED)
                && !has(found, Cause::Outage, step)
                && !has(found, Cause::Cpu, step)
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
