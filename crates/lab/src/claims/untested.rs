use crate::expression::ExpressionError;
use crate::runner::RunFailure;
use document::FileError;
use experiment::Cell;
use metrics::MetricError;
use units::Seed;

/// Why a claim could not be tested.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Untested {
    /// The experiment cannot be opened.
    #[error(transparent)]
    Experiment(#[from] FileError),
    /// A run failed.
    #[error("the run with seed {seed} failed: {failure}")]
    Run { seed: Seed, failure: RunFailure },
    /// The verification was cancelled.
    #[error("stopped after {done} of {total} runs")]
    Stopped { done: usize, total: usize },
    /// No run of the experiment is stored.
    #[error("there is no stored run of {0}")]
    NoStoredRun(String),
    /// Some grid cells have no stored run.
    #[error("{} of {cells} cells have no run: {}", .missing.len(), .missing.join(" | "))]
    MissingCells { missing: Vec<String>, cells: usize },
    /// A metric cannot be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The check cannot be evaluated.
    #[error("claim {claim}: {error}")]
    Check { claim: String, error: CheckError },
}

/// Why the check of a claim has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum CheckError {
    /// An expression has no value.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// No cell of the experiment has the values of `cell`.
    #[error("no cell of the experiment has the values of 'cell'")]
    NoCell,
    /// The value of `holds` is not a truth value.
    #[error("'holds' is neither true nor false but {0}")]
    NotBoolean(String),
    /// Two values, or a value and an axis of the experiment's grid, have the same name.
    #[error("'{0}' is the name of two values, or of a value and an axis of the experiment")]
    DuplicateName(String),
}

impl Untested {
    /// The error for cells without runs; `None` if every cell has one.
    pub(super) fn missing_cells<R>(cells: &[Cell], runs: &[Vec<R>]) -> Option<Self> {
        let empty = cells.iter().zip(runs).filter(|(_, runs)| runs.is_empty());
        let missing: Vec<String> = empty.map(|(cell, _)| cell.label()).collect();
        (!missing.is_empty()).then_some(Self::MissingCells { missing, cells: cells.len() })
    }
}
