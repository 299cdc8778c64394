//! The page: head, claims, contents and sections.

use crate::anchor::Anchors;
use crate::model::{Figure, Report, Section};
use crate::plot::{DrawError, Svg};
use crate::{claims, compared, text_table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("filter.js");
/// The content security policy: the page may fetch nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

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
}

pub(super) fn html(report: &Report) -> Result<String, PlotError> {
    let anchors = Anchors::of(report);
    let mut number = 0;
    let mut sections = Vec::with_capacity(report.sections.len());
    for (index, part) in report.sections.iter().enumerate() {
        sections.push(section(part, index, &anchors, &mut number)?);
    }
    Ok(page(report, &anchors, &sections).into_string())
}

fn page(report: &Report, anchors: &Anchors, sections: &[Markup]) -> Markup {
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
                style { (PreEscaped(STYLE)) }
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
                @if !report.claims.is_empty() { script { (PreEscaped(SCRIPT)) } }
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

fn section(
    part: &Section,
    index: usize,
    anchors: &Anchors,
    number: &mut usize,
) -> Result<Markup, PlotError> {
    let mut figures = Vec::with_capacity(part.figures.len());
    for (i, shown) in part.figures.iter().enumerate() {
        *number += 1;
        figures.push(figure(shown, anchors.figure(index, i), *number)?);
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

fn figure(shown: &Figure, anchor: &str, number: usize) -> Result<Markup, PlotError> {
    let drawing = shown
        .body
        .draw()
        .map_err(|source| PlotError::Library { figure: shown.id.clone(), source })?;
    Ok(html! {
        figure id=(anchor) class=[shown.body.width().class()] {
            @if let Some(svg) = &drawing.plot { (plot(shown, svg, drawing.has_rims, anchor)) }
            (drawing.html)
            figcaption {
                b { "Figure " (number) ". " (shown.title) @if !shown.title.ends_with(['.', '?']) { "." } }
                @if !shown.caption.is_empty() { " " (shown.caption) }
            }
            @if let Some(numbers) = shown.body.numbers() {
                details { summary { "Numbers" } (text_table::table(&numbers)) }
            }
        }
    })
}

/// A plot with its title and description, which screen readers read.
fn plot(shown: &Figure, svg: &Svg, has_rims: bool, anchor: &str) -> Markup {
    let (title, desc) = (format!("{anchor}-title"), format!("{anchor}-desc"));
    html! {
        div.scroll {
            svg.plot.points[has_rims] xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby={ (title) " " (desc) }
                viewBox={ "0 0 " (svg.width) " " (svg.height) } {
                title id=(title) { (shown.title) }
                desc id=(desc) { (shown.body.describe()) }
                g aria-hidden="true" { (PreEscaped(&svg.body)) }
            }
        }
    }
}
