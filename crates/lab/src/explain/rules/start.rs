//! A slow start.

use super::{Rule, has, is_known, kbps};
use crate::explain::{Cause, Finding, Path, Signals};

/// The rate that ends the start: this share of the rate of the time after it. Our choice.
const REACHED: f64 = 0.8;
/// The time after it, in steps. Our choice.
const AFTER: usize = 20;
/// A start that takes longer limits the call. libwebrtc's first probes take 2 s
/// (`modules/congestion_controller/goog_cc/probe_controller.cc`: 900 and 1,800 kbit/s at once).
const LONG: usize = 5;

pub(super) struct Start;

impl Rule for Start {
    fn cause(&self) -> Cause {
        Cause::Start
    }

    fn says(&self) -> &'static str {
        "the call needs more than 5 s for 80 % of the rate that it then has"
    }

    fn source(&self) -> &'static str {
        "libwebrtc modules/congestion_controller/goog_cc/probe_controller.cc (first probes)"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.carried)).then_some("rates")
    }

    fn find(&self, signals: &Signals, _: &Path, found: &[Finding]) -> Vec<Finding> {
        let begin = signals.begin;
        let rate = |from: usize, to: usize| Signals::quantile(&signals.carried, from, to, 0.5);
        // The first step that reaches the rate of the time after it.
        let reached = (begin..signals.len.saturating_sub(LONG))
            .find(|&step| signals.carried[step] >= REACHED * rate(step + 1, step + 1 + AFTER));
        let Some(end) = reached.filter(|end| end - begin > LONG) else { return Vec::new() };
        // A step of the capacity, an outage or a rival explains a late rise.
        let other = [Cause::Step, Cause::Outage, Cause::Rival, Cause::Loss];
        if (begin..end).any(|step| other.iter().any(|cause| has(found, *cause, step))) {
            return Vec::new();
        }
        let evidence = format!(
            "{} s from {} to {}",
            end - begin,
            kbps(Signals::mean(&signals.carried, begin, begin + 2)),
            kbps(rate(end, end + AFTER))
        );
        vec![Finding { cause: Cause::Start, steps: (begin, end), evidence, series: &["carried"] }]
    }
}
