//! The path of a call, as its endpoints can know it.

use super::signals::exceeds;
use super::{Cause, Finding, Signals};

/// A queue holds packets of the call if its delay exceeds this, s. libwebrtc's overuse detector
/// starts at the same value (Carlucci 2017, Table 1: the initial threshold is 12.5 ms).
pub(super) const QUEUED: f64 = 0.012_5;
/// The call is not limited by its application if it sends at least this share of its target.
/// Encoders miss their target by some per cent: libwebrtc's own detector of application-limited
/// regions starts below 65 % of the target
/// (`modules/congestion_controller/goog_cc/alr_detector.h`).
pub(super) const USES_TARGET: f64 = 0.65;
/// Steps over which a capacity is averaged: the queue of one step is filled and emptied by the
/// controller within a few. Our choice.
const WINDOW: usize = 3;
/// A capacity holds for this many steps after it was seen. Our choice.
const HOLD: usize = 10;

/// The path.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// The capacity that was left for the call in each step, with IP and UDP, bit/s;
    /// not-a-number where no queue told it.
    pub share: Vec<f64>,
    /// The median of these; not-a-number if there is none.
    pub capacity: f64,
    /// The quartiles of these.
    pub quartiles: (f64, f64),
    /// The least round-trip time, s.
    pub base_rtt: f64,
    /// The greatest queuing delay, s: the buffer is at least as long.
    pub buffer_delay: f64,
    /// Whether packets were lost while the queue was longest, so that the buffer is as long as
    /// `buffer_delay`.
    pub is_full: bool,
    /// The share of packets lost while no queue was there.
    pub random_loss: f64,
}

impl Path {
    /// The path of a call.
    #[must_use]
    pub fn of(signals: &Signals) -> Self {
        let mut share = vec![f64::NAN; signals.len];
        for (step, share) in share.iter_mut().enumerate().skip(signals.begin) {
            // The queue was there during the whole step: before, in it and after.
            let from = step.saturating_sub(1);
            let least = Signals::quantile(&signals.standing, from, step + 2, 0.0);
            if least > QUEUED && signals.carried[step] > 0.0 {
                *share = signals.carried[step];
            } else {
                *share = signals.overused[step];
            }
        }
        let seen = share.clone();
        for (step, share) in share.iter_mut().enumerate().filter(|(step, _)| seen[*step] > 0.0) {
            let (from, to) = (step.saturating_sub(WINDOW / 2), step + WINDOW.div_ceil(2));
            *share = Signals::mean(&seen, from, to);
        }
        let buffer_delay = Signals::quantile(&signals.queue, signals.begin, signals.len, 1.0);
        let longest = signals.queue.iter().position(|delay| *delay == buffer_delay);
        let is_full = longest.is_some_and(|step| {
            Signals::quantile(&signals.loss, step.saturating_sub(1), step + 2, 1.0) > 0.0
        });
        let without: Vec<f64> = (0..signals.len)
            .filter(|step| !exceeds(signals.queue[*step], QUEUED) && signals.loss[*step] < 1.0)
            .map(|step| signals.loss[step])
            .collect();
        let mut path = Self {
            base_rtt: signals.base_rtt,
            buffer_delay,
            is_full,
            random_loss: Signals::mean(&without, 0, without.len()),
            share,
            ..Self::default()
        };
        path.summarise(&[]);
        path
    }

    /// The median and the quartiles of the capacity, without the steps in which a rival had a part
    /// of it.
    pub(super) fn summarise(&mut self, found: &[Finding]) {
        let mut alone = self.share.clone();
        for rival in found.iter().filter(|finding| finding.cause == Cause::Rival) {
            alone[rival.steps.0..rival.steps.1.min(self.share.len())].fill(f64::NAN);
        }
        let quantile = |part| Signals::quantile(&alone, 0, alone.len(), part);
        (self.capacity, self.quartiles) = (quantile(0.5), (quantile(0.25), quantile(0.75)));
    }

    /// The capacity of a step, which holds for a while after it was seen.
    #[must_use]
    pub fn capacity_at(&self, step: usize) -> f64 {
        let from = step.saturating_sub(HOLD);
        let seen = self.share.get(from..=step).unwrap_or_default();
        seen.iter().rev().copied().find(|share| share.is_finite()).unwrap_or(f64::NAN)
    }
}
