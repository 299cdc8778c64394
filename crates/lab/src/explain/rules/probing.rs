//! Probes that failed.

use super::Rule;
use crate::explain::{Cause, Finding, Path, STEP, Signals};

/// Failed probes within this many steps are one finding. Our choice.
const GAP: usize = 10;
/// A single failed probe does not limit a call. Our choice.
const LEAST: f64 = 2.0;

pub(super) struct Probing;

impl Rule for Probing {
    fn cause(&self) -> Cause {
        Cause::Probing
    }

    fn says(&self) -> &'static str {
        "two or more probes within 10 s gave no rate"
    }

    fn source(&self) -> &'static str {
        "libwebrtc logging/rtc_event_log/rtc_event_log2.proto, BweProbeResultFailure"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        let has = super::is_known(&signals.failed_probes);
        (!has).then_some("results of probes, which only an RtcEventLog has")
    }

    fn find(&self, signals: &Signals, _: &Path, _: &[Finding]) -> Vec<Finding> {
        let failed = super::runs(0..signals.len, |step| signals.failed_probes[step] > 0.0);
        let finding = |steps: (usize, usize)| {
            let count: f64 = signals.failed_probes[steps.0..steps.1].iter().sum();
            (count >= LEAST).then(|| Finding {
                cause: Cause::Probing,
                steps,
                evidence: format!(
                    "{count} probes in {} s gave no rate",
                    (steps.1 - steps.0) as f64 * STEP
                ),
                series: &["failed probes"],
            })
        };
        super::joined(failed, GAP, 1).into_iter().filter_map(finding).collect()
    }
}
