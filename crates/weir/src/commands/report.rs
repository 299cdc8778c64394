use super::{conclude, eprint, with_runner, write_file};
use crate::cli::{Report, Running};
use crate::failure::Failure;
use lab::claims::Verdict;
use lab::experiment::Experiment;
use lab::figures::Drawings;
use lab::report::Section;
use lab::runner::{Job, Outcome, Runner, Summary};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &Report) -> Result<ExitCode, Failure> {
    let overrides = args.running.overrides();
    let open = |name: &String| Experiment::open(name)?.with_overrides(&overrides);
    let experiments: Vec<Experiment> = args.experiments.iter().map(open).collect::<Result<_, _>>()?;
    let mut drawings: Vec<Drawings<'_>> = experiments.iter().map(Drawings::new).collect();
    let each = |job: Job, recording| Drawings::pieces(&experiments[job.experiment], job, &recording);
    let work = |runner: Runner<'_>| {
        runner.run(&experiments, each, |outcome: Outcome<_>| match outcome.result {
            Ok(pieces) => drawings[outcome.job.experiment].add(pieces),
            Err(failure) => eprint(&format!("seed {}: {failure}", outcome.job.seed)),
        })
    };
    let summary = with_runner(&args.running, work)?;
    let title = match experiments.as_slice() {
        [only] => only.title.clone(),
        _ => "Experiments".to_owned(),
    };
    let sections = drawings.iter().map(Drawings::section).collect();
    write(&args.output, &title, &args.running, &[], sections, summary)?;
    conclude(summary, ExitCode::SUCCESS)
}

/// Writes the page, and says where.
pub(super) fn write(
    path: &Path,
    title: &str,
    running: &Running,
    verdicts: &[Verdict],
    sections: Vec<Section>,
    summary: Summary,
) -> Result<(), Failure> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts =
        vec![fact("weir", env!("CARGO_PKG_VERSION").to_owned()), fact("runs", summary.done.to_string())];
    facts.extend(running.overrides().into_iter().map(|(key, value)| fact("set", format!("{key} = {value}"))));
    let page = lab::report::html(&lab::figures::report(title, facts, verdicts, sections))?;
    write_file(path, &page)?;
    if !running.quiet {
        eprint(&format!("wrote {}", path.display()));
    }
    Ok(())
}
