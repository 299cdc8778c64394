use crate::cli::{Cli, Man};
use crate::failure::Failure;
use crate::output::Output;
use clap::CommandFactory;
use std::process::ExitCode;

pub(crate) fn run(args: &Man) -> Result<ExitCode, Failure> {
    let folder = args.output.display();
    let failed = |error| Failure::new(format!("{folder}: cannot write the pages: {error}"));
    std::fs::create_dir_all(&args.output).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.output).map_err(failed)?;
    let mut out = Output::new();
    out.line(format_args!("manual pages in {folder}"))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
