//! Experiments in which one thing is changed: what a claim that does not hold depends on.

use super::{Claim, Plan, Status, Verdict};
use crate::runner::{Runner, Summary};
use document::{Fault, FileError, Node, Reader, Table};
use experiment::Experiment;

/// One rule, constant or detail of a testbed, changed alone.
#[derive(Clone, Debug)]
pub struct Factor {
    /// What is changed: `no probes at the start`.
    pub name: String,
    /// The short name of the paper for whose claims it is tried.
    pub paper: String,
    /// The values that it sets in every cell, as (path of the key, value).
    set: Vec<(String, Node)>,
}

impl Factor {
    pub(super) fn read(node: &Node, paper: &str) -> Result<Self, Fault> {
        let mut table = Reader::new(node, "factor")?;
        let name = table.required("name")?;
        let set = table.entries("set")?.into_iter();
        let set = set.map(|(key, value)| (key.to_owned(), value.clone())).collect();
        table.finish()?;
        Ok(Self { name, paper: paper.to_owned(), set })
    }

    /// The experiment with the changed values.
    ///
    /// # Errors
    /// If the experiment lacks a key, or a controller of it lacks the setting.
    fn apply(&self, experiment: &Experiment) -> Result<Experiment, FileError> {
        let mut set = Table::default();
        self.set.iter().for_each(|(key, value)| set.insert(key, value.clone()));
        experiment.with_point(&self.name, set)
    }
}

impl<'c> Plan<'c> {
    /// The plan with the factor changed, for the claims of its paper that do not hold.
    #[must_use]
    pub fn with_factor(&self, factor: &Factor, verdicts: &[Verdict]) -> Self {
        let fails = |claim: &&Claim| {
            let verdict = verdicts.iter().find(|verdict| verdict.id == claim.id);
            claim.paper == factor.paper
                && verdict.is_some_and(|verdict| verdict.status == Status::NotReproduced)
        };
        let claims = self.claims.iter().copied().filter(fails).collect();
        Self::of(claims, |name| {
            let own = self.experiments.iter().find(|own| own.name == name);
            factor.apply(&own.map_or_else(|| crate::open(name), |own| Ok(own.clone()))?)
        })
    }

    /// Runs this plan, made by [`with_factor`](Self::with_factor), and adds its results to the
    /// verdicts.
    pub fn add_factor(
        &self,
        factor: &Factor,
        runner: Runner<'_>,
        verdicts: &mut [Verdict],
    ) -> Summary {
        let (results, summary) = self.run(runner, |_, _| (), |_, ()| ());
        for result in results {
            if let Some(verdict) = verdicts.iter_mut().find(|verdict| verdict.id == result.id) {
                verdict.add_factor(&factor.name, result);
            }
        }
        summary
    }
}
