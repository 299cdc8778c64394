//! How good a remedy is: for the call, for what is beside it, and for both in one number.

use super::judge::{Judgement, Others};
use super::situation::Measure;
use metrics::{Estimate, mean};

/// What a delay leaves of a conversation, between 1 and 0: 1 − Idd / 50, where Idd is the
/// impairment by absolute delay of the E-model (ITU-T G.107 (2015) eqs. 7-27, 7-28, with their
/// default sT = 1, mT = 100 ms) and 50 the most that it comes to. `delay` is in seconds. G.114
/// calls 150 ms good for most, where it is 1.00, and 400 ms the limit of planning, where it is
/// 0.52.
#[must_use]
pub fn delay_factor(delay: f64) -> f64 {
    if delay <= 0.1 {
        return 1.0;
    }
    if delay.is_infinite() {
        return 0.0;
    }
    let x = libm::log2(delay / 0.1);
    let sixth_root = |value: f64| libm::pow(value, 1.0 / 6.0);
    let idd = 25.0
        * (sixth_root(1.0 + libm::pow(x, 6.0)) - 3.0 * sixth_root(1.0 + libm::pow(x / 3.0, 6.0))
            + 2.0);
    (1.0 - idd / 50.0).clamp(0.0, 1.0)
}

/// One run of a situation: as it is with a remedy, as it stands without one, and with the call
/// alone; all with one seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared<'j> {
    pub(crate) with: &'j Judgement,
    pub(crate) without: &'j Judgement,
    pub(crate) alone: &'j Judgement,
}

/// A rate below that counts as that: a packet of Ethernet a second. Between two that are next to
/// nothing there is no ratio. Ours.
const MIN_RATE: f64 = 12_000.0;
/// Nobody reads pages that come more rarely than once a minute. Ours.
const MIN_PAGES: f64 = 1.0 / 60.0;
/// Nobody follows a voice of which less than a twentieth is of use. Ours.
const MIN_VOICE: f64 = 0.05;
/// What goes better or worse than ten times counts as ten times: one section that was starved does
/// not decide for all others. Ours.
const MOST: f64 = 10.0;
/// A call alone counts as a twentieth of what its video takes at most, if it has less: it is no
/// measure where the network does not carry it even alone. Ours.
const MIN_ALONE: f64 = 0.05;
/// Nobody talks over delays beyond that, seconds: longer ones count as it. Ours.
const LONGEST_DELAY: f64 = 10.0;

impl Compared<'_> {
    /// The call's useful rate over that of the call alone in the network as it stands.
    pub(crate) fn quality(&self) -> f64 {
        let alone = self.alone.call;
        self.with.call.useful_rate / alone.useful_rate.max(MIN_ALONE * alone.wanted_rate)
    }

    /// How fast what is beside the call is, over how fast it is without the remedy: the geometric
    /// mean over its sections; 1 if there is nothing.
    pub(crate) fn kept(&self) -> f64 {
        let each = self.with.beside.iter().zip(&self.without.beside);
        let logs: Vec<f64> =
            each.map(|(with, without)| libm::log(kept_of(with, without))).collect();
        if logs.is_empty() { 1.0 } else { libm::exp(mean(&logs)) }
    }

    /// The logarithm of the ratio of goodputs.
    pub(crate) fn goodput_change(&self) -> f64 {
        let of = |judgement: &Judgement| judgement.call.goodput.max(MIN_RATE);
        libm::log(of(self.with) / of(self.without))
    }

    /// The logarithm of the ratio of frame delays.
    pub(crate) fn frame_delay_change(&self) -> f64 {
        let of = |judgement: &Judgement| judgement.call.frame_delay_p95.min(LONGEST_DELAY);
        libm::log(of(self.with) / of(self.without))
    }
}

/// The ratio of the speeds of one section, between a tenth and ten.
fn kept_of(with: &Others, without: &Others) -> f64 {
    let least = match with.measure {
        Measure::PageLoadTime => MIN_PAGES,
        Measure::Voice => MIN_VOICE,
        Measure::Call | Measure::CompletionTime | Measure::Rate => MIN_RATE,
    };
    (with.speed.max(least) / without.speed.max(least)).clamp(1.0 / MOST, MOST)
}

/// Both in one number: `quality` to the power of `weight`, times `kept` to the rest. With a weight
/// of one half it is proportional fairness between the call and the others (Kelly, Maulloo and Tan
/// 1998): to double the one is worth as much as to halve the other.
pub(crate) fn score(quality: f64, kept: f64, weight: f64) -> f64 {
    libm::pow(quality, weight) * libm::pow(kept, 1.0 - weight)
}

/// How a remedy did, over the runs of its situations. Of several situations each value is the mean
/// of their means, each experiment counting once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The score, by seed; of several situations by cell, and of several experiments by experiment.
    pub scores: Vec<f64>,
    /// The call's useful rate over that of the call alone.
    pub quality: Estimate,
    /// The speed of what is beside the call over that without the remedy.
    pub kept: Estimate,
    /// bit/s.
    pub goodput: Estimate,
    /// The logarithm of its ratio to that without the remedy.
    pub goodput_change: Estimate,
    /// Seconds; infinite in a run with a video that had no frame.
    pub frame_delay_p95: Estimate,
    /// The logarithm of its ratio to that without the remedy.
    pub frame_delay_change: Estimate,
    /// A share of the call's time.
    pub freeze_share: Estimate,
    /// Less that without the remedy.
    pub freeze_change: Estimate,
    /// Seconds, of the runs that had something to recover from; infinite in one whose call never
    /// did.
    pub recovery_time: Estimate,
    /// Jain's index of all rates, while there are several.
    pub jain: Estimate,
    /// What was beside the call, in the order of the situation, of one situation alone.
    pub beside: Vec<Estimate>,
}

/// The geometric mean of ratios less 1, of their logarithms.
#[must_use]
pub fn change(logarithms: &Estimate) -> Estimate {
    let mean = libm::exp(logarithms.mean);
    let half_width = logarithms.half_width.map(|half| mean * libm::sinh(half));
    Estimate { mean: mean - 1.0, half_width, ..*logarithms }
}

impl Standing {
    /// The mean score.
    #[must_use]
    pub fn score(&self) -> f64 {
        mean(&self.scores)
    }

    /// What the others pay: the share of their speed that they lose. Below zero they gain.
    #[must_use]
    pub fn cost(&self) -> f64 {
        1.0 - self.kept.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_counts_as_in_the_e_model() {
        // Idd of the formula: 0 to 100 ms, 0.16 at 150, 3.05 at 200, 24.1 at 400 (X = 2: 25·(65^⅙ −
        // 3·(1 + (2/3)⁶)^⅙ + 2)).
        for (delay, factor) in
            [(0.02, 1.0), (0.1, 1.0), (0.15, 0.997), (0.2, 0.939), (0.4, 0.518), (1.0, 0.123)]
        {
            assert!(
                (delay_factor(delay) - factor).abs() < 0.002,
                "{delay}: {}",
                delay_factor(delay)
            );
        }
        assert_eq!(delay_factor(f64::INFINITY), 0.0);
        assert!(delay_factor(60.0) >= 0.0 && delay_factor(3.0) < delay_factor(1.0));
    }

    #[test]
    fn to_double_the_one_is_worth_to_halve_the_other() {
        assert!((score(0.8, 0.5, 0.5) - score(0.4, 1.0, 0.5)).abs() < 1e-12);
        assert_eq!(score(0.3, 0.9, 1.0), 0.3);
        assert_eq!(score(0.0, 1.2, 0.5), 0.0);
    }
}
