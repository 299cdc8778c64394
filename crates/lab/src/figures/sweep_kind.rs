//! What a kind of figure of sweeps implements, and what several kinds share.

use document::{Fault, Problem, Reader};
use report::{Drawable, PlaneAxis, Scale};
use std::fmt::Debug;
use std::sync::Arc;

use crate::sweep::{Parameter, PointResult, Scenario, Sweep, Table};

/// A kind of figure of sweeps.
pub(super) trait SweepKind: Debug + Send + Sync {
    /// Reads the keys of this kind from a `[[figure]]` table.
    ///
    /// # Errors
    /// When a key is missing or has a wrong value, or the sweep has no such figure.
    fn read(table: &mut Reader<'_>, sweep: &Sweep) -> Result<Self, Fault>
    where
        Self: Sized;

    /// The figure.
    fn draw(&self, swept: &Swept<'_>) -> Box<dyn Drawable>;
}

/// Reads a figure of one kind.
pub(super) type ReadSweepKind = fn(&mut Reader<'_>, &Sweep) -> Result<Arc<dyn SweepKind>, Fault>;

/// [`SweepKind::read`] for the registry.
pub(super) fn read_sweep<K: SweepKind + 'static>(
    table: &mut Reader<'_>,
    sweep: &Sweep,
) -> Result<Arc<dyn SweepKind>, Fault> {
    Ok(Arc::new(K::read(table, sweep)?))
}

/// A sweep with its results.
pub(super) struct Swept<'a> {
    pub(super) sweep: &'a Sweep,
    pub(super) table: &'a Table,
    /// The point with the greatest objective.
    pub(super) best: &'a PointResult,
}

/// A number of each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// The objective of the point.
    Objective,
    /// The objective of the scenario with this index.
    InScenario(usize),
    /// The same, normalised.
    Normalised(usize),
    /// A value of a scenario: both indices.
    Value(usize, usize),
}

/// A quantity with the label that a figure shows.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) quantity: Quantity,
    label: String,
}

impl Shown {
    /// The objective of the points.
    pub(super) fn objective() -> Self {
        Self { quantity: Quantity::Objective, label: "objective".to_owned() }
    }

    /// Reads the keys `value` and `label`.
    pub(super) fn read(table: &mut Reader<'_>, sweep: &Sweep) -> Result<Self, Fault> {
        let name: String = table.or("value", "objective".to_owned())?;
        let label = table.or("label", name.replacen('.', ": ", 1))?;
        let quantity = Quantity::named(&name, sweep);
        let quantity = quantity.map_err(|problem| table.problem("value", problem))?;
        Ok(Self { quantity, label })
    }

    /// The factor of the unit in which these values are shown, and the label with that unit.
    pub(super) fn scaled(&self, sweep: &Sweep, values: impl Iterator<Item = f64>) -> (f64, String) {
        let scale = match self.quantity {
            Quantity::Value(scenario, value) => {
                Scale::of(sweep.scenarios[scenario].values[value].1.unit(), values)
            }
            _ => Scale::NONE,
        };
        (scale.factor, scale.label(&self.label))
    }
}

impl Quantity {
    /// The quantity with this name in an objective: `objective`, `tcp.objective`, `tcp.normalised`
    /// or `tcp.rate`.
    fn named(name: &str, sweep: &Sweep) -> Result<Self, Problem> {
        if name == "objective" {
            return Ok(Self::Objective);
        }
        let all = sweep.scenarios.iter().enumerate().flat_map(|(index, scenario)| {
            let own = [
                (format!("{}.objective", scenario.name), Self::InScenario(index)),
                (format!("{}.normalised", scenario.name), Self::Normalised(index)),
            ];
            own.into_iter().chain(values(index, scenario))
        });
        let all: Vec<(String, Self)> = all.collect();
        let found = all.iter().find(|(known, _)| known == name).map(|(_, quantity)| *quantity);
        found.ok_or_else(|| {
            let known = all.iter().map(|(known, _)| known.as_str());
            let known = std::iter::once("objective").chain(known);
            Problem::unknown("value", name, known, "the values are")
        })
    }

    /// Its number at a point.
    pub(super) fn of(self, point: &PointResult) -> f64 {
        match self {
            Self::Objective => point.objective,
            Self::InScenario(scenario) => point.scenarios[scenario].objective,
            Self::Normalised(scenario) => point.scenarios[scenario].normalised,
            Self::Value(scenario, value) => point.scenarios[scenario].values[value],
        }
    }
}

fn values(index: usize, scenario: &Scenario) -> impl Iterator<Item = (String, Quantity)> + '_ {
    let named = (0..).zip(&scenario.values);
    named.map(move |(value, (name, _))| {
        (format!("{}.{name}", scenario.name), Quantity::Value(index, value))
    })
}

/// The index of the parameter that the key names.
///
/// # Errors
/// If the key is missing, there is no such parameter, or its values are not numbers.
pub(super) fn read_parameter(
    table: &mut Reader<'_>,
    key: &'static str,
    sweep: &Sweep,
) -> Result<usize, Fault> {
    let name: String = table.required(key)?;
    let Some(index) = sweep.parameters.iter().position(|one| one.name == name) else {
        let known = sweep.parameters.iter().map(|one| one.name.as_str());
        let problem = Problem::unknown("parameter", &name, known, "the parameters are");
        return Err(table.problem(key, problem));
    };
    if axis(&sweep.parameters[index]).is_none() {
        let reason = format!("the values of '{name}' are not numbers");
        return Err(table.fault(
            key,
            reason,
            "name a parameter with a range, or a list of numbers",
        ));
    }
    Ok(index)
}

/// The axis of a parameter, with its values in ascending order; `None` if they are not numbers.
pub(super) fn axis(parameter: &Parameter) -> Option<PlaneAxis> {
    let values = (0..parameter.count()).map(|index| parameter.number(index));
    let mut values = values.collect::<Option<Vec<f64>>>()?;
    values.sort_by(f64::total_cmp);
    Some(PlaneAxis { label: parameter.axis_label(), values, log: parameter.is_log() })
}

/// Whether two points have the same values of all parameters except `free`.
pub(super) fn shares(one: &PointResult, other: &PointResult, free: &[usize]) -> bool {
    let pairs = one.settings.iter().zip(&other.settings).enumerate();
    pairs.filter(|(index, _)| !free.contains(index)).all(|(_, (one, other))| one == other)
}
