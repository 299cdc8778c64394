//! Horizontal bars: one row per group with its name at the left, for names too long to fit below a
//! column.

use super::bars::{Bar, describe};
use super::grouped::{self, Grouped};
use super::{Drawable, Drawing, Layout, Sourced, all_of_kind};
use crate::plot::{
    Axis, AxisOptions, Canvas, DrawError, DrawResult, Head, Ink, Mark, MarkAt, Note, Picture,
    Pixel, ROW, SCALE, canvas, margin_right, shorten, text_width, write,
};
use crate::text_table::TextTable;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// The greatest share of the width that names take.
const MAX_NAMES: f64 = 0.58;
/// Height of a bar, in CSS pixels.
const BAR: u32 = 7;
/// Gap between rows, in CSS pixels.
const GAP: u32 = 7;
/// Height of the tick labels below, in CSS pixels.
const TICKS: u32 = 20;

/// Grouped horizontal bars, for groups with long names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows(pub Grouped<Bar>);

impl Drawable for Rows {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        grouped::drawing(&self.0, |shown| draw(shown, layout.width))
    }

    fn data(&self) -> TextTable {
        grouped::data(&self.0)
    }

    fn describe(&self) -> String {
        describe(&self.0)
    }

    fn numbers(&self) -> Option<TextTable> {
        Some(grouped::numbers(&self.0))
    }

    fn merge(&self, sources: &[Sourced<'_, dyn Drawable>]) -> Option<Box<dyn Drawable>> {
        let rows = all_of_kind::<Self>(sources)?;
        let merged = grouped::merged(rows.into_iter().map(|(who, rows)| (who, &rows.0)))?;
        Some(Box::new(Self(merged)))
    }

    fn axis_values(&self) -> Vec<f64> {
        grouped::axis_values(&self.0).collect()
    }

    fn set_axis_range(&mut self, range: (f64, f64)) {
        self.0.set_axis_range(range);
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

fn draw(bars: &Grouped<Bar>, width: u32) -> DrawResult<Picture> {
    let marks = bars.horizontal_marks();
    let options = AxisOptions {
        log: bars.log_y,
        fixed: bars.y_range,
        from_zero: true,
        ..AxisOptions::LINEAR
    };
    let axis = Axis::new(grouped::axis_values(bars), options);
    let names = bars.groups.iter().map(|group| &group.label).chain([&bars.x_label]);
    let widest = names.map(|name| text_width(name)).max().unwrap_or(0);
    let max_name = (f64::from(width) * MAX_NAMES) as u32;
    let head = Head::lay_out(&bars.y_label, &grouped::legend(bars), 0, width);
    let labels = u32::from(!marks.is_empty());
    let per_row = BAR * bars.series.len().max(1) as u32 + GAP;
    let plot = RowPlot {
        axis: &axis,
        width,
        left: widest.min(max_name) + 10,
        right: width - margin_right(&[]),
        top: (head.rows().max(1) + labels) * ROW + 6,
        height: per_row * bars.groups.len() as u32,
    };
    let bottom = plot.top + plot.height;
    let note = Note::lay_out(&bars.note, width);
    canvas(width, bottom + TICKS + 8 + note.height(), |root| {
        head.draw(root, 0)?;
        plot.grid(root)?;
        let name = |text: &str, middle: u32, ink| {
            let pixel = (plot.left as i32 - 8, middle as i32);
            write(root, &shorten(text, max_name), pixel, HPos::Right, ink)
        };
        for (row, group) in bars.groups.iter().enumerate() {
            let top = plot.top + row as u32 * per_row + GAP / 2;
            name(&group.label, top + (per_row - GAP) / 2, Ink::Text)?;
            for (index, (item, (_, role))) in group.items.iter().zip(&bars.series).enumerate() {
                let Some(item) = item else { continue };
                plot.bar(root, item, top + BAR * index as u32, Ink::of(*role))?;
            }
        }
        // What the names are is written below them, beside the ticks of the other axis.
        name(&bars.x_label, bottom + TICKS / 2, Ink::Soft)?;
        marks.iter().try_for_each(|mark| plot.mark(root, mark, head.rows().max(1)))?;
        note.draw(root, bottom + TICKS + 4)
    })
}

/// The axis and the edges of the data, in CSS pixels.
struct RowPlot<'a> {
    axis: &'a Axis,
    width: u32,
    left: u32,
    right: u32,
    top: u32,
    height: u32,
}

impl RowPlot<'_> {
    /// The x of a position on the axis, in units of the drawing.
    fn x(&self, position: f64) -> i32 {
        let share = (position - self.axis.low) / (self.axis.high - self.axis.low);
        let pixels = f64::from(self.left) + share * f64::from(self.right - self.left);
        (pixels * f64::from(SCALE)).round() as i32
    }

    /// A height in units of the drawing.
    fn y(pixels: u32) -> i32 {
        (pixels * SCALE) as i32
    }

    fn grid(&self, root: &Canvas<'_>) -> DrawResult {
        let bottom = self.top + self.height;
        for &tick in &self.axis.ticks {
            let x = self.x(tick);
            stroke(root, [(x, Self::y(self.top)), (x, Self::y(bottom))], Ink::Grid, SCALE / 2 + 1)?;
            let pixel = (x / SCALE as i32, (bottom + TICKS / 2) as i32);
            write(root, &self.axis.tick_label(tick), pixel, HPos::Center, Ink::Text)?;
        }
        let x = self.x(self.axis.position(0.0).unwrap_or(self.axis.low));
        stroke(root, [(x, Self::y(self.top)), (x, Self::y(bottom))], Ink::Axis, SCALE)
    }

    fn bar(&self, root: &Canvas<'_>, bar: &Bar, top: u32, ink: Ink) -> DrawResult {
        let Some(end) = self.axis.position(bar.value) else { return Ok(()) };
        let foot = self.axis.position(0.0).unwrap_or(self.axis.low);
        let (from, to) = (Self::y(top), Self::y(top + BAR - 1));
        let shape = Rectangle::new([(self.x(foot), from), (self.x(end), to)], ink.color().filled());
        root.draw(&shape)?;
        let ends = |(low, high)| Some((self.axis.position(low)?, self.axis.position(high)?));
        if let Some((low, high)) = bar.interval.and_then(ends) {
            let y = (from + to) / 2;
            stroke(root, [(self.x(low), y), (self.x(high), y)], Ink::Text, SCALE * 5 / 4)?;
        }
        if let Some(published) = bar.published.and_then(|value| self.axis.position(value)) {
            stroke(
                root,
                [(self.x(published), from), (self.x(published), to)],
                Ink::Published,
                SCALE * 2,
            )?;
        }
        Ok(())
    }

    fn mark(&self, root: &Canvas<'_>, mark: &Mark, row: u32) -> DrawResult {
        let MarkAt::Y(value) = mark.at else { return Ok(()) };
        let Some(position) = self.axis.position(value) else { return Ok(()) };
        let (x, ink) = (self.x(position), Ink::of_mark(mark.kind));
        let ends = [(x, Self::y(self.top)), (x, Self::y(self.top + self.height))];
        stroke(root, ends, ink, SCALE * 3 / 2)?;
        let words = mark.text();
        let half = text_width(&words) as i32 / 2;
        let middle = (x / SCALE as i32).min(self.width as i32 - half).max(half);
        let pixel: Pixel = (middle, (row * ROW + ROW / 2) as i32);
        write(root, &words, pixel, HPos::Center, ink)
    }
}

fn stroke(root: &Canvas<'_>, ends: [Pixel; 2], ink: Ink, width: u32) -> DrawResult {
    root.draw(&PathElement::new(ends.to_vec(), ink.line(width)))
}
