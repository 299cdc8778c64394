//! Stored runs of several sources, side by side.

use super::{conclude, eprint, outputs_apart, with_runner};
use crate::cli::Compare;
use crate::failure::Failure;
use crate::output::{Output, Rows};
use experiment::Experiment;
use lab::StoredExperiments;
use lab::claims::{Catalogue, Claim, Verdict, schedule};
use lab::comparison::{Comparison, Difference, ResultSource, differences};
use lab::runner::{Job, NO_CACHE, Outcome, Summary};
use std::path::Path;
use std::process::ExitCode;
use store::{Filter, Store, StoredRun};

pub(crate) fn run(args: &Compare) -> Result<ExitCode, Failure> {
    let outputs: Vec<&Path> = args.output.iter().map(AsRef::as_ref).collect();
    outputs_apart(&outputs, &[&args.store])?;
    let catalogue = Catalogue::embedded()?;
    let claims = catalogue.select(&[])?;
    let store = Store::open(&args.store)?;
    let runs = readable(chosen(&store, args)?, &mut StoredExperiments::default())?;
    let mut comparisons = loaded(&store, &runs, &claims)?;
    let summary = simulate(args, &mut comparisons)?;
    if let Some(path) = &args.output {
        let sections = comparisons.iter().map(Comparison::section).collect();
        let mut facts = super::report::provenance()?;
        let runs = format!("{}, {} also simulated", super::report::made(&runs), summary.done);
        facts.push(("runs".to_owned(), runs));
        let page = lab::claims_report("Runs side by side", facts, &[], sections);
        super::report::write_report(path, &page, args.quiet)?;
    }
    if args.claims {
        super::verify::show(&in_order(&claims, &comparisons, false), args.json)?;
    } else {
        show(args, &comparisons)?;
    }
    conclude(summary, ExitCode::SUCCESS)
}

/// The runs of the named experiments.
fn chosen(store: &Store, args: &Compare) -> Result<Vec<StoredRun>, Failure> {
    if args.experiments.is_empty() {
        return Ok(store.runs(&Filter::default())?);
    }
    let mut runs = Vec::new();
    for name in &args.experiments {
        let found = store.runs(&Filter { experiment: Some(name.clone()), ..Filter::default() })?;
        if found.is_empty() {
            let shown = args.store.display();
            return Err(Failure::new(format!(
                "{shown}: no run of '{name}'; see 'weir list --store {shown}'"
            )));
        }
        runs.extend(found);
    }
    // A paper and one of its experiments name the same run.
    runs.sort_by_key(|run| run.id);
    runs.dedup_by_key(|run| run.id);
    Ok(runs)
}

/// Keeps the runs whose experiments this version can read, and prints a line for each other run.
pub(super) fn readable(
    mut runs: Vec<StoredRun>,
    experiments: &mut StoredExperiments,
) -> Result<Vec<StoredRun>, Failure> {
    let mut faults = Vec::new();
    runs.retain(|run| match experiments.of(run) {
        Ok(_) => true,
        Err(error) => {
            faults.push(format!("run {} cannot be read: {error}", run.id));
            false
        }
    });
    match faults.first().filter(|_| runs.is_empty()) {
        Some(fault) => Err(Failure::new(fault)),
        None => {
            faults.iter().for_each(|fault| eprint(&format!("note: left out: {fault}")));
            Ok(runs)
        }
    }
}

/// The comparisons of stored runs, with the facts of each run.
fn loaded<'c>(
    store: &Store,
    runs: &[StoredRun],
    claims: &[&'c Claim],
) -> Result<Vec<Comparison<'c>>, Failure> {
    let mut comparisons = Comparison::of(runs, claims)?;
    for source in comparisons.iter_mut().flat_map(|comparison| &mut comparison.sources) {
        for (id, job, limited) in source.stored.clone() {
            let facts = source.facts(job, &store.recording(id)?, limited);
            source.add(facts);
        }
    }
    Ok(comparisons)
}

/// Runs the simulations with which the measured runs are compared.
fn simulate(args: &Compare, comparisons: &mut [Comparison<'_>]) -> Result<Summary, Failure> {
    let mut missing: Vec<(usize, ResultSource<'_>)> = Vec::new();
    for (place, comparison) in comparisons.iter().enumerate() {
        for source in comparison.missing_simulations() {
            match source {
                Ok(source) => missing.push((place, source)),
                Err(error) => eprint(&format!("note: {error}")),
            }
        }
    }
    let experiments: Vec<Experiment> =
        missing.iter().map(|(_, source)| source.experiment.clone()).collect();
    let mut made = Vec::new();
    let summary = with_runner((args.jobs, args.quiet), &NO_CACHE, |runner| {
        let each = |job: Job, recording: &_| missing[job.experiment].1.facts(job, recording, false);
        runner.run(&experiments, each, |outcome: Outcome<_>| match outcome.result {
            Ok(facts) => made.push((outcome.job.experiment, facts)),
            Err(failure) => eprint(&format!("seed {}: {failure}", outcome.job.seed)),
        })
    })?;
    for (place, facts) in made {
        missing[place].1.add(facts);
    }
    for (place, source) in missing {
        comparisons[place].sources.push(source);
    }
    Ok(summary)
}

fn show(args: &Compare, comparisons: &[Comparison<'_>]) -> Result<(), Failure> {
    let mut out = Output::new();
    let mut written = 0;
    for comparison in comparisons {
        let all = differences(comparison);
        written += all.len();
        if args.json {
            all.iter().try_for_each(|difference| out.json(difference))?;
        } else if let Some(first) = all.first() {
            print(&mut out, first, &all)?;
        }
    }
    out.finish()?;
    if written == 0 {
        eprint("note: no cell was both simulated and measured on a known network");
    }
    Ok(())
}

fn print(out: &mut Output, first: &Difference, all: &[Difference]) -> Result<(), Failure> {
    let quick = if first.time_scale < 1.0 {
        format!(", {}", schedule(first.time_scale))
    } else {
        String::new()
    };
    out.line(format_args!("{}{quick}", first.experiment))?;
    let mut rows = Rows::new(Difference::COLUMNS);
    for difference in all {
        rows.add(difference.row());
    }
    out.table(&rows)
}

/// The verdicts of stored runs on these claims, as [`in_order`].
pub(super) fn verdicts(
    path: &Path,
    claims: &[&Claim],
    named: bool,
) -> Result<Vec<Verdict>, Failure> {
    let store = Store::open(path)?;
    let mut runs = store.runs(&Filter::default())?;
    runs.retain(|run| claims.iter().any(|claim| claim.experiment == run.meta.experiment));
    let runs = readable(runs, &mut StoredExperiments::default())?;
    let comparisons = loaded(&store, &runs, claims)?;
    let all = in_order(claims, &comparisons, named);
    if all.is_empty() {
        let shown = path.display();
        return Err(Failure::new(format!(
            "{shown}: no run of an experiment that tests a claim; see 'weir list'"
        )));
    }
    Ok(all)
}

/// The verdict of each source on each claim, in the order of the claims. With `named` also claims
/// without a run.
fn in_order(claims: &[&Claim], comparisons: &[Comparison<'_>], named: bool) -> Vec<Verdict> {
    let found: Vec<Verdict> = comparisons.iter().flat_map(Comparison::verdicts).collect();
    let of = |claim: &&Claim| -> Vec<Verdict> {
        let mine: Vec<Verdict> =
            found.iter().filter(|verdict| verdict.id == claim.id).cloned().collect();
        if mine.is_empty() && named { vec![claim.without_runs()] } else { mine }
    };
    claims.iter().flat_map(of).collect()
}
