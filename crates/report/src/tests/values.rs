//! Tables of values and points in a plane.

use super::{drawn, select, text};
use crate::{Cell, Cells, Column, Dimension, Point, Row, Scatter, Table};
use metrics::{Better, Estimate, Unit};
use scraper::Html;

fn column(name: &str, unit: Unit, better: Better) -> Column {
    Column { name: name.to_owned(), unit, scale: None, better }
}

fn row(label: &str, cells: Vec<Cell>) -> Row {
    Row { label: label.to_owned(), cells: Cells::Each(cells), reference: Some(0) }
}

/// Two runs with the same value: an interval of zero.
fn sure(value: f64) -> Cell {
    Cell::Value(Estimate::of(&[value, value]))
}

fn dimension(label: &str, better: Better) -> Dimension {
    Dimension { label: label.to_owned(), unit: Unit::Count, scale: None, better, log: false }
}

pub(super) fn point(label: &str, x: f64, y: f64) -> Point {
    Point {
        label: label.to_owned(),
        series: String::new(),
        x: Estimate::of(&[x]),
        y: Estimate::of(&[y]),
    }
}

pub(super) fn scatter(points: Vec<Point>) -> Scatter {
    let (x, y) = (dimension("cost", Better::Lower), dimension("gain", Better::Higher));
    Scatter { x, y, points, marks: Vec::new(), legend: String::new(), note: String::new() }
}

/// A table in which every text is `words`.
pub(super) fn hostile(words: &str) -> Table {
    let refused = Row {
        label: words.to_owned(),
        cells: Cells::Inapplicable(words.to_owned()),
        reference: None,
    };
    Table {
        label: words.to_owned(),
        columns: vec![Column::text(words)],
        rows: vec![
            row(words, vec![Cell::Text(words.to_owned())]),
            row(words, vec![sure(1.0)]),
            refused,
        ],
        reference: words.to_owned(),
    }
}

fn rows(page: &Html) -> String {
    select(page, "table.values tr, p.note").into_iter().map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_table_compares_its_rows_with_one_of_them() {
    let noisy = |values: &[f64]| Cell::Value(Estimate::of(values));
    let cells = |rank: &str, rate, delay, loss, count| {
        vec![Cell::Text(rank.to_owned()), rate, delay, loss, count]
    };
    let table = Table {
        label: "queue".to_owned(),
        columns: vec![
            Column::text("rank"),
            column("rate", Unit::BitsPerSecond, Better::Higher),
            column("recovery", Unit::Seconds, Better::Lower),
            column("loss", Unit::Share, Better::Lower),
            column("overuses", Unit::Count, Better::Neither),
        ],
        rows: vec![
            row("droptail", cells("2", sure(1e6), sure(f64::INFINITY), sure(0.02), sure(0.0))),
            row("fq_codel", cells("1", sure(1.35e6), sure(9.0), sure(0.035), sure(4.0))),
            row(
                "pie",
                cells(
                    "3",
                    noisy(&[4e5, 1.2e6]),
                    noisy(&[8.0, f64::INFINITY]),
                    sure(0.02),
                    sure(f64::NAN),
                ),
            ),
            Row {
                label: "l4s".to_owned(),
                cells: Cells::Inapplicable("the gateway marks nothing".to_owned()),
                reference: Some(0),
            },
        ],
        reference: "droptail".to_owned(),
    };
    let (source, page) = drawn(table);
    assert!(page.errors.is_empty() && !source.contains("NaN"), "{:?}", page.errors);
    insta::assert_snapshot!(rows(&page));
    let marked = |class: &str| select(&page, class).into_iter().map(text).collect::<Vec<_>>();
    assert_eq!(marked(".better"), ["▲ +35 % better", "▲ better", "▲ better"]);
    assert_eq!(marked(".worse"), ["▼ +1.50 points worse"]);
    assert_eq!(select(&page, "tr.reference").len(), 1);
    assert_eq!(select(&page, "tr.struck s").len(), 1);
}

#[test]
fn the_end_of_an_axis_says_which_direction_is_better() {
    let words = |scatter: Scatter| -> Vec<String> {
        let (_, page) = drawn(scatter);
        select(&page, "svg.broad text")
            .into_iter()
            .map(text)
            .filter(|words| words.contains("better"))
            .collect()
    };
    assert_eq!(words(scatter(vec![point("a", 1.0, 2.0)])), ["gain · ↑ better", "← better · cost"]);
    let other = Scatter {
        x: dimension("gain", Better::Higher),
        y: dimension("cost", Better::Lower),
        ..scatter(vec![])
    };
    assert_eq!(words(other), ["cost · ↓ better", "gain · better →"]);
}

#[test]
fn points_are_labelled_and_points_that_are_not_drawn_are_listed() {
    let points =
        vec![point("a", 1.0, 2.0), point("b", 3.0, f64::INFINITY), point("c", f64::NAN, 1.0)];
    let (source, page) = drawn(scatter(points));
    assert!(!source.contains("NaN"));
    assert_eq!(select(&page, "svg.broad circle.f0").len(), 1);
    let texts: Vec<String> = select(&page, "svg.broad text").into_iter().map(text).collect();
    assert!(texts.contains(&"a".to_owned()) && !texts.contains(&"b".to_owned()), "{texts:?}");
    assert_eq!(text(select(&page, "figure .note")[0]), "Not drawn: b (gain never); c (no cost).");
    let cells: Vec<String> = select(&page, "details td").into_iter().map(text).collect();
    assert_eq!(cells, ["a", "1.00", "2.00", "b", "3.00", "never", "c", "–", "1.00"]);
}

#[test]
fn many_points_have_numbers_and_a_list_of_names() {
    let points = (0..15)
        .map(|i| point(&format!("remedy {i}"), f64::from(i), f64::from(i * 7 % 15)))
        .collect();
    let (_, page) = drawn(scatter(points));
    let names: Vec<String> = select(&page, "ol.key li").into_iter().map(text).collect();
    assert_eq!((names.len(), names[14].as_str()), (15, "remedy 14"));
    let texts: Vec<String> = select(&page, "svg.broad text").into_iter().map(text).collect();
    assert!(
        texts.contains(&"15".to_owned()) && !texts.contains(&"remedy 14".to_owned()),
        "{texts:?}"
    );
}

#[test]
fn series_have_colours_and_intervals_are_error_bars() {
    let of = |series: &str, x: f64| Point {
        series: series.to_owned(),
        x: Estimate::of(&[x, x + 1.0]),
        ..point("a", x, 2.0)
    };
    let (_, page) = drawn(scatter(vec![of("old", 1.0), of("new", 5.0)]));
    // The symbol in the legend, and the point.
    assert_eq!(
        (select(&page, "svg.broad circle.f0").len(), select(&page, "svg.broad circle.f1").len()),
        (2, 2)
    );
    assert_eq!(
        (
            select(&page, "svg.broad polyline.s0").len(),
            select(&page, "svg.broad polyline.s1").len()
        ),
        (1, 1)
    );
}
