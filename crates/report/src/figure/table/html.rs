//! The table as HTML: means with their intervals and their differences to the row with which they
//! are compared.

use super::difference::{self, Difference};
use super::{Cell, Cells, Column, Row, Table};
use crate::scale::Scale;
use crate::text_table::{MAX_ROWS, fold};
use maud::{Markup, html};
use metrics::Estimate;
use std::ops::Range;

pub(super) fn table(table: &Table) -> Markup {
    let columns: Vec<(&Column, Scale)> = table
        .columns
        .iter()
        .enumerate()
        .map(|(i, column)| (column, table.scale(i, column)))
        .collect();
    let shown = table.rows.len().min(MAX_ROWS);
    let folded = table.rows.len() - shown;
    html! {
        (rows(table, 0..shown, &columns))
        @if folded > 0 { (fold(folded, &rows(table, shown..table.rows.len(), &columns))) }
        @for note in notes(table) { p.note { (note) } }
    }
}

/// The rows with these indices, with the headings of the table.
fn rows(table: &Table, indices: Range<usize>, columns: &[(&Column, Scale)]) -> Markup {
    html! {
        div.scroll {
            table.data.values {
                thead { tr {
                    th scope="col" { (table.label) }
                    @for (i, (column, scale)) in columns.iter().enumerate() { (heading(table, i, column, *scale)) }
                } }
                tbody { @for i in indices { (line(table, i, &table.rows[i], columns)) } }
            }
        }
    }
}

fn heading(table: &Table, index: usize, column: &Column, scale: Scale) -> Markup {
    let is_numeric = table.values(index).next().is_some();
    html! {
        th scope="col" class=[is_numeric.then_some("num")] {
            (column.name)
            @if !scale.name.is_empty() { span.source { (scale.name) } }
        }
    }
}

fn line(table: &Table, index: usize, row: &Row, columns: &[(&Column, Scale)]) -> Markup {
    match &row.cells {
        Cells::Inapplicable(reason) => html! {
            tr.struck {
                th scope="row" { s { (row.label) } }
                td colspan=(columns.len().max(1)) { "not applicable" @if !reason.is_empty() { ": " (reason) } }
            }
        },
        Cells::Each(cells) => html! {
            tr class=[is_reference(table, index).then_some("reference")] {
                th scope="row" { (row.label) }
                @for (i, (column, scale)) in columns.iter().enumerate() {
                    @match cells.get(i) {
                        None => { td {} }
                        Some(Cell::Text(text)) => { td { (text) } }
                        Some(Cell::Value(estimate)) => {
                            td.num {
                                (value(estimate, *scale))
                                @if let Some(found) = difference::of(table, index, i, column, *scale) {
                                    (change(&found))
                                }
                            }
                        }
                    }
                }
            }
        },
    }
}

/// Whether other rows are compared with this one.
fn is_reference(table: &Table, index: usize) -> bool {
    table.rows.iter().enumerate().any(|(i, row)| i != index && row.reference == Some(index))
}

fn value(estimate: &Estimate, scale: Scale) -> Markup {
    let (mean, half_width) = scale.estimate(estimate);
    html! {
        (mean)
        @if let Some(half) = half_width { " " span.interval { "± " (half) } }
        @if let Some(words) = estimate.incomplete() { span.source { (words) } }
    }
}

fn change(Difference { text, is_better }: &Difference) -> Markup {
    let Some(is_better) = *is_better else { return html! { span.change { (text) } } };
    let (class, sign, word) =
        if is_better { ("better", "▲", "better") } else { ("worse", "▼", "worse") };
    html! {
        span class={ "change " (class) } {
            span aria-hidden="true" { (sign) } " " (text)
            @if text.is_empty() { (word) } @else { span.unseen { " " (word) } }
        }
    }
}

/// Notes below the table: how to read its numbers.
fn notes(table: &Table) -> Vec<String> {
    let columns = 0..table.columns.len();
    let has_intervals = columns
        .clone()
        .any(|column| table.values(column).any(|estimate| estimate.half_width.is_some()));
    let compared =
        table.rows.iter().enumerate().any(|(i, row)| row.reference.is_some_and(|other| other != i));
    let mut notes = Vec::new();
    if has_intervals {
        notes.push(
            "Means of the runs ± half the width of their 95 % confidence intervals.".to_owned(),
        );
    }
    if compared && !table.reference.is_empty() {
        let unmarked =
            if has_intervals { "; differences within the intervals are not marked" } else { "" };
        notes.push(format!("▲ better, ▼ worse than {}{unmarked}.", table.reference));
    }
    notes
}
