use crate::figures::Figures;
use crate::runner::Job;
use experiment::{Experiment, ExperimentError};
use store::StoredRun;

/// Opens the experiment of this name, or else the file at this path, and checks its figures too.
///
/// # Errors
/// As [`Experiment::open`], and when a figure is wrong.
pub fn open(name_or_path: &str) -> Result<Experiment, ExperimentError> {
    checked(Experiment::open(name_or_path)?)
}

/// Reads an experiment from its text and checks its figures too; `path` is used in messages and to
/// find the files that it names.
///
/// # Errors
/// As [`Experiment::parse`], and when a figure is wrong.
pub fn parse(text: &str, path: &str) -> Result<Experiment, ExperimentError> {
    checked(Experiment::parse(text, path)?)
}

/// The experiment of a stored run, read from the text in the store, and the job of the run in it.
///
/// # Errors
/// If the text is not an experiment that this version can read, or has no cell with the parameters
/// of the run.
pub fn stored(run: &StoredRun) -> Result<(Experiment, Job), ExperimentError> {
    let mut experiment = parse(&run.meta.file, &run.meta.experiment)?;
    experiment.name.clone_from(&run.meta.experiment);
    let cell = experiment.cells().iter().position(|cell| cell.params == run.meta.cell);
    let cell = cell.ok_or_else(|| {
        ExperimentError::file(
            &run.meta.experiment,
            format!("the experiment has no grid cell with the parameters of run {}", run.id),
            "",
        )
    })?;
    Ok((experiment, Job { experiment: 0, cell, run: run.meta.index, seed: run.meta.seed }))
}

fn checked(experiment: Experiment) -> Result<Experiment, ExperimentError> {
    Figures::read(&experiment)?.check_axes(&experiment)?;
    Ok(experiment)
}
