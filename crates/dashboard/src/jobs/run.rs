//! A job that runs an experiment in virtual time.

use super::{Board, Job};
use crate::data::Wanted;
use experiment::Experiment;
use lab::runner::{Outcome, Summary};

/// An experiment to run.
pub(crate) struct RunTask {
    pub(crate) experiment: Experiment,
    /// The tags of its runs.
    pub(crate) tags: Vec<String>,
}

impl RunTask {
    /// The number of runs.
    pub(crate) fn total(&self) -> usize {
        self.experiment.cells().len().saturating_mul(self.experiment.runs as usize)
    }
}

pub(super) fn work(board: &Board, job: &Job, task: &RunTask) -> Result<Summary, String> {
    let experiment = &task.experiment;
    board.with_runner(job, |runner| {
        let simulate = |scenario: &_, options: sim::Options<'_>| {
            job.live.simulate(scenario, options, || board.changed(job))
        };
        let sink = |outcome: Outcome<()>| {
            if let Err(failure) = outcome.result {
                job.fail(format!("seed {}: {failure}", outcome.job.seed));
                return;
            }
            let wanted = Wanted {
                experiment: &experiment.name,
                text: &experiment.text,
                cell: &experiment.cells()[outcome.job.cell].params,
                seed: outcome.job.seed,
            };
            // An error of the store is reported by the cache, which has stored the run.
            if let Ok(Some(id)) = board.runs.find(&wanted) {
                job.stored(id);
                if !task.tags.is_empty()
                    && let Err(error) = board.runs.set_tags(id, &task.tags)
                {
                    job.fail(error.to_string());
                }
            }
            board.changed(job);
        };
        Ok(runner.run_by(std::slice::from_ref(experiment), simulate, |_, _| (), sink))
    })
}
