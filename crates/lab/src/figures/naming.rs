use super::spec::CellFilter;
use document::{Fault, Reader};
use experiment::{Cell, Experiment};

/// By which axes a figure names the cells that it shows.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    /// The axis whose values come first; the first one if it is not named.
    group: Option<String>,
    /// The axis whose values come second.
    series: Option<String>,
    /// The value of `group` that the others are compared with.
    pub(super) reference: Option<String>,
}

/// A cell that is shown.
pub(super) struct Named<'a> {
    /// Its index in the experiment.
    pub(super) index: usize,
    /// The value of the group's axis; the experiment's title if it has no axes.
    pub(super) group: &'a str,
    /// The values of the series' axis and of every other axis that varies among the cells that are
    /// shown.
    pub(super) rest: Vec<&'a str>,
}

impl Named<'_> {
    /// Whether it is of this group, and all else as with `other`.
    pub(super) fn is_of(&self, group: &str, other: &Self) -> bool {
        self.group == group && self.rest == other.rest
    }
}

impl Naming {
    /// Reads `group` and `series`, and the reference under its own key.
    pub(super) fn read(table: &mut Reader<'_>, reference: &'static str) -> Result<Self, Fault> {
        Ok(Self {
            group: table.optional("group")?,
            series: table.optional("series")?,
            reference: table.optional(reference)?,
        })
    }

    /// The axes that are named, each with the key.
    pub(super) const fn axes_by_key(&self) -> [(&'static str, &Option<String>); 2] {
        [("group", &self.group), ("series", &self.series)]
    }

    /// The cells that a figure shows, each with a name of its own.
    pub(super) fn names<'a>(
        &self,
        experiment: &'a Experiment,
        filter: &CellFilter,
    ) -> Vec<Named<'a>> {
        let cells: Vec<&Cell> =
            experiment.cells().iter().filter(|cell| filter.fits(cell)).collect();
        let group = self.group_axis(&cells);
        let rest = self.other_axes(&cells, group);
        let named = |cell: &&'a Cell| Named {
            index: cell.index,
            group: group.and_then(|axis| value(cell, axis)).unwrap_or(&experiment.title),
            rest: rest.iter().filter_map(|axis| value(cell, axis)).collect(),
        };
        cells.iter().map(named).collect()
    }

    /// The axes by which cells are named, for a heading.
    pub(super) fn axes(&self, experiment: &Experiment, filter: &CellFilter) -> Vec<String> {
        let cells: Vec<&Cell> =
            experiment.cells().iter().filter(|cell| filter.fits(cell)).collect();
        let group = self.group_axis(&cells);
        group.into_iter().chain(self.other_axes(&cells, group)).map(str::to_owned).collect()
    }

    fn group_axis<'a>(&'a self, cells: &[&'a Cell]) -> Option<&'a str> {
        let first = || cells.first()?.params.first().map(|(axis, _)| axis.as_str());
        self.group.as_deref().or_else(first)
    }

    /// The series' axis, and what else varies.
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
