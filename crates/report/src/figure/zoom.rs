//! Panels over time for the script of the page, which draws them so that they can be zoomed. The
//! values are those of the figure's CSV, in the same order; this says only how they are drawn.

use super::Palette;
use super::xy::{Panel, Series, SeriesStyle, heading};
use crate::plot::{Dash, Ink, MarkAt, MarkKind, Role};
use serde::Serialize;

#[derive(Serialize)]
struct Zoomed<'a> {
    /// What bands and faint lines are.
    note: &'a str,
    panels: Vec<ZoomedPanel>,
}

#[derive(Serialize)]
struct ZoomedPanel {
    label: String,
    series: Vec<ZoomedSeries>,
    marks: Vec<ZoomedMark>,
}

#[derive(Serialize)]
struct ZoomedSeries {
    name: String,
    colour: usize,
    /// 0 solid, 1 dashed, 2 dotted, 3 both.
    dash: usize,
    step: bool,
    dots: bool,
    reference: bool,
    /// The number of its rows in the CSV, without single runs, and with them.
    rows: usize,
    all: usize,
    /// Whether the rows have an interval.
    band: bool,
}

/// A horizontal line, over the whole width if `from` and `to` are absent.
#[derive(Serialize)]
struct ZoomedMark {
    name: String,
    y: f64,
    from: Option<f64>,
    to: Option<f64>,
    published: bool,
}

/// How the panels are drawn, as JSON; `None` if the script cannot draw them: it has neither
/// logarithmic axes nor vertical marks.
pub(super) fn zoomed(panels: &[Panel], note: &str, palette: &Palette) -> Option<String> {
    let is_known = |panel: &Panel| {
        !panel.log_y && !panel.marks.iter().any(|mark| matches!(mark.at, MarkAt::X(_)))
    };
    if !panels.iter().all(is_known) {
        return None;
    }
    let panels = panels.iter().map(|panel| zoomed_panel(panel, palette)).collect();
    serde_json::to_string(&Zoomed { note, panels }).ok()
}

fn zoomed_panel(panel: &Panel, palette: &Palette) -> ZoomedPanel {
    let pens = panel.pens(palette);
    let series = panel.series.iter().zip(&pens).map(|(series, pen)| ZoomedSeries {
        name: series.name.clone(),
        colour: if let Ink::Series(colour) = pen.ink { colour } else { 0 },
        dash: Dash::ALL.iter().position(|dash| *dash == pen.dash).unwrap_or(0),
        step: series.style == SeriesStyle::Step,
        dots: series.style == SeriesStyle::Dots,
        reference: series.role == Role::Reference,
        rows: series.points.len(),
        all: rows(series),
        band: !series.band.is_empty(),
    });
    let marks = panel.marks.iter().filter_map(|mark| {
        let (y, ends) = match mark.at {
            MarkAt::Y(y) => (y, None),
            MarkAt::YBetween { y, from, to } => (y, Some((from, to))),
            MarkAt::X(_) => return None,
        };
        let (from, to) = ends.unzip();
        let published = mark.kind == MarkKind::Published;
        Some(ZoomedMark { name: mark.text(), y, from, to, published })
    });
    ZoomedPanel { label: heading(panel), series: series.collect(), marks: marks.collect() }
}

/// The number of rows of a series in the CSV.
fn rows(series: &Series) -> usize {
    series.points.len() + series.runs.iter().map(Vec::len).sum::<usize>()
}
