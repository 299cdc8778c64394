//! Plots as SVG, drawn by `plotters`.

mod axis;
mod frame;
mod grouped;
mod labels;
mod legend;
mod marks;
mod rows;
mod scatter;
mod theme;
mod thin;
mod xy;

use super::model::{Body, Figure, Panel};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use std::fmt::Display;

pub(crate) use axis::si;
use theme::SCALE;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// An error on the way; [`draw`] adds the figure.
type Drawn<T = ()> = Result<T, String>;

/// The plotting library refused a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotError {
    /// [`Figure::id`].
    pub figure: String,
    /// What the library says.
    pub reason: String,
}

impl Display for PlotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "figure {:?} could not be drawn: {}", self.figure, self.reason)
    }
}

impl std::error::Error for PlotError {}

/// A drawing: its size in its own units and what stands in the `svg` element.
pub(super) struct Drawing {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) body: String,
}

pub(super) fn draw(figure: &Figure) -> Result<Drawing, PlotError> {
    let drawn = match &figure.body {
        Body::Time { panels, x_label } => xy::stack(panels, x_label),
        Body::Bars(bars) if bars.lying => rows::rows(bars),
        Body::Bars(bars) => grouped::bars(bars),
        Body::Boxes(boxes) => grouped::boxes(boxes),
        Body::Cdf { lines, marks, x_label, log_x } => {
            let panel = Panel {
                y_label: "share ≤ x".to_owned(),
                lines: lines.clone(),
                marks: marks.clone(),
                y_range: Some((0.0, 1.0)),
                ..Panel::default()
            };
            xy::single(&panel, x_label, *log_x)
        }
        Body::Scatter(points) => scatter::draw(points),
        Body::Table(_) => Err("a table is not drawn".to_owned()),
    };
    drawn.map_err(|reason| PlotError { figure: figure.id.clone(), reason })
}

/// The range of a linear axis that shows all of `values`, ending at ticks; with zero on it if
/// `from_zero`.
pub fn axis_range(values: impl Iterator<Item = f64>, from_zero: bool) -> (f64, f64) {
    let axis = axis::Axis::new(values, axis::Shape { from_zero, ..axis::Shape::LINEAR });
    (axis.low, axis.high)
}

/// Draws on a canvas of this size in CSS pixels.
fn canvas(width: u32, height: u32, paint: impl FnOnce(&Area<'_>) -> Drawn) -> Drawn<Drawing> {
    let (width, height) = (width * SCALE, height * SCALE);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        paint(&area)?;
        area.present().map_err(text)?;
    }
    Ok(Drawing { width, height, body: theme::with_classes(&svg) })
}

fn text(error: impl Display) -> String {
    error.to_string()
}
