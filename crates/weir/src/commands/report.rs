use super::{conclude, eprint, outputs_apart, with_runner, write_file};
use crate::cli::{Report, Running};
use crate::failure::Failure;
use crate::keeper::Keeper;
use lab::claims::Verdict;
use lab::experiment::Experiment;
use lab::figures::Drawings;
use lab::report::Section;
use lab::runner::{Job, Outcome, Runner};
use lab::store::{Mode, Store, StoredRun};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &Report) -> Result<ExitCode, Failure> {
    let files = args.experiments.iter().map(Path::new);
    let others = files.chain(args.from.as_deref()).chain(args.running.store.as_deref());
    outputs_apart(&[&args.output], &others.collect::<Vec<_>>())?;
    if let Some(path) = &args.from {
        return stored(args, path);
    }
    let open = |name: &String| args.running.chosen.of(Experiment::open(name)?)?.simulated();
    let experiments: Vec<Experiment> = args.experiments.iter().map(open).collect::<Result<_, _>>()?;
    let mut keeper = Keeper::open(args.running.store.as_deref())?;
    let wanted = keeper.wants();
    let mut drawings: Vec<Drawings<'_>> = experiments.iter().map(Drawings::new).collect();
    let each = |job: Job, recording| {
        (Drawings::pieces(&experiments[job.experiment], job, &recording), wanted.then_some(recording))
    };
    let work = |runner: Runner<'_>| {
        runner.run(&experiments, each, |outcome: Outcome<_>| match outcome.result {
            Ok((pieces, recording)) => {
                keeper.keep(
                    &experiments[outcome.job.experiment],
                    outcome.job,
                    recording.as_ref(),
                    Mode::Simulated,
                    &[],
                    runner.cancel,
                );
                drawings[outcome.job.experiment].add(pieces);
            }
            Err(failure) => eprint(&format!("seed {}: {failure}", outcome.job.seed)),
        })
    };
    let summary = with_runner(args.running.jobs, args.running.quiet, work)?;
    let sections = drawings.iter().map(Drawings::section).collect();
    write(&args.output, &title(&experiments), &args.running, &[], sections, summary.done)?;
    keeper.finish()?;
    conclude(summary, ExitCode::SUCCESS)
}

/// The page of runs that are in a store.
fn stored(args: &Report, path: &Path) -> Result<ExitCode, Failure> {
    let number = |word: &String| {
        let message = || format!("'{word}' is not the number of a run in {}", path.display());
        word.parse::<i64>().map_err(|_| Failure::new(message()))
    };
    let ids = args.experiments.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let store = Store::open(path)?;
    let runs = super::export::chosen(&store, &ids)?;
    let (experiments, jobs) = experiments_of(&runs)?;
    let mut drawings: Vec<Drawings<'_>> = experiments.iter().map(Drawings::new).collect();
    for (run, job) in runs.iter().zip(jobs) {
        let recording = store.recording(run.id)?;
        drawings[job.experiment].add(Drawings::pieces(&experiments[job.experiment], job, &recording));
    }
    let sections = drawings.iter().map(Drawings::section).collect();
    write(&args.output, &title(&experiments), &args.running, &[], sections, made(&runs))?;
    Ok(ExitCode::SUCCESS)
}

/// How many runs, of which kind, and which of them say more of the machine than of the network: `3 measured, 2 simulated; CPU-limited: 4`.
pub(super) fn made(runs: &[StoredRun]) -> String {
    let of = |mode: Mode| (runs.iter().filter(|run| run.meta.mode == mode).count(), mode);
    let kinds = Mode::ALL.map(of).into_iter().filter(|(count, _)| *count > 0);
    let kinds = kinds.map(|(count, mode)| format!("{count} {mode}")).collect::<Vec<_>>().join(", ");
    let limited = runs.iter().filter(|run| run.meta.note("cpuLimited").is_some());
    let limited: Vec<String> = limited.map(|run| run.id.to_string()).collect();
    if limited.is_empty() { kinds } else { format!("{kinds}; CPU-limited: {}", limited.join(", ")) }
}

/// The experiments of stored runs, each once, and the place of each run among them.
fn experiments_of(runs: &[StoredRun]) -> Result<(Vec<Experiment>, Vec<Job>), Failure> {
    let mut experiments: Vec<Experiment> = Vec::new();
    let mut jobs = Vec::new();
    for run in runs {
        let (experiment, job) = lab::runner::stored(run)?;
        let same = |other: &Experiment| other.name == experiment.name && other.text == experiment.text;
        let place = experiments.iter().position(same).unwrap_or(experiments.len());
        if place == experiments.len() {
            experiments.push(experiment);
        }
        jobs.push(Job { experiment: place, ..job });
    }
    Ok((experiments, jobs))
}

fn title(experiments: &[Experiment]) -> String {
    match experiments {
        [only] => only.title.clone(),
        _ => "Experiments".to_owned(),
    }
}

/// Writes the page, and says where.
pub(super) fn write(
    path: &Path,
    title: &str,
    running: &Running,
    verdicts: &[Verdict],
    sections: Vec<Section>,
    runs: impl std::fmt::Display,
) -> Result<(), Failure> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![fact("weir", env!("CARGO_PKG_VERSION").to_owned()), fact("runs", runs.to_string())];
    facts.extend(
        running.chosen.overrides().into_iter().map(|(key, value)| fact("set", format!("{key} = {value}"))),
    );
    facts.extend(
        running.chosen.quick.then(|| fact("schedule", "quick: the published one in 60 s".to_owned())),
    );
    write_page(path, title, facts, verdicts, sections, running.quiet)
}

/// Writes a page with these facts, and says where unless it is to be quiet.
pub(super) fn write_page(
    path: &Path,
    title: &str,
    facts: Vec<(String, String)>,
    verdicts: &[Verdict],
    sections: Vec<Section>,
    quiet: bool,
) -> Result<(), Failure> {
    let page = lab::report::html(&lab::figures::report(title, facts, verdicts, sections))?;
    write_file(path, &page)?;
    if !quiet {
        eprint(&format!("wrote {}", path.display()));
    }
    Ok(())
}
