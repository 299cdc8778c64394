//! Nothing arrived.

use super::{Rule, is_known, joined, runs};
use crate::explain::{Cause, Finding, Path, Signals};

/// A step without any packet is an outage: a video of 10 frames per second sends every 100 ms, and
/// libwebrtc's senders send padding or audio otherwise. The first steps of a call are not: the
/// connection is being made. Our choice.
const FIRST: usize = 3;
/// Without records of the receiver: no receiver report for this many steps, of which one per second
/// is usual and two are sent in the longest allowed interval of 5 s (RFC 3550 § 6.2).
const REPORTS: usize = 5;

pub(super) struct Outage;

impl Rule for Outage {
    fn cause(&self) -> Cause {
        Cause::Outage
    }

    fn says(&self) -> &'static str {
        "packets were sent for a second, and none arrived; or no report came back for 5 s"
    }

    fn source(&self) -> &'static str {
        "our choice; RFC 3550 § 6.2 for the interval of reports"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        let has_end = is_known(&signals.received) || is_known(&signals.rtt);
        (!has_end).then_some("what the receiver got, or receiver reports")
    }

    fn find(&self, signals: &Signals, _: &Path, _: &[Finding]) -> Vec<Finding> {
        let from = signals.begin + FIRST;
        let was_sent = |step: usize| !is_known(&signals.sent) || signals.sent[step] > 0.0;
        let was_received = is_known(&signals.received);
        let is_silent = |step: usize| {
            if was_received {
                signals.received[step] == 0.0 && was_sent(step)
            } else {
                is_known(&signals.rtt) && signals.rtt[step].is_nan() && was_sent(step)
            }
        };
        // After its end a stream is silent too.
        let alive = |step: &usize| signals.received[*step] > 0.0 || signals.rtt[*step] > 0.0;
        let last = (0..signals.len).rev().find(alive).unwrap_or(0);
        let gaps = joined(runs(from.min(last)..last, is_silent), 1, 1);
        let finding = |(from, to): (usize, usize)| Finding {
            cause: Cause::Outage,
            steps: (if was_received { from } else { from.saturating_sub(REPORTS) }, to),
            evidence: format!("nothing arrived for about {} s", to - from),
            series: &["sent", "received"],
        };
        gaps.into_iter().map(finding).collect()
    }
}
