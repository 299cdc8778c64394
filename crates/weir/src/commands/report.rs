use super::{close, conclude, eprint, outputs_apart, with_runner, write_file};
use crate::cli::{Chosen, Report};
use crate::failure::Failure;
use document::shown::escaped_page;
use experiment::Experiment;
use lab::StoredExperiments;
use lab::claims::Verdict;
use lab::figures::{Figures, SectionBuilder, section_builders};
use lab::runner::{Job, Outcome, RunCache, Runner};
use lab::sweep::Sweep;
use report::Section;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use store::export::to_file;
use store::{Mode, Store, StoredRun};

pub(crate) fn run(args: &Report) -> Result<ExitCode, Failure> {
    let files = args.experiments.iter().map(Path::new);
    let others = files.chain(args.from.as_deref()).chain(args.running.store.as_deref());
    let outputs: Vec<&Path> = args.output.iter().chain(&args.markdown).map(AsRef::as_ref).collect();
    outputs_apart(&outputs, &others.collect::<Vec<_>>())?;
    if let Some(path) = &args.from {
        return stored(args, path);
    }
    let open = |name: &String| args.running.chosen.of(lab::open(name)?)?.simulated();
    let is_sweep = |name: &&String| lab::open(name).is_err() && Sweep::open(name).is_ok();
    if let Some(name) = args.experiments.iter().find(is_sweep) {
        let path = args.output.as_deref().unwrap_or(Path::new("sweep.html"));
        return Err(Failure::new(format!(
            "{name} is a sweep; 'weir sweep {name} --report {}' draws its figures",
            path.display()
        )));
    }
    let names: Vec<String> = args.experiments.iter().flat_map(|name| named(name)).collect();
    let experiments: Vec<Experiment> = names.iter().map(open).collect::<Result<_, _>>()?;
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
    let facts = facts(&args.running.chosen, summary.done)?;
    outputs_of(args, &lab::claims_report(&title, facts, &[], sections))?;
    close(cache, args.running.quiet)?;
    conclude(summary, ExitCode::SUCCESS)
}

/// The built-in experiments of the folder `name`; `name` alone if there are none.
fn named(name: &str) -> Vec<String> {
    let within =
        |other: &&String| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    let names: Vec<String> = experiment::names().iter().filter(within).cloned().collect();
    if names.is_empty() { vec![name.to_owned()] } else { names }
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
    let facts = facts(&args.running.chosen, made(&runs))?;
    outputs_of(args, &lab::claims_report(&title(&experiments), facts, &[], sections))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page and the files of the figures.
fn outputs_of(args: &Report, report: &report::Report) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        write_report(path, report, args.running.quiet)?;
    }
    if let Some(path) = &args.markdown {
        let command = command(std::env::args_os().skip(1));
        let page = report::markdown(report, &command);
        let old = std::fs::read_to_string(path).unwrap_or_default();
        write_file(path, &escaped_page(&below_text(&old, page)))?;
    }
    let Some(folder) = &args.figures else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| {
        let shown = folder.display();
        Failure::new(format!("{shown}: cannot make the folder: {error}; choose another path"))
    })?;
    let mut written = 0;
    for format in &args.format {
        for file in report::figure_files(report, format.0, args.width)? {
            let path = folder.join(&file.name);
            to_file(&path, |out| out.write_all(&file.bytes))?;
            written += 1;
        }
    }
    if !args.running.quiet {
        let noun = if written == 1 { "file" } else { "files" };
        eprint(&format!("wrote {written} {noun} to {}", folder.display()));
    }
    Ok(())
}

/// The line in a Markdown page below which the tables are; what is above it is kept.
const TABLES: &str = "<!-- weir report: tables -->\n";

/// `page` below the text of `old` if that has the line [`TABLES`], instead of its title.
fn below_text(old: &str, page: String) -> String {
    match (old.split_once(TABLES), page.split_once("\n\n")) {
        (Some((text, _)), Some((_, tables))) => format!("{text}{TABLES}\n{tables}"),
        _ => page,
    }
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
    let facts = facts(chosen, runs)?;
    write_report(path, &lab::claims_report(title, facts, verdicts, sections), quiet)
}

