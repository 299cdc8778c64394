//! Published values and references: dashed lines with a label outside the data where there is room.

use super::axis::Axis;
use super::frame::Chart;
use super::legend::{self, ROW, text_width};
use super::theme::{Ink, SCALE};
use super::{Area, Drawn, text};
use crate::model::{At, Mark, MarkKind, PUBLISHED};
use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;

/// Letters in a line of a label at the right.
const WRAP: usize = 14;
/// Height of a line of such a label, in CSS pixels.
const LINE: i32 = 14;

/// Labels of vertical lines, in rows above the panel, so that none covers another.
pub(super) struct Labels {
    /// (row, centre, text, colour)
    placed: Vec<(u32, i32, String, Ink)>,
}

impl Labels {
    /// Lays out the labels between two edges, in CSS pixels.
    pub(super) fn above(marks: &[Mark], x: &Axis, (left, right): (u32, u32)) -> Self {
        let mut ends: Vec<i32> = Vec::new();
        let mut placed = Vec::new();
        let mut found: Vec<_> = marks.iter().filter_map(|m| Some((vertical(m, x)?, m))).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (share, mark) in found {
            let words = mark.text();
            if words.is_empty() {
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

    /// How many rows there are.
    pub(super) fn rows(&self) -> u32 {
        self.placed.iter().map(|(row, ..)| row + 1).max().unwrap_or(0)
    }

    /// Draws them upwards from `bottom`.
    pub(super) fn draw(&self, root: &Area<'_>, bottom: u32) -> Drawn {
        for (row, x, words, ink) in &self.placed {
            let y = bottom as i32 - (row * ROW + ROW / 2) as i32;
            legend::write(root, words, (*x, y), HPos::Center, *ink)?;
        }
        Ok(())
    }
}

/// Where a vertical mark stands, as a share of the axis.
fn vertical(mark: &Mark, x: &Axis) -> Option<f64> {
    let At::X(value) = mark.at else { return None };
    Some((x.place(value)? - x.low) / (x.high - x.low))
}

/// Room that the labels of horizontal marks need at the right.
pub(super) fn right_width(marks: &[Mark]) -> u32 {
    let across = marks.iter().filter(|m| matches!(m.at, At::Y(_)));
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
    lines
}

/// Draws the lines and the labels that stand beside or on the panel.
pub(super) fn draw(
    root: &Area<'_>,
    chart: &mut Chart<'_>,
    marks: &[Mark],
    x: &Axis,
    y: &Axis,
) -> Drawn {
    let mut beside = Vec::new();
    for mark in marks {
        let ink = Ink::of_mark(mark.kind);
        let ends = match mark.at {
            At::Y(value) => y.place(value).map(|v| ((x.low, v), (x.high, v))),
            At::X(value) => x.place(value).map(|v| ((v, y.low), (v, y.high))),
            At::YBetween { y: value, from, to } => {
                match (y.place(value), x.place(from), x.place(to)) {
                    (Some(v), Some(a), Some(b)) => Some(((a, v), (b, v))),
                    _ => None,
                }
            }
        };
        let Some((from, to)) = ends else { continue };
        let style = ink.line(SCALE * 3 / 2);
        chart.draw_series([PathElement::new(vec![from, to], style)]).map_err(text)?;
        let spot = |place| {
            let (px, py) = chart.backend_coord(&place);
            (px / SCALE as i32, py / SCALE as i32)
        };
        match mark.at {
            At::Y(_) => beside.push((spot(to), wrap(mark), ink)),
            At::YBetween { .. } => {
                let (a, b) = (spot(from), spot(to));
                let over = ((a.0 + b.0) / 2, a.1 - 8);
                legend::write(root, &mark.text(), over, HPos::Center, ink)?;
            }
            At::X(_) => {}
        }
    }
    labels_beside(root, beside)
}

/// Labels at the right, moved down where they would cover another.
fn labels_beside(root: &Area<'_>, mut labels: Vec<((i32, i32), Vec<String>, Ink)>) -> Drawn {
    labels.sort_by_key(|((_, y), ..)| *y);
    let mut free = i32::MIN;
    for ((x, y), lines, ink) in labels {
        let height = lines.len() as i32 * LINE;
        let top = (y - height / 2).max(free);
        for (i, line) in lines.iter().enumerate() {
            let spot = (x + 6, top + i as i32 * LINE + LINE / 2);
            legend::write(root, line, spot, HPos::Left, ink)?;
        }
        free = top + height + 2;
    }
    Ok(())
}
