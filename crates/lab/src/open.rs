use crate::figures::Figures;
use experiment::{Experiment, ExperimentError};

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

fn checked(experiment: Experiment) -> Result<Experiment, ExperimentError> {
    Figures::read(&experiment)?.check_axes(&experiment)?;
    Ok(experiment)
}
