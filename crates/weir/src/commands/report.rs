use super::{close, conclude, eprint, outputs_apart, with_runner, write_file};
use crate::cli::{Chosen, Report};
use crate::failure::Failure;
use document::shown::escaped_page;
use experiment::Experiment;
use lab::StoredExperiments;
use lab::claims::Verdict;
use lab::figures::{Figures, SectionBuilder, section_builders};
use lab::runner::{Job, Outcome, RunCache, Runner};
use report::Section;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use store::{Mode, Store, StoredRun};

pub(crate) fn run(args: &Report) -> Result<ExitCode, Failure> {
    let files = args.experiments.iter().map(Path::new);
    let others = files.chain(args.from.as_deref()).chain(args.running.store.as_deref());
    outputs_apart(&[&args.output], &others.collect::<Vec<_>>())?;
    if let Some(path) = &args.from {
        return stored(args, path);
    }
    let open = |name: &String| args.running.chosen.of(lab::open(name)?)?.simulated();
    let experiments: Vec<Experiment> =
        args.experiments.iter().map(open).collect::<Result<_, _>>()?;
    let cache = RunCache::open(args.running.store.as_deref())?;
    let figures = experiments.iter().map(Figures::read).collect::<Result<Vec<_>, _>>()?;
    let mut builders = section_builders(&experiments, &figures);
    let each = |job: Job, recording: &_| {
        figures[job.experiment].extract(&experiments[job.experiment], job, recording)
    };
    let work = |runner: Runner<'_>| {
        runner.run(&experiments, each, |outcome: Outcome<_>| match outcome.result {
            Ok(extracts) => builders[outcome.job.experiment].add(extracts),
            Err(failure) => eprint(&format!("seed {}: {failure}", outcome.job.seed)),
        })
    };
    let summary = with_runner((args.running.jobs, args.running.quiet), &cache, work)?;
    let sections = builders.iter().map(SectionBuilder::section).collect();
    let title = title(&experiments.iter().collect::<Vec<_>>());
    write(
        &args.output,
        &title,
        &args.running.chosen,
        args.running.quiet,
        &[],
        sections,
        summary.done,
    )?;
    close(cache, args.running.quiet)?;
    conclude(summary, ExitCode::SUCCESS)
}

/// The page of stored runs.
fn stored(args: &Report, path: &Path) -> Result<ExitCode, Failure> {
    let number = |word: &String| {
        let message = || format!("'{word}' is not the number of a run in {}", path.display());
        word.parse::<i64>().map_err(|_| Failure::new(message()))
    };
    let ids = args.experiments.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let store = Store::open(path)?;
    let mut experiments = StoredExperiments::default();
    let runs = super::export::chosen(&store, &ids)?;
    let runs = super::compare::readable(runs, &mut experiments)?;
    let groups = groups(&runs, &mut experiments)?;
    let experiments: Vec<&Experiment> = groups.iter().map(|group| &*group.experiment).collect();
    let sections = groups.iter().map(|group| group.section(&store)).collect::<Result<_, _>>()?;
    write(
        &args.output,
        &title(&experiments),
        &args.running.chosen,
        args.running.quiet,
        &[],
        sections,
        made(&runs),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The number of runs per mode, and the runs that the machine limited: `3 measured, 2 simulated;
/// CPU-limited: 4`.
pub(super) fn made(runs: &[StoredRun]) -> String {
    let of = |mode: Mode| (runs.iter().filter(|run| run.meta.mode == mode).count(), mode);
    let kinds = Mode::ALL.map(of).into_iter().filter(|(count, _)| *count > 0);
    let kinds = kinds.map(|(count, mode)| format!("{count} {mode}")).collect::<Vec<_>>().join(", ");
    let limited = limited(runs.iter());
    if limited.is_empty() { kinds } else { format!("{kinds}; CPU-limited: {limited}") }
}

/// The runs of one experiment in one mode.
struct Group<'r> {
    experiment: Arc<Experiment>,
    mode: Mode,
    runs: Vec<(&'r StoredRun, Job)>,
}

/// Stored runs by experiment and mode.
fn groups<'r>(
    runs: &'r [StoredRun],
    experiments: &mut StoredExperiments,
) -> Result<Vec<Group<'r>>, Failure> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        let (experiment, job) = experiments.of(run)?;
        let mode = run.meta.mode;
        let same = |group: &&mut Group<'_>| {
            group.mode == mode && Arc::ptr_eq(&group.experiment, &experiment)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.runs.push((run, job)),
            None => groups.push(Group { experiment, mode, runs: vec![(run, job)] }),
        }
    }
    Ok(groups)
}

impl Group<'_> {
    /// The figures under a heading with the mode, unless the runs were simulated, and with a star
    /// if the machine limited any run.
    fn section(&self, store: &Store) -> Result<Section, Failure> {
        let figures = Figures::read(&self.experiment)?;
        let mut builder = SectionBuilder::new(&self.experiment, &figures);
        let shown = self.runs.iter().filter(|(_, job)| figures.may_show(&self.experiment, *job));
        for (run, job) in shown {
            builder.add(figures.extract(&self.experiment, *job, &store.recording(run.id)?));
        }
        let mut section = builder.section();
        if self.mode != Mode::Simulated {
            section.title = format!("{}, {}", section.title, self.mode);
        }
        let limited = limited(self.runs.iter().map(|(run, _)| *run));
        if !limited.is_empty() {
            section.title.push_str(" *");
            section.text += &format!(
                "\n\n* CPU-limited: the machine lacked processor time in run {limited}; this looks like a slower network."
            );
        }
        Ok(section)
    }
}

/// The numbers of the runs that the machine limited.
fn limited<'r>(runs: impl Iterator<Item = &'r StoredRun>) -> String {
    let limited = runs.filter(|run| run.meta.cpu_limited().is_some());
    limited.map(|run| run.id.to_string()).collect::<Vec<_>>().join(", ")
}

fn title(experiments: &[&Experiment]) -> String {
    match experiments {
        [only] => only.title.clone(),
        _ => "Experiments".to_owned(),
    }
}

/// Writes the page, and prints its path.
pub(super) fn write(
    path: &Path,
    title: &str,
    chosen: &Chosen,
    quiet: bool,
    verdicts: &[Verdict],
    sections: Vec<Section>,
    runs: impl std::fmt::Display,
) -> Result<(), Failure> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts =
        vec![fact("weir", env!("WEIR_VERSION").to_owned()), fact("runs", runs.to_string())];
    facts.extend(
        chosen.overrides().into_iter().map(|(key, value)| fact("set", format!("{key} = {value}"))),
    );
    facts.extend(
        chosen.quick.then(|| fact("schedule", "quick: the published schedule in 60 s".to_owned())),
    );
    write_page(path, title, facts, verdicts, sections, quiet)
}

/// Writes a page with these facts, and prints its path unless `quiet` is set.
pub(super) fn write_page(
    path: &Path,
    title: &str,
    facts: Vec<(String, String)>,
    verdicts: &[Verdict],
    sections: Vec<Section>,
    quiet: bool,
) -> Result<(), Failure> {
    let page = report::html(&lab::claims_report(title, facts, verdicts, sections))?;
    write_file(path, &escaped_page(&page))?;
    if !quiet {
        eprint(&format!("wrote {}", path.display()));
    }
    Ok(())
}
