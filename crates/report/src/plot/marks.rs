//! Published values and references: dashed lines. Their labels are outside the data if there is
//! room.

use super::axis::Axis;
use super::frame::Chart;
use super::legend::{self, Pixel, ROW};
use super::letters::{shorten, text_width};
use super::theme::{Ink, SCALE};
use super::{Canvas, DrawResult};
use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;

/// The word before a published value.
pub(crate) const PUBLISHED: &str = "published";
/// Letters per line of a label at the right.
const WRAP: usize = 14;
/// The greatest width of a label at the right, in CSS pixels.
const MAX_BESIDE: u32 = 110;
/// Height of a line of such a label, in CSS pixels.
const LINE_HEIGHT: i32 = 14;

/// A straight line at a known value.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where the line is.
    pub at: MarkAt,
    /// The value with its unit, or a name. Drawn as `published 86 %` if the kind is
    /// [`MarkKind::Published`].
    pub label: String,
    /// Whose value the mark shows.
    pub kind: MarkKind,
}

/// Where a mark is, in units of the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkAt {
    /// A horizontal line.
    Y(f64),
    /// A horizontal line between two values of x.
    YBetween {
        /// Height of the line.
        y: f64,
        /// Left end of the line.
        from: f64,
        /// Right end of the line.
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

impl Mark {
    /// A published value.
    #[must_use]
    pub fn published(at: MarkAt, label: &str) -> Self {
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

    /// The values that the horizontal axis must show.
    pub(crate) fn xs(&self) -> impl Iterator<Item = f64> {
        let ends = match self.at {
            MarkAt::X(x) => [Some(x), None],
            MarkAt::YBetween { from, to, .. } => [Some(from), Some(to)],
            MarkAt::Y(_) => [None, None],
        };
        ends.into_iter().flatten()
    }

    /// The value that the vertical axis must show.
    pub(crate) const fn y(&self) -> Option<f64> {
        match self.at {
            MarkAt::Y(y) | MarkAt::YBetween { y, .. } => Some(y),
            MarkAt::X(_) => None,
        }
    }

    /// The value at which the mark is.
    pub(crate) const fn value(&self) -> f64 {
        match self.at {
            MarkAt::Y(value) | MarkAt::X(value) | MarkAt::YBetween { y: value, .. } => value,
        }
    }

    /// Whether the line crosses the whole width.
    pub(crate) const fn is_horizontal(&self) -> bool {
        matches!(self.at, MarkAt::Y(_))
    }
}

/// Labels of vertical lines, in rows above the panel, so that none covers another.
pub(crate) struct LabelsAbove {
    /// (row, centre, text, colour)
    placed: Vec<(u32, i32, String, Ink)>,
}

impl LabelsAbove {
    /// Lays out the labels between two edges, in CSS pixels.
    pub(crate) fn new(marks: &[Mark], x: &Axis, (left, right): (u32, u32)) -> Self {
        let mut ends: Vec<i32> = Vec::new();
        let mut placed = Vec::new();
        let mut found: Vec<_> = marks.iter().filter_map(|m| Some((vertical(m, x)?, m))).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (share, mark) in found {
            let words = shorten(&mark.text(), right.saturating_sub(left));
            if mark.text().is_empty() {
                continue;
            }
            let half = text_width(&words) as i32 / 2;
            let centre = left as i32 + (share * f64::from(right - left)) as i32;
            let centre = centre.min(right as i32 - half).max(left as i32 + half);
            let row = ends.iter().position(|end| *end < centre - half).unwrap_or(ends.len());
            ends.resize(ends.len().max(row + 1), 0);
            ends[row] = centre + half + 8;
            placed.push((row as u32, centre, words, Ink::of_mark(mark.kind)));
        }
        Self { placed }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u32 {
        self.placed.iter().map(|(row, ..)| row + 1).max().unwrap_or(0)
    }

    /// Draws the labels upwards from `bottom`.
    pub(crate) fn draw(&self, root: &Canvas<'_>, bottom: u32) -> DrawResult {
        for (row, x, words, ink) in &self.placed {
            let y = bottom as i32 - (row * ROW + ROW / 2) as i32;
            legend::write(root, words, (*x, y), HPos::Center, *ink)?;
        }
        Ok(())
    }
}

/// The position of a vertical mark, as a share of the axis.
fn vertical(mark: &Mark, x: &Axis) -> Option<f64> {
    let MarkAt::X(value) = mark.at else { return None };
    Some((x.position(value)? - x.low) / (x.high - x.low))
}

/// The width that the labels of horizontal marks need at the right, in CSS pixels.
pub(crate) fn width_at_right(marks: &[Mark]) -> u32 {
    let across = marks.iter().filter(|mark| mark.is_horizontal());
    across.flat_map(wrap).map(|line| text_width(&line) + 12).max().unwrap_or(0)
}

fn wrap(mark: &Mark) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in mark.label.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WRAP => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if mark.kind == MarkKind::Published {
        lines.insert(0, PUBLISHED.to_owned());
    }
    lines.iter().map(|line| shorten(line, MAX_BESIDE)).collect()
}

/// Draws the lines and the labels that are beside or on the panel.
pub(crate) fn draw(
    root: &Canvas<'_>,
    chart: &mut Chart<'_>,
    marks: &[Mark],
    x: &Axis,
    y: &Axis,
) -> DrawResult {
    let mut beside = Vec::new();
    for mark in marks {
        let ink = Ink::of_mark(mark.kind);
        let ends = match mark.at {
            MarkAt::Y(value) => y.position(value).map(|v| ((x.low, v), (x.high, v))),
            MarkAt::X(value) => x.position(value).map(|v| ((v, y.low), (v, y.high))),
            MarkAt::YBetween { y: value, from, to } => {
                match (y.position(value), x.position(from), x.position(to)) {
                    (Some(v), Some(a), Some(b)) => Some(((a, v), (b, v))),
                    _ => None,
                }
            }
        };
        let Some((from, to)) = ends else { continue };
        let style = ink.line(SCALE * 3 / 2);
        chart.draw_series([PathElement::new(vec![from, to], style)])?;
        let pixel = |position| -> Pixel {
            let (px, py) = chart.backend_coord(&position);
            (px / SCALE as i32, py / SCALE as i32)
        };
        match mark.at {
            MarkAt::Y(_) => beside.push((pixel(to), wrap(mark), ink)),
            MarkAt::YBetween { .. } => {
                let (a, b) = (pixel(from), pixel(to));
                let above = ((a.0 + b.0) / 2, a.1 - 8);
                legend::write(root, &mark.text(), above, HPos::Center, ink)?;
            }
            MarkAt::X(_) => {}
        }
    }
    labels_beside(root, beside)
}

/// Draws labels at the right. A label that would cover another one is moved down.
fn labels_beside(root: &Canvas<'_>, mut labels: Vec<(Pixel, Vec<String>, Ink)>) -> DrawResult {
    labels.sort_by_key(|((_, y), ..)| *y);
    let mut free = i32::MIN;
    for ((x, y), lines, ink) in labels {
        let height = lines.len() as i32 * LINE_HEIGHT;
        let top = (y - height / 2).max(free);
        for (i, line) in lines.iter().enumerate() {
            let pixel = (x + 6, top + i as i32 * LINE_HEIGHT + LINE_HEIGHT / 2);
            legend::write(root, line, pixel, HPos::Left, ink)?;
        }
        free = top + height + 2;
    }
    Ok(())
}
