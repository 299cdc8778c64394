//! The drawing: points with labels, thin error bars, and which direction is better.

use super::{Dimension, MAX_NUMBERS, Scatter};
use crate::plot::{
    Axis, AxisOptions, Below, Canvas, Chart, DrawResult, Entry, Frame, Ink, LEFT, Legend, Mark,
    Note, Pen, Picture, PointLabel, Rect, Role, SCALE, Swatch, canvas, margin_right, place_labels,
    shorten, text_width, write,
};
use crate::scale::Scale;
use metrics::{Better, Estimate};
use plotters::element::{Circle, PathElement};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Height of the data, in CSS pixels.
const HEIGHT: u32 = 380;
/// The greatest width of a label, in CSS pixels.
const NAME: u32 = 200;
/// Radius of a point, in CSS pixels.
const POINT: u32 = 4;

/// A value with the ends of its confidence interval, in the unit of the axis.
#[derive(Clone, Copy)]
struct Value {
    mean: f64,
    low: f64,
    high: f64,
}

/// A point, ready to be drawn.
struct PlottedPoint {
    name: String,
    ink: Ink,
    x: Value,
    y: Value,
}

pub(super) fn draw(scatter: &Scatter, width: u32) -> DrawResult<Picture> {
    let (x_scale, y_scale) = scatter.scales();
    let points = plotted(scatter, x_scale, y_scale);
    let x = axis(
        &scatter.x,
        points.iter().map(|point| point.x),
        scatter.marks.iter().flat_map(Mark::xs),
    );
    let y = axis(
        &scatter.y,
        points.iter().map(|point| point.y),
        scatter.marks.iter().filter_map(Mark::y),
    );
    let x_label = match scatter.x.better {
        Better::Higher => format!("{} · better →", x_scale.label(&scatter.x.label)),
        Better::Lower => format!("← better · {}", x_scale.label(&scatter.x.label)),
        Better::Neither => x_scale.label(&scatter.x.label),
    };
    let heading = y_scale.label(&scatter.y.label);
    let frame = Frame {
        heading: match scatter.y.better {
            Better::Higher => format!("{heading} · ↑ better"),
            Better::Lower => format!("{heading} · ↓ better"),
            Better::Neither => heading,
        },
        legend: legend(scatter),
        marks: &scatter.marks,
        x: &x,
        y,
        below: Below::Axis(&x_label),
        size: (width, HEIGHT),
        right: margin_right(&scatter.marks),
    };
    let note = Note::lay_out(&scatter.note, width);
    canvas(width, frame.height() + note.height(), |root| {
        let mut labels = Vec::new();
        frame.draw(root, 0, |chart| {
            points.iter().try_for_each(|point| error_bars(chart, point, &x, &frame.y))?;
            points.iter().try_for_each(|point| dot(chart, point, &x, &frame.y))?;
            labels = points.iter().filter_map(|point| label(chart, point, &x, &frame.y)).collect();
            Ok(())
        })?;
        let bounds = Rect {
            left: LEFT as i32,
            top: frame.top() as i32,
            right: (width - frame.right) as i32,
            bottom: (frame.top() + HEIGHT) as i32,
        };
        if !scatter.is_anonymous() {
            draw_labels(root, &points, &labels, bounds)?;
        }
        note.draw(root, frame.height())
    })
}

fn plotted(scatter: &Scatter, x: Scale, y: Scale) -> Vec<PlottedPoint> {
    let series = scatter.series();
    let is_numbered = scatter.is_numbered();
    let drawn = scatter.points.iter().enumerate().filter(|(_, point)| point.is_drawn());
    drawn
        .map(|(index, point)| PlottedPoint {
            name: if is_numbered { (index + 1).to_string() } else { shorten(&point.label, NAME) },
            ink: Ink::of(Role::Series(
                series.iter().position(|name| *name == point.series).unwrap_or(0),
            )),
            x: value(&point.x, x),
            y: value(&point.y, y),
        })
        .collect()
}

