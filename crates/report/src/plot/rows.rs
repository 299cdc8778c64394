//! Bars that lie: a row a group, with its name at the left, for names too long to stand below a
//! column.

use super::axis::{Axis, Shape};
use super::frame::right_of;
use super::legend::{self, ROW, Spot, text_width};
use super::theme::{Ink, SCALE};
use super::{Area, Drawing, Drawn, canvas, grouped, text};
use crate::model::{At, Bar, Grouped, Mark};
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Width of the figure, in CSS pixels, and the most of it that names take.
const WIDTH: u32 = 480;
const MAX_NAME: u32 = 280;
/// Height of a bar and the gap between rows.
const BAR: u32 = 7;
const GAP: u32 = 7;
/// Room for the tick labels below.
const TICKS: u32 = 20;

pub(super) fn rows(bars: &Grouped<Bar>) -> Drawn<Drawing> {
    let marks: Vec<Mark> =
        bars.marks.iter().filter(|mark| matches!(mark.at, At::Y(_))).cloned().collect();
    let shape = Shape { log: bars.log_y, fixed: bars.y_range, from_zero: true, ..Shape::LINEAR };
    let axis = Axis::new(grouped::values(bars, &marks), shape);
    let widest = bars.groups.iter().map(|group| text_width(&group.label)).max().unwrap_or(0);
    let entries = grouped::entries(bars);
    let spots = legend::lay_out(&bars.y_label, &entries, 0, WIDTH);
    let legend_rows = spots.iter().map(|(row, _)| row + 1).max().unwrap_or(1);
    let labels = u32::from(!marks.is_empty());
    let per_row = BAR * bars.series.len().max(1) as u32 + GAP;
    let plot = Plot {
        axis: &axis,
        left: widest.min(MAX_NAME) + 10,
        right: WIDTH - right_of(&[]),
        top: (legend_rows + labels) * ROW + 6,
        height: per_row * bars.groups.len() as u32,
    };
    canvas(WIDTH, plot.top + plot.height + TICKS + 8, |root| {
        let items: Vec<_> = entries.iter().cloned().zip(spots).collect();
        legend::draw(root, 0, 0, &bars.y_label, &items)?;
        plot.grid(root)?;
        for (row, group) in bars.groups.iter().enumerate() {
            let top = plot.top + row as u32 * per_row + GAP / 2;
            let middle = (top + (per_row - GAP) / 2) as i32;
            let name = grouped::shorten(&group.label, MAX_NAME);
            legend::write(root, &name, (plot.left as i32 - 8, middle), HPos::Right, Ink::Text)?;
            for (place, (item, (_, role))) in group.items.iter().zip(&bars.series).enumerate() {
                let Some(item) = item else { continue };
                plot.bar(root, item, top + BAR * place as u32, Ink::of(*role))?;
            }
        }
        marks.iter().try_for_each(|mark| plot.mark(root, mark, legend_rows))
    })
}

struct Plot<'a> {
    axis: &'a Axis,
    left: u32,
    right: u32,
    top: u32,
    height: u32,
}

impl Plot<'_> {
    /// Where a place of the axis stands, in the canvas's own units.
    fn x(&self, place: f64) -> i32 {
        let share = (place - self.axis.low) / (self.axis.high - self.axis.low);
        let pixels = f64::from(self.left) + share * f64::from(self.right - self.left);
        (pixels * f64::from(SCALE)).round() as i32
    }

    fn y(pixels: u32) -> i32 {
        (pixels * SCALE) as i32
    }

    fn grid(&self, root: &Area<'_>) -> Drawn {
        let bottom = self.top + self.height;
        for &tick in &self.axis.ticks {
            let x = self.x(tick);
            stroke(root, [(x, Self::y(self.top)), (x, Self::y(bottom))], Ink::Grid, SCALE / 2 + 1)?;
            let spot = (x / SCALE as i32, (bottom + TICKS / 2) as i32);
            legend::write(root, &self.axis.tick_label(tick), spot, HPos::Center, Ink::Text)?;
        }
        let x = self.x(self.axis.place(0.0).unwrap_or(self.axis.low));
        stroke(root, [(x, Self::y(self.top)), (x, Self::y(bottom))], Ink::Axis, SCALE)
    }

    fn bar(&self, root: &Area<'_>, bar: &Bar, top: u32, ink: Ink) -> Drawn {
        let Some(end) = self.axis.place(bar.value) else { return Ok(()) };
        let foot = self.axis.place(0.0).unwrap_or(self.axis.low);
        let (from, to) = (Self::y(top), Self::y(top + BAR - 1));
        let shape = Rectangle::new([(self.x(foot), from), (self.x(end), to)], ink.color().filled());
        root.draw(&shape).map_err(text)?;
        let places = |(low, high)| Some((self.axis.place(low)?, self.axis.place(high)?));
        if let Some((low, high)) = bar.spread.and_then(places) {
            let y = (from + to) / 2;
            stroke(root, [(self.x(low), y), (self.x(high), y)], Ink::Text, SCALE * 5 / 4)?;
        }
        if let Some(place) = bar.published.and_then(|value| self.axis.place(value)) {
            stroke(root, [(self.x(place), from), (self.x(place), to)], Ink::Published, SCALE * 2)?;
        }
        Ok(())
    }

    fn mark(&self, root: &Area<'_>, mark: &Mark, row: u32) -> Drawn {
        let At::Y(value) = mark.at else { return Ok(()) };
        let Some(place) = self.axis.place(value) else { return Ok(()) };
        let (x, ink) = (self.x(place), Ink::of_mark(mark.kind));
        let ends = [(x, Self::y(self.top)), (x, Self::y(self.top + self.height))];
        stroke(root, ends, ink, SCALE * 3 / 2)?;
        let words = mark.text();
        let most = WIDTH as i32 - text_width(&words) as i32 / 2;
        let spot: Spot = ((x / SCALE as i32).min(most), (row * ROW + ROW / 2) as i32);
        legend::write(root, &words, spot, HPos::Center, ink)
    }
}

fn stroke(root: &Area<'_>, ends: [Spot; 2], ink: Ink, width: u32) -> Drawn {
    root.draw(&PathElement::new(ends.to_vec(), ink.line(width))).map_err(text)
}
