//! A panel without its data: heading, legend, axes, grid, marks.

use super::axis::Axis;
use super::legend::{self, Entry, ROW};
use super::marks::{self, Labels};
use super::theme::{Ink, SCALE};
use super::{Area, Drawn, text};
use crate::model::Mark;
use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::SVGBackend;
use plotters::style::Color;
use plotters::style::colors::TRANSPARENT;
use plotters::style::text_anchor::HPos;

/// Room for the labels of the vertical axis, in CSS pixels.
pub(super) const LEFT: u32 = 56;
/// Room to the right, for half of the last label of the horizontal axis.
const RIGHT: u32 = 20;
/// Room for the tick labels below the axis, and for its label.
pub(super) const TICKS: u32 = 20;
/// Gap below a panel.
const BELOW: u32 = 8;

pub(super) type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// What stands below a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Below<'a> {
    /// The panel below has the axis.
    Nothing,
    /// Ticks and the axis' label.
    Axis(&'a str),
    /// Names of groups, drawn by the panel in so many lines, and the axis' label.
    Groups(&'a str, u32),
}

/// The height of a further line of a group's name, in CSS pixels.
pub(super) const LINE: u32 = 13;

/// A panel to be drawn.
pub(super) struct Frame<'a> {
    pub(super) heading: String,
    pub(super) entries: Vec<Entry>,
    pub(super) marks: &'a [Mark],
    pub(super) x: &'a Axis,
    pub(super) y: Axis,
    pub(super) below: Below<'a>,
    /// Width of the figure and height of the data, in CSS pixels.
    pub(super) size: (u32, u32),
    /// Room at the right for the labels of marks; the same in all panels of a figure.
    pub(super) right: u32,
}

/// Room at the right that these marks need.
pub(super) fn right_of(marks: &[Mark]) -> u32 {
    RIGHT.max(marks::right_width(marks))
}

impl Frame<'_> {
    /// Height of the whole panel in CSS pixels.
    pub(super) fn height(&self) -> u32 {
        let below = match self.below {
            Below::Nothing => 0,
            Below::Axis(label) | Below::Groups(label, _) => {
                TICKS + if label.is_empty() { 0 } else { ROW }
            }
        } + self.more_lines();
        self.head(&self.spots()) + self.size.1 + below + BELOW
    }

    /// Where the data begin, below the heading, in CSS pixels.
    pub(super) fn top(&self) -> u32 {
        self.head(&self.spots())
    }

    /// The height of the groups' names beyond their first line.
    fn more_lines(&self) -> u32 {
        match self.below {
            Below::Groups(_, lines) => lines.saturating_sub(1) * LINE,
            Below::Nothing | Below::Axis(_) => 0,
        }
    }

    fn spots(&self) -> Vec<(u32, u32)> {
        legend::lay_out(&self.heading, &self.entries, LEFT, self.size.0)
    }

    fn head(&self, spots: &[(u32, u32)]) -> u32 {
        let legend = spots.iter().map(|(row, _)| row + 1).max().unwrap_or(0);
        let heading = u32::from(!self.heading.is_empty());
        (legend.max(heading) + self.labels().rows()) * ROW + 4
    }

    fn labels(&self) -> Labels {
        Labels::above(self.marks, self.x, (LEFT, self.size.0 - self.right))
    }

    /// Draws the panel from `top` on, then its data with `data`, then its marks.
    pub(super) fn draw(
        &self,
        root: &Area<'_>,
        top: u32,
        data: impl FnOnce(&mut Chart<'_>) -> Drawn,
    ) -> Drawn {
        let spots = self.spots();
        let head = self.head(&spots);
        let items: Vec<_> = self.entries.iter().cloned().zip(spots).collect();
        legend::draw(root, top, LEFT, &self.heading, &items)?;
        self.labels().draw(root, top + head)?;
        let bottom = top + head + self.size.1;
        let area = root.clone().shrink(
            (0, ((top + head) * SCALE) as i32),
            ((self.size.0 - self.right) * SCALE, (self.size.1 + TICKS) * SCALE),
        );
        let mut chart = ChartBuilder::on(&area)
            .set_label_area_size(LabelAreaPosition::Left, LEFT * SCALE)
            .set_label_area_size(LabelAreaPosition::Bottom, TICKS * SCALE)
            .build_cartesian_2d(self.x.clone(), self.y.clone())
            .map_err(text)?;
        self.mesh(&mut chart)?;
        data(&mut chart)?;
        marks::draw(root, &mut chart, self.marks, self.x, &self.y)?;
        let (Below::Axis(label) | Below::Groups(label, _)) = self.below else { return Ok(()) };
        let middle = (LEFT + self.size.0 - self.right) / 2;
        let spot = (middle as i32, (bottom + TICKS + self.more_lines() + ROW / 2) as i32);
        if label.is_empty() {
            Ok(())
        } else {
            legend::write(root, label, spot, HPos::Center, Ink::Text)
        }
    }

    fn mesh(&self, chart: &mut Chart<'_>) -> Drawn {
        let ticks = matches!(self.below, Below::Axis(_));
        let x_text = |place: &f64| if ticks { self.x.tick_label(*place) } else { String::new() };
        let mut mesh = chart.configure_mesh();
        mesh.bold_line_style(Ink::Grid.line(SCALE / 2 + 1))
            .light_line_style(TRANSPARENT)
            .axis_style(Ink::Axis.line(SCALE))
            .label_style(legend::style(Ink::Text))
            .x_label_formatter(&x_text)
            .set_all_tick_mark_size(4 * SCALE);
        if matches!(self.below, Below::Groups(..)) {
            mesh.disable_x_mesh().disable_x_axis();
        }
        mesh.draw().map_err(text)
    }
}

/// A colour laid thinly over what is below it.
pub(super) fn wash(ink: Ink) -> plotters::style::ShapeStyle {
    ink.color().mix(0.3).filled()
}
