//! `weir judge`.

mod forms;

use super::{conclude, eprint, outputs_apart, with_runner, write_file};
use crate::cli::{Judge, LibraryHost};
use crate::failure::Failure;
use crate::output::{Output, Rows};
use forms::{junit, markdown, page};
use lab::judge::{Candidate, Finding, Judged, Suite, Verdict, mutants};
use lab::runner::{NO_CACHE, Runner, Summary};
use std::process::ExitCode;

/// The seeds per cell for mutants, if `--runs` does not say so. Our choice: with fewer, a mutant
/// that changes one cell by a third is not told from chance.
const MUTANT_RUNS: u32 = 20;

pub(crate) fn run(args: &Judge) -> Result<ExitCode, Failure> {
    if !(args.size.is_finite() && args.size > 0.0) {
        return Err(Failure::new("--size must be greater than 0"));
    }
    let outputs = args.junit.iter().chain(&args.markdown).chain(&args.output);
    let outputs: Vec<_> = outputs.map(AsRef::as_ref).collect();
    outputs_apart(&outputs, &[])?;
    let suite = Suite::open(&args.suite)?;
    let baseline =
        Candidate { controller: args.against.clone(), settings: args.against_set.clone() };
    if args.mutants {
        return judge_mutants(args, &suite, &baseline);
    }
    if let Some(times) = args.repeat {
        return repeat(args, &suite, &baseline, times);
    }
    let controller = args.controller.clone().unwrap_or_default();
    let candidate = Candidate { controller, settings: args.set.clone() };
    let (mut judged, summary) =
        judged(args, args.runs, &suite, &baseline, &[(candidate.clone(), args.seeds_later)])?;
    let Some(judged) = judged.pop() else { return conclude(summary, ExitCode::FAILURE) };
    if let Some(path) = &args.junit {
        write_file(path, &junit(&candidate, &baseline, &judged)?)?;
    }
    if let Some(path) = &args.markdown {
        write_file(path, &markdown(&candidate, &baseline, &judged))?;
    }
    if let Some(path) = &args.output {
        write_file(path, &report::html(&page(&candidate, &baseline, &judged)?)?)?;
    }
    let mut out = Output::new();
    if args.json {
        judged.findings.iter().try_for_each(|finding| out.json(finding))?;
    } else {
        print(&mut out, &candidate, &baseline, &judged)?;
    }
    out.finish()?;
    let worse = judged.with(Verdict::Worse).count() > 0;
    conclude(summary, if worse { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Judges each candidate with its shift of the seeds against the same baseline.
fn judged(
    args: &Judge,
    runs: Option<u32>,
    suite: &Suite,
    baseline: &Candidate,
    candidates: &[(Candidate, u64)],
) -> Result<(Vec<Judged>, Summary), Failure> {
    let mut lists = vec![suite.with(baseline, 0, runs)?];
    for (candidate, later) in candidates {
        lists.push(suite.with(candidate, *later, runs)?);
    }
    let work = |runner: Runner<'_>| lab::judge::measure(runner, &lists);
    let (measured, summary) = with_runner((args.jobs, args.quiet), &NO_CACHE, work)?;
    measured.iter().flat_map(|measured| &measured.failed).for_each(|text| eprint(text));
    let judge = |candidate| Judged::of(suite, &measured[0], candidate, args.size);
    Ok((measured[1..].iter().map(judge).collect(), summary))
}

fn judge_mutants(args: &Judge, suite: &Suite, original: &Candidate) -> Result<ExitCode, Failure> {
    let mutants = mutants();
    let runs = args.runs.or(Some(MUTANT_RUNS));
    let candidates: Vec<_> = mutants.iter().map(|(_, candidate)| (candidate.clone(), 0)).collect();
    let (judged, summary) = judged(args, runs, suite, original, &candidates)?;
    let mut rows = Rows::new(["mutant", "caught", "worse", "better", "where, first"]);
    let mut caught = 0;
    for ((what, _), judged) in mutants.iter().zip(&judged) {
        let count = |verdict| judged.with(verdict).count();
        let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
        let mut found = judged.with(Verdict::Worse).chain(judged.with(Verdict::Better));
        let place = found.next().map_or("–".to_owned(), place);
        caught += usize::from(worse + better > 0);
        let word = if worse + better > 0 { "yes" } else { "no" };
        rows.add([
            (*what).to_owned(),
            word.to_owned(),
            worse.to_string(),
            better.to_string(),
            place,
        ]);
    }
    let mut out = Output::new();
    out.table(&rows)?;
    out.line(format_args!("{caught} of {} mutants are caught", mutants.len()))?;
    out.finish()?;
    conclude(summary, ExitCode::SUCCESS)
}

fn repeat(
    args: &Judge,
    suite: &Suite,
    baseline: &Candidate,
    times: u64,
) -> Result<ExitCode, Failure> {
    // 1000 seeds apart, so that no two repeats share a seed.
    let candidates: Vec<_> = (1..=times).map(|time| (baseline.clone(), 1000 * time)).collect();
    let (judged, summary) = judged(args, args.runs, suite, baseline, &candidates)?;
    let mut out = Output::new();
    let mut alarms = 0;
    for (time, judged) in (1..).zip(&judged) {
        let found: Vec<_> =
            judged.with(Verdict::Worse).chain(judged.with(Verdict::Better)).collect();
        alarms += usize::from(!found.is_empty());
        for finding in found {
            out.line(format_args!("repeat {time}: {}, {}", place(finding), finding.words))?;
        }
    }
    out.line(format_args!("{alarms} alarms in {times} repeats of {}", baseline.label()))?;
    out.finish()?;
    conclude(summary, if alarms > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The place of a finding: `Capacity, case=outage: loss`.
fn place(finding: &Finding) -> String {
    let cell = finding.cell.as_deref().unwrap_or("all cells");
    format!("{}, {cell}: {}", finding.area, finding.metric)
}

/// The difference with its interval; that of an area has no unit.
fn difference(finding: &Finding) -> String {
    let show = |value: f64| match finding.unit {
        Some(unit) => unit.show(value),
        None => format!("{value:.2} ×"),
    };
    let sign = if finding.difference > 0.0 { "+" } else { "" };
    let interval = finding.half_width.map(|half| format!(" ± {}", show(half)));
    format!("{sign}{}{}", show(finding.difference), interval.unwrap_or_default())
}

fn values(finding: &Finding) -> [String; 2] {
    [finding.baseline, finding.candidate].map(|value| match (finding.unit, value) {
        (Some(unit), Some(value)) => unit.show(value),
        _ => "–".to_owned(),
    })
}

/// The findings that are better or worse, worse ones first.
fn changed(judged: &Judged) -> Vec<&Finding> {
    judged.with(Verdict::Worse).chain(judged.with(Verdict::Better)).collect()
}

fn title(candidate: &Candidate, baseline: &Candidate) -> String {
    format!("{} against {}", candidate.label(), baseline.label())
}

fn print(
    out: &mut Output,
    candidate: &Candidate,
    baseline: &Candidate,
    judged: &Judged,
) -> Result<(), Failure> {
    out.line(title(candidate, baseline))?;
    let mut rows = Rows::new(["area", "grade", "better", "worse", "same"]);
    for grade in &judged.grades {
        let counts = [grade.better, grade.worse, grade.same].map(|count| count.to_string());
        rows.add([grade.area.clone(), grade.grade.to_string()].into_iter().chain(counts));
    }
    out.table(&rows)?;
    let changed = changed(judged);
    if changed.is_empty() {
        return out.line("the same: no difference that counts");
    }
    let heads = ["verdict", "where", "baseline", "candidate", "difference", "p"];
    let mut rows = Rows::new(heads);
    for finding in changed {
        let [before, after] = values(finding);
        let p = format!("{:.1e}", finding.p);
        rows.add([finding.words.clone(), place(finding), before, after, difference(finding), p]);
    }
    out.table(&rows)
}

/// The host of a controller that is a shared library.
pub(crate) fn host(args: &LibraryHost) -> Result<ExitCode, Failure> {
    let failed = |reason| Failure::new(format!("{}: {reason}", args.library.display()));
    lab::external::host(&args.library).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
