//! Reports: one HTML page with styles, script and plots (SVG) in it. The page opens from disk,
//! prints, and never uses a network. The same [`Report`] gives the same bytes.
//!
//! ```text
//! Report ─▶ page (maud) ─▶ claims, tables
//!             └─▶ figure (one file per kind) ─▶ plot (plotters, SVG): axis, frame, legend, marks
//! ```
//!
//! This crate knows neither experiments nor controllers. The caller fills in [`Report`]. A new kind
//! of figure implements [`Drawable`] in one file of `figure/`.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod anchor;
mod claims;
mod compared;
mod figure;
mod merge;
mod model;
mod page;
mod plot;
mod scale;
#[cfg(test)]
mod tests;
mod text_table;

pub use figure::*;
pub use merge::merge_by_source;
pub use model::*;
pub use page::PlotError;
pub use plot::{DrawError, Mark, MarkAt, MarkKind, Role};
pub use scale::Scale;
pub use text_table::TextTable;

/// The report as an HTML document in UTF-8.
///
/// # Errors
/// [`PlotError`] names the figure that the plotting library could not draw.
pub fn html(report: &Report) -> Result<String, PlotError> {
    page::html(report)
}
