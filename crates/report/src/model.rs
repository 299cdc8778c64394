//! What a report says, as plain data. Strings are plain text: whatever they hold is escaped.

mod scale;
mod scatter;
mod table;

pub use scale::Scale;
pub(super) use scale::signed;
pub use scatter::{Dimension, Point, Scatter};
pub use table::{Cell, Cells, Column, Row, Table};

/// A whole report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Heading of the page and title of the document.
    pub title: String,
    /// One line below the title; may be empty.
    pub subtitle: String,
    /// What the numbers rest on, as (name, value): version, seed, runs, simulated time.
    pub facts: Vec<(String, String)>,
    /// The verdicts, in the order shown; rows of one paper are brought together.
    pub claims: Vec<ClaimRow>,
    /// The figures and tables, in order.
    pub sections: Vec<Section>,
}

/// One published claim and what was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRow {
    /// Identifier in the catalogue, such as `C-7`.
    pub id: String,
    /// The paper; claims are grouped and filtered by it.
    pub paper: String,
    /// Where in the paper: `Fig. 11`.
    pub source: String,
    /// The network and the flows.
    pub setting: String,
    /// What the paper reports.
    pub published: String,
    /// The test that decides.
    pub check: String,
    /// The verdict.
    pub status: Status,
    /// What was measured; empty if nothing ran.
    pub measured: String,
    /// What explains a difference; may be empty.
    pub note: String,
    /// Other controllers in the same experiment: name, whether the check holds, what was measured.
    pub beside: Vec<(String, Option<bool>, String)>,
    /// [`Figure::id`] or [`Section::id`] that shows it.
    pub anchor: Option<String>,
}

/// The verdict on a claim.
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

/// A part of the report with its own heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Unique name, used for links.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Paragraphs, separated by empty lines; may be empty.
    pub text: String,
    /// Claims with what each of several found, before the figures.
    pub compared: Vec<Compared>,
    /// The figures, in order.
    pub figures: Vec<Figure>,
    /// A table after the figures.
    pub table: Option<TextTable>,
}

/// A published claim and what several found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Identifier in the catalogue, such as `C-7`.
    pub id: String,
    /// Where it was published.
    pub source: String,
    /// What the paper reports.
    pub published: String,
    /// The test that decides.
    pub check: String,
    /// What each found, in the order shown.
    pub findings: Vec<Finding>,
}

/// What one found of a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Who: a browser, a simulator.
    pub who: String,
    /// Whether the check holds.
    pub status: Status,
    /// What was measured; why not, if it was not run.
    pub measured: String,
    /// What is to be kept in mind of it; may be empty.
    pub caveat: String,
}

/// A table of text; columns that hold numbers are set flush right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// What the table shows; may be empty.
    pub caption: String,
    /// Column headings, with units.
    pub columns: Vec<String>,
    /// Rows; a short row is filled up with empty cells.
    pub rows: Vec<Vec<String>>,
}

/// A plot with its caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Unique name, used for links.
    pub id: String,
    /// Short heading.
    pub title: String,
    /// What to see in it; may be empty.
    pub caption: String,
    /// The plot.
    pub body: Body,
}

/// The kinds of plot, and the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Panels above one another that share the horizontal axis.
    Time {
        /// From top to bottom.
        panels: Vec<Panel>,
        /// Label of the shared axis, with its unit.
        x_label: String,
    },
    /// Grouped bars.
    Bars(Grouped<Bar>),
    /// Grouped boxes with whiskers.
    Boxes(Grouped<BoxStats>),
    /// Cumulative distributions; a line's points are (value, share in 0..=1), see [`Line::cdf`].
    Cdf {
        /// The distributions.
        lines: Vec<Line>,
        /// Published values, as [`At::X`] or [`At::Y`].
        marks: Vec<Mark>,
        /// Label of the horizontal axis, with its unit.
        x_label: String,
        /// Logarithmic horizontal axis.
        log_x: bool,
    },
    /// Points with names in a plane.
    Scatter(Scatter),
    /// Values in rows and columns.
    Table(Table),
}

/// One pair of axes with what is drawn in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading; may be empty.
    pub title: String,
    /// Label of the vertical axis, with its unit.
    pub y_label: String,
    /// The series.
    pub lines: Vec<Line>,
    /// Published values and other references.
    pub marks: Vec<Mark>,
    /// Fixed range of the vertical axis; values outside are drawn at its edge. `None` fits the
    /// data.
    pub y_range: Option<(f64, f64)>,
    /// Logarithmic vertical axis. Values that are not positive, and those more than six decades
    /// below the greatest, are drawn at the axis' floor, whose tick then reads `≤`.
    pub log_y: bool,
}

