//! Claims judged on runs that are there already.

use super::evaluate::CellValues;
use super::{Claim, Verdict};
use experiment::{Cell, Experiment};
use sim::Recording;

/// What was computed of one run for one claim: by value, or why it cannot be.
pub(crate) type Computed = Vec<Result<f64, String>>;

impl Claim {
    /// What the claim needs of one run, its windows multiplied as the experiment's schedule is.
    pub(crate) fn compute(&self, experiment: &Experiment, recording: &Recording) -> Computed {
        let known = experiment.streams();
        let requests =
            self.values.iter().map(|(_, request)| request.rescaled(experiment.time_scale));
        let compute = |request: metrics::Request| request.compute_among(recording, known);
        requests.map(|request| compute(request).map_err(|error| error.to_string())).collect()
    }

    /// The verdict on these runs, by cell. A cell without runs keeps it from being put to the test.
    pub(crate) fn judge_runs(&self, experiment: &Experiment, cells: &[Vec<&Computed>]) -> Verdict {
        let runs = cells.iter().map(Vec::len).min().unwrap_or(0);
        let verdict = match self.values_of(experiment.cells(), cells) {
            Ok(values) => self.judge(experiment, &values),
            Err(reason) => {
                let known = self.known(experiment.cells(), cells);
                let values = self.values(known.iter().map(|(cell, values)| (*cell, values)));
                Verdict { values, ..self.not_run(Some(experiment), reason) }
            }
        };
        Verdict { runs: u32::try_from(runs).unwrap_or(u32::MAX), ..verdict }
    }

    fn values_of(
        &self,
        cells: &[Cell],
        runs: &[Vec<&Computed>],
    ) -> Result<Vec<CellValues>, String> {
        let missing: Vec<String> = cells
            .iter()
            .zip(runs)
            .filter(|(_, runs)| runs.is_empty())
            .map(|(cell, _)| cell.label())
            .collect();
        if !missing.is_empty() {
            return Err(format!(
                "{} of {} cells have no run: {}",
                missing.len(),
                cells.len(),
                missing.join(" | ")
            ));
        }
        runs.iter().map(|runs| self.values_of_cell(runs)).collect()
    }

    /// What is known of the cells that have runs, where others have none.
    fn known<'c>(&self, cells: &'c [Cell], runs: &[Vec<&Computed>]) -> Vec<(&'c Cell, CellValues)> {
        let with_runs = cells.iter().zip(runs).filter(|(_, runs)| !runs.is_empty());
        with_runs.filter_map(|(cell, runs)| Some((cell, self.values_of_cell(runs).ok()?))).collect()
    }

    /// By value, then by run.
    fn values_of_cell(&self, runs: &[&Computed]) -> Result<CellValues, String> {
        let of_value = |place: usize| runs.iter().map(|run| run[place].clone()).collect();
        (0..self.values.len()).map(of_value).collect()
    }

    /// The verdict when nobody made any run of its experiment.
    #[must_use]
    pub fn without_runs(&self) -> Verdict {
        self.not_run(None, format!("there is no stored run of {}", self.experiment))
    }
}
