//! Bars in groups.

use super::grouped::{self, Grouped, Item, Slot, line};
use super::words::marked;
use super::{Drawable, Drawing, Layout, Sourced, all_of_kind};
use crate::plot::{Axis, Chart, DrawError, DrawResult, Ink};
use crate::text_table::TextTable;
use plotters::element::Rectangle;
use plotters::style::Color;

/// Grouped bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars(pub Grouped<Bar>);

/// One bar.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bar {
    /// Height of the bar.
    pub value: f64,
    /// The 95 % confidence interval of the mean of several runs, drawn as a whisker.
    pub interval: Option<(f64, f64)>,
    /// The number of runs behind the value.
    pub runs: usize,
    /// What the paper reports for this bar.
    pub published: Option<f64>,
}

impl Drawable for Bars {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        grouped::drawing(&self.0, |shown| grouped::draw(shown, true, layout))
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
        let bars = all_of_kind::<Self>(sources)?;
        let merged = grouped::merged(bars.into_iter().map(|(who, bars)| (who, &bars.0)))?;
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

/// Bars in words.
pub(super) fn describe(bars: &Grouped<Bar>) -> String {
    let marks = marked(&bars.marks);
    format!("Bars of {} by {}. {} {marks}", bars.y_label, bars.x_label, bars.note)
        .trim_end()
        .to_owned()
}

impl Item for Bar {
    const COLUMNS: &'static [&'static str] =
        &["value", "ci95 low", "ci95 high", "runs", "published"];

    fn numbers(&self) -> Vec<Option<f64>> {
        let (low, high) = self.interval.unzip();
        let runs = self.interval.map(|_| self.runs as f64);
        vec![Some(self.value), low, high, runs, self.published]
    }

    fn value(&self) -> f64 {
        self.value
    }

    fn axis_values(&self) -> Vec<f64> {
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        vec![self.value, low, high]
    }

    fn published(&self) -> Option<f64> {
        self.published
    }

    fn draw(&self, chart: &mut Chart<'_>, slot: Slot, y: &Axis, ink: Ink) -> DrawResult {
        let Some(top) = y.position(self.value) else { return Ok(()) };
        let foot = y.position(0.0).unwrap_or(y.low);
        let bar = Rectangle::new([(slot.left, top), (slot.right, foot)], ink.color().filled());
        chart.draw_series([bar])?;
        let ends = |(low, high)| Some((y.position(low)?, y.position(high)?));
        if let Some((low, high)) = self.interval.and_then(ends) {
            line(chart, &[(slot.middle, low), (slot.middle, high)], Ink::Text)?;
        }
        Ok(())
    }
}
