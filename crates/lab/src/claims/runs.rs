//! Verdicts on stored runs.

use super::evaluate::CellValues;
use super::untested::Untested;
use super::{Claim, Verdict};
use experiment::{Cell, Experiment};
use metrics::MetricError;
use sim::Recording;

/// The values of one claim in one run, in the order of [`Claim::values`].
pub(crate) type Computed = Vec<Result<f64, MetricError>>;

impl Claim {
    /// Computes the values of the claim in one run. Its time windows are scaled like the schedule
    /// of the experiment.
    pub(crate) fn compute(&self, experiment: &Experiment, recording: &Recording) -> Computed {
        let known = experiment.streams();
        let requests =
            self.values.iter().map(|(_, request)| request.rescaled(experiment.time_scale));
        requests.map(|request| request.compute_among(recording, known)).collect()
    }

    /// The verdict on these runs, by cell. If a cell has no run, the claim is not tested.
    pub(crate) fn judge_runs(&self, experiment: &Experiment, cells: &[Vec<&Computed>]) -> Verdict {
        let runs = cells.iter().map(Vec::len).min().unwrap_or(0);
        let verdict = match self.values_of(experiment.cells(), cells) {
            Ok(values) => self.judge(experiment, &values),
            Err(reason) => {
                let known = self.known(experiment.cells(), cells);
                let values = self.values(known.iter().map(|(cell, values)| (*cell, values)));
                Verdict { values, ..self.not_run(Some(experiment), &reason) }
            }
        };
        Verdict { runs: u32::try_from(runs).unwrap_or(u32::MAX), ..verdict }
    }

    fn values_of(
        &self,
        cells: &[Cell],
        runs: &[Vec<&Computed>],
    ) -> Result<Vec<CellValues>, Untested> {
        match Untested::missing_cells(cells, runs) {
            Some(missing) => Err(missing),
            None => Ok(runs
                .iter()
                .map(|runs| self.values_of_cell(runs))
                .collect::<Result<Vec<_>, _>>()?),
        }
    }

    /// The values of the cells that have runs.
    fn known<'c>(&self, cells: &'c [Cell], runs: &[Vec<&Computed>]) -> Vec<(&'c Cell, CellValues)> {
        let with_runs = cells.iter().zip(runs).filter(|(_, runs)| !runs.is_empty());
        with_runs.filter_map(|(cell, runs)| Some((cell, self.values_of_cell(runs).ok()?))).collect()
    }

    /// The values of a cell: by value, then by run.
    fn values_of_cell(&self, runs: &[&Computed]) -> Result<CellValues, MetricError> {
        let of_value = |index: usize| runs.iter().map(|run| run[index].clone()).collect();
        (0..self.values.len()).map(of_value).collect()
    }

    /// The verdict if no run of the experiment is stored.
    #[must_use]
    pub fn without_runs(&self) -> Verdict {
        self.not_run(None, &Untested::NoStoredRun(self.experiment.clone()))
    }
}
