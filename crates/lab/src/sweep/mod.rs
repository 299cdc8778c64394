//! Sweeps: an objective over a space of parameters, in one or several scenarios.
//!
//! `sweep file ─▶ Sweep: parameters ─▶ points × scenarios × seeds ─▶ metrics of each run (stored)
//! ─▶ objective of each scenario ─▶ normalised ─▶ objective of the point`
//!
//! The format is described in `docs/guides/sweep.md`.

mod best;
#[cfg(feature = "s3")]
mod bucket;
mod catalogue;
mod dataset;
mod execute;
mod export;
mod keep;
mod optimise;
mod ray;
mod read;
mod run;
mod schema;
mod space;
mod storage;
mod table;
mod task;
#[cfg(test)]
mod tests;

pub use catalogue::{find, names};
pub use dataset::{DatasetError, RUNS_PER_PART, Written};
pub use execute::Remote;
pub use export::Line;
pub use optimise::Optimised;
pub use ray::{Ray, RayError};
pub use run::{Keeping, Outcome, Results, SweepError};
pub use schema::schema;
pub use space::{Parameter, Setting};
pub use table::{InScenario, PointResult, Table};
pub use task::{Elsewhere, Identity, TaskLine};

use crate::expression::Expression;
use document::{FileError, Location, Node};
use experiment::Experiment;
use metrics::Request;
use space::Method;
use units::Seed;

/// A sweep that has been read and checked.
#[derive(Debug)]
pub struct Sweep {
    /// The name: `carlucci-2017/fig5`, or the path of its file.
    pub name: String,
    /// The path of the file, for messages.
    pub path: String,
    /// The TOML.
    pub text: String,
    /// The title, one line.
    pub title: String,
    /// Where the sweep was published; empty if it was not.
    pub source: String,
    /// Why its parameters are what they are.
    pub about: String,
    /// The number of seeds with which every point is run.
    pub runs: u32,
    /// The first seed; the others follow it.
    pub seed: Seed,
    /// The parameters, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// The scenarios, in the order of the file.
    pub scenarios: Vec<Scenario>,
    method: Method,
    objective: Objective,
    /// The `[[figure]]` tables.
    figures: Vec<Node>,
}

/// An experiment that is run at every point.
#[derive(Debug)]
pub struct Scenario {
    /// The name, by which the objective refers to it.
    pub name: String,
    /// The experiment, with one cell.
    pub experiment: Experiment,
    /// The metrics that are computed from every run, by name.
    pub values: Vec<(String, Request)>,
    objective: Objective,
    /// The path of the experiment relative to the sweep, and its text; `None` if it is built in.
    file: Option<(String, String)>,
}

/// An expression and its place in the file.
#[derive(Debug)]
struct Objective {
    expression: Expression,
    key: String,
    location: Location,
}

impl Objective {
    /// The error about this objective.
    fn fault(&self, path: &str, reason: String) -> FileError {
        document::Fault::new(self.location, self.key.clone(), reason, "").in_file(path)
    }
}

/// The place of a run in its sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the point.
    pub point: usize,
    /// The index of the scenario.
    pub scenario: usize,
    /// The index among the runs of this point and scenario, from 0.
    pub run: u32,
}

impl Sweep {
    /// The number of points.
    #[must_use]
    pub fn points(&self) -> usize {
        self.method.points(&self.parameters)
    }

    /// Whether the points are every combination of the parameters' values.
    #[must_use]
    pub fn is_grid(&self) -> bool {
        self.method == Method::Grid
    }

    /// The `[[figure]]` tables, which [`SweepFigures`](crate::figures::SweepFigures) reads.
    #[must_use]
    pub fn figures(&self) -> &[Node] {
        &self.figures
    }

    /// The number of runs.
    #[must_use]
    pub fn total_runs(&self) -> usize {
        self.points() * self.runs_per_point()
    }

    /// The number of runs of each point, over all scenarios and seeds.
    #[must_use]
    pub fn runs_per_point(&self) -> usize {
        self.scenarios.len() * self.runs as usize
    }

    /// The place of the run with this number. Runs are numbered by point, scenario and seed.
    #[must_use]
    pub fn place(&self, number: usize) -> Place {
        let runs = self.runs as usize;
        let of_point = number % self.runs_per_point();
        Place {
            point: number / self.runs_per_point(),
            scenario: of_point / runs,
            run: u32::try_from(of_point % runs).unwrap_or(u32::MAX),
        }
    }

    /// The values of the parameters at a point.
    #[must_use]
    pub fn settings(&self, point: usize) -> Vec<Setting> {
        self.method.settings(&self.parameters, point)
    }

    /// The seed of a run.
    #[must_use]
    pub fn seed_of(&self, run: u32) -> Seed {
        Seed(self.seed.0.wrapping_add(u64::from(run)))
    }

    /// The simulated time of all runs, in seconds.
    #[must_use]
    pub fn simulated_seconds(&self) -> f64 {
        let of = |scenario: &Scenario| {
            scenario.experiment.cells()[0].scenario(self.seed).duration.as_secs_f64()
        };
        let per_seed: f64 = self.scenarios.iter().map(of).sum();
        per_seed * f64::from(self.runs) * self.points() as f64
    }
}
