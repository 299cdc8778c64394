//! The summary and the table of claims.

use crate::anchor::Anchors;
use crate::model::{ClaimRow, PrintedRow, Status};
use maud::{Markup, html};

impl Status {
    /// The three verdicts, in the order of the legend.
    pub const ALL: [Self; 3] = [Self::Reproduced, Self::NotReproduced, Self::NotRun];

    /// The verdict as words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::NotRun => "not run",
        }
    }

    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Reproduced => "✓",
            Self::NotReproduced => "✗",
            Self::NotRun => "–",
        }
    }

    /// The class in the style sheet, and the key of the filter.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Reproduced => "yes",
            Self::NotReproduced => "no",
            Self::NotRun => "none",
        }
    }
}

fn count(claims: &[ClaimRow], status: Status) -> usize {
    claims.iter().filter(|c| c.status == status).count()
}

/// One sentence: how many claims are reproduced, not reproduced and not run.
pub(super) fn verdict(claims: &[ClaimRow]) -> String {
    let total = claims.len();
    let noun = if total == 1 { "claim" } else { "claims" };
    let (yes, no, none) = (
        count(claims, Status::Reproduced),
        count(claims, Status::NotReproduced),
        count(claims, Status::NotRun),
    );
    let mut rest = Vec::new();
    if no > 0 {
        rest.push(format!("{no} not reproduced"));
    }
    if none > 0 {
        rest.push(format!("{none} not run"));
    }
    let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    format!("{yes} of {total} {noun} reproduced{rest}.")
}

/// The papers with their claims, in order of first appearance.
fn by_paper(claims: &[ClaimRow]) -> Vec<(&str, Vec<&ClaimRow>)> {
    let mut papers: Vec<(&str, Vec<&ClaimRow>)> = Vec::new();
    for claim in claims {
        match papers.iter_mut().find(|(paper, _)| *paper == claim.paper) {
            Some((_, rows)) => rows.push(claim),
            None => papers.push((&claim.paper, vec![claim])),
        }
    }
    papers
}

/// A bar with the shares of the three verdicts. Hidden from screen readers: the sentence above it
/// says the same.
pub(super) fn strip(claims: &[ClaimRow]) -> Markup {
    html! {
        div.strip aria-hidden="true" {
            @for status in Status::ALL {
                @let n = count(claims, status);
                @if n > 0 { span class=(status.key()) style={ "flex-grow:" (n) } {} }
            }
        }
    }
}

/// The table with its filter, which only the script shows.
pub(super) fn table(claims: &[ClaimRow], anchors: &Anchors) -> Markup {
    let papers = by_paper(claims);
    html! {
        form #filter hidden {
            label { "Status " select name="status" {
                option value="" { "all" }
                @for status in Status::ALL { option value=(status.key()) { (status.words()) } }
            } }
            label { "Paper " select name="paper" {
                option value="" { "all" }
                @for (i, (paper, _)) in papers.iter().enumerate() { option value=(i) { (paper) } }
            } }
            output aria-live="polite" {}
        }
        table.claims role="table" {
            caption { "Published and measured, claim by claim" }
            thead role="rowgroup" { tr role="row" {
                @for head in ["Claim", "Setting", "Published", "Measured", "Check", "Status"] {
                    th scope="col" role="columnheader" { (head) }
                }
            } }
            @for (i, (paper, rows)) in papers.iter().enumerate() {
                tbody role="rowgroup" data-paper=(i) {
                    tr.paper role="row" { th scope="rowgroup" role="rowheader" colspan="6" {
                        (paper) " " span.tally { (tally(rows)) }
                    } }
                    @for claim in rows { (row(claim, anchors)) }
                }
            }
        }
    }
}

fn tally(rows: &[&ClaimRow]) -> String {
    let yes = rows.iter().filter(|c| c.status == Status::Reproduced).count();
    format!("{yes} of {} reproduced", rows.len())
}

/// The results of other controllers in the same experiment.
fn beside(claim: &ClaimRow) -> Markup {
    let holding = claim.beside.iter().filter(|(_, holds, _)| *holds == Some(true)).count();
    html! {
        details.beside {
            summary { "Other controllers: the check holds for " (holding) " of " (claim.beside.len()) }
            dl { @for (controller, holds, measured) in &claim.beside {
                dt { (controller) " " (self::holds(*holds)) }
                dd { (measured) }
            } }
        }
    }
}

fn holds(holds: Option<bool>) -> Markup {
    html! { @match holds {
        Some(true) => span.yes { "✓ holds" },
        Some(false) => span.no { "✗ does not hold" },
        None => span.none { "– not run" },
    } }
}

/// The result of what the paper prints.
fn as_printed(printed: &PrintedRow) -> Markup {
    html! {
        p.printed { "As printed: " (holds(printed.holds)) "; " (printed.measured) }
        @if !printed.note.is_empty() { p.note { (printed.note) } }
    }
}

fn row(claim: &ClaimRow, anchors: &Anchors) -> Markup {
    let target = claim.anchor.as_deref().and_then(|id| anchors.find(id));
    html! {
        tr role="row" data-status=(claim.status.key()) {
            th scope="row" role="rowheader" {
                @match target {
                    Some(target) => a href={ "#" (target) } { (claim.id) },
                    None => (claim.id),
                }
                @if !claim.source.is_empty() { span.source { (claim.source) } }
            }
            td role="cell" data-label="Setting" { (claim.setting) }
            td role="cell" data-label="Published" { (claim.published) }
            td.measured role="cell" data-label="Measured" {
                @if claim.measured.is_empty() { "–" } @else { (claim.measured) }
                @if !claim.note.is_empty() { p.note { (claim.note) } }
                @if let Some(printed) = &claim.as_printed { (as_printed(printed)) }
                @if !claim.beside.is_empty() { (beside(claim)) }
            }
            td role="cell" data-label="Check" { (claim.check) }
            td role="cell" data-label="Status" {
                span class={ "status " (claim.status.key()) } {
                    span aria-hidden="true" { (claim.status.symbol()) } " " (claim.status.words())
                }
            }
        }
    }
}
