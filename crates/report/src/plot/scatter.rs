//! Points with names, thin bars for their intervals, and which way is good.

use super::axis::{Axis, Shape};
use super::frame::{Below, Chart, Frame, LEFT, TICKS, right_of};
use super::grouped::shorten;
use super::labels::{self, Area as Room, Named};
use super::legend::{self, Entry, ROW, Spot, Swatch, text_width};
use super::theme::{Ink, SCALE};
use super::{Area, Drawing, Drawn, canvas, text};
use crate::model::{At, Dimension, Mark, Role, Scale, Scatter};
use metrics::{Better, Estimate};
use plotters::element::{Circle, PathElement};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Width of the figure and height of the data, in CSS pixels.
const SIZE: (u32, u32) = (840, 360);
/// The most room of a name.
const NAME: u32 = 200;
/// Radius of a point.
const POINT: u32 = 4;

/// A value on an axis with the ends of its interval, in the unit of the axis.
#[derive(Clone, Copy)]
struct Value {
    mean: f64,
    low: f64,
    high: f64,
}

/// A point as it is drawn.
struct Shown {
    name: String,
    ink: Ink,
    x: Value,
    y: Value,
}

pub(super) fn draw(scatter: &Scatter) -> Drawn<Drawing> {
    let (x_scale, y_scale) = scatter.scales();
    let shown = shown(scatter, x_scale, y_scale);
    let x = axis(&scatter.x, shown.iter().map(|point| point.x), along(&scatter.marks));
    let y = axis(&scatter.y, shown.iter().map(|point| point.y), up(&scatter.marks));
    let x_label = x_scale.label(&scatter.x.label);
    let frame = Frame {
        heading: y_scale.label(&scatter.y.label),
        entries: entries(scatter),
        marks: &scatter.marks,
        x: &x,
        y,
        // A blank keeps the row of the axis' ends.
        below: Below::Axis(if x_label.is_empty() { " " } else { &x_label }),
        size: SIZE,
        right: right_of(&scatter.marks),
    };
    canvas(SIZE.0, frame.height(), |root| {
        let mut spots = Vec::new();
        frame.draw(root, 0, |chart| {
            shown.iter().try_for_each(|point| bars(chart, point, &x, &frame.y))?;
            shown.iter().try_for_each(|point| dot(chart, point, &x, &frame.y))?;
            spots = shown.iter().filter_map(|point| named(chart, point, &x, &frame.y)).collect();
            Ok(())
        })?;
        let right = (SIZE.0 - frame.right) as i32;
        names(
            root,
            &shown,
            &spots,
            Room(LEFT as i32, frame.top() as i32, right, (frame.top() + SIZE.1) as i32),
        )?;
        ends(root, scatter, &frame)
    })
}

fn shown(scatter: &Scatter, x: Scale, y: Scale) -> Vec<Shown> {
    let series = scatter.series();
    let is_numbered = scatter.is_numbered();
    let drawn = scatter.points.iter().enumerate().filter(|(_, point)| point.is_drawn());
    drawn
        .map(|(index, point)| Shown {
            name: if is_numbered { (index + 1).to_string() } else { shorten(&point.label, NAME) },
            ink: Ink::of(Role::Series(
                series.iter().position(|name| *name == point.series).unwrap_or(0),
            )),
            x: value(&point.x, x),
            y: value(&point.y, y),
        })
        .collect()
}

/// What cannot be negative is not shown to be.
fn value(estimate: &Estimate, scale: Scale) -> Value {
    let mean = estimate.mean * scale.factor;
    let half = estimate.half_width.unwrap_or(0.0) * scale.factor;
    let low = if mean >= 0.0 { (mean - half).max(0.0) } else { mean - half };
    Value { mean, low, high: mean + half }
}

fn axis(dimension: &Dimension, values: impl Iterator<Item = Value>, marks: Vec<f64>) -> Axis {
    let shape = Shape { log: dimension.log, ..Shape::LINEAR };
    // The end of an interval at zero is no reason for another decade.
    let is_on = |end: &f64| !dimension.log || *end > 0.0;
    let ends = |value: Value| [value.low, value.high].into_iter().filter(is_on).chain([value.mean]);
    Axis::new(values.flat_map(ends).chain(marks), shape)
}

fn along(marks: &[Mark]) -> Vec<f64> {
    let ends = |mark: &Mark| match mark.at {
        At::X(x) => vec![x],
        At::YBetween { from, to, .. } => vec![from, to],
        At::Y(_) => vec![],
    };
    marks.iter().flat_map(ends).collect()
}

