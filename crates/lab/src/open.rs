use crate::figures::Figures;
use crate::runner::Job;
use experiment::{Experiment, ExperimentError};
use std::collections::HashMap;
use std::sync::Arc;
use store::{RunMeta, StoredRun};

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

/// The experiments of stored runs. Each text is read once, however many runs it has.
#[derive(Debug, Default)]
pub struct StoredExperiments {
    read: HashMap<(String, Arc<str>), Result<WithCells, ExperimentError>>,
    /// The number of grid cells of all experiments.
    cells: usize,
}

/// The greatest number of grid cells of the experiments of a store that are read together. A few
/// kilobytes of text can stand for 10,000 cells of 10 kB and more. Our choice.
const MAX_CELLS: usize = 100_000;

/// An experiment, and the index of each grid cell by its parameters.
#[derive(Debug)]
struct WithCells {
    experiment: Arc<Experiment>,
    cells: HashMap<Vec<(String, String)>, usize>,
}

impl StoredExperiments {
    /// The experiment of a stored run, read from the text in the store, and the job of the run in
    /// it. Runs with the same experiment get the same `Arc`.
    ///
    /// # Errors
    /// If the text is not an experiment that this version can read, has no cell with the parameters
    /// of the run, or has more cells than are read together.
    pub fn of(&mut self, run: &StoredRun) -> Result<(Arc<Experiment>, Job), ExperimentError> {
        let RunMeta { experiment: name, file, cell, index, seed, .. } = &run.meta;
        let key = (name.clone(), Arc::clone(file));
        if !self.read.contains_key(&key) {
            let read = WithCells::read(name, file, MAX_CELLS - self.cells);
            self.cells += read.as_ref().map_or(0, |read| read.cells.len());
            self.read.insert(key.clone(), read);
        }
        let read = self.read[&key].as_ref().map_err(Clone::clone)?;
        let cell = read.cells.get(cell).copied().ok_or_else(|| {
            ExperimentError::file(
                name,
                format!("the experiment has no grid cell with the parameters of run {}", run.id),
                "",
            )
        })?;
        Ok((Arc::clone(&read.experiment), Job { experiment: 0, cell, run: *index, seed: *seed }))
    }
}

impl WithCells {
    /// Reads an experiment of at most `most` cells.
    fn read(name: &str, text: &str, most: usize) -> Result<Self, ExperimentError> {
        let mut experiment = parse(text, name)?;
        if experiment.cells().len() > most {
            let reason = format!("the store has experiments with more than {MAX_CELLS} grid cells");
            return Err(ExperimentError::file(
                name,
                reason,
                "name some of the runs or experiments",
            ));
        }
        name.clone_into(&mut experiment.name);
        // If two cells had the same parameters, the first would count.
        let cells = experiment.cells().iter().rev();
        let cells = cells.map(|cell| (cell.params.clone(), cell.index)).collect();
        Ok(Self { experiment: Arc::new(experiment), cells })
    }
}

/// The experiment itself if its figures can be read.
///
/// # Errors
/// When a figure is wrong.
pub fn checked(experiment: Experiment) -> Result<Experiment, ExperimentError> {
    Figures::read(&experiment)?.check_axes(&experiment)?;
    Ok(experiment)
}
