use super::{close, conclude, eprint, outputs_apart, with_runner, write_file};
use crate::cli::Verify;
use crate::failure::Failure;
use crate::output::{Cell, Output, Rows};
use comfy_table::Color;
use document::shown::{escaped_json, escaped_page};
use lab::claims::{Alternative, Baseline, Catalogue, Claim, Plan, Status, Verdict, markdown};
use lab::figures::{Figures, SectionBuilder, SweepFigures, section_builders};
use lab::runner::{Job, RunCache, Runner, Summary};
use lab::sweep::Sweep;
use std::path::Path;
use std::process::ExitCode;
use store::Store;

pub(crate) fn run(args: &Verify) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.from {
        let catalogue = Catalogue::embedded()?;
        let claims = catalogue.select(&args.claims)?;
        let verdicts = super::compare::verdicts(path, &claims, !args.claims.is_empty())?;
        show(&verdicts, args.running.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let outputs: Vec<&Path> = [&args.report, &args.save_baseline, &args.markdown]
        .into_iter()
        .flatten()
        .map(AsRef::as_ref)
        .collect();
    let read: Vec<&Path> =
        args.baseline.iter().chain(&args.running.store).map(AsRef::as_ref).collect();
    outputs_apart(&outputs, &read)?;
    let others = others(&args.with)?;
    let with_factors = args.with.iter().any(|name| name == "factors");
    let catalogue = Catalogue::embedded()?;
    let claims = catalogue.select(&args.claims)?;
    let sweeps = named_sweeps(args, &claims)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    // A wrong --set would make every claim 'not run', so report it at once.
    for (key, value) in &args.running.chosen.set {
        check_override(&claims, key, value)?;
    }
    let plan = Plan::new(claims, |experiment| args.running.chosen.of(experiment)?.simulated());
    baseline.iter().try_for_each(|baseline| baseline.check(&plan.experiments))?;
    let cache = RunCache::open(args.running.store.as_deref())?;
    let printed = plan.as_printed();
    say_what_differs(args, &plan, &printed, &others);
    let figures = plan.experiments.iter().map(Figures::read).collect::<Result<Vec<_>, _>>()?;
    let mut builders = section_builders(&plan.experiments, &figures);
    let drawn = args.report.is_some();
    let each = |job: Job, recording: &_| {
        let experiment = &plan.experiments[job.experiment];
        drawn.then(|| figures[job.experiment].extract(experiment, job, recording))
    };
    let mut work = |runner: Runner<'_>| {
        let (mut verdicts, summary) = plan.run(runner, each, |job, extracts: Option<_>| {
            extracts.into_iter().for_each(|extracts| builders[job.experiment].add(extracts));
        });
        let summary = if summary.cancelled {
            summary
        } else {
            summary + printed.add_printed(runner, &mut verdicts)
        };
        let factors = catalogue.factors.iter().filter(|_| with_factors);
        let summary = factors.fold(summary, |summary, factor| {
            if summary.cancelled {
                return summary;
            }
            let changed = plan.with_factor(factor, &verdicts);
            summary + changed.add_factor(factor, runner, &mut verdicts)
        });
        let summary = others.iter().fold(summary, |summary, other| {
            if summary.cancelled {
                summary
            } else {
                summary + beside(&plan, other, runner, &mut verdicts)
            }
        });
        (verdicts, summary)
    };
    let mut drawn_sweeps = Vec::new();
    let work = |runner: Runner<'_>| {
        let (mut verdicts, mut summary) = work(runner);
        for (claim, sweep) in &sweeps {
            if summary.cancelled {
                break;
            }
            let mut store = args.running.store.as_deref().map(Store::create_or_open).transpose()?;
            let swept = claim.run_sweep(sweep, runner, store.as_mut())?;
            summary = summary + swept.summary;
            let place = verdicts.iter_mut().find(|verdict| verdict.id == claim.id);
            place.into_iter().for_each(|place| *place = swept.verdict.clone());
            let Some(table) = &swept.table else { continue };
            super::sweep::report_faults(table);
            if drawn {
                drawn_sweeps.push(SweepFigures::read(sweep)?.section(sweep, table));
            }
        }
        Ok::<_, Failure>((verdicts, summary))
    };
    let (verdicts, summary) = with_runner((args.running.jobs, args.running.quiet), &cache, work)??;
    if let Some(path) = &args.report {
        let sections = builders.iter().map(SectionBuilder::section).chain(drawn_sweeps).collect();
        super::report::write(
            path,
            "Published claims, verified",
            &args.running.chosen,
            args.running.quiet,
            &verdicts,
            sections,
            summary.done,
        )?;
    }
    if let Some(path) = &args.save_baseline {
        save(path, &verdicts)?;
    }
    if let Some(path) = &args.markdown {
        write_file(path, &escaped_page(&markdown(&verdicts)))?;
    }
    // The exit code reports regressions even if the reader has closed the pipe.
    match show(&verdicts, args.running.json) {
        Ok(()) | Err(Failure::PipeClosed) => {}
        Err(failure) => return Err(failure),
    }
    close(cache, args.running.quiet)?;
    if let Some(baseline) = &baseline {
        for verdict in verdicts.iter().filter(|verdict| !baseline.knows(&verdict.id)) {
            eprint(&format!("note: the baseline does not contain {}", verdict.id));
        }
    }
    let regressions = baseline.map(|baseline| baseline.regressions(&verdicts)).unwrap_or_default();
    for regression in &regressions {
        eprint(&format!("worse: {regression}"));
    }
    conclude(summary, if regressions.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the table of verdicts, or one JSON object per verdict.
pub(super) fn show(verdicts: &[Verdict], json: bool) -> Result<(), Failure> {
    let mut out = Output::new();
    if json {
        verdicts.iter().try_for_each(|verdict| out.json(verdict))?;
    } else {
        print(&mut out, verdicts)?;
    }
    out.finish()
}

/// The sweeps of the claims that are named by their id; the others are too long to be run along.
fn named_sweeps<'c>(
    args: &Verify,
    claims: &[&'c Claim],
) -> Result<Vec<(&'c Claim, Sweep)>, Failure> {
    let is_named = |claim: &&&Claim| {
        claim.is_sweep && args.claims.iter().any(|word| word.eq_ignore_ascii_case(&claim.id))
    };
    let named: Vec<&Claim> = claims.iter().filter(is_named).copied().collect();
    let chosen = &args.running.chosen;
    if let Some(claim) = named.first()
        && (!chosen.overrides().is_empty() || chosen.quick || chosen.as_printed)
    {
        return Err(Failure::new(format!(
            "{} is about a sweep, which takes no --set, --seed, --runs, --quick or --as-printed; \
             copy the sweep {} to a file and change it",
            claim.id, claim.experiment
        )));
    }
    named.into_iter().map(|claim| Ok((claim, Sweep::open(&claim.experiment)?))).collect()
}

/// The controllers and improvements that `--with` names.
fn others(names: &[String]) -> Result<Vec<Alternative>, Failure> {
    let mut chosen: Vec<Alternative> = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => {
                chosen.extend(experiment::controllers::adaptive().map(Alternative::Controller));
            }
            "factors" => {}
            "improvements" => {
                let known = experiment::controllers::improvements().iter();
                chosen.extend(known.map(|one| Alternative::Improvement(one.name.to_owned())));
            }
            name => chosen
                .push(name.parse().map_err(|reason| Failure::new(format!("--with: {reason}")))?),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    chosen.retain(|other| seen.insert(other.clone()));
    Ok(chosen)
}

/// Runs the plan under another controller or improvement, and adds the result to the verdicts.
fn beside(
    plan: &Plan<'_>,
    other: &Alternative,
    runner: Runner<'_>,
    verdicts: &mut [Verdict],
) -> Summary {
    let (results, summary) = plan.under(other).run(runner, |_, _| (), |_, ()| ());
    for result in results {
        if let Some(verdict) = verdicts.iter_mut().find(|verdict| verdict.id == result.id) {
            verdict.add_beside(&other.to_string(), result);
        }
    }
    summary
}

/// Refuses an override that no experiment of the claims accepts.
fn check_override(claims: &[&lab::claims::Claim], key: &str, value: &str) -> Result<(), Failure> {
    let mut refused = None;
    for claim in claims {
        let Ok(experiment) = lab::open(&claim.experiment) else { continue };
        match experiment.with_overrides(&[(key.to_owned(), value.to_owned())]) {
            Ok(_) => return Ok(()),
            Err(error) => refused = Some(error),
        }
    }
    refused.map_or(Ok(()), |error| Err(error.into()))
}

fn read_baseline(path: &Path) -> Result<Baseline, Failure> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(format!(
            "{shown}: cannot read it as text ({error}); name a file that 'weir verify --json' wrote"
        ))
    })?;
    Ok(Baseline::parse(&text, &shown)?)
}

