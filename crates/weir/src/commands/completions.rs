use crate::cli::{Cli, Completions};
use crate::failure::Failure;
use crate::output::Output;
use clap::CommandFactory;
use std::process::ExitCode;

pub(crate) fn run(args: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weir", &mut script);
    let mut out = Output::new();
    out.script(&script)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
