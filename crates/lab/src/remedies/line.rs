//! A ranking as lines of JSON, for programs.

use super::advice::Advice;
use super::catalogue::RemedyKind;
use super::page::AS_IT_STANDS;
use super::rank::Rank;
use super::score::{Standing, change};
use metrics::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A remedy as one line of JSON.
#[derive(Serialize, JsonSchema)]
pub struct RemedyLine<'a> {
    /// The experiment, paper or claim for which advice was asked.
    pub r#for: &'a str,
    /// The name of the remedy; "as it stands" for the unchanged network.
    pub remedy: &'a str,
    /// Its kind; `null` for the unchanged network.
    pub kind: Option<RemedyKind>,
    /// A description of one line.
    pub about: &'a str,
    /// The publication that proposes or measures it.
    pub source: &'a str,
    /// The number of situations to which it applies.
    pub applied: usize,
    /// The number of all situations.
    pub situations: usize,
    /// The place in the ranking, from 1; `null` if it applies to no situation.
    pub place: Option<usize>,
    /// Whether its difference from the best is not significant.
    pub as_good: Option<bool>,
    /// The score, from 0 (docs/guides/advise.md, 'How remedies are judged').
    pub score: Option<f64>,
    /// The results of the call; `null` if it is not ranked.
    pub call: Option<CallLine>,
    /// The speed of the other traffic: `kept` is the share of its speed without the remedy; by
    /// section its duration in s, its rate in bit/s or what the section is judged by.
    pub others: Option<BTreeMap<String, Estimate>>,
    /// Jain's fairness index of all rates, 0 to 1.
    pub jain: Option<Estimate>,
    /// What to change in the experiment, as for `--set`: values by key.
    #[schemars(with = "BTreeMap<String, String>")]
    pub set: Map<String, Value>,
    /// The commands of tc for a gateway, one text per line of the network.
    pub tc: Vec<String>,
    /// Why it cannot be applied, for situations where it cannot.
    pub unfit: Vec<String>,
}

/// The results of the call; changes are ratios to the unchanged network, minus 1.
#[derive(Serialize, JsonSchema)]
pub struct CallLine {
    /// The quality of the call, 1 for that of the call alone.
    pub quality: Estimate,
    /// The rate of decodable frames, bit/s.
    pub goodput: Estimate,
    /// Its change, as a share.
    pub goodput_change: Estimate,
    /// The 95th percentile of the delay of frames, s.
    pub frame_delay_p95: Estimate,
    /// Its change, as a share.
    pub frame_delay_change: Estimate,
    /// The share of time in which the video is frozen, 0 to 1.
    pub freeze_share: Estimate,
    /// Its change, absolute.
    pub freeze_change: Estimate,
    /// The time until the call is back at its rate after the other traffic has ended, s.
    pub recovery_time: Estimate,
}

impl Advice {
    /// The ranked remedies, best first, and after them those that no situation can have. `dev` is
    /// the network device in the commands of tc.
    #[must_use]
    pub fn lines(&self, ranks: &[Rank], dev: &str) -> Vec<RemedyLine<'_>> {
        let ranked = ranks.iter().map(|rank| self.line(rank.remedy, Some(rank), dev));
        let unfit = self.settled.iter().enumerate();
        let unfit = unfit.filter(|(_, settled)| settled.iter().all(Result::is_err));
        ranked.chain(unfit.map(|(place, _)| self.line(Some(place), None, dev))).collect()
    }

    fn line(&self, remedy: Option<usize>, rank: Option<&Rank>, dev: &str) -> RemedyLine<'_> {
        let known = remedy.map(|place| &self.remedies[place]);
        let settled = remedy.map(|place| &self.settled[place][..]).unwrap_or_default();
        let mut unfit: Vec<String> = settled
            .iter()
            .filter_map(|settled| settled.as_ref().err())
            .map(ToString::to_string)
            .collect();
        unfit.dedup();
        let set = self.settled_once(remedy).map(|one| {
            one.set.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect()
        });
        RemedyLine {
            r#for: &self.group.name,
            remedy: known.map_or(AS_IT_STANDS, |remedy| remedy.name),
            kind: known.map(|remedy| remedy.kind),
            about: known.map_or("", |remedy| remedy.about),
            source: known.map_or("", |remedy| remedy.source),
            applied: self.applied(remedy),
            situations: self.group.situations.len(),
            place: rank.map(|rank| rank.position),
            as_good: rank.map(|rank| rank.as_good),
            score: rank.map(|rank| rank.standing.score()),
            call: rank.map(|Rank { standing, .. }| CallLine {
                quality: standing.quality,
                goodput: standing.goodput,
                goodput_change: change(&standing.goodput_change),
                frame_delay_p95: standing.frame_delay_p95,
                frame_delay_change: change(&standing.frame_delay_change),
                freeze_share: standing.freeze_share,
                freeze_change: standing.freeze_change,
                recovery_time: standing.recovery_time,
            }),
            others: rank.map(|rank| self.others(&rank.standing)),
            jain: rank.map(|rank| rank.standing.jain),
            set: set.unwrap_or_default(),
            tc: self.tc(remedy, dev).into_iter().map(|queue| queue.commands()).collect(),
            unfit,
        }
    }

    /// The results of the other traffic.
    fn others(&self, standing: &Standing) -> BTreeMap<String, Estimate> {
        let kept = ("kept".to_owned(), standing.kept);
        let situations = &self.group.situations[..];
        let beside = if let [one] = situations { &one.beside[..] } else { &[] };
        let named =
            beside.iter().map(|beside| format!("{}.{}", beside.name, beside.measure.metric()));
        std::iter::once(kept).chain(named.zip(standing.beside.iter().copied())).collect()
    }
}
