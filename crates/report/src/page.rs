//! The page.

use super::anchor::Anchors;
use super::model::{Body, Figure, Report, Section};
use super::plot::{self, PlotError};
use super::{claims, compared, describe, points, table, text_table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("filter.js");
/// Nothing may be fetched.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

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
                a.skip href="#content" { "Skip to the claims" }
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
    let class = match shown.body {
        Body::Time { .. } | Body::Scatter(_) => Some("wide"),
        Body::Table(_) => Some("full"),
        _ => None,
    };
    let body = match &shown.body {
        Body::Table(data) => table::table(data),
        Body::Scatter(scatter) => html! { (drawing(shown, anchor)?) (points::key(scatter)) },
        _ => drawing(shown, anchor)?,
    };
    Ok(html! {
        figure id=(anchor) class=[class] {
            (body)
            figcaption {
                b { "Figure " (number) ". " (shown.title) @if !shown.title.ends_with(['.', '?']) { "." } }
                @if !shown.caption.is_empty() { " " (shown.caption) }
            }
            @if let Some(numbers) = describe::numbers(shown) {
                details { summary { "Numbers" } (text_table::table(&numbers)) }
            }
        }
    })
}

fn drawing(shown: &Figure, anchor: &str) -> Result<Markup, PlotError> {
    let drawing = plot::draw(shown)?;
    let (title, desc) = (format!("{anchor}-title"), format!("{anchor}-desc"));
    let is_scatter = matches!(shown.body, Body::Scatter(_));
    Ok(html! {
        div.scroll {
            svg.plot.points[is_scatter] xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby={ (title) " " (desc) }
                viewBox={ "0 0 " (drawing.width) " " (drawing.height) } {
                title id=(title) { (shown.title) }
                desc id=(desc) { (describe::words(shown)) }
                g aria-hidden="true" { (PreEscaped(&drawing.body)) }
            }
        }
    })
}
