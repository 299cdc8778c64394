//! What stands beside a plot of points: their names, if numbers stand for them in the plot, and
//! those that have no place.

use super::model::{Dimension, Point, Scale, Scatter, TextTable};
use maud::{Markup, html};
use metrics::Estimate;

/// The names behind the numbers in the plot, and the points that are not drawn.
pub(super) fn key(scatter: &Scatter) -> Markup {
    let away: Vec<String> = scatter
        .points
        .iter()
        .filter(|point| !point.is_drawn())
        .map(|point| absent(point, scatter))
        .collect();
    html! {
        @if scatter.is_numbered() {
            ol.key { @for point in &scatter.points { li { (point.full_name()) } } }
        }
        @if !away.is_empty() { p.note { "Not drawn: " (away.join("; ")) "." } }
    }
}

/// A point without a place, and why.
fn absent(point: &Point, scatter: &Scatter) -> String {
    let of = |dimension: &Dimension, estimate: &Estimate| match estimate.mean {
        mean if mean.is_infinite() => Some(format!("{} never", dimension.label)),
        mean if mean.is_nan() => Some(format!("no {}", dimension.label)),
        _ => None,
    };
    let why = [of(&scatter.x, &point.x), of(&scatter.y, &point.y)].into_iter().flatten();
    format!("{} ({})", point.full_name(), why.collect::<Vec<_>>().join(", "))
}

/// The points in words.
pub(super) fn words(scatter: &Scatter) -> String {
    let (x, y) = scatter.scales();
    let place = |point: &Point| {
        format!("{}: {}, {}", point.full_name(), x.number(point.x.mean), y.number(point.y.mean))
    };
    let points: Vec<String> = scatter.points.iter().map(place).collect();
    format!(
        "{} over {}. {}.",
        y.label(&scatter.y.label),
        x.label(&scatter.x.label),
        points.join("; ")
    )
}

/// The points as a table.
pub(super) fn numbers(scatter: &Scatter) -> TextTable {
    let (x, y) = scatter.scales();
    let cell = |scale: Scale, estimate: &Estimate| match scale.estimate(estimate) {
        (mean, Some(half)) => format!("{mean} ± {half}"),
        (mean, None) => mean,
    };
    let row = |point: &Point| vec![point.full_name(), cell(x, &point.x), cell(y, &point.y)];
    TextTable {
        caption: String::new(),
        columns: vec![String::new(), x.label(&scatter.x.label), y.label(&scatter.y.label)],
        rows: scatter.points.iter().map(row).collect(),
    }
}