fn up(marks: &[Mark]) -> Vec<f64> {
    let height = |mark: &Mark| match mark.at {
        At::Y(y) | At::YBetween { y, .. } => Some(y),
        At::X(_) => None,
    };
    marks.iter().filter_map(height).collect()
}

fn entries(scatter: &Scatter) -> Vec<Entry> {
    let series = scatter.series().into_iter().enumerate().filter(|(_, name)| !name.is_empty());
    series
        .map(|(place, name)| (name.to_owned(), Swatch::Dot, Ink::of(Role::Series(place))))
        .collect()
}

/// The ends of both intervals in units of the plot.
fn crossing(point: &Shown, x: &Axis, y: &Axis) -> Option<[[(f64, f64); 2]; 2]> {
    let (px, py) = (x.place(point.x.mean)?, y.place(point.y.mean)?);
    let across = [(x.place(point.x.low)?, py), (x.place(point.x.high)?, py)];
    Some([across, [(px, y.place(point.y.low)?), (px, y.place(point.y.high)?)]])
}

fn bars(chart: &mut Chart<'_>, point: &Shown, x: &Axis, y: &Axis) -> Drawn {
    let bars = crossing(point, x, y).into_iter().flatten().filter(|[from, to]| from != to);
    let lines = bars.map(|bar| PathElement::new(bar.to_vec(), point.ink.line(SCALE)));
    chart.draw_series(lines).map(drop).map_err(text)
}

fn dot(chart: &mut Chart<'_>, point: &Shown, x: &Axis, y: &Axis) -> Drawn {
    let Some(at) = x.place(point.x.mean).zip(y.place(point.y.mean)) else { return Ok(()) };
    // A rim in the colour of the paper keeps points apart that lie on one another.
    let rim = Circle::new(at, SCALE * (POINT + 1), Ink::Paper.color().filled());
    let dot = Circle::new(at, SCALE * POINT, point.ink.color().filled());
    chart.draw_series([rim, dot]).map(drop).map_err(text)
}

fn named(chart: &Chart<'_>, point: &Shown, x: &Axis, y: &Axis) -> Option<Named> {
    let spot = |place: &(f64, f64)| {
        let (px, py) = chart.backend_coord(place);
        (px / SCALE as i32, py / SCALE as i32)
    };
    let at = spot(&(x.place(point.x.mean)?, y.place(point.y.mean)?));
    let bars = crossing(point, x, y)?.map(|[from, to]| {
        let ((left, bottom), (right, top)) = (spot(&from), spot(&to));
        Room(left - 1, top - 1, right + 1, bottom + 1)
    });
    Some(Named { at, width: text_width(&point.name) as i32, bars })
}

fn names(root: &Area<'_>, shown: &[Shown], spots: &[Named], bounds: Room) -> Drawn {
    for (point, place) in shown.iter().zip(labels::place(spots, bounds)) {
        if let Some((from, to)) = place.leader {
            let path = [from, to].map(|(x, y)| (x * SCALE as i32, y * SCALE as i32));
            root.draw(&PathElement::new(path.to_vec(), Ink::Axis.line(SCALE * 3 / 4)))
                .map_err(text)?;
        }
        legend::write(root, &point.name, place.left, HPos::Left, Ink::Text)?;
    }
    Ok(())
}

/// Says at the ends of the axes which way is better.
fn ends(root: &Area<'_>, scatter: &Scatter, frame: &Frame<'_>) -> Drawn {
    let below = (frame.top() + SIZE.1 + TICKS + ROW / 2) as i32;
    let right = (SIZE.0 - frame.right) as i32;
    let x: Option<(&str, Spot, HPos)> = match scatter.x.better {
        Better::Higher => Some(("better →", (right, below), HPos::Right)),
        Better::Lower => Some(("← better", (LEFT as i32, below), HPos::Left)),
        Better::Neither => None,
    };
    let y: Option<(&str, Spot, HPos)> = match scatter.y.better {
        Better::Higher => Some(("↑ better", (0, (frame.top() - ROW / 2 - 4) as i32), HPos::Left)),
        Better::Lower => Some(("↓ better", (0, below), HPos::Left)),
        Better::Neither => None,
    };
    let mut both = [x, y].into_iter().flatten();
    both.try_for_each(|(words, spot, align)| legend::write(root, words, spot, align, Ink::Text))
}
