//! Plots as PDF and PNG files, for papers. Both are drawn on white.

mod font;
mod pdf;
mod png;

#[cfg(test)]
pub(crate) use font::Font;

use crate::file_format::FileFormat;
use crate::plot::picture::Picture;
use crate::plot::{Ink, Pen};

/// Why a plot has no PDF or PNG file.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// The embedded font cannot be read.
    #[error("internal error: the embedded font cannot be read: {0}")]
    Font(#[from] ttf_parser::FaceParsingError),
    /// The embedded font cannot be reduced to the letters of the plot.
    #[error("internal error: the embedded font cannot be reduced: {0}")]
    Subset(#[from] subsetter::Error),
    /// The picture would have no pixels, or too many.
    #[error("the plot cannot be drawn in this size")]
    Size,
    /// The pixels cannot be encoded.
    #[error("cannot write PNG: {0}")]
    Png(#[from] ::png::EncodingError),
}

/// The plot in this width, in millimetres; `None` for a format of another module.
pub(super) fn file(
    picture: &Picture,
    format: FileFormat,
    width: f64,
    has_rims: bool,
    title: &str,
) -> Option<Result<Vec<u8>, PaperError>> {
    match format {
        FileFormat::Pdf => Some(pdf::pdf(picture, width, has_rims, title)),
        FileFormat::Png => Some(png::png(picture, width, has_rims)),
        FileFormat::Svg | FileFormat::Csv => None,
    }
}

fn millimetres_per_unit(picture: &Picture, width: f64) -> f64 {
    width / f64::from(picture.width)
}

/// Whether a text has a rim in the colour of the paper, as in `plot.css`.
fn has_rim(ink: Ink, has_rims: bool) -> bool {
    matches!(ink, Ink::Published | Ink::Reference) || (has_rims && ink == Ink::Text)
}

/// The lengths of dashes and gaps, in units of the drawing, as in `plot.css`.
fn dashes(pen: Pen) -> &'static [u8] {
    match pen.ink {
        Ink::Reference => &[20, 12],
        Ink::Published => &[28, 10, 6, 10],
        _ => pen.dash.lengths(),
    }
}
