//! Remedies in order.

use super::advice::Advice;
use super::score::Standing;
use metrics::{half_width, mean};

/// A remedy, or what stands already, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// Which of the remedies; `None`: as it stands.
    pub remedy: Option<usize>,
    /// How it did.
    pub standing: Standing,
    /// From 1, by mean score.
    pub place: usize,
    /// Whether chance may have parted it from the best.
    pub as_good: bool,
}

/// How a ranking of few seeds agrees with one of many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Kendall's rank correlation τ-b of the mean scores.
    pub tau: f64,
    /// Pairs that the few seeds tell apart,
    pub told_apart: usize,
    /// and how many of them stand the other way round with many.
    pub turned: usize,
    /// Whether the best of many is among those that few do not part from their best,
    pub same_best: bool,
    /// and whether it is their first.
    pub same_first: bool,
}

impl Agreement {
    /// Whether they agree: on the best, and on all pairs that few tell apart but for as many as
    /// chance may have told wrongly. Seeds that tell nothing apart agree with nothing.
    #[must_use]
    pub fn holds(&self) -> bool {
        let by_chance = (1.0 - CONFIDENCE) * self.told_apart as f64;
        self.told_apart > 0 && self.same_best && self.turned as f64 <= by_chance
    }
}

/// How sure it is that two scores differ. Some twenty remedies are two hundred pairs: at the usual
/// 95 % chance would part ten.
const CONFIDENCE: f64 = 0.99;

/// Whether the first score is higher than the second beyond chance: a paired t-test over what both
/// share, seeds, cells or experiments.
fn is_higher(one: &[f64], other: &[f64]) -> bool {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    half_width(&differences, CONFIDENCE).is_some_and(|half| mean(&differences) > half)
}

impl Advice {
    /// The remedies that can be applied, and what stands already, the best first; over the first
    /// `runs` runs of each situation.
    #[must_use]
    pub fn ranks(&self, runs: usize, weight: f64) -> Vec<Rank> {
        let all = std::iter::once(None).chain((0..self.remedies.len()).map(Some));
        let standings =
            all.filter_map(|remedy| Some((remedy, self.standing(remedy, runs, weight)?)));
        ranked(standings.collect())
    }

    /// How a ranking by some of the runs agrees with that by all.
    #[must_use]
    pub fn agreement(&self, few: &[Rank], weight: f64) -> Agreement {
        agreement(few, &self.ranks(usize::MAX, weight))
    }
}

fn ranked(mut standings: Vec<(Option<usize>, Standing)>) -> Vec<Rank> {
    // Stable: of equals what stands already comes first, then the order of the catalogue.
    standings.sort_by(|(_, one), (_, other)| other.score().total_cmp(&one.score()));
    let best = standings.first().map(|(_, best)| best.scores.clone()).unwrap_or_default();
    let rank = |(place, (remedy, standing)): (usize, (Option<usize>, Standing))| {
        let as_good = !is_higher(&best, &standing.scores);
        Rank { remedy, standing, place: place + 1, as_good }
    };
    standings.into_iter().enumerate().map(rank).collect()
}

fn agreement(few: &[Rank], many: &[Rank]) -> Agreement {
    let of = |rank: &Rank| {
        many.iter()
            .find(|other| other.remedy == rank.remedy)
            .map_or(f64::NAN, |rank| rank.standing.score())
    };
    let pairs: Vec<(&Rank, f64)> = few.iter().map(|rank| (rank, of(rank))).collect();
    let (mut concordant, mut ties, mut count) = (0.0, [0.0, 0.0], 0.0);
    let (mut told_apart, mut turned) = (0, 0);
    for (place, (one, one_of_many)) in pairs.iter().enumerate() {
        for (other, other_of_many) in &pairs[place + 1..] {
            let in_few = one.standing.score() - other.standing.score();
            let in_many = one_of_many - other_of_many;
            count += 1.0;
            ties[0] += f64::from(u8::from(in_few == 0.0));
            ties[1] += f64::from(u8::from(in_many == 0.0));
            if in_few != 0.0 && in_many != 0.0 {
                concordant += in_few.signum() * in_many.signum();
            }
            if is_higher(&one.standing.scores, &other.standing.scores) {
                told_apart += 1;
                turned += usize::from(in_many < 0.0);
            }
        }
    }
    let tau = concordant / ((count - ties[0]) * (count - ties[1])).sqrt();
    let best = many.first().map(|rank| rank.remedy);
    let same_best = few.iter().filter(|rank| rank.as_good).any(|rank| Some(rank.remedy) == best);
    let same_first = few.first().map(|rank| rank.remedy) == best;
    Agreement { tau, told_apart, turned, same_best, same_first }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(scores: &[f64]) -> Standing {
        Standing { scores: scores.to_vec(), ..Standing::default() }
    }

    #[test]
    fn what_chance_may_have_parted_is_as_good() {
        let standings = vec![
            (None, standing(&[0.1, 0.2, 0.1])),
            (Some(0), standing(&[0.8, 0.9, 0.7])),
            (Some(1), standing(&[0.9, 0.8, 0.71])),
            (Some(2), standing(&[0.5, 0.41, 0.3])),
        ];
        let ranks = ranked(standings);
        let places: Vec<_> =
            ranks.iter().map(|rank| (rank.remedy, rank.place, rank.as_good)).collect();
        let expected =
            [(Some(1), 1, true), (Some(0), 2, true), (Some(2), 3, false), (None, 4, false)];
        assert_eq!(places, expected);
    }

    #[test]
    fn agreement_is_counted_in_pairs() {
        let few = ranked(vec![
            (None, standing(&[0.1, 0.1])),
            (Some(0), standing(&[0.9, 0.9])),
            (Some(1), standing(&[0.5, 0.5])),
        ]);
        let same =
            Agreement { tau: 1.0, told_apart: 3, turned: 0, same_best: true, same_first: true };
        assert_eq!(agreement(&few, &few), same);
        let many = ranked(vec![
            (None, standing(&[0.1, 0.1])),
            (Some(0), standing(&[0.6, 0.6])),
            (Some(1), standing(&[0.7, 0.7])),
        ]);
        let Agreement { tau, told_apart, turned, same_best, same_first } = agreement(&few, &many);
        assert!((tau - 1.0 / 3.0).abs() < 1e-12, "{tau}");
        assert_eq!((told_apart, turned, same_best, same_first), (3, 1, false, false));
        assert!(agreement(&few, &few).holds() && !agreement(&few, &many).holds());
    }
}
