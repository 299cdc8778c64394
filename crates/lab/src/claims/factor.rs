//! Experiments in which one thing is changed: what a claim that does not hold depends on.

use super::{Claim, Plan, Status, Verdict};
use crate::runner::{Runner, Summary};
use document::{Fault, Node, Reader, Table};
use experiment::Change;

/// One rule, constant or detail of a testbed, changed alone.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The short name of the paper for whose claims it is tried.
    pub paper: String,
    /// What is changed, where, and which cells are run.
    pub change: Change,
}

impl Factor {
    pub(super) fn read(node: &Node, paper: &str) -> Result<Self, Fault> {
        let mut table = Reader::new(node, "factor")?;
        let name = table.required("name")?;
        let mut set = Table::default();
        table.entries("set")?.into_iter().for_each(|(key, value)| set.insert(key, value.clone()));
        let (at, only) = (points(&mut table, "at")?, points(&mut table, "only")?);
        table.finish()?;
        Ok(Self { paper: paper.to_owned(), change: Change { name, set, at, only } })
    }
}

/// Reads `{ AQM = "on" }`.
fn points(table: &mut Reader<'_>, key: &'static str) -> Result<Vec<(String, String)>, Fault> {
    let entries = table.entries(key)?.into_iter();
    entries
        .map(|(axis, label)| Ok((axis.to_owned(), document::read(label, &table.path(key))?)))
        .collect()
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
            let own = own.map_or_else(|| crate::open(name), |own| Ok(own.clone()))?;
            own.with_change(&factor.change)
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
                verdict.add_factor(&factor.change.name, result);
            }
        }
        summary
    }
}
