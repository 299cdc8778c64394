//! Losses without a queue.

use super::{Rule, exceeds, has, is_known, joined, ms, percent, runs};
use crate::explain::{Cause, Finding, Path, Signals};

/// Losses above this limit a sender: it does not increase its rate (draft-ietf-rmcat-gcc-02 § 6).
const LIMITS: f64 = 0.02;
/// Steps over which losses are averaged: at 50 packets per second, 2 % are ten packets. Our choice.
const WINDOW: usize = 10;
/// Losses are random if they occur with at most this queuing delay, s, as often as with more; those
/// of a full queue occur when it is longest. Our choice.
const EMPTY: f64 = 0.03;
/// The share of random losses at least. Our choice.
const WITHOUT_QUEUE: f64 = 0.5;

pub(super) struct Loss;

impl Rule for Loss {
    fn cause(&self) -> Cause {
        Cause::Loss
    }

    fn says(&self) -> &'static str {
        "at least 2 % of the packets are lost over 10 s while the queue is short"
    }

    fn source(&self) -> &'static str {
        "draft-ietf-rmcat-gcc-02 § 6 (2 %)"
    }

    fn missing(&self, signals: &Signals) -> Option<&'static str> {
        (!is_known(&signals.loss)).then_some("lost packets, or receiver reports")
    }

    fn find(&self, signals: &Signals, _: &Path, found: &[Finding]) -> Vec<Finding> {
        // Losses outside of outages and without a queue.
        let random: Vec<f64> = (0..signals.len)
            .map(|step| {
                let near = has(found, Cause::Outage, step)
                    || has(found, Cause::Outage, step.saturating_sub(1))
                    || has(found, Cause::Outage, step + 1)
                    || has(found, Cause::Rival, step);
                if near { f64::NAN } else { signals.loss[step] }
            })
            .collect();
        let is_lossy = |step: usize| {
            let (from, to) = (step.saturating_sub(WINDOW / 2), step + WINDOW / 2);
            if !exceeds(Signals::mean(&random, from, to), LIMITS) {
                return false;
            }
            let all = (from..to.min(signals.len)).filter(|step| random[*step] > 0.0);
            let total: f64 = all.clone().map(|step| random[step]).sum();
            let without = all.filter(|step| {
                // Delays are measured before or after a loss.
                let most = Signals::quantile(&signals.queue, step.saturating_sub(1), step + 2, 1.0);
                !exceeds(most, EMPTY)
            });
            without.map(|step| random[step]).sum::<f64>() >= WITHOUT_QUEUE * total
        };
        let lossy = joined(runs(signals.begin..signals.len, is_lossy), 3, WINDOW / 2);
        let finding = |steps: (usize, usize)| {
            let loss = Signals::mean(&random, steps.0, steps.1);
            let queue = Signals::quantile(&signals.queue, steps.0, steps.1, 0.5);
            let evidence =
                format!("{} lost, with a median queuing delay of {}", percent(loss), ms(queue));
            Finding { cause: Cause::Loss, steps, evidence, series: &["loss", "queue"] }
        };
        lossy.into_iter().map(finding).collect()
    }
}
