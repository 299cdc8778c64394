//! Panels over time.

use super::words::{count, marked, number};
use super::xy::{Panel, Series, heading, stack};
use super::zoom::zoomed;
use super::{Drawable, Drawing, Layout, Sourced, Width, all_of_kind};
use crate::csv;
use crate::plot::{DrawError, Role, axis_range};
use crate::text_table::TextTable;

/// Panels above one another that share the horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimePlot {
    /// The panels, from top to bottom.
    pub panels: Vec<Panel>,
    /// Label of the shared axis, with its unit.
    pub x_label: String,
    /// What bands and faint lines are, written below the plot; may be empty.
    pub note: String,
}

impl Drawable for TimePlot {
    fn draw(&self, layout: &Layout) -> Result<Drawing, DrawError> {
        stack(&self.panels, (&self.x_label, &self.note), layout).map(Drawing::plot)
    }

    fn data(&self) -> TextTable {
        data(&self.panels, &self.x_label)
    }

    fn streams(&self) -> Vec<&str> {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        let own = series.filter(|series| series.role != Role::Reference);
        own.map(|series| series.stream.as_str()).filter(|stream| !stream.is_empty()).collect()
    }

    fn describe(&self) -> String {
        let parts: Vec<String> = self.panels.iter().map(describe).collect();
        let panels = count(self.panels.len(), "panel");
        let words = format!("{panels} over {}. {} {}", self.x_label, parts.join(" "), self.note);
        words.trim_end().to_owned()
    }

    fn zoomed(&self, layout: &Layout) -> Option<String> {
        zoomed(&self.panels, &self.note, &layout.palette)
    }

    fn width(&self) -> Width {
        Width::Wide
    }

    fn merge(&self, sources: &[Sourced<'_, dyn Drawable>]) -> Option<Box<dyn Drawable>> {
        let panels = stacked(&all_of_kind::<Self>(sources)?);
        Some(Box::new(Self { panels, ..self.clone() }))
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

/// The columns of an interval and of single runs.
const SPREAD: [&str; 3] = ["ci95_low", "ci95_high", "run"];

/// One row per value: the panel, the series, the ends of the interval of a mean, and for single
/// runs the number of the run, from 1.
pub(super) fn data(panels: &[Panel], x_label: &str) -> TextTable {
    let all =
        || panels.iter().flat_map(|panel| panel.series.iter().map(move |series| (panel, series)));
    let is_mean =
        |(_, series): (&Panel, &Series)| !(series.band.is_empty() && series.runs.is_empty());
    let spread = if all().any(is_mean) { SPREAD.len() } else { 0 };
    let columns =
        ["panel", "series", x_label, "value"].into_iter().chain(SPREAD.into_iter().take(spread));
    let mut rows = Vec::new();
    for (panel, series) in all() {
        let row = |(x, y): (f64, f64), more: [String; 3]| {
            let cells = [heading(panel), series.name.clone(), csv::value(x), csv::value(y)];
            cells.into_iter().chain(more.into_iter().take(spread)).collect::<Vec<String>>()
        };
        let mut band = series.band.iter().peekable();
        for &point in &series.points {
            while band.next_if(|(x, ..)| *x < point.0).is_some() {}
            let here = band.next_if(|(x, ..)| *x <= point.0);
            let (low, high) = here.map(|(_, low, high)| (*low, *high)).unzip();
            rows.push(row(point, [csv::optional(low), csv::optional(high), String::new()]));
        }
        for (index, run) in series.runs.iter().enumerate() {
            let number = || [String::new(), String::new(), (index + 1).to_string()];
            rows.extend(run.iter().map(|point| row(*point, number())));
        }
    }
    TextTable { caption: String::new(), columns: columns.map(str::to_owned).collect(), rows }
}

fn describe(panel: &Panel) -> String {
    let series: Vec<String> = panel.series.iter().map(range).collect();
    format!("{}: {}. {}", heading(panel), series.join("; "), marked(&panel.marks))
        .trim_end()
        .to_owned()
}

fn range(series: &Series) -> String {
    let ys = series.points.iter().map(|p| p.1).filter(|y| y.is_finite());
    let (low, high) = ys.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
    if low > high {
        format!("{}: no values", series.name)
    } else {
        format!("{} from {} to {}", series.name, number(low), number(high))
    }
}

/// The panels of all sources. Panels with at most one measured series per source become one panel;
/// else there is one panel per source, all with the same axis.
fn stacked(sources: &[Sourced<'_, TimePlot>]) -> Vec<Panel> {
    let count = sources.iter().map(|(_, plot)| plot.panels.len()).max().unwrap_or(0);
    let panels = |index: usize| {
        let here: Vec<Sourced<'_, Panel>> = sources
            .iter()
            .filter_map(|(who, plot)| Some((*who, plot.panels.get(index)?)))
            .collect();
        if here.iter().all(|(_, panel)| measured(panel).count() <= 1) {
            vec![overlaid(&here)]
        } else {
            below_one_another(&here)
        }
    };
    (0..count).flat_map(panels).collect()
}

fn measured(panel: &Panel) -> impl Iterator<Item = &Series> {
    panel.series.iter().filter(|series| series.role != Role::Reference)
}

/// One panel with the references of the first source and one series per source.
fn overlaid(sources: &[Sourced<'_, Panel>]) -> Panel {
    let Some((_, first)) = sources.first() else { return Panel::default() };
    let references = first.series.iter().filter(|series| series.role == Role::Reference).cloned();
    let measured = sources.iter().enumerate().flat_map(|(index, (who, panel))| {
        measured(panel).map(move |series| series.of_source(index, who))
    });
    Panel { series: references.chain(measured).collect(), ..(*first).clone() }
}

/// One panel per source, headed by the source's name, all with the same vertical range.
fn below_one_another(sources: &[Sourced<'_, Panel>]) -> Vec<Panel> {
    let range = axis_range(sources.iter().flat_map(|(_, panel)| panel.ys()), false);
    let headed = |(who, panel): &Sourced<'_, Panel>| Panel {
        title: (*who).to_owned(),
        y_range: if panel.log_y { None } else { Some(range) },
        ..(*panel).clone()
    };
    sources.iter().map(headed).collect()
}
