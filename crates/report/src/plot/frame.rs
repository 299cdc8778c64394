//! A panel without its data: heading, legend, axes, grid and marks.

use super::axis::Axis;
use super::legend::{self, Head, Legend, ROW};
use super::letters::shorten;
use super::marks::{self, LabelsAbove, Mark};
use super::picture::Recorder;
use super::theme::{Ink, SCALE};
use super::{Canvas, DrawResult};
use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::cartesian::Cartesian2d;
use plotters::style::Color;
use plotters::style::colors::TRANSPARENT;
use plotters::style::text_anchor::HPos;

/// Width of the labels of the vertical axis, in CSS pixels.
pub(crate) const LEFT: u32 = 56;
/// Least margin at the right, for half of the last label of the horizontal axis.
const RIGHT: u32 = 20;
/// Height of the tick labels below the axis.
pub(crate) const TICKS: u32 = 20;
/// Gap below a panel.
const BELOW: u32 = 8;

pub(crate) type Chart<'a> = ChartContext<'a, Recorder<'a>, Cartesian2d<Axis, Axis>>;

/// What is written below a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below<'a> {
    /// Nothing: the axis is below a lower panel.
    Nothing,
    /// Ticks and the label of the axis.
    Axis(&'a str),
    /// The label of the axis, below the names of groups. The caller draws the names, in this number
    /// of lines.
    Groups(&'a str, u32),
}

/// Height of a further line of a group's name, in CSS pixels.
pub(crate) const LINE_HEIGHT: u32 = 13;

/// A panel, ready to be drawn.
pub(crate) struct Frame<'a> {
    pub(crate) heading: String,
    pub(crate) legend: Legend,
    pub(crate) marks: &'a [Mark],
    pub(crate) x: &'a Axis,
    pub(crate) y: Axis,
    pub(crate) below: Below<'a>,
    /// Width of the figure and height of the data, in CSS pixels.
    pub(crate) size: (u32, u32),
    /// Margin at the right for the labels of marks; the same in all panels of a figure.
    pub(crate) right: u32,
}

/// The margin at the right that these marks need, in CSS pixels.
pub(crate) fn margin_right(marks: &[Mark]) -> u32 {
    RIGHT.max(marks::width_at_right(marks))
}

impl Frame<'_> {
    /// Height of the whole panel in CSS pixels.
    pub(crate) fn height(&self) -> u32 {
        let below = match self.below {
            Below::Nothing => 0,
            Below::Axis(label) | Below::Groups(label, _) => {
                TICKS + if label.is_empty() { 0 } else { ROW }
            }
        } + self.more_lines();
        self.head() + self.size.1 + below + BELOW
    }

    /// Top of the data, below heading and legend, in CSS pixels.
    pub(crate) fn top(&self) -> u32 {
        self.head()
    }

    /// The height of the groups' names beyond their first line.
    fn more_lines(&self) -> u32 {
        match self.below {
            Below::Groups(_, lines) => lines.saturating_sub(1) * LINE_HEIGHT,
            Below::Nothing | Below::Axis(_) => 0,
        }
    }

    fn rows_above(&self) -> Head {
        Head::lay_out(&self.heading, &self.legend, LEFT, self.size.0)
    }

    /// Height of heading, legend and mark labels.
    fn head(&self) -> u32 {
        (self.rows_above().rows() + self.labels().rows()) * ROW + 4
    }

    fn labels(&self) -> LabelsAbove {
        LabelsAbove::new(self.marks, self.x, (LEFT, self.size.0 - self.right))
    }

    /// Draws the frame from `top` (CSS pixels) downwards, then the data with `data`, then the
    /// marks.
    pub(crate) fn draw(
        &self,
        root: &Canvas<'_>,
        top: u32,
        data: impl FnOnce(&mut Chart<'_>) -> DrawResult,
    ) -> DrawResult {
        let head = self.head();
        self.rows_above().draw(root, top)?;
        self.labels().draw(root, top + head)?;
        let bottom = top + head + self.size.1;
        let area = root.clone().shrink(
            (0, ((top + head) * SCALE) as i32),
            ((self.size.0 - self.right) * SCALE, (self.size.1 + TICKS) * SCALE),
        );
        let mut chart = ChartBuilder::on(&area)
            .set_label_area_size(LabelAreaPosition::Left, LEFT * SCALE)
            .set_label_area_size(LabelAreaPosition::Bottom, TICKS * SCALE)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.mesh(&mut chart)?;
        data(&mut chart)?;
        marks::draw(root, &mut chart, self.marks, self.x, &self.y)?;
        let (Below::Axis(label) | Below::Groups(label, _)) = self.below else { return Ok(()) };
        let middle = (LEFT + self.size.0 - self.right) / 2;
        let pixel = (middle as i32, (bottom + TICKS + self.more_lines() + ROW / 2) as i32);
        if label.is_empty() {
            Ok(())
        } else {
            // The text is centred below the data and must not leave the plot.
            let room = 2 * middle.min(self.size.0 - middle);
            legend::write(root, &shorten(label, room), pixel, HPos::Center, Ink::Text)
        }
    }

    fn mesh(&self, chart: &mut Chart<'_>) -> DrawResult {
        let ticks = matches!(self.below, Below::Axis(_));
        let x_text =
            |position: &f64| if ticks { self.x.tick_label(*position) } else { String::new() };
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
        mesh.draw()
    }
}

/// A translucent fill in this colour.
pub(crate) fn translucent(ink: Ink) -> plotters::style::ShapeStyle {
    ink.color().mix(0.3).filled()
}
