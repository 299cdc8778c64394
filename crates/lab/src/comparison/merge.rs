//! The same figure of several parties: over one another where each has one series, else below one
//! another on the same axes.

use report::{At, Bar, Body, BoxStats, Figure, Group, Grouped, Line, Panel, Role, axis_range};

/// A figure's part with the name of the party that it is of.
type Named<'a, T> = (&'a str, &'a T);

/// The figures of each party, by its name, as one list.
pub(super) fn figures(parties: &[(String, Vec<Figure>)]) -> Vec<Figure> {
    let mut ids: Vec<&str> = Vec::new();
    for figure in parties.iter().flat_map(|(_, figures)| figures) {
        if !ids.contains(&figure.id.as_str()) {
            ids.push(&figure.id);
        }
    }
    let of = |id: &str| {
        let drawn = parties.iter().filter_map(|(who, figures)| {
            figures.iter().find(|figure| figure.id == id).map(|figure| (who.as_str(), figure))
        });
        merge(&drawn.collect::<Vec<_>>())
    };
    ids.into_iter().flat_map(of).collect()
}

fn merge(drawn: &[Named<'_, Figure>]) -> Vec<Figure> {
    let Some((_, first)) = drawn.first() else { return Vec::new() };
    let body = match &first.body {
        Body::Time { x_label, .. } => all(drawn, panels)
            .map(|stacks| Body::Time { panels: stacked(&stacks), x_label: x_label.clone() }),
        Body::Cdf { marks, x_label, log_x, .. } => all(drawn, only_line).map(|lines| Body::Cdf {
            lines: lines
                .iter()
                .enumerate()
                .map(|(place, (who, line))| renamed(place, who, line))
                .collect(),
            marks: marks.clone(),
            x_label: x_label.clone(),
            log_x: *log_x,
        }),
        Body::Bars(_) => {
            all(drawn, bars).and_then(|bars| overlaid(&bars, |bar| bar.value)).map(Body::Bars)
        }
        Body::Boxes(_) => {
            all(drawn, boxes).and_then(|boxes| overlaid(&boxes, |stats| stats.p50)).map(Body::Boxes)
        }
        Body::Scatter(_) | Body::Table(_) => None,
    };
    match body {
        Some(body) => vec![Figure { body, ..(*first).clone() }],
        None => apart(drawn),
    }
}

/// The parts of all figures, if each has such a part.
fn all<'a, T>(
    drawn: &[Named<'a, Figure>],
    pick: fn(&'a Body) -> Option<&'a T>,
) -> Option<Vec<Named<'a, T>>> {
    drawn.iter().map(|(who, figure)| Some((*who, pick(&figure.body)?))).collect()
}

fn panels(body: &Body) -> Option<&Vec<Panel>> {
    if let Body::Time { panels, .. } = body { Some(panels) } else { None }
}

fn only_line(body: &Body) -> Option<&Line> {
    match body {
        Body::Cdf { lines, .. } => lines.first().filter(|_| lines.len() == 1),
        _ => None,
    }
}

fn bars(body: &Body) -> Option<&Grouped<Bar>> {
    if let Body::Bars(bars) = body { Some(bars) } else { None }
}

fn boxes(body: &Body) -> Option<&Grouped<BoxStats>> {
    if let Body::Boxes(boxes) = body { Some(boxes) } else { None }
}

/// A line under its party's name, in its party's colour.
fn renamed(place: usize, who: &str, line: &Line) -> Line {
    Line { name: who.to_owned(), role: Role::Series(place), ..line.clone() }
}

/// Panels over time. Those with one line each become one; of the others each party's stands below
/// the one before, on the same axes.
fn stacked(parties: &[Named<'_, Vec<Panel>>]) -> Vec<Panel> {
    let count = parties.iter().map(|(_, panels)| panels.len()).max().unwrap_or(0);
    (0..count)
        .flat_map(|place| {
            let here: Vec<Named<'_, Panel>> = parties
                .iter()
                .filter_map(|(who, panels)| Some((*who, panels.get(place)?)))
                .collect();
            if here.iter().all(|(_, panel)| measured(panel).count() <= 1) {
                vec![one(&here)]
            } else {
                below(&here)
            }
        })
        .collect()
}

fn measured(panel: &Panel) -> impl Iterator<Item = &Line> {
    panel.lines.iter().filter(|line| line.role != Role::Reference)
}

/// One panel with a line a party, and the references of the first.
fn one(parties: &[Named<'_, Panel>]) -> Panel {
    let Some((_, first)) = parties.first() else { return Panel::default() };
    let references = first.lines.iter().filter(|line| line.role == Role::Reference).cloned();
    let lines = parties.iter().enumerate().flat_map(|(place, (who, panel))| {
        measured(panel).map(move |line| renamed(place, who, line)).collect::<Vec<_>>()
    });
    Panel { lines: references.chain(lines).collect(), ..(*first).clone() }
}

/// A panel a party, headed by its name, all of the same height and range.
fn below(parties: &[Named<'_, Panel>]) -> Vec<Panel> {
    let values = |panel: &Panel| {
        let marks = panel.marks.iter().filter_map(|mark| match mark.at {
            At::Y(y) | At::YBetween { y, .. } => Some(y),
            At::X(_) => None,
        });
        panel
            .lines
            .iter()
            .flat_map(|line| line.points.iter().map(|point| point.1))
            .chain(marks)
            .collect::<Vec<_>>()
    };
    let range = axis_range(parties.iter().flat_map(|(_, panel)| values(panel)), false);
    let headed = |(who, panel): &Named<'_, Panel>| Panel {
        title: (*who).to_owned(),
        y_range: if panel.log_y { None } else { Some(range) },
        ..(*panel).clone()
    };
    parties.iter().map(headed).collect()
}

/// Bars or boxes with an item a party, if each has one series. What was not measured is a gap.
fn overlaid<T: Clone>(
    parties: &[Named<'_, Grouped<T>>],
    value: fn(&T) -> f64,
) -> Option<Grouped<T>> {
    let (_, first) = parties.first()?;
    if parties.iter().any(|(_, grouped)| grouped.series.len() != 1) {
        return None;
    }
    let mut labels: Vec<&str> = Vec::new();
    for group in parties.iter().flat_map(|(_, grouped)| &grouped.groups) {
        if !labels.contains(&group.label.as_str()) {
            labels.push(&group.label);
        }
    }
    let item = |label: &str, grouped: &Grouped<T>| {
        let group = grouped.groups.iter().find(|group| group.label == label)?;
        group.items.first()?.clone().filter(|item| value(item).is_finite())
    };
    let group = |label: &str| Group {
        label: label.to_owned(),
        items: parties.iter().map(|(_, grouped)| item(label, grouped)).collect(),
    };
    let series = parties
        .iter()
        .enumerate()
        .map(|(place, (who, _))| ((*who).to_owned(), Role::Series(place)));
    Some(Grouped {
        series: series.collect(),
        groups: labels.into_iter().map(group).collect(),
        ..(*first).clone()
    })
}

/// A figure a party, on the same vertical axis.
fn apart(drawn: &[Named<'_, Figure>]) -> Vec<Figure> {
    let range =
        drawn.iter().filter_map(|(_, figure)| extent(&figure.body)).flatten().collect::<Vec<_>>();
    let range = (!range.is_empty()).then(|| axis_range(range.into_iter(), true));
    let figure = |(place, (who, figure)): (usize, &Named<'_, Figure>)| {
        let mut body = figure.body.clone();
        match &mut body {
            Body::Bars(bars) => bars.y_range = range.filter(|_| !bars.log_y),
            Body::Boxes(boxes) => boxes.y_range = range.filter(|_| !boxes.log_y),
            Body::Time { .. } | Body::Cdf { .. } | Body::Scatter(_) | Body::Table(_) => {}
        }
        let (id, title) =
            (format!("{}-{}", figure.id, place + 1), format!("{}: {who}", figure.title));
        Figure { id, title, body, ..(*figure).clone() }
    };
    drawn.iter().enumerate().map(figure).collect()
}

/// The values that bars or boxes reach, with what was published.
fn extent(body: &Body) -> Option<Vec<f64>> {
    fn items<T>(grouped: &Grouped<T>, of: fn(&T) -> Vec<f64>) -> Vec<f64> {
        let marks = grouped
            .marks
            .iter()
            .filter_map(|mark| if let At::Y(y) = mark.at { Some(y) } else { None });
        let items = grouped.groups.iter().flat_map(|group| group.items.iter().flatten());
        items.flat_map(of).chain(marks).collect()
    }
    match body {
        Body::Bars(bars) => Some(items(bars, |bar| {
            let (low, high) = bar.spread.unwrap_or((bar.value, bar.value));
            vec![bar.value, low, high, bar.published.unwrap_or(f64::NAN)]
        })),
        Body::Boxes(boxes) => Some(items(boxes, |stats| {
            vec![stats.p5, stats.p95, stats.published.unwrap_or(f64::NAN)]
        })),
        Body::Time { .. } | Body::Cdf { .. } | Body::Scatter(_) | Body::Table(_) => None,
    }
}
