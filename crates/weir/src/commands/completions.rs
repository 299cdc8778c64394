use crate::cli::{Cli, Completions};
use crate::failure::Failure;
use clap::CommandFactory;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weir", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
