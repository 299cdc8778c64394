//! What bars, rows and boxes share: values over the grid, in groups.

use super::axis_label::axis_label;
use super::kind::{NamedAxis, Runs};
use super::marks::{read_marks, read_unit};
use document::{Fault, Node, Reader};
use experiment::Cell;
use metrics::{Estimate, MetricError, Request};
use report::{Bar, Group, Mark, Role, Scale};
use sim::Recording;

/// Values in groups. A group is a value of one axis; an item in it is a value of another axis, or a
/// metric.
#[derive(Clone, Debug)]
pub(super) struct GroupedValues {
    label: String,
    unit: Scale,
    log: bool,
    x_label: String,
    /// The axis whose values are the groups; the first axis if `None`.
    group: Option<String>,
    /// The axis whose values are the items of a group.
    series: Option<String>,
    /// The text at which the labels of the group axis are split into group and item.
    split: Option<String>,
    values: Vec<ValueSpec>,
    marks: Vec<Mark>,
}

/// A metric, or several statistics of a quantity.
#[derive(Clone, Debug)]
struct ValueSpec {
    name: String,
    requests: Vec<Request>,
    /// What the paper reports for each cell, in the figure's unit.
    published: Vec<f64>,
}

impl GroupedValues {
    /// Reads values, each with these statistics. `example` is the metric that error messages
    /// suggest.
    pub(super) fn read(
        table: &mut Reader<'_>,
        statistics: &[&str],
        example: &str,
    ) -> Result<Self, Fault> {
        let path = table.path("values");
        let values = table.items("values")?.unwrap_or_default();
        if values.is_empty() {
            let suggestion =
                format!("write values = [{{ metric = \"{example}\", stream = \"main.video\" }}]");
            return Err(table.fault("values", "there must be at least one value", suggestion));
        }
        let values = values
            .iter()
            .map(|node| value(node, &path, statistics))
            .collect::<Result<Vec<_>, _>>()?;
        let grouped = Self {
            label: table.required("label")?,
            unit: read_unit(table)?,
            log: table.or("log", false)?,
            x_label: table.or("x_label", String::new())?,
            group: table.optional("group")?,
            series: table.optional("series")?,
            split: table.optional("split")?,
            values,
            marks: read_marks(table)?,
        };
        if grouped.values.len() > 1 && (grouped.series.is_some() || grouped.split.is_some()) {
            let reason = "several values are already the items of a group";
            return Err(table.fault(
                "series",
                reason,
                "remove series and split, or show one value",
            ));
        }
        Ok(grouped)
    }

    /// The axes of the groups and of the items.
    pub(super) fn axes(&self) -> Vec<NamedAxis<'_>> {
        vec![
            NamedAxis { key: "group", axis: self.group.as_deref() },
            NamedAxis { key: "series", axis: self.series.as_deref() },
        ]
    }

    /// The statistics of each value in one run, in the figure's unit.
    pub(super) fn compute(
        &self,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Vec<Vec<f64>>, MetricError> {
        let scaled =
            |request: &Request| Ok(request.compute_among(recording, streams)? * self.unit.factor);
        let statistics = |value: &ValueSpec| value.requests.iter().map(scaled).collect();
        self.values.iter().map(statistics).collect()
    }

    /// The groups. `item` makes an item from what the runs of a cell gave for one value, and from
    /// what the paper reports. `note` says what an item of one run is, and of how many runs an item
    /// of several is the mean.
    pub(super) fn assemble<E, T>(
        &self,
        runs: &Runs<'_, E>,
        item: impl Fn(&[&E], usize, Option<f64>) -> T,
        [of_one, of_several]: [&str; 2],
    ) -> report::Grouped<T> {
        let mut layout = Layout::default();
        for (cell_index, (cell, extracts)) in runs.cells().enumerate() {
            for (index, value) in self.values.iter().enumerate() {
                let (group, series) = self.names(cell, value);
                let published = value.published.get(cell_index).copied();
                layout.add(&group, &series, item(extracts, index, published));
            }
        }
        let (series, groups) = layout.finish();
        report::Grouped {
            series: series
                .into_iter()
                .enumerate()
                .map(|(index, name)| (name, Role::Series(index)))
                .collect(),
            legend: self.series.as_deref().map(axis_label).unwrap_or_default(),
            groups,
            x_label: self.x_label(runs),
            y_label: self.unit.label(&self.label),
            marks: self.marks.clone(),
            y_range: None,
            log_y: self.log,
            note: if runs.has_several_runs() {
                format!("{of_several} {}.", runs.run_count())
            } else {
                of_one.to_owned()
            },
        }
    }

    /// The label of the groups; without one in the file, what the values of their axis are.
    fn x_label<E>(&self, runs: &Runs<'_, E>) -> String {
        if !self.x_label.is_empty() {
            return self.x_label.clone();
        }
        let first = || runs.heading.experiment.axes().first().map(|axis| axis.name.as_str());
        self.group.as_deref().or_else(first).map(axis_label).unwrap_or_default()
    }

    /// The group and the item of a value of a cell.
    fn names(&self, cell: &Cell, value: &ValueSpec) -> (String, String) {
        let of = |axis: &str| {
            cell.params.iter().find(|(name, _)| name == axis).map(|(_, value)| value.clone())
        };
        let first = || cell.params.first().map(|(_, value)| value.clone());
        let group = self.group.as_deref().map_or_else(first, of).unwrap_or_default();
        if let Some((group, item)) = self.split.as_deref().and_then(|at| group.split_once(at)) {
            return (group.to_owned(), item.to_owned());
        }
        (group, self.series.as_deref().and_then(of).unwrap_or_else(|| value.name.clone()))
    }
}

