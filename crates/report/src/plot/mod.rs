//! The parts of a plot, drawn by `plotters`: axes, the frame of a panel, legend, marks and the labels
//! of points. Knows no kind of figure.

mod axis;
mod frame;
mod labels;
mod legend;
mod letters;
mod marks;
pub(crate) mod picture;
mod theme;
mod thin;

pub use marks::{Mark, MarkAt, MarkKind};
pub use theme::{Dash, Role};

pub(crate) use axis::{Axis, AxisOptions, si};
pub(crate) use frame::{Below, Chart, Frame, LEFT, LINE_HEIGHT, margin_right, translucent};
pub(crate) use labels::{PointLabel, Rect, place_labels};
pub(crate) use legend::{Entry, Head, Legend, Note, Pixel, ROW, Swatch, write};
pub(crate) use letters::{broken, shorten, text_width};
pub(crate) use marks::PUBLISHED;
pub(crate) use picture::{PLOT_STYLE, Picture};
pub(crate) use theme::{Ink, Pen, SCALE};
pub(crate) use thin::{columns, level, one_per_cell, runs, stairs};

use picture::Recorder;
use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{DrawingArea, IntoDrawingArea};
use std::convert::Infallible;

/// The error of the plotting library.
pub type DrawError = DrawingAreaErrorKind<Infallible>;
pub(crate) type DrawResult<T = ()> = Result<T, DrawError>;

/// What a plot is drawn on.
pub(crate) type Canvas<'a> = DrawingArea<Recorder<'a>, Shift>;

/// Draws on a canvas of this size in CSS pixels.
pub(crate) fn canvas(
    width: u32,
    height: u32,
    paint: impl FnOnce(&Canvas<'_>) -> DrawResult,
) -> DrawResult<Picture> {
    let (width, height) = (width * SCALE, height * SCALE);
    let mut shapes = Vec::new();
    {
        let canvas = Recorder::new((width, height), &mut shapes).into_drawing_area();
        paint(&canvas)?;
        canvas.present()?;
    }
    Ok(Picture { width, height, shapes })
}

/// The range of a linear axis that shows all of `values` and ends at ticks. Zero is on it if
/// `from_zero`. Values that are not finite are ignored.
pub(crate) fn axis_range(values: impl Iterator<Item = f64>, from_zero: bool) -> (f64, f64) {
    let axis = Axis::new(values, AxisOptions { from_zero, ..AxisOptions::LINEAR });
    (axis.low, axis.high)
}
