//! The parts of a plot, drawn as SVG by `plotters`: axes, the frame of a panel, legend, marks and
//! the labels of points. Knows no kind of figure.

mod axis;
mod frame;
mod labels;
mod legend;
mod marks;
mod theme;
mod thin;

pub use marks::{Mark, MarkAt, MarkKind};
pub use theme::Role;

pub(crate) use axis::{Axis, AxisOptions, si};
pub(crate) use frame::{Below, Chart, Frame, LEFT, LINE_HEIGHT, TICKS, margin_right, translucent};
pub(crate) use labels::{PointLabel, Rect, place_labels};
pub(crate) use legend::{
    Entry, Pixel, ROW, Swatch, draw as draw_legend, lay_out as lay_out_legend, text_width, write,
};
pub(crate) use marks::PUBLISHED;
pub(crate) use theme::{Ink, SCALE};
pub(crate) use thin::{columns, level, one_per_cell, runs, stairs};

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};

/// The error of the plotting library.
pub type DrawError = DrawingAreaErrorKind<std::io::Error>;
pub(crate) type DrawResult<T = ()> = Result<T, DrawError>;

/// What a plot is drawn on.
pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A finished plot: its size in units of the drawing ([`SCALE`] per CSS pixel) and the content of
/// its `svg` element.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) body: String,
}

/// Draws on a canvas of this size in CSS pixels.
pub(crate) fn canvas(
    width: u32,
    height: u32,
    paint: impl FnOnce(&Canvas<'_>) -> DrawResult,
) -> DrawResult<Svg> {
    let (width, height) = (width * SCALE, height * SCALE);
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        paint(&canvas)?;
        canvas.present()?;
    }
    Ok(Svg { width, height, body: theme::with_classes(&svg) })
}

/// The range of a linear axis that shows all of `values` and ends at ticks. Zero is on it if
/// `from_zero`. Values that are not finite are ignored.
pub(crate) fn axis_range(values: impl Iterator<Item = f64>, from_zero: bool) -> (f64, f64) {
    let axis = Axis::new(values, AxisOptions { from_zero, ..AxisOptions::LINEAR });
    (axis.low, axis.high)
}
