//! The page: head, claims, contents and sections.

use crate::anchor::Anchors;
use crate::figure::{Drawing, Layout, NARROW, Palette, Width};
use crate::model::{Figure, Report, Section};
use crate::plot::{DrawError, PLOT_STYLE, Picture};
use crate::{claims, compared, text_table};
use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use miniz_oxide::deflate::compress_to_vec;

const STYLE: &str = include_str!("style.css");
/// Filters the claims.
const FILTER: &str = include_str!("filter.js");
/// Saves figures as files, and says which tables can be scrolled.
const FIGURES: &str = include_str!("figures.js");
/// Draws panels over time so that they can be zoomed; built from `web/src/report`.
const ZOOM: &str = include_str!("assets/zoom.js");
const ZOOM_STYLE: &str = include_str!("assets/zoom.css");
/// The content security policy: the page may fetch nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
/// The compression level of the values of figures, 0 to 10.
const LEVEL: u8 = 6;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The plotting library could not draw a figure.
    #[error("figure {figure:?} could not be drawn: {source}")]
    Library {
        /// [`Figure::id`].
        figure: String,
        /// The error of the library.
        source: DrawError,
    },
    /// A figure could not be written as a file.
    #[cfg(feature = "paper")]
    #[error("figure {figure:?}: {source}")]
    Paper {
        /// [`Figure::id`].
        figure: String,
        /// The reason.
        source: crate::paper::PaperError,
    },
    /// This build cannot write the format with this name.
    #[error("this build cannot write {0} files: it lacks the feature 'figures'; use svg or csv")]
    NotBuilt(&'static str),
}

pub(super) fn html(report: &Report) -> Result<String, PlotError> {
    let anchors = Anchors::of(report);
    let figures = report.sections.iter().flat_map(|section| &section.figures);
    let palette = Palette::of(figures.map(|figure| &*figure.body));
    let mut number = 0;
    let mut sections = Vec::with_capacity(report.sections.len());
    for (index, part) in report.sections.iter().enumerate() {
        sections.push(section(part, index, (&anchors, &palette), &mut number)?);
    }
    Ok(page(report, &anchors, &sections).into_string())
}

fn page(report: &Report, anchors: &Anchors, sections: &[Markup]) -> Markup {
    let can_scroll = |section: &Section| {
        !section.figures.is_empty() || !section.compared.is_empty() || section.table.is_some()
    };
    let needs_script = report.sections.iter().any(can_scroll);
    let mut figures = report.sections.iter().flat_map(|section| &section.figures);
    let has_zoom = figures.any(|figure| figure.body.zoomed(&Layout::default()).is_some());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (report.title) }
                link rel="icon" href="data:,";
                style #plot-style { (PreEscaped(PLOT_STYLE)) }
                style { (PreEscaped(STYLE)) }
                @if has_zoom { style { (PreEscaped(ZOOM_STYLE)) } }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header { (head(report)) }
                main #content tabindex="-1" {
                    @if !report.claims.is_empty() {
                        section #claims { h2 { "Claims" } (claims::table(&report.claims, anchors)) }
                    }
                    @if report.sections.len() > 1 { (contents(report, anchors)) }
                    @for section in sections { (section) }
                }
                @if !report.claims.is_empty() { script { (PreEscaped(FILTER)) } }
                @if needs_script { script { (PreEscaped(FIGURES)) } }
                @if has_zoom { script type="module" { (PreEscaped(ZOOM)) } }
            }
        }
    }
}

fn head(report: &Report) -> Markup {
    html! {
        h1 { (report.title) }
        @if !report.subtitle.is_empty() { p.subtitle { (report.subtitle) } }
        @if !report.claims.is_empty() {
            p.verdict { (claims::verdict(&report.claims)) }
        }
        @if !report.claims.is_empty() { (claims::strip(&report.claims)) }
        @if !report.facts.is_empty() {
            dl.facts { @for (name, value) in &report.facts { div { dt { (name) } dd { (value) } } } }
        }
    }
}

fn contents(report: &Report, anchors: &Anchors) -> Markup {
    html! {
        nav aria-labelledby="contents" {
            h2 #contents { "Contents" }
            ol { @for (i, part) in report.sections.iter().enumerate() {
                li { a href={ "#" (anchors.section(i)) } { (part.title) } " " span.tally { (figure_count(part)) } }
            } }
        }
    }
}

fn figure_count(section: &Section) -> String {
    match section.figures.len() {
        0 => String::new(),
        1 => "1 figure".to_owned(),
        n => format!("{n} figures"),
    }
}