/// Prints how this command deviates from the experiments (number of runs, parameters), and which
/// claims an improvement does not change.
fn say_what_differs(args: &Verify, plan: &Plan<'_>, printed: &Plan<'_>, others: &[Alternative]) {
    if args.running.quiet {
        return;
    }
    if let Some(runs) = args.running.chosen.runs {
        eprint(&format!("note: {runs} runs per cell instead of the numbers in the experiments"));
    }
    if args.running.chosen.quick {
        eprint("note: short forms (--quick) of the experiments");
    }
    for (key, value) in &args.running.chosen.set {
        eprint(&format!("note: {key} = {value} instead of the values in the experiments"));
    }
    for other in others {
        for (reason, claims) in plan.not_improved(other) {
            eprint(&format!("note: {} not rerun with {other}: {reason}", claims.join(", ")));
        }
    }
    let count = plan.experiments.len();
    let words = if count == 1 { "experiment" } else { "experiments" };
    let as_printed = match printed.runs() {
        0 => String::new(),
        runs => format!(", and {runs} as printed"),
    };
    eprint(&format!("{} runs of {count} {words}{as_printed}", plan.runs()));
}

fn print(out: &mut Output, verdicts: &[Verdict]) -> Result<(), Failure> {
    let by_party = verdicts.iter().any(|verdict| !verdict.who.is_empty());
    let second = if by_party { "who" } else { "where" };
    let mut rows = Rows::new(["claim", second, "status", "measured", "published", "check"]);
    for verdict in verdicts {
        let colour = match verdict.status {
            Status::Reproduced => Color::Green,
            Status::NotReproduced => Color::Red,
            Status::NotRun => Color::Yellow,
        };
        rows.add([
            Cell::from(&verdict.id),
            Cell::from(if by_party { &verdict.who } else { &verdict.location }),
            Cell::from(verdict.status).coloured(colour),
            Cell::from(measured(verdict)),
            Cell::from(&verdict.published),
            Cell::from(&verdict.check),
        ]);
        let printed = verdict.as_printed.iter();
        let printed = printed.map(|printed| ("as printed", printed.holds, &printed.measured));
        let factors = verdict.factors.iter();
        let factors = factors.map(|one| (&*one.factor, one.holds, &one.measured));
        let others = verdict.beside.iter();
        let others = others.map(|other| (&*other.controller, other.holds, &other.measured));
        for (name, holds, measured) in printed.chain(factors).chain(others) {
            let (word, colour) = match holds {
                Some(true) => ("holds", Color::Green),
                Some(false) => ("does not hold", Color::Red),
                None => ("not run", Color::Yellow),
            };
            let status = Cell::from(word).coloured(colour);
            rows.add([Cell::from(""), Cell::from(name), status, Cell::from(measured)]);
        }
    }
    out.table(&rows)?;
    let count = |status| verdicts.iter().filter(|verdict| verdict.status == status).count();
    out.line(format_args!(
        "{} reproduced, {} not reproduced, {} not run",
        count(Status::Reproduced),
        count(Status::NotReproduced),
        count(Status::NotRun)
    ))
}

/// The measured values with the notes on them.
fn measured(verdict: &Verdict) -> String {
    let caveat = verdict.caveat();
    if caveat.is_empty() {
        verdict.measured.clone()
    } else {
        format!("{} ({caveat})", verdict.measured)
    }
}

fn save(path: &Path, verdicts: &[Verdict]) -> Result<(), Failure> {
    let lines =
        verdicts.iter().map(|verdict| serde_json::to_string(verdict).map(|line| line + "\n"));
    write_file(path, &escaped_json(&lines.collect::<Result<String, _>>()?))
}
