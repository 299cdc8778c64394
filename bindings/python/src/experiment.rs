//! Experiments.

use crate::controller::Source;
use crate::results::{Kept, Results};
use crate::{errors, running};
use lab::runner::{NO_CACHE, RunCache};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An experiment that was read and checked. It never changes: `set` and its like return another.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Experiment(pub(crate) experiment::Experiment);

/// The names of the built-in experiments.
#[pyfunction]
pub(crate) fn experiments() -> Vec<String> {
    experiment::names().to_vec()
}

/// The profiles of the built-in controllers, with one line about each.
#[pyfunction]
pub(crate) fn controllers() -> BTreeMap<String, &'static str> {
    cc::profiles().into_iter().map(|profile| (profile.name, profile.summary)).collect()
}

/// The seeds of a batch.
#[derive(FromPyObject)]
enum Seeds {
    /// So many, from the first seed of the experiment on.
    Count(u32),
    /// These.
    List(Vec<u64>),
}

impl Experiment {
    fn changed(&self, overrides: &[(String, String)]) -> PyResult<Self> {
        self.0.with_overrides(overrides).map(Self).map_err(|error| errors::in_file(&error))
    }

    /// The experiment once per group of consecutive seeds.
    fn seeded(&self, seeds: Option<&Seeds>) -> PyResult<Vec<experiment::Experiment>> {
        let with = |pairs: &[(&str, u64)]| {
            let text = |(key, value): &(&str, u64)| ((*key).to_owned(), value.to_string());
            Ok(self.changed(&pairs.iter().map(text).collect::<Vec<_>>())?.0)
        };
        match seeds {
            None => Ok(vec![self.0.clone()]),
            Some(Seeds::Count(count)) => Ok(vec![with(&[("runs", u64::from(*count))])?]),
            Some(Seeds::List(list)) => {
                let groups = list.chunk_by(|one, next| one.checked_add(1) == Some(*next));
                let of = |group: &[u64]| with(&[("seed", group[0]), ("runs", group.len() as u64)]);
                groups.map(of).collect()
            }
        }
    }
}

#[pymethods]
impl Experiment {
    /// Opens the built-in experiment of this name (see `weir.experiments`), or else the file at
    /// this path.
    ///
    /// Raises `weir.ExperimentError` with file, line and key.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let opened = lab::open(&path.to_string_lossy());
        opened.map(Self).map_err(|error| errors::in_file(&error))
    }

    /// Reads an experiment from its text. `path` is used in messages and to find the files that the
    /// experiment names.
    #[staticmethod]
    #[pyo3(signature = (text, path="experiment.toml"))]
    fn parse(text: &str, path: &str) -> PyResult<Self> {
        lab::parse(text, path).map(Self).map_err(|error| errors::in_file(&error))
    }

    /// The experiment with a changed value, as `weir run --set KEY=VALUE`. The part `*` of a key
    /// stands for every name: `call.*.controller`.
    fn set(&self, key: String, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let is_truth = value.is_instance_of::<pyo3::types::PyBool>();
        let text = value.str()?.to_string();
        self.changed(&[(key, if is_truth { text.to_lowercase() } else { text })])
    }

    /// The experiment with this built-in controller in every call.
    fn with_controller(&self, profile: &str) -> PyResult<Self> {
        self.0.with_controller(profile).map(Self).map_err(|error| errors::in_file(&error))
    }

    /// The short form: the schedule in 60 s, or as the section `quick` of the file says.
    fn quick(&self) -> PyResult<Self> {
        self.0.quick().map(Self).map_err(|error| errors::in_file(&error))
    }

    /// Runs every cell with every seed.
    ///
    /// `seeds` is a number of seeds, or the seeds themselves. `jobs` is the number of threads, by
    /// default all cores. `controller` is a class with the methods of `weir.Controller` for every
    /// call with video, or a dictionary of such classes by the name of the call. `store` is a file
    /// that keeps the runs and gives back those that it contains. `keep_series=False` saves memory
    /// if `Results.series` is not needed. With `allow_failures=True` failed runs do not raise;
    /// `Results.failures` has them.
    ///
    /// Raises `weir.RunError` after all runs if a run failed. Ctrl-C stops the runs.
    #[expect(clippy::too_many_arguments, reason = "each one is an argument in Python")]
    #[pyo3(signature = (
        *, seeds=None, jobs=None, controller=None, store=None, keep_series=true,
        allow_failures=false
    ))]
    fn run(
        &self,
        py: Python<'_>,
        seeds: Option<Seeds>,
        jobs: Option<usize>,
        controller: Option<&Bound<'_, PyAny>>,
        store: Option<PathBuf>,
        keep_series: bool,
        allow_failures: bool,
    ) -> PyResult<Results> {
        let experiments = self.seeded(seeds.as_ref())?;
        for experiment in &experiments {
            experiment.clone().simulated().map_err(|error| errors::in_file(&error))?;
        }
        let jobs = running::jobs(jobs)?;
        let source = controller.map(|given| Source::of(&self.0, given)).transpose()?;
        if source.is_some() && store.is_some() {
            return Err(errors::other(
                "a store cannot keep runs with a controller in Python, whose code it does not \
                 know; leave out the store",
            ));
        }
        let cache = RunCache::open(store.as_deref()).map_err(errors::other)?;
        let mut results = Results::new(&self.0);
        let each = |_, recording: &_| Kept::of(recording, keep_series);
        match source {
            None => running::run(py, jobs, &cache, |runner| {
                runner.run(&experiments, each, |outcome| {
                    results.add(&experiments[outcome.job.experiment], outcome);
                })
            })?,
            Some(source) => running::run(py, jobs, &NO_CACHE, |runner| {
                let simulate =
                    |scenario: &_, options: sim::Options<'_>| source.simulate(scenario, options);
                runner.run_by(&experiments, simulate, each, |outcome| {
                    results.add(&experiments[outcome.job.experiment], outcome);
                })
            })?,
        };
        if let Some(error) = cache.finish().error {
            return Err(errors::other(error));
        }
        if allow_failures { Ok(results) } else { results.or_failure() }
    }

    /// The name: `carlucci-2017/fig11`, or the path of the file.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The title, one line.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// Where the experiment was published; empty if it was not.
    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    /// The TOML, with the changes of `set`.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The values of the axes in each cell of the grid.
    #[getter]
    fn cells(&self) -> Vec<BTreeMap<String, String>> {
        self.0.cells().iter().map(|cell| cell.params.iter().cloned().collect()).collect()
    }

    /// The names of the streams: `main.video`, …
    #[getter]
    fn streams(&self) -> Vec<String> {
        self.0.streams().to_vec()
    }

    fn __repr__(&self) -> String {
        let (runs, cells) = (self.0.runs, self.0.cells().len());
        format!("<weir.Experiment {}: {cells} cells, {runs} seeds each>", self.0.name)
    }
}
