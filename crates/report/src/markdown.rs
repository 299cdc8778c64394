//! The tables of a report as a Markdown page (GitHub Flavored Markdown, § 4.10).

use crate::figure::Table;
use crate::model::{Report, Section};
use std::fmt::Write as _;

/// The greatest width of a line of text, in letters.
const COLUMNS: usize = 100;

/// How to read the tables.
const METHOD: &str = "\
Each value is the mean over the runs of a cell ± half the width of its 95 % confidence interval
(Student's t). This page is the output of";

/// The tables of a report as a Markdown page: a heading per section with its text, then its tables.
/// Figures of other kinds are left out. `command` is what made the report.
#[must_use]
pub fn markdown(report: &Report, command: &str) -> String {
    let mut page = format!("# {}\n\n{METHOD}\n\n```\n{command}\n```\n", text(&report.title));
    for section in &report.sections {
        add(&mut page, section);
    }
    page
}

fn add(page: &mut String, section: &Section) {
    let _ = write!(page, "\n## {}\n", text(&section.title));
    for paragraph in section.text.split("\n\n") {
        let _ = write!(page, "\n{}\n", wrapped(&text(paragraph)));
    }
    for figure in &section.figures {
        let Some(table) = figure.body.downcast_ref::<Table>() else { continue };
        let _ = write!(page, "\n**{}**\n\n{}", text(&figure.title), rows(table));
    }
}

/// The table: a heading, and one line per row.
fn rows(table: &Table) -> String {
    let columns = 0..table.columns.len();
    let headings = columns.clone().map(|column| {
        let unit = table.unit(column);
        unit.label(&table.columns[column].name)
    });
    let mut lines = line(std::iter::once(table.label.clone()).chain(headings));
    lines += &format!("|---|{}\n", "---|".repeat(table.columns.len()));
    for (index, row) in table.rows.iter().enumerate() {
        let cells = columns.clone().map(|column| cell(table, index, column));
        lines += &line(std::iter::once(row.label.clone()).chain(cells));
    }
    lines
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let mut line = "|".to_owned();
    for cell in cells {
        let _ = write!(line, " {} |", text(&cell));
    }
    line + "\n"
}

/// A mean with half the width of its interval, and a note on runs without a value; else the text of
/// the cell.
fn cell(table: &Table, row: usize, column: usize) -> String {
    let Some(estimate) = table.value(row, column) else { return table.text(row, column) };
    let (mean, half_width) = table.unit(column).estimate(estimate);
    let half_width = half_width.map_or(String::new(), |half| format!(" ± {half}"));
    let incomplete = estimate.incomplete().map_or(String::new(), |words| format!(" ({words})"));
    format!("{mean}{half_width}{incomplete}")
}

/// Text in one line, with the letters that would end a cell or begin HTML as escapes.
fn text(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|").replace('<', "\\<")
}

/// Text in lines of at most 100 letters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > COLUMNS {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += letters;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Cell, Cells, Column, Row};
    use crate::model::Figure;
    use metrics::{Better, Estimate, Unit};

    #[test]
    fn tables_have_means_intervals_and_escapes() {
        let column = Column {
            name: "rate".to_owned(),
            unit: Unit::BitsPerSecond,
            scale: None,
            better: Better::Higher,
        };
        let row = |label: &str, runs: &[f64]| Row {
            label: label.to_owned(),
            cells: Cells::Each(vec![Cell::Value(Estimate::of(runs))]),
            reference: None,
        };
        let table = Table {
            label: "controller".to_owned(),
            columns: vec![column],
            rows: vec![row("a|b", &[100e3, 102e3]), row("<c>", &[5e3, f64::INFINITY])],
            reference: String::new(),
        };
        let figure = Figure {
            id: "x-1".to_owned(),
            title: "Rates".to_owned(),
            caption: String::new(),
            body: Box::new(table),
        };
        let section = Section {
            title: "One".to_owned(),
            text: format!("Line\nof text.\n\n{}", "word ".repeat(30)),
            figures: vec![figure],
            ..Section::default()
        };
        let report =
            Report { title: "All".to_owned(), sections: vec![section], ..Report::default() };
        let page = markdown(&report, "weir report x");
        let start =
            format!("# All\n\n{METHOD}\n\n```\nweir report x\n```\n\n## One\n\nLine of text.\n");
        assert!(page.starts_with(&start), "{page}");
        let table = "**Rates**\n\n| controller | rate (kbit/s) |\n|---|---|\n\
                     | a\\|b | 101 ± 13 |\n| \\<c> | 5.00 (never in 1 of 2 runs) |\n";
        assert!(page.ends_with(table), "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= COLUMNS));
    }
}
