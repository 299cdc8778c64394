//! Horizontal bars: one row per group with its name at the left, for names too long to fit below a
//! column.

use super::bars::{Bar, describe};
use super::grouped::{self, Grouped, shorten};
use super::{Drawable, Drawing, Sourced, all_of_kind};
use crate::plot::{
    Axis, AxisOptions, Canvas, DrawError, DrawResult, Ink, Mark, MarkAt, Pixel, ROW, SCALE, Svg,
    canvas, draw_legend, lay_out_legend, margin_right, text_width, write,
};
use crate::text_table::TextTable;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Width of the figure, in CSS pixels.
const WIDTH: u32 = 480;
/// The greatest width of the names, in CSS pixels.
const MAX_NAME: u32 = 280;
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
    fn draw(&self) -> Result<Drawing, DrawError> {
        grouped::drawing(&self.0, draw)
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

fn draw(bars: &Grouped<Bar>) -> DrawResult<Svg> {
    let marks = bars.horizontal_marks();
    let options = AxisOptions {
        log: bars.log_y,
        fixed: bars.y_range,
        from_zero: true,
        ..AxisOptions::LINEAR
    };
    let axis = Axis::new(grouped::axis_values(bars), options);
    let widest = bars.groups.iter().map(|group| text_width(&group.label)).max().unwrap_or(0);
    let entries = grouped::legend(bars);
    let cells = lay_out_legend(&bars.y_label, &entries, 0, WIDTH);
    let legend_rows = cells.iter().map(|(row, _)| row + 1).max().unwrap_or(1);
    let labels = u32::from(!marks.is_empty());
    let per_row = BAR * bars.series.len().max(1) as u32 + GAP;
    let plot = RowPlot {
        axis: &axis,
        left: widest.min(MAX_NAME) + 10,
        right: WIDTH - margin_right(&[]),
        top: (legend_rows + labels) * ROW + 6,
        height: per_row * bars.groups.len() as u32,
    };
    canvas(WIDTH, plot.top + plot.height + TICKS + 8, |root| {
        let items: Vec<_> = entries.iter().cloned().zip(cells).collect();
        draw_legend(root, 0, 0, &bars.y_label, &items)?;
        plot.grid(root)?;
        for (row, group) in bars.groups.iter().enumerate() {
            let top = plot.top + row as u32 * per_row + GAP / 2;
            let middle = (top + (per_row - GAP) / 2) as i32;
            let name = shorten(&group.label, MAX_NAME);
            write(root, &name, (plot.left as i32 - 8, middle), HPos::Right, Ink::Text)?;
            for (index, (item, (_, role))) in group.items.iter().zip(&bars.series).enumerate() {
                let Some(item) = item else { continue };
                plot.bar(root, item, top + BAR * index as u32, Ink::of(*role))?;
            }
        }
        marks.iter().try_for_each(|mark| plot.mark(root, mark, legend_rows))
    })
}

/// The axis and the edges of the data, in CSS pixels.
struct RowPlot<'a> {
    axis: &'a Axis,
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
        if let Some((low, high)) = bar.spread.and_then(ends) {
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
        let rightmost = WIDTH as i32 - text_width(&words) as i32 / 2;
        let pixel: Pixel = ((x / SCALE as i32).min(rightmost), (row * ROW + ROW / 2) as i32);
        write(root, &words, pixel, HPos::Center, ink)
    }
}

fn stroke(root: &Canvas<'_>, ends: [Pixel; 2], ink: Ink, width: u32) -> DrawResult {
    root.draw(&PathElement::new(ends.to_vec(), ink.line(width)))
}
