//! A figure in words and as a table of numbers, for those who cannot see it and for those who want
//! the values.

use super::model::{At, Bar, Body, BoxStats, Figure, Grouped, Line, Mark, Panel, TextTable};
use super::plot::si;
use super::points;

/// A sentence or two for each panel: what is drawn and over which range.
pub(super) fn words(figure: &Figure) -> String {
    match &figure.body {
        Body::Time { panels, x_label } => {
            let parts: Vec<String> = panels.iter().map(panel).collect();
            format!("{} over {}. {}", count(panels.len(), "panel"), x_label, parts.join(" "))
        }
        Body::Scatter(scatter) => format!("{} {}", points::words(scatter), marked(&scatter.marks)),
        Body::Table(table) => {
            format!("{} of {}.", count(table.columns.len(), "value"), count(table.rows.len(), "row"))
        }
        Body::Cdf { lines, marks, x_label, .. } => {
            let medians: Vec<String> = lines.iter().map(median).collect();
            format!("Cumulative distribution of {x_label}. {} {}", medians.join(" "), marked(marks))
        }
        Body::Bars(g) => format!("Bars of {} by {}. {}", g.y_label, g.x_label, marked(&g.marks)),
        Body::Boxes(g) => format!(
            "Boxes from the 25th to the 75th percentile, whiskers at the 5th and 95th, of {} by {}. {}",
            g.y_label,
            g.x_label,
            marked(&g.marks)
        ),
    }
    .trim_end()
    .to_owned()
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("One {noun}") } else { format!("{n} {noun}s") }
}

fn panel(panel: &Panel) -> String {
    let lines: Vec<String> = panel.lines.iter().map(range).collect();
    let heading = [panel.title.as_str(), panel.y_label.as_str()].join(" ");
    format!("{}: {}. {}", heading.trim(), lines.join("; "), marked(&panel.marks))
        .trim_end()
        .to_owned()
}

fn range(line: &Line) -> String {
    let ys = line.points.iter().map(|p| p.1).filter(|y| y.is_finite());
    let (low, high) = ys.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
    if low > high {
        format!("{}: no values", line.name)
    } else {
        format!("{} from {} to {}", line.name, number(low), number(high))
    }
}

fn median(line: &Line) -> String {
    match line.points.iter().find(|(_, share)| *share >= 0.5) {
        Some((value, _)) => format!("{}: median {}.", line.name, number(*value)),
        None => format!("{}: no values.", line.name),
    }
}

fn marked(marks: &[Mark]) -> String {
    let texts: Vec<String> = marks
        .iter()
        .map(|mark| match mark.at {
            At::Y(v) | At::X(v) | At::YBetween { y: v, .. } => {
                format!("{} at {}", mark.text(), number(v))
            }
        })
        .collect();
    if texts.is_empty() { String::new() } else { format!("Marked: {}.", texts.join("; ")) }
}

/// Three significant digits.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value.is_finite() { "0".to_owned() } else { "–".to_owned() };
    }
    si(value, libm::exp10(libm::floor(libm::log10(value.abs())) - 2.0))
}

/// The numbers of a figure, where they are few enough to read.
pub(super) fn numbers(figure: &Figure) -> Option<TextTable> {
    match &figure.body {
        Body::Bars(grouped) => {
            Some(grouped_table(grouped, &["value", "least", "greatest", "published"], bar))
        }
        Body::Boxes(grouped) => Some(grouped_table(
            grouped,
            &["p5", "p25", "median", "p75", "p95", "published median"],
            box_stats,
        )),
        Body::Scatter(scatter) => Some(points::numbers(scatter)),
        Body::Time { .. } | Body::Cdf { .. } | Body::Table(_) => None,
    }
}

fn grouped_table<T>(
    grouped: &Grouped<T>,
    names: &[&str],
    cells: fn(&T) -> Vec<Option<f64>>,
) -> TextTable {
    let mut rows: Vec<(Vec<String>, Vec<Option<f64>>)> = Vec::new();
    for group in &grouped.groups {
        for (item, (name, _)) in group.items.iter().zip(&grouped.series) {
            let Some(item) = item else { continue };
            rows.push((vec![group.label.clone(), name.clone()], cells(item)));
        }
    }
    let used: Vec<usize> = (0..names.len())
        .filter(|i| rows.iter().any(|(_, cells)| cells.get(*i).is_some_and(Option::is_some)))
        .collect();
    let heads = used.iter().filter_map(|i| names.get(*i)).map(|name| (*name).to_owned());
    let columns =
        [grouped.x_label.clone(), String::from("series")].into_iter().chain(heads).collect();
    let rows = rows
        .into_iter()
        .map(|(mut row, cells)| {
            row.extend(
                used.iter()
                    .map(|i| cells.get(*i).copied().flatten().map_or_else(String::new, number)),
            );
            row
        })
        .collect();
    TextTable { caption: grouped.y_label.clone(), columns, rows }
}

fn bar(bar: &Bar) -> Vec<Option<f64>> {
    vec![Some(bar.value), bar.spread.map(|s| s.0), bar.spread.map(|s| s.1), bar.published]
}

fn box_stats(b: &BoxStats) -> Vec<Option<f64>> {
    vec![Some(b.p5), Some(b.p25), Some(b.p50), Some(b.p75), Some(b.p95), b.published]
}
