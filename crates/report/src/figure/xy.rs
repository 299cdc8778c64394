//! Panels with lines, stairs and points.

use super::{Layout, Palette};
use crate::plot::{
    Axis, AxisOptions, Below, Chart, Dash, DrawResult, Entry, Frame, Ink, Legend, Mark, Note, Pen,
    Picture, Role, SCALE, Swatch, canvas, columns, level, margin_right, one_per_cell, runs, stairs,
};
use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::Color;

/// Height of the data in one of several panels, in CSS pixels.
const STACKED: u32 = 132;
/// Height of the data in a single panel, in CSS pixels.
const SINGLE: u32 = 215;
/// Width of a column in which a line is thinned, in CSS pixels.
const COLUMN: u32 = 2;
/// Width of a column in which the line of a single run is thinned, in CSS pixels: there are many of
/// these lines, and they are faint.
const FAINT_COLUMN: u32 = 5;
/// Opacity of a band.
const BAND: f64 = 0.22;
/// Opacity of the line of a single run.
const FAINT: f64 = 0.3;

/// One pair of axes and what is drawn in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading; may be empty.
    pub title: String,
    /// Label of the vertical axis, with its unit.
    pub y_label: String,
    /// What the names of the series are values of, such as `queue of alice.up`; may be empty.
    pub legend: String,
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
    /// The stream whose values these are, which then decides the colour instead of `role`: a stream
    /// has one colour in all figures of a page. Empty for none.
    pub stream: String,
    /// How the line is broken. `None`: the series of one stream in a panel get different dashes in
    /// turn.
    pub dash: Option<Dash>,
    /// The 95 % confidence interval of the mean of several runs, as (x, low, high), in order of x;
    /// empty for none. `points` is then the mean.
    pub band: Vec<(f64, f64, f64)>,
    /// The single runs behind the mean, drawn faintly.
    pub runs: Vec<Vec<(f64, f64)>>,
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
        Self {
            name: who.to_owned(),
            role: Role::Series(index),
            stream: String::new(),
            dash: None,
            ..self.clone()
        }
    }

    /// All (x, y) that the axes must show.
    fn all_points(&self) -> impl Iterator<Item = (f64, f64)> {
        let band = self.band.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]);
        self.points.iter().copied().chain(band).chain(self.runs.iter().flatten().copied())
    }
}

impl Panel {
    /// The values that the horizontal axis must show.
    fn xs(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| series.all_points().map(|p| p.0));
        points.chain(self.marks.iter().flat_map(Mark::xs))
    }

    /// The values that the vertical axis must show.
    pub(super) fn ys(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| series.all_points().map(|p| p.1));
        points.chain(self.marks.iter().filter_map(Mark::y))
    }

    /// The pen of each series.
    pub(super) fn pens(&self, palette: &Palette) -> Vec<Pen> {
        let role = |series: &Series| match (series.role, palette.colour(&series.stream)) {
            (Role::Series(_), Some(colour)) => Role::Series(colour),
            (role, _) => role,
        };
        let pen = |(index, series): (usize, &Series)| {
            let is_alike = |other: &&Series| {
                !series.stream.is_empty()
                    && other.stream == series.stream
                    && other.role != Role::Reference
            };
            let dash = match (series.role, series.dash) {
                (Role::Reference, _) => Dash::Solid,
                (_, Some(dash)) => dash,
                (_, None) => Dash::nth(self.series[..index].iter().filter(is_alike).count()),
            };
            Pen::of(role(series), dash)
        };
        self.series.iter().enumerate().map(pen).collect()
    }
}

/// Draws panels above one another, with one horizontal axis and a note below.
pub(super) fn stack(panels: &[Panel], texts: (&str, &str), layout: &Layout) -> DrawResult<Picture> {
    let steps = f64::from(layout.width / 70).clamp(3.0, 14.0);
    let height = if panels.len() == 1 { SINGLE } else { STACKED };
    draw(panels, texts, AxisOptions { steps, ..AxisOptions::LINEAR }, layout, height)
}

/// Draws one panel.
pub(super) fn single(
    panel: &Panel,
    texts: (&str, &str),
    log_x: bool,
    layout: &Layout,
) -> DrawResult<Picture> {
    let options = AxisOptions { log: log_x, ..AxisOptions::LINEAR };
    draw(std::slice::from_ref(panel), texts, options, layout, SINGLE)
}

