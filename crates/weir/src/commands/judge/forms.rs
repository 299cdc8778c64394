//! The forms of a judgement for other programs and people: HTML, Markdown, JUnit XML.

use super::{changed, difference, place, title, values};
use crate::failure::Failure;
use lab::judge::{Candidate, Finding, Grade, Judged, Verdict};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use report::{
    Bar, Figure, Group, Grouped, Mark, MarkAt, MarkKind, Report, Role, Rows, Section, TextTable,
};
use std::fmt::Write as _;

/// One section per area with a figure and a table of all its findings.
pub(super) fn page(
    candidate: &Candidate,
    baseline: &Candidate,
    judged: &Judged,
) -> Result<Report, Failure> {
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
            figures: vec![figure(index, &grade.area, judged)],
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
        facts: crate::commands::report::provenance()?,
        claims: Vec::new(),
        sections: judged.grades.iter().enumerate().map(section).collect(),
    })
}

pub(super) fn markdown(candidate: &Candidate, baseline: &Candidate, judged: &Judged) -> String {
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

/// The greatest difference that is drawn. Our choice: a much greater one would hide the others.
const REACH: f64 = 10.0;

/// The differences of the cells of an area, in units of the least that counts.
fn figure(index: usize, area: &str, judged: &Judged) -> Figure {
    let mut metrics: Vec<&str> = Vec::new();
    let mut cells: Vec<&str> = Vec::new();
    let of_cells = judged.findings.iter().filter(|finding| finding.area == area);
    let of_cells = of_cells.filter_map(|finding| Some((finding.cell.as_deref()?, finding)));
    for (cell, finding) in of_cells.clone() {
        if !metrics.contains(&finding.metric) {
            metrics.push(finding.metric);
        }
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let bar = |cell: &str, metric: &str| {
        let is_it = |(of, finding): &(&str, &Finding)| *of == cell && finding.metric == metric;
        let (_, finding) = of_cells.clone().find(is_it)?;
        let scale = if finding.wants_more() { finding.least } else { -finding.least };
        let value = finding.difference / scale;
        let half = finding.half_width.map(|half| half / finding.least);
        let drawn = |value: f64| value.clamp(-REACH, REACH);
        let interval = half.map(|half| (drawn(value - half), drawn(value + half)));
        let value = drawn(value);
        Some(Bar { value, interval, runs: finding.pairs, published: None })
    };
    let group = |cell: &&str| Group {
        label: (*cell).to_owned(),
        items: metrics.iter().map(|metric| bar(cell, metric)).collect(),
    };
    let series = metrics.iter().enumerate();
    let mark = |y: f64| Mark { at: MarkAt::Y(y), label: String::new(), kind: MarkKind::Reference };
    let rows = Grouped {
        series: series.map(|(at, metric)| ((*metric).to_owned(), Role::Series(at))).collect(),
        legend: "metric".to_owned(),
        groups: cells.iter().map(group).collect(),
        x_label: "cell".to_owned(),
        y_label: "difference in units of the least that counts; right: better".to_owned(),
        marks: vec![mark(-1.0), mark(1.0)],
        note: format!(
            "Whiskers: 95 % confidence interval of the mean difference (Student's t). Differences \
             above {REACH} end there; the table has their values."
        ),
        ..Grouped::default()
    };
    Figure {
        id: format!("differences-{index}"),
        title: "Differences by cell".to_owned(),
        caption: String::new(),
        body: Box::new(Rows(rows)),
    }
}

/// One test suite per area and one test case per finding; a failure is a metric that got worse.
pub(super) fn junit(
    candidate: &Candidate,
    baseline: &Candidate,
    judged: &Judged,
) -> Result<String, Failure> {
    let mut report = quick_junit::Report::new(title(candidate, baseline));
    for grade in &judged.grades {
        let mut suite = TestSuite::new(grade.area.as_str());
        for finding in judged.findings.iter().filter(|finding| finding.area == grade.area) {
            let cell = finding.cell.as_deref().unwrap_or("all cells");
            let status = if finding.verdict == Verdict::Worse {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                let [before, after] = values(finding);
                let (words, difference) = (&finding.words, difference(finding));
                status.set_message(format!("{words}: {before} → {after}, difference {difference}"));
                status
            } else {
                TestCaseStatus::success()
            };
            let mut case = TestCase::new(format!("{cell}: {}", finding.metric), status);
            case.set_classname(grade.area.as_str());
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| Failure::new(format!("JUnit XML: {error}")))
}
