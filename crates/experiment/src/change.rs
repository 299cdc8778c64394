//! An experiment in which one thing is changed.

use crate::{Experiment, ExperimentError};
use document::{Location, Node, Table, Value};

/// What is changed in an experiment, and which of its cells remain.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The name of the change: `no probes at the start`.
    pub name: String,
    /// The new values: paths of keys with their values.
    pub set: Table,
    /// The points at which the values are set, as (name of the `[[axis]]`, label). If there is
    /// none, they are set in every cell, whatever its axes set.
    pub at: Vec<(String, String)>,
    /// The points that remain, as (name of the `[[axis]]`, label). All points of the other axes
    /// remain.
    pub only: Vec<(String, String)>,
}

impl Experiment {
    /// The experiment with the change. Values for every cell are an axis `factor` with one point.
    ///
    /// # Errors
    /// If the experiment lacks one of the axes or points, or a path or a value is wrong.
    pub fn with_change(&self, change: &Change) -> Result<Self, ExperimentError> {
        let node = |value| Node { value, location: Location::CommandLine };
        let mut axes = match self.document.get("axis").map(|axes| &axes.value) {
            Some(Value::List(axes)) => axes.clone(),
            _ => Vec::new(),
        };
        let lacks = |(axis, label): &(String, String)| {
            let reason = format!("there is no [[axis]] '{axis}' with a point '{label}'");
            ExperimentError::file(&self.path, reason, "")
        };
        for place in &change.only {
            let points = points(&mut axes, &place.0).ok_or_else(|| lacks(place))?;
            points.retain(|point| label(point) == Some(&place.1));
            if points.is_empty() {
                return Err(lacks(place));
            }
        }
        for place in &change.at {
            let points = points(&mut axes, &place.0).ok_or_else(|| lacks(place))?;
            let point = points.iter_mut().find(|point| label(point) == Some(&place.1));
            let Some(Value::Table(point)) = point.map(|point| &mut point.value) else {
                return Err(lacks(place));
            };
            if point.get("set").is_none() {
                point.insert("set", node(Value::Table(Table::default())));
            }
            point.edit("set", |set| {
                change.set.iter().for_each(|(key, value)| set.insert(key, value.clone()));
            });
        }
        if change.at.is_empty() {
            let mut point = Table::default();
            point.insert("label", node(Value::Text(change.name.clone())));
            point.insert("set", node(Value::Table(change.set.clone())));
            let mut axis = Table::default();
            axis.insert("name", node(Value::Text("factor".to_owned())));
            axis.insert("points", node(Value::List(vec![node(Value::Table(point))])));
            axes.push(node(Value::Table(axis)));
        }
        self.edited(|document| document.insert("axis", node(Value::List(axes))))
    }
}

/// The points of the axis called `name`.
fn points<'a>(axes: &'a mut [Node], name: &str) -> Option<&'a mut Vec<Node>> {
    axes.iter_mut().find_map(|axis| {
        let Value::Table(axis) = &mut axis.value else { return None };
        if !matches!(&axis.get("name")?.value, Value::Text(own) if own == name) {
            return None;
        }
        match axis.get_mut("points").map(|points| &mut points.value) {
            Some(Value::List(points)) => Some(points),
            _ => None,
        }
    })
}

fn label(point: &Node) -> Option<&String> {
    let Value::Table(point) = &point.value else { return None };
    match &point.get("label")?.value {
        Value::Text(label) => Some(label),
        _ => None,
    }
}