/// Draws panels with these texts below: the label of the horizontal axis and the note.
fn draw(
    panels: &[Panel],
    (x_label, note): (&str, &str),
    options: AxisOptions,
    layout: &Layout,
    panel_height: u32,
) -> DrawResult<Picture> {
    let fixed = if options.log { None } else { tight(panels) };
    let x = Axis::new(panels.iter().flat_map(Panel::xs), AxisOptions { fixed, ..options });
    let right = panels.iter().map(|p| margin_right(&p.marks)).max().unwrap_or(0);
    let last = panels.len().saturating_sub(1);
    let pens: Vec<Vec<Pen>> = panels.iter().map(|panel| panel.pens(&layout.palette)).collect();
    let width = layout.width;
    let frames: Vec<Frame<'_>> = panels
        .iter()
        .enumerate()
        .map(|(i, panel)| Frame {
            heading: heading(panel),
            legend: legend(panel, &pens[i]),
            marks: &panel.marks,
            x: &x,
            y: Axis::new(
                panel.ys(),
                AxisOptions { log: panel.log_y, fixed: panel.y_range, ..AxisOptions::LINEAR },
            ),
            below: if i == last { Below::Axis(x_label) } else { Below::Nothing },
            size: (width, panel_height),
            right,
        })
        .collect();
    let note = Note::lay_out(note, width);
    let height = frames.iter().map(Frame::height).sum::<u32>();
    canvas(width, (height + note.height()).max(1), |root| {
        let mut top = 0;
        for ((frame, panel), pens) in frames.iter().zip(panels).zip(&pens) {
            frame.draw(root, top, |chart| {
                let each = || panel.series.iter().zip(pens);
                // What is faint is below every line.
                each().try_for_each(|(series, pen)| {
                    draw_spread(chart, series, *pen, (&x, &frame.y), width)
                })?;
                each().try_for_each(|(series, pen)| {
                    draw_series(chart, series, *pen, (&x, &frame.y), width)
                })
            })?;
            top += frame.height();
        }
        note.draw(root, top)
    })
}

/// The heading of a panel: its title and the label of its vertical axis.
pub(super) fn heading(panel: &Panel) -> String {
    let parts = [&panel.title, &panel.y_label];
    let parts: Vec<&str> = parts.into_iter().map(|s| s.trim()).filter(|s| !s.is_empty()).collect();
    parts.join(" · ")
}

fn legend(panel: &Panel, pens: &[Pen]) -> Legend {
    let named = panel.series.iter().zip(pens).filter(|(series, _)| !series.name.is_empty());
    let entry = |(series, pen): (&Series, &Pen)| {
        let swatch = if series.style == SeriesStyle::Dots { Swatch::Dot } else { Swatch::Line };
        Entry { name: series.name.clone(), swatch, pen: *pen }
    };
    Legend { title: panel.legend.clone(), entries: named.map(entry).collect() }
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

/// Positions on both axes; not-a-number for values that are not finite.
fn positions(points: &[(f64, f64)], (x, y): (&Axis, &Axis)) -> Vec<(f64, f64)> {
    let position = |&(px, py): &(f64, f64)| {
        (x.position(px).unwrap_or(f64::NAN), y.position(py).unwrap_or(f64::NAN))
    };
    points.iter().map(position).collect()
}

/// Draws the band of a mean and its single runs.
fn draw_spread(
    chart: &mut Chart<'_>,
    series: &Series,
    pen: Pen,
    axes: (&Axis, &Axis),
    width: u32,
) -> DrawResult {
    let thin = |points: Vec<(f64, f64)>, column: u32| {
        level(&columns(&points, axes.0.low, axes.0.high, (width / column) as usize))
    };
    let edge = |end: fn(&(f64, f64, f64)) -> (f64, f64)| {
        positions(&series.band.iter().map(end).collect::<Vec<_>>(), axes)
    };
    let (low, high) = (edge(|band| (band.0, band.1)), edge(|band| (band.0, band.2)));
    for (below, above) in runs(&low).into_iter().zip(runs(&high)) {
        let area: Vec<(f64, f64)> =
            thin(below, COLUMN).into_iter().chain(thin(above, COLUMN).into_iter().rev()).collect();
        if area.len() > 2 {
            chart.draw_series([Polygon::new(area, pen.mix(BAND).filled())])?;
        }
    }
    for run in &series.runs {
        for part in runs(&positions(run, axes)) {
            let path = thin(part, FAINT_COLUMN);
            if path.len() > 1 {
                let style = pen.mix(FAINT).stroke_width(SCALE / 2);
                chart.draw_series([PathElement::new(path, style)])?;
            }
        }
    }
    Ok(())
}

fn draw_series(
    chart: &mut Chart<'_>,
    series: &Series,
    pen: Pen,
    axes: (&Axis, &Axis),
    width: u32,
) -> DrawResult {
    let (x, y) = axes;
    let runs = runs(&positions(&series.points, axes));
    if series.style == SeriesStyle::Dots {
        let cell = ((x.high - x.low) / f64::from(width), (y.high - y.low) / f64::from(width));
        return dots(chart, one_per_cell(runs.concat(), cell), pen.ink);
    }
    for run in runs {
        let few = columns(&run, x.low, x.high, (width / COLUMN) as usize);
        let path = if series.style == SeriesStyle::Step { stairs(&few) } else { level(&few) };
        if path.len() == 1 {
            // A line of one sample would have no length.
            dots(chart, path, pen.ink)?;
        } else {
            chart.draw_series([PathElement::new(path, pen.line(SCALE * 5 / 4))])?;
        }
    }
    Ok(())
}

fn dots(chart: &mut Chart<'_>, points: Vec<(f64, f64)>, ink: Ink) -> DrawResult {
    let dot = |point| Circle::new(point, SCALE * 2, ink.color().mix(0.8).filled());
    chart.draw_series(points.into_iter().map(dot)).map(drop)
}
