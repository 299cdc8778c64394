//! Reports: one HTML page with styles, script and plots (SVG) in it. The page opens from disk,
//! prints, and never uses a network. The same [`Report`] gives the same bytes. Figures are also
//! written as files ([`figure_files`]).
//!
//! ```text
//! Report ─▶ page (maud) ─▶ claims, tables
//!   │         └─▶ figure (one file per kind) ─▶ plot (plotters): axis, frame, legend, marks
//!   │                                             └─▶ picture (shapes) ─▶ SVG
//!   └────▶ files ─▶ figure ─▶ picture ─▶ SVG, and with the feature `paper` PDF, PNG
//!                     └─▶ CSV
//! markdown ─▶ the tables as a Markdown page
//! ```
//!
//! This crate knows neither experiments nor controllers. The caller fills in [`Report`]. A new kind
//! of figure implements [`Drawable`] in one file of `figure/`.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod anchor;
mod claims;
mod compared;
mod csv;
mod figure;
mod file_format;
mod files;
mod markdown;
mod merge;
mod model;
mod page;
#[cfg(feature = "paper")]
mod paper;
mod plot;
mod scale;
#[cfg(test)]
mod tests;
mod text_table;

pub use figure::*;
pub use file_format::FileFormat;
pub use files::{FigureFile, MAX_WIDTH, MIN_WIDTH, figure_files};
pub use markdown::markdown;
pub use merge::merge_by_source;
pub use model::*;
pub use page::PlotError;
#[cfg(feature = "paper")]
pub use paper::PaperError;
pub use plot::{Dash, DrawError, Mark, MarkAt, MarkKind, Role};
pub use scale::Scale;
pub use text_table::TextTable;

/// The report as an HTML document in UTF-8.
///
/// # Errors
/// [`PlotError`] names the figure that the plotting library could not draw.
pub fn html(report: &Report) -> Result<String, PlotError> {
    page::html(report)
}
