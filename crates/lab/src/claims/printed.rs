//! Verification of claims as the papers print them.

use super::{Claim, Plan, Verdict};
use crate::runner::{Runner, Summary};

impl<'c> Plan<'c> {
    /// The plan as the papers print it, for the claims whose experiments say what was printed.
    #[must_use]
    pub fn as_printed(&self) -> Self {
        let has = |claim: &&Claim| self.own(claim).is_some_and(|own| own.as_printed().is_some());
        let claims = self.claims.iter().copied().filter(has).collect();
        Self::of(claims, |name| {
            let own = self.experiments.iter().find(|own| own.name == name);
            let own = own.map_or_else(|| crate::open(name), |own| Ok(own.clone()))?;
            own.as_printed().unwrap_or(Ok(own))
        })
    }

    /// Runs this plan, made by [`as_printed`](Self::as_printed), and adds its results to the
    /// verdicts on the experiments as run.
    pub fn add_printed(&self, runner: Runner<'_>, verdicts: &mut [Verdict]) -> Summary {
        let (results, summary) = self.run(runner, |_, _| (), |_, ()| ());
        for (claim, result) in self.claims.iter().zip(results) {
            if let Some(verdict) = verdicts.iter_mut().find(|verdict| verdict.id == result.id) {
                verdict.add_printed(result, &claim.note_as_printed);
            }
        }
        summary
    }
}
