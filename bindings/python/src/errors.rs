//! Errors of the crates as exceptions of `weir.errors`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use std::fmt::Display;

/// An exception of `weir.errors` with these arguments.
fn raise<'py>(py: Python<'py>, class: &str, args: impl PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("weir.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1(args));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// An error in a file: `weir.ExperimentError` with file, line, key, reason and suggestion.
pub(crate) fn in_file(error: &document::FileError) -> PyErr {
    Python::attach(|py| {
        let document::FileError { path, line, key, reason, suggestion } = error;
        raise(py, "ExperimentError", (error.to_string(), path, *line, key, reason, suggestion))
    })
}

/// Any other error of the library: `weir.Error`.
pub(crate) fn other(error: impl Display) -> PyErr {
    Python::attach(|py| raise(py, "Error", (error.to_string(),)))
}

/// Runs failed: `weir.RunError` with the failures as (cell, seed, message) and the results of the
/// other runs.
pub(crate) fn of_runs(
    message: String,
    failures: Vec<(String, u64, String)>,
    results: impl for<'py> IntoPyObject<'py>,
) -> PyErr {
    Python::attach(|py| raise(py, "RunError", (message, failures, results)))
}
