use super::{eprint, outputs_apart, with_runner};
use crate::cli::{On, Optimise, Sweep as SweepArgs, SweepTask, Sweeping};
use crate::failure::Failure;
use crate::output::{Output, Rows};
use lab::claims::Catalogue;
use lab::figures::SweepFigures;
use lab::runner::{NO_CACHE, Runner, all_cores};
use lab::sweep::{Keeping, PointResult, Ray, Remote, Results, Sweep, Table, TaskLine, Written};
use report::TextTable;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::Store;
use store::export::{MetricTable, to_file};

pub(crate) fn run(args: &SweepArgs) -> Result<ExitCode, Failure> {
    let outputs: Vec<&Path> = [&args.csv, &args.parquet, &args.output]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    let others = args.store.iter().map(PathBuf::as_path).chain([Path::new(&args.sweep)]);
    outputs_apart(&outputs, &others.collect::<Vec<_>>())?;
    if (args.parquet.is_some() || args.dataset.is_some()) && cfg!(not(feature = "parquet")) {
        return Err(Failure::new("this build cannot write Parquet; use --csv, or 'make build'"));
    }
    if args.dataset.is_some() && args.store.is_none() {
        let needs = [
            ("--csv", args.csv.is_some()),
            ("--parquet", args.parquet.is_some()),
            ("--output", args.output.is_some()),
            ("--json", args.running.json),
        ];
        if let Some((name, _)) = needs.into_iter().find(|(_, given)| *given) {
            return Err(Failure::new(format!(
                "{name} needs the metrics of all runs in memory, and --dataset alone keeps none; \
                 add --store FILE, or leave out {name}"
            )));
        }
    }
    let sweep = open(&args.sweep, &args.running)?;
    if args.dry_run {
        return dry_run(&sweep, &args.running);
    }
    let (jobs, quiet) = (args.running.jobs, args.running.quiet);
    let notice = |text: &str| {
        if !quiet {
            eprint(text);
        }
    };
    let mut ray = ray(args, &notice)?;
    let mut remote = ray.as_mut().map(|ray| ray as &mut dyn Remote);
    if let (Some(place), None) = (&args.dataset, &args.store) {
        return dataset(&sweep, place, remote, (jobs, quiet));
    }
    let mut store = args.store.as_deref().map(Store::create_or_open).transpose()?;
    let keeping = Keeping { store: store.as_mut(), dataset: args.dataset.as_deref() };
    let work = |runner: Runner<'_>| sweep.run(runner, keeping, remote.take());
    let results = with_runner((jobs, quiet), &NO_CACHE, work)??;
    if results.reused > 0 && !quiet {
        eprint(&format!("{} runs were already in the store", results.reused));
    }
    if results.cancelled {
        let (done, total) = (results.done(), sweep.total_runs());
        eprint(&format!("stopped: {done} of {total} runs are finished; --store keeps them"));
        return Err(Failure::Interrupted);
    }
    if let (Some(written), Some(place), false) = (&results.written, &args.dataset, quiet) {
        eprint(&in_words(&sweep, written, place));
    }
    finish(args, &sweep, &results)
}

/// The cluster that executes the runs; `None` for the threads of this process.
fn ray<'a>(args: &SweepArgs, notice: &'a dyn Fn(&str)) -> Result<Option<Ray<'a>>, Failure> {
    let On::Ray(address) = &args.on else { return Ok(None) };
    let points = args.running.points.iter();
    Ok(Some(Ray {
        address: address.clone(),
        python: std::env::var("WEIR_PYTHON").unwrap_or_else(|_| "python3".to_owned()),
        program: std::env::current_exe()?,
        arguments: points.flat_map(|points| ["--points".to_owned(), points.to_string()]).collect(),
        patience: Duration::from_secs(args.ray_timeout),
        runs_per_task: args.runs_per_task.get(),
        notice,
    }))
}

/// What a dataset has: `s.toml: 1001 runs in 2 files in runs`.
fn in_words(sweep: &Sweep, written: &Written, place: &Path) -> String {
    let (name, done, files) = (&sweep.name, written.done, written.parts);
    format!("{name}: {done} runs in {files} files in {}", place.display())
}

