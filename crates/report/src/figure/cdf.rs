//! Cumulative distributions.

use super::time::data;
use super::words::{marked, number};
use super::xy::{Panel, Series, SeriesStyle, single};
use super::{Drawable, Drawing, Layout, Sourced, all_of_kind};
use crate::plot::{DrawError, Mark, Role};
use crate::text_table::TextTable;

/// Cumulative distributions in one plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cdf {
    /// The distributions. The points of a series are (value, share in 0..=1), see [`Series::cdf`].
    pub series: Vec<Series>,
    /// Published values.
    pub marks: Vec<Mark>,
    /// Label of the horizontal axis, with its unit.
    pub x_label: String,
    /// Logarithmic horizontal axis.
    pub log_x: bool,
    /// What the names of the series are values of; may be empty.
    pub legend: String,
    /// From what the distributions are, written below the plot; may be empty.
    pub note: String,
}

impl Series {
    /// The empirical distribution of `values`, for a [`Cdf`]. Values that are not finite are left
    /// out.
    #[must_use]
    pub fn cdf(name: &str, role: Role, values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let start = sorted.first().map(|&v| (v, 0.0));
        let steps = sorted.iter().enumerate().map(|(i, &v)| (v, (i + 1) as f64 / n));
        let points = start.into_iter().chain(steps).collect();
        Self { name: name.to_owned(), points, style: SeriesStyle::Step, role, ..Self::default() }
    }
}

impl Drawable for Cdf {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        let texts = (self.x_label.as_str(), self.note.as_str());
        single(&self.panel(), texts, self.log_x, layout).map(Drawing::plot)
    }

    fn data(&self) -> TextTable {
        data(&[self.panel()], &self.x_label)
    }

    fn describe(&self) -> String {
        let medians: Vec<String> = self.series.iter().map(median).collect();
        let (medians, marks) = (medians.join(" "), marked(&self.marks));
        format!("Cumulative distribution of {}. {medians} {marks}", self.x_label)
            .trim_end()
            .to_owned()
    }

    /// One distribution per source, if each source has one.
    fn merge(&self, sources: &[Sourced<'_, dyn Drawable>]) -> Option<Box<dyn Drawable>> {
        let only = |(index, (who, cdf)): (usize, Sourced<'_, Self>)| match cdf.series.as_slice() {
            [only] => Some(only.of_source(index, who)),
            _ => None,
        };
        let series = all_of_kind::<Self>(sources)?
            .into_iter()
            .enumerate()
            .map(only)
            .collect::<Option<_>>()?;
        Some(Box::new(Self { series, legend: String::new(), ..self.clone() }))
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

impl Cdf {
    fn panel(&self) -> Panel {
        Panel {
            y_label: "cumulative share (0 to 1)".to_owned(),
            legend: self.legend.clone(),
            series: self.series.clone(),
            marks: self.marks.clone(),
            y_range: Some((0.0, 1.0)),
            ..Panel::default()
        }
    }
}

fn median(series: &Series) -> String {
    match series.points.iter().find(|(_, share)| *share >= 0.5) {
        Some((value, _)) => format!("{}: median {}.", series.name, number(*value)),
        None => format!("{}: no values.", series.name),
    }
}
