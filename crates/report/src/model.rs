//! The content of a report. Strings are plain text; the page escapes them.

use crate::figure::Drawable;
use crate::text_table::TextTable;

/// A whole report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Heading of the page and title of the document.
    pub title: String,
    /// One line below the title; may be empty.
    pub subtitle: String,
    /// Where the numbers come from, as (name, value): version, seed, runs, simulated time.
    pub facts: Vec<(String, String)>,
    /// The claims. The page groups them by paper, in order of first appearance.
    pub claims: Vec<ClaimRow>,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// One published claim and what was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRow {
    /// Identifier in the catalogue, such as `C-7`.
    pub id: String,
    /// The paper, by which claims are grouped and filtered.
    pub paper: String,
    /// Where in the paper, such as `Fig. 11`.
    pub source: String,
    /// The network and the flows.
    pub setting: String,
    /// What the paper reports.
    pub published: String,
    /// The condition that decides whether the claim is reproduced.
    pub check: String,
    /// Whether the claim is reproduced.
    pub status: Status,
    /// What was measured; empty if nothing ran.
    pub measured: String,
    /// The explanation of a difference; may be empty.
    pub note: String,
    /// The result of what the paper prints; `None` if the study ran what it prints.
    pub as_printed: Option<PrintedRow>,
    /// Other controllers in the same experiment: name, whether the check holds, what was measured.
    pub beside: Vec<(String, Option<bool>, String)>,
    /// [`Figure::id`] or [`Section::id`] of what shows the claim.
    pub anchor: Option<String>,
}

/// The result of a claim as its paper prints it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedRow {
    /// Whether the check holds; `None` if nothing ran.
    pub holds: Option<bool>,
    /// What was measured.
    pub measured: String,
    /// The explanation of a difference; may be empty.
    pub note: String,
}

/// Whether a claim is reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The check holds.
    Reproduced,
    /// The check fails.
    NotReproduced,
    /// The experiment was not run.
    #[default]
    NotRun,
}

/// A part of the report under its own heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Unique name, used for links.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Paragraphs, separated by empty lines; may be empty.
    pub text: String,
    /// Claims with the findings of several sources; shown before the figures.
    pub compared: Vec<Compared>,
    /// The figures, in order.
    pub figures: Vec<Figure>,
    /// A table after the figures.
    pub table: Option<TextTable>,
}

/// A published claim and the findings of several sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Identifier in the catalogue, such as `C-7`.
    pub id: String,
    /// Paper and place in the paper.
    pub source: String,
    /// What the paper reports.
    pub published: String,
    /// The condition that decides whether the claim is reproduced.
    pub check: String,
    /// The findings, in the order shown.
    pub findings: Vec<Finding>,
}

/// What one source found about a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The source: a browser, a simulator.
    pub who: String,
    /// Whether the check holds.
    pub status: Status,
    /// What was measured, or why the experiment was not run.
    pub measured: String,
    /// A caution for the reader; may be empty.
    pub caveat: String,
}

/// A plot or table with its caption.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Unique name, used for links.
    pub id: String,
    /// Short heading.
    pub title: String,
    /// What to look at; may be empty.
    pub caption: String,
    /// The plot or table.
    pub body: Box<dyn Drawable>,
}
