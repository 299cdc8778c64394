//! The same figure of several sources: in one plot if its kind can be merged, else one figure per
//! source on the same vertical axis.

use crate::figure::{Drawable, Sourced};
use crate::model::Figure;
use crate::plot::axis_range;

/// Merges the figures of several sources (name, figures) into one list. Figures with the same
/// [`Figure::id`] are the same figure; they are in the order in which they first appear.
#[must_use]
pub fn merge_by_source(sources: &[(String, Vec<Figure>)]) -> Vec<Figure> {
    let mut ids: Vec<&str> = Vec::new();
    for figure in sources.iter().flat_map(|(_, figures)| figures) {
        if !ids.contains(&figure.id.as_str()) {
            ids.push(&figure.id);
        }
    }
    let merged = |id: &str| {
        let same = sources.iter().filter_map(|(who, figures)| {
            figures.iter().find(|figure| figure.id == id).map(|figure| (who.as_str(), figure))
        });
        merge(&same.collect::<Vec<_>>())
    };
    ids.into_iter().flat_map(merged).collect()
}

fn merge(sources: &[Sourced<'_, Figure>]) -> Vec<Figure> {
    let Some((_, first)) = sources.first() else { return Vec::new() };
    let bodies: Vec<Sourced<'_, dyn Drawable>> =
        sources.iter().map(|(who, figure)| (*who, &*figure.body)).collect();
    match first.body.merge(&bodies) {
        Some(body) => vec![Figure { body, ..(*first).clone() }],
        None => separate(sources),
    }
}

/// One figure per source, all with the same vertical axis.
fn separate(sources: &[Sourced<'_, Figure>]) -> Vec<Figure> {
    let values: Vec<f64> =
        sources.iter().flat_map(|(_, figure)| figure.body.axis_values()).collect();
    let range = (!values.is_empty()).then(|| axis_range(values.into_iter(), true));
    let figure = |(index, (who, figure)): (usize, &Sourced<'_, Figure>)| {
        let mut body = figure.body.clone();
        if let Some(range) = range {
            body.set_axis_range(range);
        }
        Figure {
            id: format!("{}-{}", figure.id, index + 1),
            title: format!("{}: {who}", figure.title),
            body,
            ..(*figure).clone()
        }
    };
    sources.iter().enumerate().map(figure).collect()
}
