//! A quantity over a plane: a heat map with contour lines.

use super::time::data;
use super::words::number;
use super::xy::{Panel, single};
use super::{Drawable, Drawing, Layout};
use crate::csv;
use crate::plot::{
    Axis, AxisOptions, Below, Chart, DrawError, DrawResult, Entry, Frame, Ink, Legend, Pen,
    Picture, SCALE, Swatch, canvas, margin_right,
};
use crate::text_table::TextTable;
use ::contour::ContourBuilder;
use geo_types::Coord;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::style::Color;

/// Height of the data as a share of the width of the figure. Our choice: nearly square.
const ASPECT: f64 = 0.8;
/// The number of bands between the least and the greatest value; the contour lines are between
/// them. Our choice.
const BANDS: usize = 10;
/// The darkest band is this opaque. Our choice: lines and points remain visible on it.
const DARKEST: f64 = 0.85;
/// Radius of a mark, in CSS pixels.
const POINT: u32 = 5;

/// An axis of the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaneAxis {
    /// Label, with the unit.
    pub label: String,
    /// The values at which there are measurements, ascending.
    pub values: Vec<f64>,
    /// Logarithmic.
    pub log: bool,
}

/// A heat map with contour lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contour {
    /// The horizontal axis.
    pub x: PlaneAxis,
    /// The vertical axis.
    pub y: PlaneAxis,
    /// Name of the quantity.
    pub label: String,
    /// The quantity, by row from the least y, then by column; not-a-number where there is none:
    /// such a cell stays blank.
    pub values: Vec<f64>,
    /// Whether cells are filled; contour lines are always drawn.
    pub heat: bool,
    /// Marked points: name, (x, y), and whether the point is published.
    pub marks: Vec<(String, (f64, f64), bool)>,
}