/// Runs the sweep into a dataset alone.
fn dataset(
    sweep: &Sweep,
    place: &Path,
    mut remote: Option<&mut dyn Remote>,
    (jobs, quiet): (Option<NonZeroUsize>, bool),
) -> Result<ExitCode, Failure> {
    let work = |runner: Runner<'_>| sweep.write_dataset(runner, place, remote.take());
    let written = with_runner((jobs, quiet), &NO_CACHE, work)??;
    report_faults(&written.table);
    let (done, total) = (written.done, sweep.total_runs());
    if written.reused > 0 && !quiet {
        eprint(&format!("{} runs were already in the dataset", written.reused));
    }
    if written.cancelled {
        eprint(&format!("stopped: {done} of {total} runs are written; the same command continues"));
        return Err(Failure::Interrupted);
    }
    let mut out = Output::new();
    out.line(in_words(sweep, &written, place))?;
    out.finish()?;
    Ok(if written.table.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs part of a sweep on one core, for a cluster.
pub(crate) fn task(args: &SweepTask) -> Result<ExitCode, Failure> {
    let sweep = Sweep::open(&args.sweep)?;
    let sweep = match args.points {
        Some(points) => sweep.coarse(points)?,
        None => sweep,
    };
    let mut out = Output::new();
    out.json(&sweep.task_identity())?;
    let runs = args.first..args.first.saturating_add(args.count);
    let mut printed = Ok(());
    let work = |runner: Runner<'_>| {
        let done = sweep.run_task(runner, runs, &mut |line: TaskLine| {
            if printed.is_ok() {
                printed = out.json(&line);
            }
            if printed.is_err() {
                runner.cancel.store(true, Ordering::Relaxed);
            }
        });
        done.map(|()| runner.cancel.load(Ordering::Relaxed))
    };
    let cancelled = with_runner((Some(NonZeroUsize::MIN), true), &NO_CACHE, work)??;
    printed?;
    out.finish()?;
    if cancelled { Err(Failure::Interrupted) } else { Ok(ExitCode::SUCCESS) }
}

/// Writes the results.
fn finish(args: &SweepArgs, sweep: &Sweep, results: &Results) -> Result<ExitCode, Failure> {
    let table = sweep.table(results);
    report_faults(&table);
    if args.csv.is_some() || args.parquet.is_some() {
        let rows = sweep.rows(&table);
        let metrics = sweep.metrics(&table, &rows);
        if let Some(path) = &args.csv {
            to_file(path, |file| metrics.write_csv(file))?;
        }
        if let Some(path) = &args.parquet {
            parquet(path, &metrics)?;
        }
    }
    if let Some(path) = &args.output {
        write_page(path, sweep, &table, args.running.quiet)?;
    }
    show(sweep, &table, args.running.json)?;
    if !args.running.json {
        verdicts(sweep, &table)?;
    }
    Ok(if table.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn optimise(args: &Optimise) -> Result<ExitCode, Failure> {
    let sweep = open(&args.sweep, &args.running)?;
    let per_point = sweep.runs_per_point();
    let runs = args.runs as usize;
    if runs < per_point {
        return Err(Failure::new(format!(
            "--runs: {runs} runs are not one point; a point takes {per_point} runs"
        )));
    }
    let mut store = args.store.as_deref().map(Store::create_or_open).transpose()?;
    let work = |runner: Runner<'_>| sweep.optimise(runner, store.as_mut(), runs);
    let found = with_runner((args.running.jobs, args.running.quiet), &NO_CACHE, work)??;
    if found.reused > 0 && !args.running.quiet {
        eprint(&format!("{} runs were already in the store", found.reused));
    }
    if found.cancelled {
        let finished = found.runs;
        eprint(&format!("stopped: {finished} of {runs} runs are finished; --store keeps them"));
        return Err(Failure::Interrupted);
    }
    report_faults(&found.table);
    show(&sweep, &found.table, args.running.json)?;
    Ok(if found.table.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open(name: &str, running: &Sweeping) -> Result<Sweep, Failure> {
    let sweep = Sweep::open(name)?;
    SweepFigures::read(&sweep)?;
    Ok(match running.points {
        Some(points) => sweep.coarse(points)?,
        None => sweep,
    })
}

/// Prints the number of runs, and about how long they take: one run of each scenario is timed, at
/// the middle point.
fn dry_run(sweep: &Sweep, running: &Sweeping) -> Result<ExitCode, Failure> {
    let threads = running.jobs.unwrap_or_else(all_cores).get();
    let work = |runner: Runner<'_>| {
        let started = now();
        sweep.sample(runner);
        started.elapsed()
    };
    let per_point = with_runner((running.jobs, true), &NO_CACHE, work)?;
    let estimate = per_point.mul_f64(sweep.points() as f64 * f64::from(sweep.runs))
        / u32::try_from(threads).unwrap_or(1).max(1);
    let mut out = Output::new();
    out.line(format_args!(
        "{}: {} points × {} scenarios × {} seeds = {} runs, {:.0} h of simulated time",
        sweep.name,
        sweep.points(),
        sweep.scenarios.len(),
        sweep.runs,
        sweep.total_runs(),
        sweep.simulated_seconds() / 3600.0,
    ))?;
    out.line(format_args!(
        "about {} on {threads} threads, if every point takes as long as the middle one",
        words(estimate)
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// A duration in words: `43 minutes`.
fn words(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} minutes", seconds / 60.0),
        seconds => format!("{:.1} hours", seconds / 3600.0),
    }
}

#[expect(clippy::disallowed_methods, reason = "times the simulator, not a run")]
fn now() -> Instant {
    Instant::now()
}

/// Prints what was wrong.
pub(super) fn report_faults(table: &Table) {
    table.faults.iter().for_each(|fault| eprint(fault));
    let more = table.failures - table.faults.len();
    if more > 0 {
        eprint(&format!("and {more} more runs or points without an objective"));
    }
}

/// The best points as a table, or one JSON object per point.
fn show(sweep: &Sweep, table: &Table, json: bool) -> Result<(), Failure> {
    let mut out = Output::new();
    if json {
        table.points.iter().try_for_each(|point| out.json(&sweep.line(point)))?;
        return out.finish();
    }
    let ranked: Vec<&PointResult> = table.ranked();
    let TextTable { caption, columns, rows } = sweep.best(&ranked);
    out.line(format_args!("{}: {}", sweep.name, sweep.title))?;
    out.line(caption)?;
    let mut shown = Rows::new(columns.iter().map(String::as_str));
    rows.into_iter().for_each(|row| shown.add(row));
    out.table(&shown)?;
    out.finish()
}

/// Says of the claims that the sweep tests whether they hold on these points.
fn verdicts(sweep: &Sweep, table: &Table) -> Result<(), Failure> {
    let catalogue = Catalogue::embedded()?;
    let mut out = Output::new();
    for claim in catalogue.of_experiment(&sweep.name).filter(|claim| claim.is_sweep) {
        let verdict = claim.judge_sweep(sweep, table);
        let (id, status, points) = (&verdict.id, verdict.status, table.points.len());
        out.line(format_args!("{id} on these {points} points: {status}: {}", verdict.measured))?;
    }
    out.finish()
}

fn write_page(path: &Path, sweep: &Sweep, table: &Table, quiet: bool) -> Result<(), Failure> {
    let mut facts = super::report::provenance()?;
    facts.push(("runs".to_owned(), sweep.total_runs().to_string()));
    facts.push(("points".to_owned(), sweep.points().to_string()));
    let sections = vec![SweepFigures::read(sweep)?.section(sweep, table)];
    let page = lab::claims_report(&sweep.title, facts, &[], sections);
    super::report::write_report(path, &page, quiet)
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, metrics: &MetricTable<'_>) -> Result<(), Failure> {
    Ok(to_file(path, |file| metrics.write_parquet(file))?)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, _: &MetricTable<'_>) -> Result<(), Failure> {
    Ok(())
}
