//! Lines, stairs and points: panels over time, distributions, planes.

use super::axis::{Axis, Shape};
use super::frame::{Below, Chart, Frame, right_of};
use super::legend::{Entry, Swatch};
use super::theme::{Ink, SCALE};
use super::{Drawing, Drawn, canvas, text, thin};
use crate::model::{At, Line, LineStyle, Mark, Panel};
use plotters::element::{Circle, PathElement};
use plotters::style::Color;

/// Width of stacked panels and height of the data in one, in CSS pixels.
const STACK: (u32, u32) = (840, 124);
/// Width of a single panel and height of its data.
const SINGLE: (u32, u32) = (480, 205);
/// Width of a column in which a line is thinned, in CSS pixels.
const COLUMN: u32 = 2;

/// Panels above one another with one horizontal axis.
pub(super) fn stack(panels: &[Panel], x_label: &str) -> Drawn<Drawing> {
    draw(panels, x_label, Shape { steps: 12.0, ..Shape::LINEAR }, STACK)
}

/// One panel.
pub(super) fn single(panel: &Panel, x_label: &str, log_x: bool) -> Drawn<Drawing> {
    draw(std::slice::from_ref(panel), x_label, Shape { log: log_x, ..Shape::LINEAR }, SINGLE)
}

fn draw(panels: &[Panel], x_label: &str, shape: Shape, size: (u32, u32)) -> Drawn<Drawing> {
    let fixed = if shape.log { None } else { tight(panels) };
    let x = Axis::new(panels.iter().flat_map(xs), Shape { fixed, ..shape });
    let right = panels.iter().map(|p| right_of(&p.marks)).max().unwrap_or(0);
    let last = panels.len().saturating_sub(1);
    let frames: Vec<Frame<'_>> = panels
        .iter()
        .enumerate()
        .map(|(i, panel)| Frame {
            heading: heading(panel),
            entries: entries(panel),
            marks: &panel.marks,
            x: &x,
            y: Axis::new(
                ys(panel),
                Shape { log: panel.log_y, fixed: panel.y_range, ..Shape::LINEAR },
            ),
            below: if i == last { Below::Axis(x_label) } else { Below::Nothing },
            size,
            right,
        })
        .collect();
    let height = frames.iter().map(Frame::height).sum::<u32>().max(1);
    canvas(size.0, height, |root| {
        let mut top = 0;
        for (frame, panel) in frames.iter().zip(panels) {
            frame.draw(root, top, |chart| {
                panel.lines.iter().try_for_each(|line| series(chart, line, &x, &frame.y, size.0))
            })?;
            top += frame.height();
        }
        Ok(())
    })
}

fn heading(panel: &Panel) -> String {
    let parts = [&panel.title, &panel.y_label];
    let parts: Vec<&str> = parts.into_iter().map(|s| s.trim()).filter(|s| !s.is_empty()).collect();
    parts.join(" · ")
}

fn entries(panel: &Panel) -> Vec<Entry> {
    let named = panel.lines.iter().filter(|line| !line.name.is_empty());
    named
        .map(|line| {
            let swatch = if line.style == LineStyle::Dots { Swatch::Dot } else { Swatch::Line };
            (line.name.clone(), swatch, Ink::of(line.role))
        })
        .collect()
}

/// The horizontal axis ends where the samples do, unless there is nothing between.
fn tight(panels: &[Panel]) -> Option<(f64, f64)> {
    let finite = panels.iter().flat_map(xs).filter(|x| x.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let low = if low > 0.0 && low < 0.1 * high { 0.0 } else { low };
    // The last sample of 300 s is often at 299.9 s: the tick at 300 belongs to the axis.
    let step = libm::exp10(libm::floor(libm::log10(high - low)) - 1.0);
    let whole = libm::ceil(high / step) * step;
    let high = if whole - high < (high - low) / 100.0 { whole } else { high };
    (low < high).then_some((low, high))
}

fn xs(panel: &Panel) -> impl Iterator<Item = f64> {
    let points = panel.lines.iter().flat_map(|line| line.points.iter().map(|p| p.0));
    points.chain(panel.marks.iter().flat_map(|mark: &Mark| match mark.at {
        At::X(x) => vec![x],
        At::YBetween { from, to, .. } => vec![from, to],
        At::Y(_) => vec![],
    }))
}

fn ys(panel: &Panel) -> impl Iterator<Item = f64> {
    let points = panel.lines.iter().flat_map(|line| line.points.iter().map(|p| p.1));
    points.chain(panel.marks.iter().filter_map(|mark: &Mark| match mark.at {
        At::Y(y) | At::YBetween { y, .. } => Some(y),
        At::X(_) => None,
    }))
}

fn series(chart: &mut Chart<'_>, line: &Line, x: &Axis, y: &Axis, width: u32) -> Drawn {
    let ink = Ink::of(line.role);
    let placed =
        |&(px, py): &(f64, f64)| (x.place(px).unwrap_or(f64::NAN), y.place(py).unwrap_or(f64::NAN));
    let points: Vec<(f64, f64)> = line.points.iter().map(placed).collect();
    let runs = thin::runs(&points);
    if line.style == LineStyle::Dots {
        let cell = ((x.high - x.low) / f64::from(width), (y.high - y.low) / f64::from(width));
        return dots(chart, thin::cells(runs.concat(), cell), ink);
    }
    for run in runs {
        let columns = (width / COLUMN) as usize;
        let few = thin::columns(&run, x.low, x.high, columns);
        let path =
            if line.style == LineStyle::Step { thin::stairs(&few) } else { thin::level(&few) };
        if path.len() == 1 {
            // A sample between two gaps would have no length.
            dots(chart, path, ink)?;
        } else {
            let style = ink.line(SCALE * 5 / 4);
            chart.draw_series([PathElement::new(path, style)]).map_err(text)?;
        }
    }
    Ok(())
}

fn dots(chart: &mut Chart<'_>, points: Vec<(f64, f64)>, ink: Ink) -> Drawn {
    let dot = |point| Circle::new(point, SCALE * 2, ink.color().mix(0.8).filled());
    chart.draw_series(points.into_iter().map(dot)).map(drop).map_err(text)
}
