//! `weir judge` and `weir equal`.

use super::{conclude, eprint, outputs_apart, with_runner, write_file};
use crate::cli::{Equal, Judge};
use crate::failure::Failure;
use crate::output::{Output, Rows};
use lab::judge::{Candidate, Equality, Finding, Grade, Judged, Suite, Verdict, mutants};
use lab::runner::{NO_CACHE, Runner, Summary};
use report::{Report, Section, TextTable};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::process::ExitCode;

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
        judged(args, &suite, &baseline, &[(candidate.clone(), args.seeds_later)])?;
    let Some(judged) = judged.pop() else { return conclude(summary, ExitCode::FAILURE) };
    if let Some(path) = &args.junit {
        write_file(path, &junit(&judged))?;
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
    suite: &Suite,
    baseline: &Candidate,
    candidates: &[(Candidate, u64)],
) -> Result<(Vec<Judged>, Summary), Failure> {
    let mut lists = vec![suite.with(baseline, 0, args.runs)?];
    for (candidate, later) in candidates {
        lists.push(suite.with(candidate, *later, args.runs)?);
    }
    let work = |runner: Runner<'_>| lab::judge::measure(runner, &lists);
    let (measured, summary) = with_runner((args.jobs, args.quiet), &NO_CACHE, work)?;
    measured.iter().flat_map(|measured| &measured.failed).for_each(|text| eprint(text));
    let judge = |candidate| Judged::of(suite, &measured[0], candidate, args.size);
    Ok((measured[1..].iter().map(judge).collect(), summary))
}

fn judge_mutants(args: &Judge, suite: &Suite, original: &Candidate) -> Result<ExitCode, Failure> {
    let mutants = mutants();
    let candidates: Vec<_> = mutants.iter().map(|(_, candidate)| (candidate.clone(), 0)).collect();
    let (judged, summary) = judged(args, suite, original, &candidates)?;
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
    let (judged, summary) = judged(args, suite, baseline, &candidates)?;
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

/// One section per area with a table of all its findings.
fn page(candidate: &Candidate, baseline: &Candidate, judged: &Judged) -> Result<Report, Failure> {
    let section = |(index, grade): (usize, &Grade)| {
        let of_area = judged.findings.iter().filter(|finding| finding.area == grade.area);
        let row = |finding: &Finding| {
            let [before, after] = values(finding);
            let cell = finding.cell.clone().unwrap_or_else(|| "all cells".to_owned());
            let p = format!("{:.1e}", finding.p);
            let metric = finding.metric.to_owned();
            vec![cell, metric, before, after, difference(finding), p, finding.words.clone()]
        };
        let head = ["cell", "metric", "baseline", "candidate", "difference", "p", "verdict"];
        Section {
            id: format!("area-{index}"),
            title: format!("{}: {}", grade.area, grade.grade),
            text: format!(
                "{} metrics are better, {} worse, {} the same.",
                grade.better, grade.worse, grade.same
            ),
            table: Some(TextTable {
                caption: String::new(),
                columns: head.map(str::to_owned).to_vec(),
                rows: of_area.map(row).collect(),
            }),
            ..Section::default()
        }
    };
    Ok(Report {
        title: title(candidate, baseline),
        subtitle: "Differences of pairs of runs with the same seed".to_owned(),
        facts: super::report::provenance()?,
        claims: Vec::new(),
        sections: judged.grades.iter().enumerate().map(section).collect(),
    })
}

fn markdown(candidate: &Candidate, baseline: &Candidate, judged: &Judged) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut text = format!("## {}\n\n", cell(&title(candidate, baseline)));
    text.push_str("| area | grade | better | worse | same |\n|---|---|---|---|---|\n");
    for grade in &judged.grades {
        let Grade { area, grade, better, worse, same } = grade;
        let _ = writeln!(text, "| {} | {grade} | {better} | {worse} | {same} |", cell(area));
    }
    let changed = changed(judged);
    if changed.is_empty() {
        text.push_str("\nThe same: no difference that counts.\n");
        return text;
    }
    text.push_str(
        "\n| verdict | where | baseline | candidate | difference |\n|---|---|---|---|---|\n",
    );
    for finding in changed {
        let [before, after] = values(finding);
        let (place, difference) = (cell(&place(finding)), difference(finding));
        let words = &finding.words;
        let _ = writeln!(text, "| {words} | {place} | {before} | {after} | {difference} |");
    }
    text
}

