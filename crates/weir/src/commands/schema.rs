use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;

pub(crate) fn run() -> Result<ExitCode, Failure> {
    let mut out = Output::new();
    out.lines(&format!("{:#}", experiment::schema()))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
