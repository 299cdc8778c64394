//! Names of the cells that a figure shows.

use super::kind::{NamedAxis, Reference};
use super::spec::CellFilter;
use document::{Fault, Reader};
use experiment::{Cell, Experiment};

/// The axes by which a figure names its cells.
#[derive(Clone, Debug, Default)]
pub(super) struct CellNames {
    /// The axis whose values come first in a name; the first axis if `None`.
    group: Option<String>,
    /// The axis whose values come second in a name.
    series: Option<String>,
    /// The key of `reference` in the file.
    reference_key: &'static str,
    /// The value of `group` with which the others are compared.
    pub(super) reference: Option<String>,
}

/// The name of a cell that is shown.
pub(super) struct NamedCell<'a> {
    /// Index of the cell in the experiment.
    pub(super) index: usize,
    /// The value of the group axis; the title of the experiment if it has no axes.
    pub(super) group: &'a str,
    /// The values of the series axis and of all other axes that vary among the cells shown.
    pub(super) rest: Vec<&'a str>,
}

impl NamedCell<'_> {
    /// All values, separated by commas.
    pub(super) fn name(&self) -> String {
        let values: Vec<&str> =
            std::iter::once(self.group).chain(self.rest.iter().copied()).collect();
        values.join(", ")
    }

    /// Whether the cell is in this group and otherwise has the same values as `other`.
    pub(super) fn is_of(&self, group: &str, other: &Self) -> bool {
        self.group == group && self.rest == other.rest
    }
}

impl CellNames {
    /// Reads `group`, `series` and the reference, which has this key.
    pub(super) fn read(table: &mut Reader<'_>, reference_key: &'static str) -> Result<Self, Fault> {
        Ok(Self {
            group: table.optional("group")?,
            series: table.optional("series")?,
            reference_key,
            reference: table.optional(reference_key)?,
        })
    }

    /// The axes that the figure names, each with its key.
    pub(super) fn axes(&self) -> Vec<NamedAxis<'_>> {
        vec![
            NamedAxis { key: "group", axis: self.group.as_deref() },
            NamedAxis { key: "series", axis: self.series.as_deref() },
        ]
    }

    /// The reference with its key.
    pub(super) fn reference(&self) -> Option<Reference<'_>> {
        let value = self.reference.as_deref()?;
        Some(Reference { key: self.reference_key, value, axis_key: "group" })
    }

    /// The cells that a figure shows, each with a unique name.
    pub(super) fn cells<'a>(
        &self,
        experiment: &'a Experiment,
        filter: &CellFilter,
    ) -> Vec<NamedCell<'a>> {
        let cells: Vec<&Cell> =
            experiment.cells().iter().filter(|cell| filter.matches(cell)).collect();
        let group = self.group_axis(&cells);
        let rest = self.other_axes(&cells, group);
        let named = |cell: &&'a Cell| NamedCell {
            index: cell.index,
            group: group.and_then(|axis| value(cell, axis)).unwrap_or(&experiment.title),
            rest: rest.iter().filter_map(|axis| value(cell, axis)).collect(),
        };
        cells.iter().map(named).collect()
    }

    /// The names of the axes by which cells are named, for a heading.
    pub(super) fn axis_names(&self, experiment: &Experiment, filter: &CellFilter) -> Vec<String> {
        let cells: Vec<&Cell> =
            experiment.cells().iter().filter(|cell| filter.matches(cell)).collect();
        let group = self.group_axis(&cells);
        group.into_iter().chain(self.other_axes(&cells, group)).map(str::to_owned).collect()
    }

    fn group_axis<'a>(&'a self, cells: &[&'a Cell]) -> Option<&'a str> {
        let first = || cells.first()?.params.first().map(|(axis, _)| axis.as_str());
        self.group.as_deref().or_else(first)
    }

    /// The series axis and all other axes that vary among the cells.
    fn other_axes<'a>(&'a self, cells: &[&'a Cell], group: Option<&str>) -> Vec<&'a str> {
        let series = self.series.as_deref();
        let varies = |axis: &&str| {
            let mut values = cells.iter().map(|cell| value(cell, axis));
            values.next().is_some_and(|first| values.any(|other| other != first))
        };
        let all = cells
            .first()
            .into_iter()
            .flat_map(|cell| cell.params.iter().map(|(axis, _)| axis.as_str()));
        let others =
            all.filter(|axis| Some(*axis) != group && Some(*axis) != series).filter(varies);
        series.into_iter().chain(others).collect()
    }
}

fn value<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    cell.params.iter().find(|(name, _)| name == axis).map(|(_, value)| value.as_str())
}
