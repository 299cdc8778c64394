//! Claims about a sweep. Its points are the cells of the claim's expressions: the parameters, the
//! objective, and under the name of each scenario its normalised objective.

use super::untested::Untested;
use super::{Claim, Verdict};
use crate::expression::Datum;
use crate::runner::{Runner, Summary};
use crate::sweep::{Keeping, PointResult, Sweep, SweepError, Table};
use document::FileError;
use store::Store;

/// What became of a claim about a sweep.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The verdict.
    pub verdict: Verdict,
    /// The results by point; `None` if the sweep was stopped.
    pub table: Option<Table>,
    /// The number of runs.
    pub summary: Summary,
}

impl Claim {
    /// Why the claim is not run with the others, and how to run it.
    pub(super) fn runs_when_named(&self) -> FileError {
        let reason = format!("the sweep {} runs only if the claim is named", self.experiment);
        let suggestion = format!("run 'weir verify {} --store sweep.sqlite'", self.id);
        FileError::file("", reason, suggestion)
    }

    /// Runs the sweep of the claim, and judges the claim on its points. Runs that `store` has are
    /// not repeated.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub fn run_sweep(
        &self,
        sweep: &Sweep,
        runner: Runner<'_>,
        store: Option<&mut Store>,
    ) -> Result<Swept, SweepError> {
        let results = sweep.run(runner, Keeping { store, dataset: None }, None)?;
        let (total, failed) = (sweep.total_runs(), results.errors().len());
        let (cancelled, done) = (results.cancelled, results.done());
        let summary = Summary { total, done: done - failed, failed, cancelled };
        if cancelled {
            let verdict = self.not_run(None, &Untested::Stopped { done, total });
            return Ok(Swept { verdict, table: None, summary });
        }
        let table = sweep.table(&results);
        Ok(Swept { verdict: self.judge_sweep(sweep, &table), table: Some(table), summary })
    }

    /// The verdict on the results of the sweep. Points without an objective are not seen.
    #[must_use]
    pub fn judge_sweep(&self, sweep: &Sweep, table: &Table) -> Verdict {
        let points = table.points.iter().filter(|point| point.objective.is_finite());
        let data: Vec<_> = points.map(|point| data(sweep, point)).collect();
        let verdict = self.judge_data(None, data);
        Verdict { runs: sweep.runs, seed: sweep.seed.0, ..verdict }
    }
}

fn data(sweep: &Sweep, point: &PointResult) -> Vec<(String, Datum)> {
    let parameters = sweep.parameters.iter().zip(&point.settings).map(|(parameter, setting)| {
        let value = setting.number.map_or_else(|| Datum::Text(setting.text.clone()), Datum::Number);
        (parameter.name.clone(), value)
    });
    let scenarios = sweep.scenarios.iter().zip(&point.scenarios);
    let scenarios =
        scenarios.map(|(scenario, found)| (scenario.name.clone(), Datum::Number(found.normalised)));
    let objective = ("objective".to_owned(), Datum::Number(point.objective));
    parameters.chain(scenarios).chain([objective]).collect()
}
