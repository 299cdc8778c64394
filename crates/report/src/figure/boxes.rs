//! Boxes with whiskers, in groups.

use super::grouped::{self, Grouped, Item, Slot, line};
use super::words::marked;
use super::{Drawable, Drawing, Layout, Sourced, all_of_kind};
use crate::plot::{Axis, Chart, DrawError, DrawResult, Ink, SCALE, translucent};
use crate::text_table::TextTable;
use plotters::element::{PathElement, Rectangle};

/// Grouped boxes with whiskers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes(pub Grouped<BoxStats>);

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

impl Drawable for Boxes {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        grouped::drawing(&self.0, |shown| grouped::draw(shown, false, layout))
    }

    fn data(&self) -> TextTable {
        grouped::data(&self.0)
    }

    fn describe(&self) -> String {
        format!(
            "Boxes from the 25th to the 75th percentile, whiskers at the 5th and 95th, of {} by {}. {}",
            self.0.y_label,
            self.0.x_label,
            marked(&self.0.marks)
        )
        .trim_end()
        .to_owned()
    }

    fn numbers(&self) -> Option<TextTable> {
        Some(grouped::numbers(&self.0))
    }

    fn merge(&self, sources: &[Sourced<'_, dyn Drawable>]) -> Option<Box<dyn Drawable>> {
        let boxes = all_of_kind::<Self>(sources)?;
        let merged = grouped::merged(boxes.into_iter().map(|(who, boxes)| (who, &boxes.0)))?;
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

impl BoxStats {
    const fn percentiles(&self) -> [f64; 5] {
        [self.p5, self.p25, self.p50, self.p75, self.p95]
    }
}

impl Item for BoxStats {
    const COLUMNS: &'static [&'static str] =
        &["p5", "p25", "median", "p75", "p95", "published median"];

    fn numbers(&self) -> Vec<Option<f64>> {
        self.percentiles().map(Some).into_iter().chain([self.published]).collect()
    }

    fn value(&self) -> f64 {
        self.p50
    }

    fn axis_values(&self) -> Vec<f64> {
        self.percentiles().to_vec()
    }

    fn published(&self) -> Option<f64> {
        self.published
    }

    fn draw(&self, chart: &mut Chart<'_>, slot: Slot, y: &Axis, ink: Ink) -> DrawResult {
        let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] =
            self.percentiles().map(|value| y.position(value))
        else {
            return Ok(());
        };
        let Slot { left, middle, right } = slot;
        chart.draw_series([Rectangle::new([(left, p75), (right, p25)], translucent(ink))])?;
        line(chart, &[(left, p25), (right, p25), (right, p75), (left, p75), (left, p25)], ink)?;
        for (from, to) in [(p5, p25), (p75, p95)] {
            line(chart, &[(middle, from), (middle, to)], ink)?;
        }
        let (a, b) = (middle - (right - left) / 4.0, middle + (right - left) / 4.0);
        for end in [p5, p95] {
            line(chart, &[(a, end), (b, end)], ink)?;
        }
        let median = PathElement::new(vec![(left, p50), (right, p50)], ink.line(SCALE * 5 / 2));
        chart.draw_series([median]).map(drop)
    }
}
