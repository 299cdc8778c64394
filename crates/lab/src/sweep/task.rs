//! Part of a sweep in another process: the lines in which its runs are passed, and the files that
//! it needs.

use super::Sweep;
use super::execute::Sink;
use super::run::{Outcome, SweepError};
use crate::runner::Runner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path};

/// The identity of a sweep and of the program that runs it. A part that another program ran is not
/// taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    plan: String,
    model: String,
    version: String,
}

/// A run in one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskLine {
    /// The number of the run.
    pub(super) run: usize,
    /// The bits of the values, so that they are the same numbers; empty if the run failed.
    values: Vec<u64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl TaskLine {
    fn new(run: usize, outcome: Outcome) -> Self {
        match outcome {
            Ok(values) => {
                Self { run, values: values.iter().map(|one| one.to_bits()).collect(), error: None }
            }
            Err(error) => Self { run, values: Vec::new(), error: Some(error) },
        }
    }

    /// The outcome of the run.
    pub(super) fn outcome(self) -> Outcome {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.values.into_iter().map(f64::from_bits).collect()),
        }
    }
}

/// A file of the sweep is not below its folder, so that another machine cannot have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{sweep}: the file {file} is not in the folder of the sweep or below it, so it cannot be sent \
     to other machines; copy it there"
)]
pub struct Elsewhere {
    sweep: String,
    file: String,
}

impl Sweep {
    /// The identity of the sweep in this program.
    #[must_use]
    pub fn task_identity(&self) -> Identity {
        Identity {
            plan: self.plan(),
            model: env!("WEIR_MODEL").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Executes the runs with these numbers, and passes a line about each to `each`. The numbers
    /// beyond the last run are left out.
    ///
    /// # Errors
    /// The error of `each`.
    pub fn run_task(
        &self,
        runner: Runner<'_>,
        runs: Range<usize>,
        each: &mut dyn FnMut(TaskLine),
    ) -> Result<(), SweepError> {
        struct Lines<'a>(&'a mut dyn FnMut(TaskLine));
        impl Sink for Lines<'_> {
            fn add(&mut self, number: usize, outcome: Outcome) -> Result<(), SweepError> {
                (self.0)(TaskLine::new(number, outcome));
                Ok(())
            }

            fn finish(&mut self) -> Result<(), SweepError> {
                Ok(())
            }
        }
        let runs = runs.start..runs.end.min(self.total_runs());
        self.execute(runner, None, &[runs], &mut Lines(each))
    }

    /// The name under which another process opens the sweep, and the files that it needs beside it,
    /// by their paths relative to it. A built-in sweep needs none.
    ///
    /// # Errors
    /// If a file is not in the folder of the sweep or below it.
    pub(super) fn files(&self) -> Result<(String, BTreeMap<String, String>), Elsewhere> {
        let mut files = BTreeMap::new();
        if super::find(&self.name).is_some() {
            return Ok((self.name.clone(), files));
        }
        let own = Path::new(&self.path).file_name().unwrap_or_default().to_string_lossy();
        files.insert(own.to_string(), self.text.clone());
        let mut add = |path: &Path, text: String| {
            let below = path
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let file = path.display().to_string();
            if !below {
                return Err(Elsewhere { sweep: self.path.clone(), file });
            }
            files.insert(file, text);
            Ok(())
        };
        for scenario in &self.scenarios {
            let Some((path, text)) = &scenario.file else { continue };
            let path = Path::new(path);
            add(path, text.clone())?;
            for (name, text) in scenario.experiment.files() {
                add(&path.parent().unwrap_or(Path::new("")).join(name), text.to_string())?;
            }
        }
        Ok((own.to_string(), files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_every_bit_of_a_value() {
        let values = [0.1, -0.0, f64::INFINITY, f64::from_bits(0x7ff8_0000_0000_0001)];
        let line = serde_json::to_string(&TaskLine::new(7, Ok(values.into()))).unwrap();
        let read: TaskLine = serde_json::from_str(&line).unwrap();
        let bits = |values: &[f64]| values.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read.outcome().unwrap()), bits(&values));
        let line = TaskLine::new(8, Err("refused".to_owned()));
        let read: TaskLine = serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap();
        assert_eq!((read.run, read.outcome()), (8, Err("refused".to_owned())));
    }
}
