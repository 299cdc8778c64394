//! Commands that a build without the features `server` and `testbed` does not contain.

use crate::cli::Absent;
use crate::failure::Failure;
use std::process::ExitCode;

pub(crate) fn run(_: &Absent) -> Result<ExitCode, Failure> {
    Err(Failure::new(
        "this build can only simulate; 'make build' adds emulate, measure, upload, import, replay, fit and serve",
    ))
}
