use crate::cli::Schema;
use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;

pub(crate) fn run(args: &Schema) -> Result<ExitCode, Failure> {
    let mut out = Output::new();
    let schema = if args.sweep { lab::sweep::schema() } else { experiment::schema() };
    out.lines(&format!("{schema:#}"))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