/// What a bar is: of one run, and of several.
pub(super) const BAR_NOTE: [&str; 2] = [
    "Each bar: one run.",
    "Whiskers: 95 % confidence interval of the mean (Student's t). Each bar: mean of",
];

/// A bar: the mean of a value over the runs of a cell, and its interval. The interval of a value
/// that is never negative ends at zero.
pub(super) fn bar(extracts: &[&Vec<f64>], index: usize, published: Option<f64>) -> Bar {
    let values: Vec<f64> =
        extracts.iter().filter_map(|numbers| numbers.get(index).copied()).collect();
    let Estimate { mean, half_width, .. } = Estimate::of(&values);
    let floor = if values.iter().all(|value| *value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let interval = half_width.map(|half| ((mean - half).max(floor), mean + half));
    Bar { value: mean, interval, runs: values.len(), published }
}

fn value(node: &Node, path: &str, statistics: &[&str]) -> Result<ValueSpec, Fault> {
    let mut table = Reader::new(node, path)?;
    let name = table.or("name", String::new())?;
    let published = table.items("published")?.unwrap_or_default();
    let published = published.iter().map(|node| document::read(node, &format!("{path}.published")));
    let published = published.collect::<Result<_, _>>()?;
    let requests = statistics.iter().map(|statistic| Request::read_table(&mut table, statistic));
    let requests = requests.collect::<Result<_, _>>()?;
    table.finish()?;
    Ok(ValueSpec { name, requests, published })
}

/// Groups and items, in order of first appearance.
struct Layout<T> {
    groups: Vec<String>,
    series: Vec<String>,
    /// Index of the group, index of the series, item.
    items: Vec<(usize, usize, T)>,
}

impl<T> Default for Layout<T> {
    fn default() -> Self {
        Self { groups: Vec::new(), series: Vec::new(), items: Vec::new() }
    }
}

impl<T> Layout<T> {
    fn add(&mut self, group: &str, series: &str, item: T) {
        let index = |names: &mut Vec<String>, name: &str| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let (group, series) = (index(&mut self.groups, group), index(&mut self.series, series));
        self.items.push((group, series, item));
    }

    /// The names of the series, and the groups.
    fn finish(self) -> (Vec<String>, Vec<Group<T>>) {
        let empty = || std::iter::repeat_with(|| None).take(self.series.len()).collect();
        let mut groups: Vec<Group<T>> =
            self.groups.into_iter().map(|label| Group { label, items: empty() }).collect();
        for (group, series, item) in self.items {
            groups[group].items[series] = Some(item);
        }
        (self.series, groups)
    }
}
