//! Why a run has no result.

use sim::RunError;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunFailure {
    /// The simulator refused the scenario.
    #[error(transparent)]
    Refused(#[from] RunError),
    /// A controller of the caller failed, in its own words.
    #[error("{0}")]
    Controller(String),
    /// The program panicked with this message.
    #[error("internal error (panic); please report it: {0}")]
    Panicked(String),
}
