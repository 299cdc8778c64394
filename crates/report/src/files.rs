//! The figures of a report as files, for papers.

use crate::anchor::Anchors;
use crate::figure::{Layout, Palette, Width};
use crate::file_format::FileFormat;
use crate::model::{Figure, Report};
use crate::page::PlotError;

/// CSS pixels per millimetre (96 per inch).
const PIXELS: f64 = 96.0 / 25.4;
/// Width of a figure in one column of a journal, in millimetres.
const ONE_COLUMN: f64 = 85.0;
/// Width of a figure across both columns, in millimetres.
const TWO_COLUMNS: f64 = 180.0;

/// The least width of a figure, in millimetres: the labels of the axes need it.
pub const MIN_WIDTH: f64 = 65.0;
/// The greatest width of a figure, in millimetres: a sheet of A0.
pub const MAX_WIDTH: f64 = 1_189.0;

/// A file of one figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureFile {
    /// The name, of letters, digits, hyphens and a dot.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Every figure of a report in this format. Tables have no plot and are CSV in any format. `width`
/// is in millimetres; without it, figures are as wide as one or both columns of a journal.
///
/// # Errors
/// If a figure cannot be drawn, or if this build lacks the format.
pub fn figure_files(
    report: &Report,
    format: FileFormat,
    width: Option<f64>,
) -> Result<Vec<FigureFile>, PlotError> {
    let anchors = Anchors::of(report);
    let figures = || report.sections.iter().flat_map(|section| &section.figures);
    let palette = Palette::of(figures().map(|figure| &*figure.body));
    let mut files = Vec::new();
    for (index, section) in report.sections.iter().enumerate() {
        for (i, figure) in section.figures.iter().enumerate() {
            let anchor = anchors.figure(index, i);
            let (extension, bytes) = content(figure, format, width, &palette)?;
            let name = anchor.strip_prefix("fig-").unwrap_or(anchor);
            files.push(FigureFile { name: format!("{name}.{extension}"), bytes });
        }
    }
    Ok(files)
}

fn content(
    figure: &Figure,
    format: FileFormat,
    width: Option<f64>,
    palette: &Palette,
) -> Result<(&'static str, Vec<u8>), PlotError> {
    let csv = || Ok((FileFormat::Csv.name(), figure.body.csv().into_bytes()));
    if format == FileFormat::Csv {
        return csv();
    }
    let usual = if figure.body.width() == Width::Column { ONE_COLUMN } else { TWO_COLUMNS };
    let width = width.unwrap_or(usual).clamp(MIN_WIDTH, MAX_WIDTH);
    let layout = Layout { width: (width * PIXELS).round() as u32, palette: palette.clone() };
    let library = |source| PlotError::Library { figure: figure.id.clone(), source };
    let drawing = figure.body.draw(&layout).map_err(library)?;
    let Some(picture) = &drawing.plot else { return csv() };
    if format == FileFormat::Svg {
        let svg = picture.svg_file(Some(width), drawing.has_rims);
        return Ok((format.name(), svg.into_bytes()));
    }
    paper(figure, picture, format, width, drawing.has_rims).map(|bytes| (format.name(), bytes))
}

#[cfg(feature = "paper")]
fn paper(
    figure: &Figure,
    picture: &crate::plot::Picture,
    format: FileFormat,
    width: f64,
    has_rims: bool,
) -> Result<Vec<u8>, PlotError> {
    let file = crate::paper::file(picture, format, width, has_rims, &figure.title);
    let file = file.ok_or(PlotError::NotBuilt(format.name()))?;
    file.map_err(|source| PlotError::Paper { figure: figure.id.clone(), source })
}

#[cfg(not(feature = "paper"))]
fn paper(
    _: &Figure,
    _: &crate::plot::Picture,
    format: FileFormat,
    _: f64,
    _: bool,
) -> Result<Vec<u8>, PlotError> {
    Err(PlotError::NotBuilt(format.name()))
}
