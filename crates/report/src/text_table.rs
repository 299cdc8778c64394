//! Tables of text. The first column names the rows; columns of numbers are right-aligned.

use maud::{Markup, html};

/// A table of text. Columns of numbers are right-aligned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// What the table shows; may be empty.
    pub caption: String,
    /// Column headings, with units.
    pub columns: Vec<String>,
    /// Rows; missing cells are empty.
    pub rows: Vec<Vec<String>>,
}

/// The greatest number of rows that are shown at once: a browser lays out thousands of rows for
/// seconds. Our choice.
pub(crate) const MAX_ROWS: usize = 100;
/// The greatest number of letters of a cell that counts as a number with its unit.
const NUMBER_LENGTH: usize = 18;

pub(super) fn table(table: &TextTable) -> Markup {
    let width = table.rows.iter().map(Vec::len).chain([table.columns.len()]).max().unwrap_or(0);
    let class: Vec<Option<&str>> =
        (0..width).map(|i| (i > 0 && is_numeric(table, i)).then_some("num")).collect();
    let (shown, folded) = table.rows.split_at(table.rows.len().min(MAX_ROWS));
    html! {
        (rows(table, shown, &class))
        @if !folded.is_empty() { (fold(folded.len(), &rows(table, folded, &class))) }
    }
}

/// A table of further rows, which is laid out when the reader opens it.
pub(crate) fn fold(rows: usize, table: &Markup) -> Markup {
    html! { details { summary { (rows) " more rows" } (table) } }
}

/// These rows with the caption and the headings of the table.
fn rows(table: &TextTable, rows: &[Vec<String>], class: &[Option<&str>]) -> Markup {
    html! {
        div.scroll {
            table.data {
                @if !table.caption.is_empty() { caption { (table.caption) } }
                @if !table.columns.is_empty() {
                    thead { tr { @for (i, class) in class.iter().enumerate() {
                        th scope="col" class=[*class] { (cell(&table.columns, i)) }
                    } } }
                }
                tbody { @for row in rows { tr { @for (i, class) in class.iter().enumerate() {
                    td class=[*class] { (cell(row, i)) }
                } } } }
            }
        }
    }
}

fn cell(row: &[String], index: usize) -> &str {
    row.get(index).map_or("", String::as_str)
}

/// Whether every cell that is not empty is a number, and there is at least one.
fn is_numeric(table: &TextTable, column: usize) -> bool {
    let mut cells = table
        .rows
        .iter()
        .map(|row| cell(row, column))
        .filter(|c| !c.is_empty() && *c != "–")
        .peekable();
    cells.peek().is_some() && cells.all(number_like)
}

fn number_like(cell: &str) -> bool {
    let digits = cell.trim_start_matches(['−', '-', '+', '<', '>', '≤', '≥', '≈', '±', ' ']);
    digits.starts_with(|c: char| c.is_ascii_digit()) && cell.chars().count() <= NUMBER_LENGTH
}
