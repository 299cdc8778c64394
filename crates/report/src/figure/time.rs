//! Panels over time.

use super::words::{count, marked, number};
use super::xy::{Panel, Series, stack};
use super::{Drawable, Drawing, Sourced, Width, all_of_kind};
use crate::plot::{DrawError, Role, axis_range};

/// Panels above one another that share the horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimePlot {
    /// The panels, from top to bottom.
    pub panels: Vec<Panel>,
    /// Label of the shared axis, with its unit.
    pub x_label: String,
}

impl Drawable for TimePlot {
    fn draw(&self) -> Result<Drawing, DrawError> {
        stack(&self.panels, &self.x_label).map(Drawing::plot)
    }

    fn describe(&self) -> String {
        let parts: Vec<String> = self.panels.iter().map(describe).collect();
        let panels = count(self.panels.len(), "panel");
        format!("{panels} over {}. {}", self.x_label, parts.join(" ")).trim_end().to_owned()
    }

    fn width(&self) -> Width {
        Width::Wide
    }

    fn merge(&self, sources: &[Sourced<'_, dyn Drawable>]) -> Option<Box<dyn Drawable>> {
        let panels = stacked(&all_of_kind::<Self>(sources)?);
        Some(Box::new(Self { panels, x_label: self.x_label.clone() }))
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

fn describe(panel: &Panel) -> String {
    let series: Vec<String> = panel.series.iter().map(range).collect();
    let heading = [panel.title.as_str(), panel.y_label.as_str()].join(" ");
    format!("{}: {}. {}", heading.trim(), series.join("; "), marked(&panel.marks))
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