/// How much of the width each figure takes: a figure in a column that would be alone in its row
/// fills the row.
fn widths(figures: &[Figure]) -> Vec<Width> {
    let mut widths: Vec<Width> = figures.iter().map(|figure| figure.body.width()).collect();
    for row in widths.chunk_by_mut(|one, other| one == other) {
        if row[0] == Width::Column && row.len() % 2 == 1 {
            let last = row.len() - 1;
            row[last] = Width::Wide;
        }
    }
    widths
}

fn section(
    part: &Section,
    index: usize,
    (anchors, palette): (&Anchors, &Palette),
    number: &mut usize,
) -> Result<Markup, PlotError> {
    let mut figures = Vec::with_capacity(part.figures.len());
    for (i, (shown, width)) in part.figures.iter().zip(widths(&part.figures)).enumerate() {
        *number += 1;
        figures.push(figure(shown, (width, palette), anchors.figure(index, i), *number)?);
    }
    Ok(html! {
        section id=(anchors.section(index)) {
            h2 { (part.title) }
            @for paragraph in part.text.split("\n\n").filter(|p| !p.trim().is_empty()) { p.text { (paragraph.trim()) } }
            @if !part.compared.is_empty() { (compared::table(&part.compared)) }
            @if !figures.is_empty() { div.figures { @for figure in &figures { (figure) } } }
            @if let Some(data) = &part.table { (text_table::table(data)) }
        }
    })
}

fn figure(
    shown: &Figure,
    (width, palette): (Width, &Palette),
    anchor: &str,
    number: usize,
) -> Result<Markup, PlotError> {
    let layout = |width: u32| Layout { width, palette: palette.clone() };
    let draw = |width: u32| {
        let library = |source| PlotError::Library { figure: shown.id.clone(), source };
        shown.body.draw(&layout(width)).map_err(library)
    };
    let drawing = draw(width.pixels())?;
    let narrow = if drawing.plot.is_some() { Some(draw(NARROW)?) } else { None };
    let has_plot = drawing.plot.is_some();
    Ok(html! {
        figure id=(anchor) class=[width.class()] data-csv=(packed(&shown.body.csv()))
            data-zoom=[shown.body.zoomed(&layout(width.pixels()))] {
            (plots(shown, &drawing, narrow.as_ref(), anchor))
            (drawing.html)
            figcaption {
                b { "Figure " (number) ". " (shown.title) @if !shown.title.ends_with(['.', '?']) { "." } }
                @if !shown.caption.is_empty() { " " (shown.caption) }
            }
            // The script shows this.
            p.save hidden {
                "Save as"
                @if has_plot {
                    " " button type="button" data-as="svg" { "SVG" }
                    " " button type="button" data-as="png" { "PNG" }
                }
                " " button type="button" data-as="csv" { "CSV" }
            }
            @if let Some(numbers) = shown.body.numbers() {
                details { summary { "Numbers" } (text_table::table(&numbers)) }
            }
        }
    })
}

/// Values for the script: raw DEFLATE (RFC 1951) in Base64.
fn packed(csv: &str) -> String {
    BASE64_STANDARD.encode(compress_to_vec(csv.as_bytes(), LEVEL))
}

/// A plot with its title and description, which screen readers read, and the same plot for narrow
/// screens.
fn plots(shown: &Figure, drawing: &Drawing, narrow: Option<&Drawing>, anchor: &str) -> Markup {
    let Some(plot) = &drawing.plot else { return html! {} };
    let narrow = narrow.and_then(|drawing| drawing.plot.as_ref());
    let rims = drawing.has_rims;
    let (title, desc) = (format!("{anchor}-title"), format!("{anchor}-desc"));
    html! {
        svg.plot.points[rims].broad xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby={ (title) " " (desc) }
            viewBox=(view_box(plot)) {
            title id=(title) { (shown.title) }
            desc id=(desc) { (shown.body.describe()) }
            g aria-hidden="true" { (PreEscaped(plot.svg_body())) }
        }
        @if let Some(plot) = narrow {
            svg.plot.points[rims].narrow xmlns="http://www.w3.org/2000/svg" role="img"
                aria-label={ (shown.title) ". " (shown.body.describe()) } viewBox=(view_box(plot)) {
                g aria-hidden="true" { (PreEscaped(plot.svg_body())) }
            }
        }
    }
}

fn view_box(plot: &Picture) -> String {
    format!("0 0 {} {}", plot.width, plot.height)
}