/// Where the numbers of a page come from: the version and the choices of the command line.
fn facts(chosen: &Chosen, runs: impl std::fmt::Display) -> Result<Vec<(String, String)>, Failure> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = provenance()?;
    facts.push(fact("runs", runs.to_string()));
    facts.extend(
        chosen.overrides().into_iter().map(|(key, value)| fact("set", format!("{key} = {value}"))),
    );
    facts.extend(
        chosen.quick.then(|| fact("schedule", "quick: the published schedule in 60 s".to_owned())),
    );
    Ok(facts)
}

/// The command, the version, the commit and the date of a page.
pub(super) fn provenance() -> Result<Vec<(String, String)>, Failure> {
    let version = env!("WEIR_VERSION");
    let (version, commit) = version.split_once(" (").unwrap_or((version, "unknown)"));
    let facts = [
        ("command", command(std::env::args_os().skip(1))),
        ("version", format!("weir {version}")),
        ("commit", commit.trim_end_matches(')').to_owned()),
        ("date", today()?),
    ];
    Ok(facts.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

/// The command with these arguments, quoted for a shell.
fn command(arguments: impl Iterator<Item = OsString>) -> String {
    let words: Vec<String> =
        arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    let words = std::iter::once("weir").chain(words.iter().map(String::as_str));
    // Only a NUL cannot be quoted, and no argument has one.
    shlex::try_join(words).unwrap_or_default()
}

/// The day (UTC) under which pages are written: that of the variable `SOURCE_DATE_EPOCH`, else
/// today. The variable makes pages equal that are written on different days
/// (reproducible-builds.org/specs/source-date-epoch).
fn today() -> Result<String, Failure> {
    const VARIABLE: &str = "SOURCE_DATE_EPOCH";
    let seconds = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().map_err(|_| {
            Failure::new(format!("{VARIABLE}: '{text}' is not a number of seconds since 1970"))
        })?,
        Err(_) => now(),
    };
    Ok(day(seconds))
}

#[expect(clippy::disallowed_methods, reason = "the date of a page, not of a simulation")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The day (UTC) of a number of seconds since 1970, `2026-11-24`. Source: Hinnant,
/// *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`.
fn day(seconds: u64) -> String {
    /// Days from 0000-03-01 to 1970-01-01.
    const EPOCH: u64 = 719_468;
    /// Days of 400 years.
    const ERA: u64 = 146_097;
    let days = seconds / 86_400 + EPOCH;
    let (era, of_era) = (days / ERA, days % ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months are counted from March.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Writes a page, and prints its path unless `quiet` is set.
pub(super) fn write_report(
    path: &Path,
    report: &report::Report,
    quiet: bool,
) -> Result<(), Failure> {
    write_file(path, &escaped_page(&report::html(report)?))?;
    if !quiet {
        eprint(&format!("wrote {}", path.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_the_seconds_in_utc() {
        let days =
            [0, 951_782_399, 951_782_400, 951_868_800, 1_795_305_599, 4_107_542_400].map(day);
        assert_eq!(
            days,
            ["1970-01-01", "2000-02-28", "2000-02-29", "2000-03-01", "2026-11-21", "2100-03-01"]
        );
    }

    #[test]
    fn text_above_the_tables_is_kept() {
        let page = || "# New\n\ntables\n".to_owned();
        assert_eq!(below_text("", page()), page());
        assert_eq!(below_text("# Old\n\nno line\n", page()), page());
        let old = format!("# Old\n\ntext\n\n{TABLES}\nold tables\n");
        assert_eq!(below_text(&old, page()), format!("# Old\n\ntext\n\n{TABLES}\ntables\n"));
    }

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        let arguments = ["report", "my file.toml", "--set", "host.a.up.queue=codel limit 50"];
        assert_eq!(
            command(arguments.into_iter().map(OsString::from)),
            "weir report 'my file.toml' --set 'host.a.up.queue=codel limit 50'"
        );
    }
}
