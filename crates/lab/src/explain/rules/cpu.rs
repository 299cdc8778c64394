//! The sender's processor.

use super::{Rule, is_known, joined, percent, runs};
use crate::explain::{Cause, Finding, Path, Signals};

/// The encoder says that the processor limits it in at least this share of a step. Our choice.
const SHARE: f64 = 0.5;

pub(super) struct Cpu;

impl Rule for Cpu {
    fn cause(&self) -> Cause {
        Cause::Cpu
    }

    fn says(&self) -> &'static str {
        "the encoder reports that the processor limits resolution or frame rate"
    }

    fn source(&self) -> &'static str {
        "W3C webrtc-stats, qualityLimitationDurations"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.cpu)).then_some("qualityLimitationDurations of the sender")
    }

    fn find(&self, signals: &Signals, _: &Path, _: &[Finding]) -> Vec<Finding> {
        let limited = runs(signals.begin..signals.len, |step| signals.cpu[step] >= SHARE);
        let finding = |steps: (usize, usize)| {
            let share = Signals::mean(&signals.cpu, steps.0, steps.1).min(1.0);
            let evidence =
                format!("the processor limited the encoder in {} of the time", percent(share));
            Finding { cause: Cause::Cpu, steps, evidence, series: &["cpu"] }
        };
        joined(limited, 2, 2).into_iter().map(finding).collect()
    }
}
