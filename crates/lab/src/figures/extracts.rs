//! What the figures of an experiment keep of one run.

use super::Figures;
use super::kind::AnyDebug;
use crate::runner::Job;
use experiment::Experiment;
use metrics::MetricError;
use sim::Recording;
use std::sync::Arc;

/// What the figures of an experiment keep of one run, or why a figure cannot be drawn.
#[derive(Clone, Debug)]
pub struct RunExtracts {
    pub(super) job: Job,
    /// One entry per figure; `None` if the figure does not show the run.
    pub(super) by_figure: Vec<Result<Option<Arc<dyn AnyDebug>>, MetricError>>,
}

impl Figures {
    /// Whether a figure may show this run. If not, the page does not need its recording.
    #[must_use]
    pub fn may_show(&self, experiment: &Experiment, job: Job) -> bool {
        let cell = &experiment.cells()[job.cell];
        self.0.iter().any(|figure| figure.cells.matches(cell) && figure.kind.may_show(job))
    }

    /// What the figures keep of one run of `experiment`, from which they were read.
    #[must_use]
    pub fn extract(&self, experiment: &Experiment, job: Job, recording: &Recording) -> RunExtracts {
        let streams = experiment.streams();
        let cell = &experiment.cells()[job.cell];
        let by_figure = self.0.iter().map(|figure| {
            if figure.cells.matches(cell) {
                figure.kind.extract(job, recording, streams)
            } else {
                Ok(None)
            }
        });
        RunExtracts { job, by_figure: by_figure.collect() }
    }
}