impl Drawable for Contour {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        self.picture(layout.width).map(Drawing::plot)
    }

    /// One row per cell.
    fn data(&self) -> TextTable {
        let columns = self.x.values.len().max(1);
        let row = |(index, value): (usize, &f64)| {
            let at =
                |plane: &PlaneAxis, index: usize| csv::optional(plane.values.get(index).copied());
            vec![at(&self.x, index % columns), at(&self.y, index / columns), csv::value(*value)]
        };
        TextTable {
            caption: String::new(),
            columns: [&self.x.label, &self.y.label, &self.label].map(String::clone).to_vec(),
            rows: self.values.iter().enumerate().map(row).collect(),
        }
    }

    fn describe(&self) -> String {
        let (least, greatest) = self.range();
        let marks: Vec<String> = self
            .marks
            .iter()
            .map(|(name, (x, y), _)| format!("{name} at ({}, {})", number(*x), number(*y)))
            .collect();
        format!(
            "{} from {} to {} over {} and {}. {}",
            self.label,
            number(least),
            number(greatest),
            self.x.label,
            self.y.label,
            marks.join("; ")
        )
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

impl Contour {
    fn range(&self) -> (f64, f64) {
        let finite = self.values.iter().copied().filter(|value| value.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| {
            (least.min(value), greatest.max(value))
        })
    }

    fn picture(&self, width: u32) -> DrawResult<Picture> {
        let axis = |plane: &PlaneAxis| {
            let edges = edges(plane);
            let ends = edges.first().copied().zip(edges.last().copied());
            let fixed = ends.map(|(low, high)| {
                if plane.log { (libm::exp10(low), libm::exp10(high)) } else { (low, high) }
            });
            let options = AxisOptions { log: plane.log, fixed, ..AxisOptions::LINEAR };
            Axis::new(plane.values.iter().copied(), options)
        };
        let x = axis(&self.x);
        let entries: Vec<Entry> = self
            .marks
            .iter()
            .map(|(name, _, published)| Entry {
                name: name.clone(),
                swatch: Swatch::Dot,
                pen: Pen::solid(ink(*published)),
            })
            .collect();
        let frame = Frame {
            heading: format!("{} · {}", self.label, self.y.label),
            legend: Legend { title: String::new(), entries },
            marks: &[],
            x: &x,
            y: axis(&self.y),
            below: Below::Axis(&self.x.label),
            size: (width, (f64::from(width) * ASPECT) as u32),
            right: margin_right(&[]),
        };
        canvas(width, frame.height(), |root| {
            frame.draw(root, 0, |chart| {
                if self.heat {
                    self.fill(chart)?;
                }
                self.lines(chart)?;
                self.marks.iter().try_for_each(|mark| draw_mark(chart, mark, &x, &frame.y))
            })
        })
    }

    /// The band of a value, from 0 to [`BANDS`] − 1; `None` if the value is no number.
    fn band(&self, value: f64) -> Option<usize> {
        let (least, greatest) = self.range();
        let share = (value - least) / (greatest - least);
        let share = if greatest > least { share } else { 0.0 };
        value.is_finite().then(|| ((share * BANDS as f64) as usize).min(BANDS - 1))
    }

    /// Fills the cells. Neighbours in a row of the same band are one rectangle.
    fn fill(&self, chart: &mut Chart<'_>) -> DrawResult {
        let (columns, x, y) = (self.x.values.len(), edges(&self.x), edges(&self.y));
        let bands: Vec<Option<usize>> = self.values.iter().map(|value| self.band(*value)).collect();
        let mut rectangles = Vec::new();
        for (row, bands) in bands.chunks(columns.max(1)).enumerate() {
            let mut from = 0;
            for column in 1..=columns {
                if column < columns && bands[column] == bands[from] {
                    continue;
                }
                if let Some(band) = bands[from] {
                    let opacity = DARKEST * (band + 1) as f64 / BANDS as f64;
                    let style = Ink::Series(4).color().mix(opacity).filled();
                    let corners = [(x[from], y[row]), (x[column], y[row + 1])];
                    rectangles.push(Rectangle::new(corners, style));
                }
                from = column;
            }
        }
        chart.draw_series(rectangles).map(drop)
    }

    /// Draws the contour lines by marching squares.
    fn lines(&self, chart: &mut Chart<'_>) -> DrawResult {
        let (columns, rows) = (self.x.values.len(), self.y.values.len());
        let (least, greatest) = self.range();
        if columns < 2 || rows < 2 || greatest <= least {
            return Ok(());
        }
        let levels: Vec<f64> = (1..BANDS)
            .map(|level| least + (greatest - least) * level as f64 / BANDS as f64)
            .collect();
        // Cells without a value lie below every line.
        let values: Vec<f64> =
            self.values.iter().map(|v| if v.is_finite() { *v } else { least }).collect();
        let Ok(lines) = ContourBuilder::new(columns, rows, true).lines(&values, &levels) else {
            return Ok(());
        };
        let (x, y) = (positions(&self.x), positions(&self.y));
        let mut paths = Vec::new();
        for line in lines.iter().flat_map(|line| &line.geometry().0) {
            // The builder closes every line along the border of the plane; there it is no contour.
            let inside = |point: &Coord<f64>| {
                let within = |value: f64, count: usize| value > 0.5 && value < count as f64 - 0.5;
                within(point.x, columns) && within(point.y, rows)
            };
            let mut path: Vec<(f64, f64)> = Vec::new();
            let mut was_inside = true;
            for point in &line.0 {
                let is_inside = inside(point);
                if !is_inside && !was_inside && path.len() > 1 {
                    paths.push(std::mem::take(&mut path));
                }
                if !is_inside && !was_inside {
                    path.clear();
                }
                path.push((along(&x, point.x - 0.5), along(&y, point.y - 0.5)));
                was_inside = is_inside;
            }
            if path.len() > 1 {
                paths.push(path);
            }
        }
        let style = Ink::Text.line(SCALE);
        chart.draw_series(paths.into_iter().map(|path| PathElement::new(path, style))).map(drop)
    }
}

/// Published points have their own colour.
const fn ink(published: bool) -> Ink {
    if published { Ink::Published } else { Ink::Series(5) }
}

fn draw_mark(
    chart: &mut Chart<'_>,
    (_, (px, py), published): &(String, (f64, f64), bool),
    x: &Axis,
    y: &Axis,
) -> DrawResult {
    let Some(at) = x.position(*px).zip(y.position(*py)) else { return Ok(()) };
    let rim = Circle::new(at, SCALE * (POINT + 1), Ink::Paper.color().filled());
    let dot = Circle::new(at, SCALE * POINT, ink(*published).color().filled());
    chart.draw_series([rim, dot]).map(drop)
}

/// The positions of the values on the axis.
fn positions(plane: &PlaneAxis) -> Vec<f64> {
    plane.values.iter().map(|v| if plane.log { libm::log10(*v) } else { *v }).collect()
}

/// The edges of the cells: midway between two values, and the first and the last value. The cells
/// at the ends are half as wide, so that the axis begins and ends at a value.
fn edges(plane: &PlaneAxis) -> Vec<f64> {
    let at = positions(plane);
    let [first, .., last] = at[..] else {
        return at.iter().flat_map(|at| [at - 0.5, at + 0.5]).collect();
    };
    let middle = at.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    let mut edges: Vec<f64> = middle.collect();
    edges.insert(0, first);
    edges.push(last);
    edges
}

/// The position at a fractional index.
fn along(positions: &[f64], index: f64) -> f64 {
    let index = index.clamp(0.0, (positions.len() - 1) as f64);
    let below = (index as usize).min(positions.len().saturating_sub(2));
    let share = index - below as f64;
    positions[below] + (positions[below + 1] - positions[below]) * share
}

/// Lines over one axis, which may be logarithmic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The lines.
    pub panel: Panel,
    /// Label of the horizontal axis, with its unit.
    pub x_label: String,
    /// Logarithmic horizontal axis.
    pub log_x: bool,
}