/// One series of (x, y). A value that is not finite breaks the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// The samples, in order of x for [`LineStyle::Line`] and [`LineStyle::Step`].
    pub points: Vec<(f64, f64)>,
    /// How the samples are joined.
    pub style: LineStyle,
    /// Colour and dash.
    pub role: Role,
}

impl Line {
    /// The empirical distribution of `values` (those that are finite), for [`Body::Cdf`].
    #[must_use]
    pub fn cdf(name: &str, role: Role, values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let start = sorted.first().map(|&v| (v, 0.0));
        let steps = sorted.iter().enumerate().map(|(i, &v)| (v, (i + 1) as f64 / n));
        let points = start.into_iter().chain(steps).collect();
        Self { name: name.to_owned(), points, style: LineStyle::Step, role }
    }
}

/// How the samples of a series are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// Straight lines.
    #[default]
    Line,
    /// Each value holds until the next sample.
    Step,
    /// Not at all.
    Dots,
}

/// What a series stands for, which decides its colour. Colours: Okabe and Ito, *Color Universal
/// Design* (2008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The n-th thing measured. Six colours, then again from the first.
    Series(usize),
    /// What the measured is held against, such as the capacity or a threshold: grey and dashed.
    Reference,
}

impl Default for Role {
    fn default() -> Self {
        Self::Series(0)
    }
}

/// What stands before a published value.
pub(super) const PUBLISHED: &str = "published";

/// A straight line at a known value.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where.
    pub at: At,
    /// The value with its unit, or a name; drawn as `published 86 %` if the kind is
    /// [`MarkKind::Published`].
    pub label: String,
    /// Whose value it is.
    pub kind: MarkKind,
}

impl Mark {
    /// A published value.
    #[must_use]
    pub fn published(at: At, label: &str) -> Self {
        Self { at, label: label.to_owned(), kind: MarkKind::Published }
    }

    /// The text drawn beside the mark.
    #[must_use]
    pub fn text(&self) -> String {
        match self.kind {
            MarkKind::Published => format!("{PUBLISHED} {}", self.label).trim_end().to_owned(),
            MarkKind::Reference => self.label.clone(),
        }
    }
}

/// Where a mark stands, in units of the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// A horizontal line.
    Y(f64),
    /// A horizontal line between two values of x.
    YBetween {
        /// Its height.
        y: f64,
        /// Its left end.
        from: f64,
        /// Its right end.
        to: f64,
    },
    /// A vertical line.
    X(f64),
}

/// Whose value a mark shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// The paper's.
    Published,
    /// Ours: a threshold, the start of a flow.
    Reference,
}

/// Bars or boxes in groups: a group a queue length, in it one item a capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grouped<T> {
    /// Names of the items of a group, in order, for the legend.
    pub series: Vec<(String, Role)>,
    /// The groups, from left to right.
    pub groups: Vec<Group<T>>,
    /// Label below the groups, with its unit: `T_q (ms)`.
    pub x_label: String,
    /// Label of the vertical axis, with its unit.
    pub y_label: String,
    /// Values that hold for all groups, as [`At::Y`]; other marks are left out.
    pub marks: Vec<Mark>,
    /// Fixed range of the vertical axis.
    pub y_range: Option<(f64, f64)>,
    /// Logarithmic vertical axis; its floor is as in [`Panel::log_y`].
    pub log_y: bool,
    /// Bars lie, a row a group: for groups with long names. Not for boxes.
    pub lying: bool,
}

/// One group of bars or boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group<T> {
    /// Label below the group.
    pub label: String,
    /// One an entry of [`Grouped::series`]; `None` leaves a gap.
    pub items: Vec<Option<T>>,
}

/// One bar.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bar {
    /// Its height.
    pub value: f64,
    /// Least and greatest over the runs, drawn as a whisker.
    pub spread: Option<(f64, f64)>,
    /// What the paper reports for this bar.
    pub published: Option<f64>,
}

/// The percentiles that a box with whiskers shows: whiskers at 5 and 95, box from 25 to 75, line at
/// the median.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoxStats {
    /// 5th percentile.
    pub p5: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 95th percentile.
    pub p95: f64,
    /// The median that the paper reports.
    pub published: Option<f64>,
}
