//! `docs/results.md` and `docs/rmcat.md` are current: they have every claim and every case once, and
//! the rows of some with short runs are what the program measures now.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use lab::claims::{Catalogue, Plan, Verdict, markdown};
use lab::figures::{Figures, SectionBuilder};
use lab::runner::{NO_CACHE, Runner, all_cores};
use std::sync::atomic::AtomicBool;

const PAGE: &str = include_str!("../../../docs/results.md");
const RMCAT: &str = include_str!("../../../docs/rmcat.md");
/// Claims that are verified in a few seconds.
const QUICK: [&str; 4] = ["C-10", "C-12", "J-1", "J-15"];

/// The rows of the tables with this number of cells, without their headers, each split into cells.
fn rows(page: &str, cells: usize) -> Vec<Vec<String>> {
    let table = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| claim"));
    let split = |line: &str| {
        let inner = line.trim_start_matches("| ").trim_end_matches(" |");
        inner.split(" | ").map(str::to_owned).collect::<Vec<_>>()
    };
    table.map(split).filter(|row| row.len() == cells).collect()
}

/// The rows of the first table.
fn results(page: &str) -> Vec<Vec<String>> {
    let end = page.find("\n## ").unwrap_or(page.len());
    rows(&page[..end], 7)
}

/// Runs on all cores.
fn with_runner<T>(work: impl FnOnce(Runner<'_>) -> T) -> T {
    let cancel = AtomicBool::new(false);
    work(Runner { jobs: all_cores(), cancel: &cancel, progress: &|_, _| {}, cache: &NO_CACHE })
}

fn verify(ids: &[&str]) -> Vec<Verdict> {
    let catalogue = Catalogue::embedded().unwrap();
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let plan = Plan::new(catalogue.select(&ids).unwrap(), Ok);
    with_runner(|runner| {
        let (mut verdicts, _) = plan.run(runner, |_, _| (), |_, ()| {});
        plan.as_printed().add_printed(runner, &mut verdicts);
        verdicts
    })
}

#[test]
fn every_claim_has_one_row_with_what_was_published() {
    let catalogue = Catalogue::embedded().unwrap();
    let rows = results(PAGE);
    assert_eq!(rows.len(), catalogue.claims.len());
    for (row, claim) in rows.iter().zip(&catalogue.claims) {
        assert_eq!(row[0], claim.id);
        assert!(row[1].ends_with(&format!(", {}", claim.location)), "{row:?}");
        assert_eq!(row[2], claim.published, "{}", claim.id);
        let marks: &[&str] = if claim.is_sweep { &["–"] } else { &["✓", "✗"] };
        assert!(marks.contains(&row[4].as_str()), "{row:?}");
        assert!(["✓", "✗", ""].contains(&row[6].as_str()), "{row:?}");
    }
}

#[test]
fn every_claim_has_one_row_in_the_table_of_controllers() {
    let (results_part, controllers) = PAGE.split_once("\n## Other controllers\n").unwrap();
    let rows = rows(controllers, 8);
    let ids: Vec<&String> = rows.iter().map(|row| &row[0]).collect();
    let results = results(results_part);
    assert_eq!(ids, results.iter().map(|row| &row[0]).collect::<Vec<_>>());
    for (row, result) in rows.iter().zip(&results) {
        let own: Vec<&String> = row.iter().filter(|cell| cell.starts_with("**")).collect();
        // An experiment that varies the controller has none of its own.
        let mark = format!("**{}**", result[4]);
        assert!(own.is_empty() || own == [&mark], "{row:?}");
    }
}

#[test]
fn the_counts_are_those_of_the_rows() {
    let rows = results(PAGE);
    let count = |mark: &str| rows.iter().filter(|row| row[4] == mark).count();
    let text = format!(
        "Of {} published claims, {} are reproduced and {} are not.",
        rows.len(),
        count("✓"),
        count("✗")
    );
    assert!(PAGE.contains(&text), "{text}");
}

#[test]
fn the_rows_of_quick_claims_are_current() {
    let page = markdown(&verify(&QUICK));
    let method = |page: &str| {
        let (_, text) = page.split_once("\n\nEvery claim").unwrap();
        text.split_once("\n\n```").unwrap().0.to_owned()
    };
    assert_eq!(method(PAGE), method(&page));
    let committed = results(PAGE);
    let current = results(&page);
    assert_eq!(current.len(), QUICK.len());
    for row in current {
        assert!(
            committed.contains(&row),
            "{row:?}: run 'weir verify --with factors --with gcc:libwebrtc --markdown docs/results.md'"
        );
    }
}

#[test]
fn the_rmcat_page_has_every_case_under_every_controller() {
    let names = experiment::names().iter().filter(|name| name.starts_with("rmcat/"));
    for name in names {
        let experiment = lab::open(name).unwrap();
        let heading = format!("\n## {}\n", experiment.title);
        let (_, rest) = RMCAT.split_once(&heading).unwrap_or_else(|| panic!("no {heading}"));
        let section = rest.split("\n## ").next().unwrap();
        for cell in experiment.cells() {
            let (_, controller) = &cell.params[0];
            let row = |line: &str| {
                line.strip_prefix("| ").is_some_and(|line| {
                    line.starts_with(&format!("{controller},"))
                        || line.starts_with(&format!("{controller} |"))
                })
            };
            assert!(section.lines().any(row), "{name} {controller}: {HOW}");
        }
    }
}

/// How `docs/rmcat.md` is made.
const HOW: &str = "run 'weir report rmcat --markdown docs/rmcat.md'";

#[test]
fn the_rows_of_two_controllers_in_a_case_are_current() {
    let every = "\"defaults.call.controller\" = \"all\"";
    let two = "\"defaults.call.controller\" = [\"nada\", \"scream-v2\"]";
    let text = lab::open("rmcat/rfc8867-5-1").unwrap().text.replace(every, two);
    let experiment = lab::parse(&text, "two.toml").unwrap();
    let figures = Figures::read(&experiment).unwrap();
    let mut builder = SectionBuilder::new(&experiment, &figures);
    with_runner(|runner| {
        let each = |job, recording: &_| figures.extract(&experiment, job, recording);
        runner.run(std::slice::from_ref(&experiment), each, |outcome| {
            builder.add(outcome.result.unwrap());
        })
    });
    let report = report::Report { sections: vec![builder.section()], ..Default::default() };
    let page = report::markdown(&report, "");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 10, "two tables of four rows with their headings: {page}");
    for row in rows {
        assert!(RMCAT.lines().any(|line| line == row), "{row}: {HOW}");
    }
}
