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

use crate::plot::{DrawError, Svg};
use crate::text_table::TextTable;
use maud::{Markup, html};
use std::any::Any;
use std::fmt::Debug;

/// A plot or a table.
pub trait Drawable: Any + Debug + Send + Sync {
    /// Draws the figure as SVG or HTML.
    ///
    /// # Errors
    /// When the plotting library fails.
    fn draw(&self) -> Result<Drawing, DrawError>;

    /// The figure in one or two sentences per panel, for readers who cannot see it.
    fn describe(&self) -> String;

    /// The values as a table; `None` if there are too many to read, or if the figure is a table.
    fn numbers(&self) -> Option<TextTable> {
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
    /// Both columns, up to 60 rem.
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
}

/// A drawn figure: a plot with what is written below it, or a table.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub(crate) plot: Option<Svg>,
    /// Whether letters in the plot have a rim in the colour of the page.
    pub(crate) has_rims: bool,
    pub(crate) html: Markup,
}

impl Drawing {
    fn plot(plot: Svg) -> Self {
        Self { plot: Some(plot), has_rims: false, html: html! {} }
    }

    fn table(html: Markup) -> Self {
        Self { plot: None, has_rims: false, html }
    }
}
