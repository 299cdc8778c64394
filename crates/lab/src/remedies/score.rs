//! The score of a remedy: the quality of the call, the speed of the other traffic, and one number
//! for both.

use super::judge::{Judgement, Others};
use super::situation::Measure;
use metrics::{Estimate, mean};

/// The usability of a conversation with this delay in seconds, from 1 to 0: 1 − Idd / 50. Idd is
/// the delay impairment of the E-model (ITU-T G.107 (2015) eqs. 7-27, 7-28, with the defaults sT =
/// 1, mT = 100 ms), and 50 its maximum. At 150 ms, which ITU-T G.114 calls acceptable for most
/// applications, the factor is 1.00; at 400 ms, its limit for network planning, 0.52.
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

/// Runs of a situation with the same seed: with a remedy, without one, and with the call alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared<'j> {
    pub(crate) with: &'j Judgement,
    pub(crate) without: &'j Judgement,
    pub(crate) alone: &'j Judgement,
}

/// Lower rates count as this rate, bit/s: one Ethernet frame per second. It bounds the ratio of two
/// rates close to zero. Our choice.
pub(crate) const MIN_RATE: f64 = 12_000.0;
/// Lower page rates count as this rate, pages per second: one page per minute. Our choice.
const MIN_PAGES: f64 = 1.0 / 60.0;
/// Lower useful shares of a voice count as this share. Our choice.
const MIN_VOICE: f64 = 0.05;
/// Larger changes of speed, up or down, count as this factor, so that one starved section does not
/// dominate the mean. Our choice.
const MAX_RATIO: f64 = 10.0;
/// The least useful rate of the call alone, as a share of the maximum rate of its video. It bounds
/// the quality in a network that does not carry the call even alone. Our choice.
const MIN_ALONE: f64 = 0.05;
/// Longer frame delays count as this delay, seconds. Our choice.
const LONGEST_DELAY: f64 = 10.0;

impl Compared<'_> {
    /// The useful rate of the call over that of the call alone without a remedy.
    pub(crate) fn quality(&self) -> f64 {
        let alone = self.alone.call;
        self.with.call.useful_rate / alone.useful_rate.max(MIN_ALONE * alone.wanted_rate)
    }

    /// The speed of the other traffic over its speed without the remedy: the geometric mean over
    /// its sections; 1 without other traffic.
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

/// The ratio of the speeds of one section, from 0.1 to 10.
fn kept_of(with: &Others, without: &Others) -> f64 {
    let least = match with.measure {
        Measure::PageLoadTime => MIN_PAGES,
        Measure::Voice => MIN_VOICE,
        Measure::Call | Measure::CompletionTime | Measure::Rate => MIN_RATE,
    };
    (with.speed.max(least) / without.speed.max(least)).clamp(1.0 / MAX_RATIO, MAX_RATIO)
}

/// `quality`^`weight` × `kept`^(1 − `weight`). With a weight of 0.5 it is proportional fairness
/// between the call and the other traffic (Kelly, Maulloo and Tan 1998): doubling one is worth as
/// much as halving the other.
pub(crate) fn score(quality: f64, kept: f64, weight: f64) -> f64 {
    libm::pow(quality, weight) * libm::pow(kept, 1.0 - weight)
}

/// The result of a remedy over the runs of its situations. With several situations, each value is
/// the mean over the experiments of the mean over their situations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The scores: by seed in one situation, by cell in one experiment, otherwise by experiment.
    pub scores: Vec<f64>,
    /// The useful rate of the call over that of the call alone.
    pub quality: Estimate,
    /// The speed of the other traffic over its speed without the remedy.
    pub kept: Estimate,
    /// The goodput of the call, bit/s.
    pub goodput: Estimate,
    /// The logarithm of the ratio of the goodput to that without the remedy.
    pub goodput_change: Estimate,
    /// The 95th percentile of the frame delay, seconds; infinite in a run with a video without a
    /// frame.
    pub frame_delay_p95: Estimate,
    /// The logarithm of the ratio of the frame delay to that without the remedy.
    pub frame_delay_change: Estimate,
    /// The share of the time in which the picture is frozen.
    pub freeze_share: Estimate,
    /// The freeze share minus that without the remedy.
    pub freeze_change: Estimate,
    /// The recovery time of the runs in which other traffic ends, seconds; infinite in a run whose
    /// call does not recover.
    pub recovery_time: Estimate,
    /// Jain's index of all rates while two or more streams are active.
    pub jain: Estimate,
    /// The shown value of each section of other traffic, in the order of the situation; empty with
    /// several situations.
    pub beside: Vec<Estimate>,
}

/// The geometric mean of ratios, minus 1, from the mean of their logarithms.
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

    /// The cost for the other traffic: the share of its speed that it loses. Negative if it gains.
    #[must_use]
    pub fn cost(&self) -> f64 {
        1.0 - self.kept.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_factor_follows_the_e_model() {
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
    fn doubling_the_quality_is_worth_halving_the_speed_of_others() {
        assert!((score(0.8, 0.5, 0.5) - score(0.4, 1.0, 0.5)).abs() < 1e-12);
        assert_eq!(score(0.3, 0.9, 1.0), 0.3);
        assert_eq!(score(0.0, 1.2, 0.5), 0.0);
    }
}
