//! What a figure shows: one file per kind of plot or table, each with its data, its drawing, its
//! description, its numbers and how it is merged. A new kind implements [`Drawable`].

mod bars;
mod boxes;
mod cdf;
mod contour;
mod grouped;
mod rows;
mod scatter;
mod table;
mod time;
mod words;
mod xy;
mod zoom;

pub use bars::{Bar, Bars};
pub use boxes::{BoxStats, Boxes};
pub use cdf::Cdf;
pub use contour::{Contour, Lines, PlaneAxis};
pub use grouped::{Group, Grouped};
pub use rows::Rows;
pub use scatter::{Dimension, Point, Scatter};
pub use table::{Cell, Cells, Column, Row, Table};
pub use time::TimePlot;
pub use xy::{Panel, Series, SeriesStyle};

use crate::csv;
use crate::plot::{DrawError, Picture};
use crate::text_table::TextTable;
use maud::{Markup, html};
use std::any::Any;
use std::fmt::Debug;

/// A plot or a table.
pub trait Drawable: Any + Debug + Send + Sync {
    /// Draws the figure as a plot or as HTML.
    ///
    /// # Errors
    /// When the plotting library fails.
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError>;

    /// The figure in one or two sentences per panel, for readers who cannot see it.
    fn describe(&self) -> String;

    /// The values as a table; `None` if there are too many to read, or if the figure is a table.
    fn numbers(&self) -> Option<TextTable> {
        None
    }

    /// All values with all their digits, for files.
    fn data(&self) -> TextTable;

    /// The streams that have colours of their own, in the order in which they are drawn. Their
    /// colours are the same in all figures of a page.
    fn streams(&self) -> Vec<&str> {
        Vec::new()
    }

    /// How the script of the page draws the figure so that it can be zoomed, as JSON; `None` if it
    /// is only a static picture.
    fn zoomed(&self, layout: &Layout) -> Option<String> {
        let _ = layout;
        None
    }

    /// How much of the page's width the figure takes.
    fn width(&self) -> Width {
        Width::Column
    }

    /// One figure that shows what each source found. `sources` are the name and the figure of each
    /// source, this one included. `None` if each source needs its own figure.
    fn merge(&self, sources: &[Sourced<'_, dyn Drawable>]) -> Option<Box<dyn Drawable>> {
        let _ = sources;
        None
    }

    /// The values on the vertical axis; empty if figures of several sources need no common axis.
    fn axis_values(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Fixes the range of the vertical axis. A logarithmic axis is not changed.
    fn set_axis_range(&mut self, range: (f64, f64)) {
        let _ = range;
    }

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn Drawable>;
}

/// The name of a source (a browser, a simulator) and what it found.
pub type Sourced<'a, T> = (&'a str, &'a T);

impl Clone for Box<dyn Drawable> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl dyn Drawable {
    /// All values as CSV with a line of headings (RFC 4180, with line feeds).
    #[must_use]
    pub fn csv(&self) -> String {
        csv::of(&self.data())
    }

    /// The figure as this kind; `None` if it is of another kind.
    #[must_use]
    pub fn downcast_ref<T: Drawable>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The sources' figures as this kind, if all are of this kind.
fn all_of_kind<'a, T: Drawable>(
    sources: &[Sourced<'a, dyn Drawable>],
) -> Option<Vec<Sourced<'a, T>>> {
    sources.iter().map(|(who, body)| Some((*who, body.downcast_ref()?))).collect()
}

/// How much of the page's width a figure takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One column of two.
    Column,
    /// Both columns.
    Wide,
    /// The whole page.
    Full,
}

impl Width {
    /// The class in the style sheet.
    pub(crate) const fn class(self) -> Option<&'static str> {
        match self {
            Self::Column => None,
            Self::Wide => Some("wide"),
            Self::Full => Some("full"),
        }
    }

    /// The width at which a plot is drawn, in CSS pixels.
    pub(crate) const fn pixels(self) -> u32 {
        match self {
            Self::Column => COLUMN,
            Self::Wide | Self::Full => WIDE,
        }
    }
}

/// Width of a plot in one of two columns, in CSS pixels.
const COLUMN: u32 = 500;
/// Width of a plot that fills the page, in CSS pixels.
const WIDE: u32 = 1040;
/// Width of a plot on a phone, in CSS pixels: 390 less the margins of the page.
pub(crate) const NARROW: u32 = 358;

/// How a plot is drawn: its width, and the colours of the streams of the page.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// In CSS pixels.
    pub(crate) width: u32,
    pub(crate) palette: Palette,
}

/// The streams of a page, in the order of their colours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Palette(Vec<String>);

impl Palette {
    /// The streams of these figures, in order of first appearance.
    pub(crate) fn of<'a>(figures: impl Iterator<Item = &'a dyn Drawable>) -> Self {
        let mut streams: Vec<String> = Vec::new();
        for figure in figures {
            for stream in figure.streams() {
                if !streams.iter().any(|known| known == stream) {
                    streams.push(stream.to_owned());
                }
            }
        }
        Self(streams)
    }

    /// The number of the stream's colour; `None` for a stream that the page does not have.
    pub(crate) fn colour(&self, stream: &str) -> Option<usize> {
        self.0.iter().position(|known| known == stream)
    }
}

/// A drawn figure: a plot with what is written below it, or a table.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub(crate) plot: Option<Picture>,
    /// Whether letters in the plot have a rim in the colour of the page.
    pub(crate) has_rims: bool,
    pub(crate) html: Markup,
}

impl Drawing {
    fn plot(plot: Picture) -> Self {
        Self { plot: Some(plot), has_rims: false, html: html! {} }
    }

    fn table(html: Markup) -> Self {
        Self { plot: None, has_rims: false, html }
    }
}
