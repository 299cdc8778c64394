//! Named points in a plane.

mod svg;

use super::words::marked;
use super::{Drawable, Drawing, Layout, Width};
use crate::csv;
use crate::plot::{DrawError, Mark};
use crate::scale::Scale;
use crate::text_table::TextTable;
use maud::{Markup, html};
use metrics::{Better, Estimate, Unit};

/// The greatest number of points that have their names beside them. Our choice: with names of 20
/// letters this many fit into the plot.
const MAX_NAMES: usize = 14;

/// The greatest number of points with a name or a number beside them, and of names in the legend.
/// More do not fit into the plot. Our choice.
const MAX_NUMBERS: usize = 200;

/// Named points in a plane, such as what each remedy costs and gains.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The horizontal axis.
    pub x: Dimension,
    /// The vertical axis.
    pub y: Dimension,
    /// The points. A point whose coordinates are not finite is listed below the plot instead.
    pub points: Vec<Point>,
    /// Published values and references, in the units in which the axes are shown.
    pub marks: Vec<Mark>,
    /// What the names of the series are values of; may be empty.
    pub legend: String,
    /// What a point and its bars are, written below the plot; may be empty.
    pub note: String,
}

/// What an axis shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// Name, without the unit.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Unit in which the values are shown; `None` chooses one that fits them.
    pub scale: Option<Scale>,
    /// Which direction is better; written at the end of the axis.
    pub better: Better,
    /// Logarithmic axis.
    pub log: bool,
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Name, written beside the point.
    pub label: String,
    /// Points of one series have one colour, which the legend names; empty for no legend.
    pub series: String,
    /// Horizontal coordinate, in the unit of [`Scatter::x`].
    pub x: Estimate,
    /// Vertical coordinate, in the unit of [`Scatter::y`].
    pub y: Estimate,
}

impl Drawable for Scatter {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        Ok(Drawing { plot: Some(svg::draw(self, layout.width)?), has_rims: true, html: self.key() })
    }

    fn describe(&self) -> String {
        let (x, y) = self.scales();
        let point = |point: &Point| {
            format!("{}: {}, {}", point.full_name(), x.number(point.x.mean), y.number(point.y.mean))
        };
        let points: Vec<String> = self.points.iter().map(point).collect();
        let (x, y) = (x.label(&self.x.label), y.label(&self.y.label));
        format!("{y} over {x}. {}. {} {}", points.join("; "), self.note, marked(&self.marks))
            .trim_end()
            .to_owned()
    }

    fn numbers(&self) -> Option<TextTable> {
        let (x, y) = self.scales();
        let cell = |scale: Scale, estimate: &Estimate| match scale.estimate(estimate) {
            (mean, Some(half)) => format!("{mean} ± {half}"),
            (mean, None) => mean,
        };
        let row = |point: &Point| vec![point.full_name(), cell(x, &point.x), cell(y, &point.y)];
        Some(TextTable {
            caption: String::new(),
            columns: vec![String::new(), x.label(&self.x.label), y.label(&self.y.label)],
            rows: self.points.iter().map(row).collect(),
        })
    }

    fn data(&self) -> TextTable {
        let (x, y) = self.scales();
        let values = |scale: Scale, estimate: &Estimate| {
            let half = estimate.half_width.map(|half| half * scale.factor);
            [csv::value(estimate.mean * scale.factor), csv::optional(half)]
        };
        let row = |point: &Point| {
            let names = [point.label.clone(), point.series.clone()];
            let runs = point.x.runs.max(point.y.runs).to_string();
            let coordinates = values(x, &point.x).into_iter().chain(values(y, &point.y));
            names.into_iter().chain(coordinates).chain([runs]).collect()
        };
        let (x, y) = (x.label(&self.x.label), y.label(&self.y.label));
        let columns = ["point", "series", &x, "x ci95 half width", &y, "y ci95 half width", "runs"];
        TextTable {
            caption: String::new(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: self.points.iter().map(row).collect(),
        }
    }

    fn width(&self) -> Width {
        Width::Wide
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

impl Scatter {
    /// The units in which both axes are shown.
    fn scales(&self) -> (Scale, Scale) {
        let of = |dimension: &Dimension, value: fn(&Point) -> f64| {
            dimension
                .scale
                .unwrap_or_else(|| Scale::of(dimension.unit, self.points.iter().map(value)))
        };
        (of(&self.x, |point| point.x.mean), of(&self.y, |point| point.y.mean))
    }

    /// The series, in order of first appearance.
    fn series(&self) -> Vec<&str> {
        let mut series: Vec<&str> = Vec::new();
        for point in &self.points {
            if !series.contains(&point.series.as_str()) {
                series.push(&point.series);
            }
        }
        series
    }

    /// Whether there are too many points for names: each has a number beside it.
    const fn is_numbered(&self) -> bool {
        self.points.len() > MAX_NAMES
    }

    /// Whether there are too many points for names and numbers; the table of numbers has the names.
    const fn is_anonymous(&self) -> bool {
        self.points.len() > MAX_NUMBERS
    }

    /// The names behind the numbers in the plot, and the points that are not drawn.
    fn key(&self) -> Markup {
        let missing: Vec<String> = self
            .points
            .iter()
            .filter(|point| !point.is_drawn())
            .map(|point| self.why_missing(point))
            .collect();
        html! {
            @if self.is_anonymous() {
                p.note { "The names of the " (self.points.len()) " points are in the numbers below." }
            } @else if self.is_numbered() {
                ol.key { @for point in &self.points { li { (point.full_name()) } } }
            }
            @if !missing.is_empty() { p.note { "Not drawn: " (missing.join("; ")) "." } }
        }
    }

    /// A point that is not drawn, and why.
    fn why_missing(&self, point: &Point) -> String {
        let of = |dimension: &Dimension, estimate: &Estimate| match estimate.mean {
            mean if mean.is_infinite() => Some(format!("{} never", dimension.label)),
            mean if mean.is_nan() => Some(format!("no {}", dimension.label)),
            _ => None,
        };
        let why = [of(&self.x, &point.x), of(&self.y, &point.y)].into_iter().flatten();
        format!("{} ({})", point.full_name(), why.collect::<Vec<_>>().join(", "))
    }
}

impl Point {
    /// Whether both coordinates are finite.
    const fn is_drawn(&self) -> bool {
        self.x.mean.is_finite() && self.y.mean.is_finite()
    }

    /// The name of the point with that of its series.
    fn full_name(&self) -> String {
        if self.series.is_empty() {
            self.label.clone()
        } else {
            format!("{}, {}", self.label, self.series)
        }
    }
}
