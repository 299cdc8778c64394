//! The receiver.

use super::{Rule, exceeds, is_known, joined, kbps, percent, runs};
use crate::explain::{Cause, Finding, Path, Signals};

/// The target is that of the receiver's message if it is at most this much higher: the message
/// covers the whole call, the target may be of the same step or the next. Our choice.
const FOLLOWS: f64 = 1.05;
/// A receiver that decodes less than this share of the frames that arrive is too slow; a few frames
/// are dropped at every key frame. Our choice.
const DECODED: f64 = 0.8;
/// Frames that are not decoded within this many steps after a loss or an outage are not the
/// receiver's fault. Our choice.
const SINCE: usize = 10;
/// Shorter times are left out. Our choice.
const LEAST: usize = 3;

pub(super) struct Receiver;

impl Rule for Receiver {
    fn cause(&self) -> Cause {
        Cause::Receiver
    }

    fn says(&self) -> &'static str {
        "the target is the limit that the receiver states (REMB), or frames arrive that it does not decode"
    }

    fn source(&self) -> &'static str {
        "draft-alvestrand-rmcat-remb-03 § 2; W3C webrtc-stats, framesDecoded"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        let has = is_known(&signals.receiver_limit) || is_known(&signals.undecoded);
        (!has).then_some("messages of the receiver about its limit, or its statistics of frames")
    }

    fn find(&self, signals: &Signals, _: &Path, found: &[Finding]) -> Vec<Finding> {
        let steps = || signals.begin..signals.len;
        let states = runs(steps(), |step| {
            signals.receiver_limit[step] > 0.0
                && signals.target[step] <= FOLLOWS * signals.receiver_limit[step]
                && signals.target[step] >= signals.receiver_limit[step] / FOLLOWS
        });
        let stated = joined(states, 2, LEAST).into_iter().map(|steps| {
            let limit = Signals::mean(&signals.receiver_limit, steps.0, steps.1);
            let evidence = format!("the receiver allowed {}", kbps(limit));
            let series = &["target", "receiver limit"][..];
            Finding { cause: Cause::Receiver, steps, evidence, series }
        });
        let slow = runs(steps(), |step| {
            // After a loss, frames wait for their reference or a key frame.
            let from = step.saturating_sub(SINCE);
            let lost = Signals::quantile(&signals.loss, from, step + 1, 1.0);
            signals.undecoded[step] > 1.0 - DECODED
                && !exceeds(lost, 0.0)
                && !(from..=step).any(|step| super::has(found, Cause::Outage, step))
        });
        let slow = joined(slow, 1, LEAST).into_iter().map(|steps| {
            let share = Signals::mean(&signals.undecoded, steps.0, steps.1);
            let evidence =
                format!("{} of the frames that arrived were not decoded", percent(share));
            Finding { cause: Cause::Receiver, steps, evidence, series: &["undecoded frames"] }
        });
        stated.chain(slow).collect()
    }
}
