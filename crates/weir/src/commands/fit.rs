use super::eprint;
use crate::cli::Fit;
use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;
use testbed::fit::FitOptions;

pub(crate) fn run(args: &Fit) -> Result<ExitCode, Failure> {
    if let Some(source) = args.source.as_ref().filter(|source| !source.is_file()) {
        return Err(Failure::new(format!(
            "--source {}: there is no such file; name a video",
            source.display()
        )));
    }
    let default = FitOptions::default();
    let options = FitOptions {
        source: args.source.clone(),
        seconds: args.seconds.unwrap_or(default.seconds),
        rates_kbps: if args.rates.is_empty() { default.rates_kbps } else { args.rates.clone() },
        sizes: default.sizes,
    };
    let mut tell = |done, all, what: &str| eprint(&format!("{done} of {all}: {what}"));
    let report = testbed::fit::run(&options, &mut tell)?;
    let mut out = Output::new();
    out.lines(&if args.rust { report.rust() } else { report.toml() })?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