/// One test suite per area and one test case per finding; a failure is a metric that got worse.
fn junit(judged: &Judged) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for grade in &judged.grades {
        let findings = judged.findings.iter().filter(|finding| finding.area == grade.area);
        let (area, tests) = (xml(&grade.area), findings.clone().count());
        let failures = grade.worse;
        let _ =
            writeln!(text, "<testsuite name=\"{area}\" tests=\"{tests}\" failures=\"{failures}\">");
        for finding in findings {
            let cell = finding.cell.as_deref().unwrap_or("all cells");
            let name = xml(&format!("{cell}: {}", finding.metric));
            let _ = write!(text, "<testcase classname=\"{area}\" name=\"{name}\"");
            if finding.verdict == Verdict::Worse {
                let [before, after] = values(finding);
                let said = format!(
                    "{}: {before} → {after}, difference {}",
                    finding.words,
                    difference(finding)
                );
                let _ = writeln!(text, "><failure message=\"{}\"/></testcase>", xml(&said));
            } else {
                text.push_str("/>\n");
            }
        }
        text.push_str("</testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// Text of an XML attribute; characters that XML cannot have become U+FFFD (XML 1.0 § 2.2).
fn xml(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
        escaped
    })
}

/// A cell of `weir equal --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct EqualLine<'a> {
    /// The cell.
    cell: &'a str,
    #[serde(flatten)]
    equality: Equality,
}

pub(crate) fn equal(args: &Equal) -> Result<ExitCode, Failure> {
    if !(args.tolerance.is_finite() && args.tolerance >= 0.0) {
        return Err(Failure::new("--tolerance must be at least 0"));
    }
    let experiment = lab::open(&args.experiment)?.simulated()?;
    let first = Candidate { controller: args.first.clone(), settings: Vec::new() };
    let second = Candidate { controller: args.second.clone(), settings: args.set.clone() };
    let mut out = Output::new();
    let mut code = ExitCode::SUCCESS;
    for cell in experiment.cells() {
        let label = cell.label();
        let scenario = cell.scenario(experiment.seed);
        match lab::judge::equal(&scenario, [&first, &second], args.tolerance) {
            Err(failure) => {
                code = ExitCode::FAILURE;
                eprint(&format!("{label}: {failure}"));
            }
            Ok(equality) => {
                if !equality.diverged.is_empty() {
                    code = ExitCode::FAILURE;
                }
                if args.json {
                    out.json(&EqualLine { cell: &label, equality })?;
                } else {
                    shown(&mut out, &label, &equality)?;
                }
            }
        }
    }
    out.finish()?;
    Ok(code)
}

fn shown(out: &mut Output, label: &str, equality: &Equality) -> Result<(), Failure> {
    let compared = equality.compared;
    let Some(first) = equality.diverged.first() else {
        return out.line(format_args!("{label}: equal after {compared} messages"));
    };
    out.line(format_args!(
        "{label}: first divergence at {:.3} s, message {} of {compared}: {} of {} is {} and {}",
        first.time, first.message, first.value, first.call, first.first, first.second
    ))?;
    for diverged in &equality.diverged {
        out.line(format_args!(
            "  {} of {} from {:.3} s on, at most {:.2} %",
            diverged.value,
            diverged.call,
            diverged.time,
            diverged.greatest * 100.0
        ))?;
    }
    Ok(())
}
