//! Ranking of remedies.

use super::advice::Advice;
use super::score::Standing;
use metrics::{half_width, mean};

/// The rank of a remedy, or of the network without a remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// The index of the remedy; `None` without a remedy.
    pub remedy: Option<usize>,
    /// The result.
    pub standing: Standing,
    /// The position by mean score, from 1.
    pub position: usize,
    /// Whether the difference to the best may be chance.
    pub as_good: bool,
}

/// The agreement of a ranking by few seeds with a ranking by many seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Kendall's rank correlation τ-b of the mean scores.
    pub tau: f64,
    /// The number of pairs of remedies that differ significantly with few seeds.
    pub separated: usize,
    /// The number of these pairs whose order is reversed with many seeds.
    pub reversed: usize,
    /// Whether the best remedy of many seeds is among those that do not differ significantly from
    /// the best with few seeds.
    pub same_best: bool,
    /// Whether both rankings have the same best remedy.
    pub same_first: bool,
}

impl Agreement {
    /// Whether the rankings agree: few seeds separate at least one pair, both contain the same best
    /// remedy, and not more pairs are reversed than the confidence level allows by chance.
    #[must_use]
    pub fn holds(&self) -> bool {
        let by_chance = (1.0 - CONFIDENCE) * self.separated as f64;
        self.separated > 0 && self.same_best && self.reversed as f64 <= by_chance
    }
}

/// The confidence level for a difference of two scores. About 20 remedies have about 200 pairs, of
/// which the usual level of 95 % would separate 10 by chance.
const CONFIDENCE: f64 = 0.99;

/// A smaller difference of two scores means nothing to a user. Near the least quality, which
/// [`MIN_RATE`](super::score::MIN_RATE) bounds, all seeds give almost the same score, and a t-test
/// would separate any two. Our choice.
const RELEVANT: f64 = 0.01;

/// Whether the first score is higher than the second, by a relevant and significant difference: a
/// paired t-test over the seeds, cells or experiments of both.
fn is_higher(one: &[f64], other: &[f64]) -> bool {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    half_width(&differences, CONFIDENCE).is_some_and(|half| mean(&differences) > half.max(RELEVANT))
}

impl Advice {
    /// The applicable remedies and the network without a remedy, best first, over the first `runs`
    /// runs of each situation.
    #[must_use]
    pub fn ranks(&self, runs: usize, weight: f64) -> Vec<Rank> {
        let all = std::iter::once(None).chain((0..self.remedies.len()).map(Some));
        let standings =
            all.filter_map(|remedy| Some((remedy, self.standing(remedy, runs, weight)?)));
        ranked(standings.collect())
    }

    /// The agreement of a ranking by some of the runs with the ranking by all runs.
    #[must_use]
    pub fn agreement(&self, few: &[Rank], weight: f64) -> Agreement {
        agreement(few, &self.ranks(usize::MAX, weight))
    }
}

fn ranked(mut standings: Vec<(Option<usize>, Standing)>) -> Vec<Rank> {
    // The sort is stable: among equal scores the network without a remedy comes first, then the
    // order of the catalogue.
    standings.sort_by(|(_, one), (_, other)| other.score().total_cmp(&one.score()));
    let best = standings.first().map(|(_, best)| best.scores.clone()).unwrap_or_default();
    let rank = |(index, (remedy, standing)): (usize, (Option<usize>, Standing))| {
        let as_good = !is_higher(&best, &standing.scores);
        Rank { remedy, standing, position: index + 1, as_good }
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
    let (mut separated, mut reversed) = (0, 0);
    for (index, (one, one_of_many)) in pairs.iter().enumerate() {
        for (other, other_of_many) in &pairs[index + 1..] {
            let in_few = one.standing.score() - other.standing.score();
            let in_many = one_of_many - other_of_many;
            count += 1.0;
            ties[0] += f64::from(u8::from(in_few == 0.0));
            ties[1] += f64::from(u8::from(in_many == 0.0));
            if in_few != 0.0 && in_many != 0.0 {
                concordant += in_few.signum() * in_many.signum();
            }
            if is_higher(&one.standing.scores, &other.standing.scores) {
                separated += 1;
                reversed += usize::from(in_many < 0.0);
            }
        }
    }
    let tau = concordant / ((count - ties[0]) * (count - ties[1])).sqrt();
    let best = many.first().map(|rank| rank.remedy);
    let same_best = few.iter().filter(|rank| rank.as_good).any(|rank| Some(rank.remedy) == best);
    let same_first = few.first().map(|rank| rank.remedy) == best;
    Agreement { tau, separated, reversed, same_best, same_first }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(scores: &[f64]) -> Standing {
        Standing { scores: scores.to_vec(), ..Standing::default() }
    }

    #[test]
    fn remedies_without_a_significant_difference_are_equal() {
        let standings = vec![
            (None, standing(&[0.1, 0.2, 0.1])),
            (Some(0), standing(&[0.8, 0.9, 0.7])),
            (Some(1), standing(&[0.9, 0.8, 0.71])),
            (Some(2), standing(&[0.5, 0.41, 0.3])),
        ];
        let ranks = ranked(standings);
        let positions: Vec<_> =
            ranks.iter().map(|rank| (rank.remedy, rank.position, rank.as_good)).collect();
        let expected =
            [(Some(1), 1, true), (Some(0), 2, true), (Some(2), 3, false), (None, 4, false)];
        assert_eq!(positions, expected);
    }

    #[test]
    fn agreement_is_counted_in_pairs() {
        let few = ranked(vec![
            (None, standing(&[0.1, 0.1])),
            (Some(0), standing(&[0.9, 0.9])),
            (Some(1), standing(&[0.5, 0.5])),
        ]);
        let same =
            Agreement { tau: 1.0, separated: 3, reversed: 0, same_best: true, same_first: true };
        assert_eq!(agreement(&few, &few), same);
        let many = ranked(vec![
            (None, standing(&[0.1, 0.1])),
            (Some(0), standing(&[0.6, 0.6])),
            (Some(1), standing(&[0.7, 0.7])),
        ]);
        let Agreement { tau, separated, reversed, same_best, same_first } = agreement(&few, &many);
        assert!((tau - 1.0 / 3.0).abs() < 1e-12, "{tau}");
        assert_eq!((separated, reversed, same_best, same_first), (3, 1, false, false));
        assert!(agreement(&few, &few).holds() && !agreement(&few, &many).holds());
    }
}