impl Drawable for Lines {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        single(&self.panel, (&self.x_label, ""), self.log_x, layout).map(Drawing::plot)
    }

    fn data(&self) -> TextTable {
        data(std::slice::from_ref(&self.panel), &self.x_label)
    }

    fn describe(&self) -> String {
        let names: Vec<&str> = self.panel.series.iter().map(|one| one.name.as_str()).collect();
        format!("{} over {}: {}", self.panel.y_label, self.x_label, names.join("; "))
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hill over a plane of 21 × 21 values with its top in the middle.
    fn hill(log: bool) -> Contour {
        let values: Vec<f64> = (0..21).map(|index| libm::exp10(f64::from(index) / 5.0)).collect();
        let axis = |label: &str| PlaneAxis { label: label.to_owned(), values: values.clone(), log };
        let height = |row: i32, column: i32| {
            let (x, y) = (f64::from(column - 10), f64::from(row - 10));
            100.0 - x * x - y * y
        };
        Contour {
            x: axis("x"),
            y: axis("y"),
            label: "height".to_owned(),
            values: (0..21)
                .flat_map(|row| (0..21).map(move |column| height(row, column)))
                .collect(),
            heat: true,
            marks: vec![("top".to_owned(), (100.0, 100.0), false)],
        }
    }

    #[test]
    fn a_hill_has_closed_contours_and_bands() {
        let svg = hill(true).picture(500).unwrap().svg_body();
        let lines = svg.matches("<path").count() + svg.matches("<polyline").count();
        assert!(lines >= 9, "{lines} lines");
        assert!(svg.matches("<rect").count() > 100);
        assert!(svg.contains("<circle"), "the top is marked");
        assert_eq!(svg, hill(true).picture(500).unwrap().svg_body(), "the same bytes");
    }

    #[test]
    fn cells_without_a_value_stay_blank() {
        let mut blank = hill(false);
        blank.values = vec![f64::NAN; 441];
        let svg = blank.picture(500).unwrap().svg_body();
        let filled = hill(false).picture(500).unwrap().svg_body();
        assert!(svg.matches("<rect").count() < filled.matches("<rect").count());
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn a_file_has_a_row_per_cell() {
        let data = hill(true).data();
        assert_eq!(data.columns, ["x", "y", "height"]);
        assert_eq!(data.rows.len(), 441);
        assert_eq!(data.rows[220], ["100", "100", "100"], "the top");
    }

    #[test]
    fn positions_between_two_values_follow_the_axis() {
        let plane = PlaneAxis { label: String::new(), values: vec![1.0, 10.0, 100.0], log: true };
        assert_eq!(edges(&plane), [0.0, 0.5, 1.5, 2.0]);
        assert_eq!(along(&positions(&plane), 0.5), 0.5);
        assert_eq!(along(&positions(&plane), 9.0), 2.0);
    }
}
