//! Panels with lines, stairs and points.

use crate::plot::{
    Axis, AxisOptions, Below, Chart, DrawResult, Entry, Frame, Ink, Mark, Role, SCALE, Svg, Swatch,
    canvas, columns, level, margin_right, one_per_cell, runs, stairs,
};
use plotters::element::{Circle, PathElement};
use plotters::style::Color;

/// Width of stacked panels and height of the data in one panel, in CSS pixels.
const STACK: (u32, u32) = (840, 124);
/// Width of a single panel and height of its data, in CSS pixels.
const SINGLE: (u32, u32) = (480, 205);
/// Width of a column in which a line is thinned, in CSS pixels.
const COLUMN: u32 = 2;

/// One pair of axes and what is drawn in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading; may be empty.
    pub title: String,
    /// Label of the vertical axis, with its unit.
    pub y_label: String,
    /// The series.
    pub series: Vec<Series>,
    /// Published values and other references.
    pub marks: Vec<Mark>,
    /// Fixed range of the vertical axis; values outside are drawn at its edge. `None` fits the
    /// data.
    pub y_range: Option<(f64, f64)>,
    /// Logarithmic vertical axis. Values that are not positive, and values more than six decades
    /// below the greatest, are drawn at the floor of the axis, whose tick then reads `≤`.
    pub log_y: bool,
}

/// One series of (x, y). A value that is not finite breaks the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// The samples, in order of x for [`SeriesStyle::Line`] and [`SeriesStyle::Step`].
    pub points: Vec<(f64, f64)>,
    /// How the samples are joined.
    pub style: SeriesStyle,
    /// What the series stands for, which decides its colour and dashes.
    pub role: Role,
}

/// How the samples of a series are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesStyle {
    /// With straight lines.
    #[default]
    Line,
    /// With steps: each value holds until the next sample.
    Step,
    /// Not joined: one dot per sample.
    Dots,
}

impl Series {
    /// The series under the name and in the colour of its source.
    pub(super) fn of_source(&self, index: usize, who: &str) -> Self {
        Self { name: who.to_owned(), role: Role::Series(index), ..self.clone() }
    }
}

impl Panel {
    /// The values that the horizontal axis must show.
    fn xs(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| series.points.iter().map(|p| p.0));
        points.chain(self.marks.iter().flat_map(Mark::xs))
    }

    /// The values that the vertical axis must show.
    pub(super) fn ys(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| series.points.iter().map(|p| p.1));
        points.chain(self.marks.iter().filter_map(Mark::y))
    }
}

/// Draws panels above one another, with one horizontal axis.
pub(super) fn stack(panels: &[Panel], x_label: &str) -> DrawResult<Svg> {
    draw(panels, x_label, AxisOptions { steps: 12.0, ..AxisOptions::LINEAR }, STACK)
}

/// Draws one panel.
pub(super) fn single(panel: &Panel, x_label: &str, log_x: bool) -> DrawResult<Svg> {
    draw(
        std::slice::from_ref(panel),
        x_label,
        AxisOptions { log: log_x, ..AxisOptions::LINEAR },
        SINGLE,
    )
}

fn draw(
    panels: &[Panel],
    x_label: &str,
    options: AxisOptions,
    size: (u32, u32),
) -> DrawResult<Svg> {
    let fixed = if options.log { None } else { tight(panels) };
    let x = Axis::new(panels.iter().flat_map(Panel::xs), AxisOptions { fixed, ..options });
    let right = panels.iter().map(|p| margin_right(&p.marks)).max().unwrap_or(0);
    let last = panels.len().saturating_sub(1);
    let frames: Vec<Frame<'_>> = panels
        .iter()
        .enumerate()
        .map(|(i, panel)| Frame {
            heading: heading(panel),
            entries: entries(panel),
            marks: &panel.marks,
            x: &x,
            y: Axis::new(
                panel.ys(),
                AxisOptions { log: panel.log_y, fixed: panel.y_range, ..AxisOptions::LINEAR },
            ),
            below: if i == last { Below::Axis(x_label) } else { Below::Nothing },
            size,
            right,
        })
        .collect();
    let height = frames.iter().map(Frame::height).sum::<u32>().max(1);
    canvas(size.0, height, |root| {
        let mut top = 0;
        for (frame, panel) in frames.iter().zip(panels) {
            frame.draw(root, top, |chart| {
                panel
                    .series
                    .iter()
                    .try_for_each(|series| draw_series(chart, series, &x, &frame.y, size.0))
            })?;
            top += frame.height();
        }
        Ok(())
    })
}

fn heading(panel: &Panel) -> String {
    let parts = [&panel.title, &panel.y_label];
    let parts: Vec<&str> = parts.into_iter().map(|s| s.trim()).filter(|s| !s.is_empty()).collect();
    parts.join(" · ")
}

fn entries(panel: &Panel) -> Vec<Entry> {
    let named = panel.series.iter().filter(|series| !series.name.is_empty());
    named
        .map(|series| {
            let swatch = if series.style == SeriesStyle::Dots { Swatch::Dot } else { Swatch::Line };
            (series.name.clone(), swatch, Ink::of(series.role))
        })
        .collect()
}

/// The range of a horizontal axis that ends where the samples end; `None` if it would be empty.
fn tight(panels: &[Panel]) -> Option<(f64, f64)> {
    let finite = panels.iter().flat_map(Panel::xs).filter(|x| x.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let low = if low > 0.0 && low < 0.1 * high { 0.0 } else { low };
    // The last sample of 300 s is often at 299.9 s: the tick at 300 belongs to the axis.
    let step = libm::exp10(libm::floor(libm::log10(high - low)) - 1.0);
    let whole = libm::ceil(high / step) * step;
    let high = if whole - high < (high - low) / 100.0 { whole } else { high };
    (low < high).then_some((low, high))
}

fn draw_series(
    chart: &mut Chart<'_>,
    series: &Series,
    x: &Axis,
    y: &Axis,
    width: u32,
) -> DrawResult {
    let ink = Ink::of(series.role);
    let position = |&(px, py): &(f64, f64)| {
        (x.position(px).unwrap_or(f64::NAN), y.position(py).unwrap_or(f64::NAN))
    };
    let points: Vec<(f64, f64)> = series.points.iter().map(position).collect();
    let runs = runs(&points);
    if series.style == SeriesStyle::Dots {
        let cell = ((x.high - x.low) / f64::from(width), (y.high - y.low) / f64::from(width));
        return dots(chart, one_per_cell(runs.concat(), cell), ink);
    }
    for run in runs {
        let few = columns(&run, x.low, x.high, (width / COLUMN) as usize);
        let path = if series.style == SeriesStyle::Step { stairs(&few) } else { level(&few) };
        if path.len() == 1 {
            // A line of one sample would have no length.
            dots(chart, path, ink)?;
        } else {
            let style = ink.line(SCALE * 5 / 4);
            chart.draw_series([PathElement::new(path, style)])?;
        }
    }
    Ok(())
}

fn dots(chart: &mut Chart<'_>, points: Vec<(f64, f64)>, ink: Ink) -> DrawResult {
    let dot = |point| Circle::new(point, SCALE * 2, ink.color().mix(0.8).filled());
    chart.draw_series(points.into_iter().map(dot)).map(drop)
}
