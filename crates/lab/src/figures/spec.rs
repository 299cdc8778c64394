//! The `[[figure]]` tables of an experiment file.

use super::kind::{AnyKind, NamedAxis, Reference};
use super::usual::UsualPlots;
use super::{KINDS, SWEEP_KINDS};
use document::{Fault, Location, Node, Reader, Value, did_you_mean, read as read_value};
use experiment::{Axis, Cell, Experiment, ExperimentError};
use std::sync::Arc;

/// One figure of an experiment file.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Short heading.
    pub title: String,
    /// What to look at; may be empty.
    pub caption: String,
    pub(super) cells: CellFilter,
    pub(super) kind: Arc<dyn AnyKind>,
}

/// Which cells a figure shows: those with one of the wanted values on each axis.
#[derive(Clone, Debug, Default)]
pub(super) struct CellFilter(Vec<WantedValues>);

/// The wanted values of an axis.
#[derive(Clone, Debug)]
struct WantedValues {
    axis: String,
    values: Vec<String>,
    location: Location,
}

impl CellFilter {
    /// Whether the figure shows this cell.
    pub(super) fn matches(&self, cell: &Cell) -> bool {
        let matches = |wanted: &WantedValues| {
            cell.params
                .iter()
                .any(|(axis, value)| *axis == wanted.axis && wanted.values.contains(value))
        };
        self.0.iter().all(matches)
    }

    /// Fails for a value that its axis does not have. An axis that does not exist, for example
    /// because it was overridden, is not an error: no cell matches it.
    fn check(&self, axes: &[Axis]) -> Result<(), Fault> {
        for wanted in &self.0 {
            let Some(axis) = axes.iter().find(|axis| axis.name == wanted.axis) else { continue };
            let labels = axis.points.iter().map(|point| point.label.as_str());
            if let Some(missing) =
                wanted.values.iter().find(|value| !labels.clone().any(|label| label == *value))
            {
                let suggestion = did_you_mean(missing, labels, "there are");
                let reason = format!("'{missing}' is not a value of {}", wanted.axis);
                return Err(Fault::new(
                    wanted.location,
                    format!("figure.cell.'{}'", wanted.axis),
                    reason,
                    suggestion,
                ));
            }
        }
        Ok(())
    }
}

impl Figure {
    /// The first axis or value that the figure names and that does not exist, and a suggestion.
    /// `axis` returns the values of an axis; empty if there is no such axis.
    fn missing<'a>(&self, axis: impl Fn(&str) -> Vec<&'a str>) -> Option<(String, String)> {
        let fault = |key: &str, value: &str, reason: &str| {
            format!("figure '{}': {key} = '{value}' {reason}", self.title)
        };
        for NamedAxis { key, axis: name } in self.kind.axes() {
            if let Some(name) = name
                && axis(name).is_empty()
            {
                let reason = fault(key, name, "is not an axis");
                return Some((reason, "name an axis of [grid] or [[axis]]".to_owned()));
            }
        }
        let Reference { key, value, axis_key } = self.kind.reference()?;
        let named = self.kind.axes().into_iter().find(|named| named.key == axis_key);
        let Some(name) = named.and_then(|named| named.axis) else {
            let suggestion = format!("name its axis: {axis_key} = …");
            return Some((fault(key, value, "has no axis"), suggestion));
        };
        let values = axis(name);
        let suggestion = || did_you_mean(value, values.iter().copied(), "there are");
        let reason = || fault(key, value, &format!("is not a value of {name}"));
        (!values.contains(&value)).then(|| (reason(), suggestion()))
    }
}

/// The figures of an experiment file, in the order of the file; the usual plots if there are none.
#[derive(Clone, Debug)]
pub struct Figures(pub(super) Vec<Figure>);

impl Figures {
    /// Reads the `[[figure]]` tables of an experiment.
    ///
    /// # Errors
    /// When a table is not a figure, or a figure names a value that its axis does not have.
    pub fn read(experiment: &Experiment) -> Result<Self, ExperimentError> {
        Self::read_nodes(experiment).map_err(|fault| fault.in_file(&experiment.path))
    }

    fn read_nodes(experiment: &Experiment) -> Result<Self, Fault> {
        let mut figures: Vec<Figure> =
            experiment.figures().iter().map(figure).collect::<Result<_, _>>()?;
        figures.iter().try_for_each(|figure| figure.cells.check(experiment.axes()))?;
        if figures.is_empty() {
            figures.push(Figure {
                title: experiment.title.clone(),
                caption: String::new(),
                cells: CellFilter::default(),
                kind: Arc::new(UsualPlots),
            });
        }
        Ok(Self(figures))
    }

    /// Checks that the axes that the figures name exist. Only for a file without overrides: an
    /// override may remove an axis.
    ///
    /// # Errors
    /// Names the first axis, or value of an axis, that is missing.
    pub fn check_axes(&self, experiment: &Experiment) -> Result<(), ExperimentError> {
        let missing =
            self.0.iter().find_map(|figure| figure.missing(|axis| experiment.values_of(axis)));
        missing.map_or(Ok(()), |(reason, suggestion)| {
            Err(ExperimentError::file(&experiment.path, reason, suggestion))
        })
    }
}

fn figure(node: &Node) -> Result<Figure, Fault> {
    let mut table = Reader::new(node, "figure")?;
    let kind: String = table.required("kind")?;
    let title = table.required("title")?;
    let caption = table.or("caption", String::new())?;
    let cells = cell_filter(&mut table)?;
    let Some((_, read)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let of_sweeps = SWEEP_KINDS.iter().any(|(name, _)| *name == kind);
        let reason = if of_sweeps {
            format!("'{kind}' is a kind of figure of sweeps, not of experiments")
        } else {
            format!("'{kind}' is not a kind of figure")
        };
        return Err(table.fault("kind", reason, known_kinds()));
    };
    let kind = read(&mut table)?;
    table.finish()?;
    Ok(Figure { title, caption, cells, kind })
}

/// The suggestion for an unknown kind: `use time, bars or rows`.
fn known_kinds() -> String {
    let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    match names.split_last() {
        Some((last, others)) => format!("use {} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn cell_filter(table: &mut Reader<'_>) -> Result<CellFilter, Fault> {
    let path = table.path("cell");
    let entries = table.entries("cell")?.into_iter().map(|(name, node)| {
        let values = match &node.value {
            Value::Text(text) => vec![text.clone()],
            _ => read_value(node, &format!("{path}.{name}"))?,
        };
        Ok(WantedValues { axis: name.to_owned(), values, location: node.location })
    });
    Ok(CellFilter(entries.collect::<Result<_, _>>()?))
}