/// The interval of a value that is not negative ends at zero.
fn value(estimate: &Estimate, scale: Scale) -> Value {
    let mean = estimate.mean * scale.factor;
    let half = estimate.half_width.unwrap_or(0.0) * scale.factor;
    let low = if mean >= 0.0 { (mean - half).max(0.0) } else { mean - half };
    Value { mean, low, high: mean + half }
}

fn axis(
    dimension: &Dimension,
    values: impl Iterator<Item = Value>,
    marks: impl Iterator<Item = f64>,
) -> Axis {
    let options = AxisOptions { log: dimension.log, ..AxisOptions::LINEAR };
    // An interval that ends at zero does not add a decade to a logarithmic axis.
    let is_on = |end: &f64| !dimension.log || *end > 0.0;
    let ends = |value: Value| [value.low, value.high].into_iter().filter(is_on).chain([value.mean]);
    Axis::new(values.flat_map(ends).chain(marks), options)
}

fn legend(scatter: &Scatter) -> Legend {
    if scatter.series().len() > MAX_NUMBERS {
        return Legend::default();
    }
    let series = scatter.series().into_iter().enumerate().filter(|(_, name)| !name.is_empty());
    let entry = |(index, name): (usize, &str)| Entry {
        name: name.to_owned(),
        swatch: Swatch::Dot,
        pen: Pen::solid(Ink::of(Role::Series(index))),
    };
    Legend { title: scatter.legend.clone(), entries: series.map(entry).collect() }
}

/// The ends of both error bars, in units of the plot.
fn error_bar_ends(point: &PlottedPoint, x: &Axis, y: &Axis) -> Option<[[(f64, f64); 2]; 2]> {
    let (px, py) = (x.position(point.x.mean)?, y.position(point.y.mean)?);
    let across = [(x.position(point.x.low)?, py), (x.position(point.x.high)?, py)];
    Some([across, [(px, y.position(point.y.low)?), (px, y.position(point.y.high)?)]])
}

fn error_bars(chart: &mut Chart<'_>, point: &PlottedPoint, x: &Axis, y: &Axis) -> DrawResult {
    let bars = error_bar_ends(point, x, y).into_iter().flatten().filter(|[from, to]| from != to);
    let lines = bars.map(|bar| PathElement::new(bar.to_vec(), point.ink.line(SCALE)));
    chart.draw_series(lines).map(drop)
}

fn dot(chart: &mut Chart<'_>, point: &PlottedPoint, x: &Axis, y: &Axis) -> DrawResult {
    let Some(at) = x.position(point.x.mean).zip(y.position(point.y.mean)) else { return Ok(()) };
    // A rim in the colour of the page separates overlapping points.
    let rim = Circle::new(at, SCALE * (POINT + 1), Ink::Paper.color().filled());
    let dot = Circle::new(at, SCALE * POINT, point.ink.color().filled());
    chart.draw_series([rim, dot]).map(drop)
}

fn label(chart: &Chart<'_>, point: &PlottedPoint, x: &Axis, y: &Axis) -> Option<PointLabel> {
    let pixel = |position: &(f64, f64)| {
        let (px, py) = chart.backend_coord(position);
        (px / SCALE as i32, py / SCALE as i32)
    };
    let at = pixel(&(x.position(point.x.mean)?, y.position(point.y.mean)?));
    let bars = error_bar_ends(point, x, y)?.map(|[from, to]| {
        let ((left, bottom), (right, top)) = (pixel(&from), pixel(&to));
        Rect { left: left - 1, top: top - 1, right: right + 1, bottom: bottom + 1 }
    });
    Some(PointLabel { at, width: text_width(&point.name) as i32, bars })
}

fn draw_labels(
    root: &Canvas<'_>,
    points: &[PlottedPoint],
    labels: &[PointLabel],
    bounds: Rect,
) -> DrawResult {
    for (point, label) in points.iter().zip(place_labels(labels, bounds)) {
        if let Some((from, to)) = label.leader {
            let path = [from, to].map(|(x, y)| (x * SCALE as i32, y * SCALE as i32));
            root.draw(&PathElement::new(path.to_vec(), Ink::Axis.line(SCALE * 3 / 4)))?;
        }
        write(root, &point.name, label.left, HPos::Left, Ink::Text)?;
    }
    Ok(())
}
