//! A report: one HTML page that stands alone. Styles, script and plots (SVG) are in the page, so it
//! opens from disk, prints, and never touches a network. The same [`Report`] gives the same bytes.
//!
//! ```text
//! Report ──► page (maud) ──► claims table, tables, verdict
//!               └──► plot (plotters, SVG) ──► axis, thin, xy | grouped | scatter, labels
//! ```
//!
//! The module knows nothing of experiments or controllers: what made the numbers fills in the
//! structs of [`model`].

mod anchor;
mod claims;
mod compared;
mod describe;
pub mod model;
mod page;
mod plot;
mod points;
mod table;
#[cfg(test)]
mod tests;
mod text_table;
mod verdict;

pub use model::*;
pub use plot::PlotError;
pub use plot::axis_range;

/// The report as an HTML document in UTF-8.
///
/// # Errors
/// [`PlotError`] names the figure that the plotting library refused to draw.
pub fn html(report: &Report) -> Result<String, PlotError> {
    page::html(report)
}
