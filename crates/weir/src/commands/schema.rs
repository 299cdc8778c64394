use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;

pub(crate) fn run() -> Result<ExitCode, Failure> {
    let mut out = Output::new();
    out.line(format_args!("{:#}", experiment::schema()))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
