//! Bars and boxes over the grid: a group a value of one axis, in it an item a value of another, or
//! a metric.

use super::Piece;
use super::spec::{CellFilter, marks, unit};
use super::unit::Unit;
use document::{Fault, Node, Reader};
use experiment::{Cell, Experiment};
use metrics::{MetricError, Request, mean};
use report::{Bar, BoxStats, Group, Grouped, Mark, Role};
use sim::Recording;

/// What stands over the grid.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    shape: Shape,
    label: String,
    unit: Unit,
    log: bool,
    x_label: String,
    /// The axis whose values are the groups; the first one if it is not named.
    group: Option<String>,
    /// The axis whose values are the items of a group.
    series: Option<String>,
    /// Splits the group axis' labels into group and item.
    split: Option<String>,
    values: Vec<ValueSpec>,
    marks: Vec<Mark>,
}

/// What a value is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A column.
    Bars,
    /// A bar that lies, its group's name at the left.
    Rows,
    /// A box of percentiles.
    Boxes,
}

/// A metric, or for boxes the five percentiles of a quantity.
#[derive(Clone, Debug)]
struct ValueSpec {
    name: String,
    requests: Vec<Request>,
    /// What the paper reports, by cell, in the figure's unit.
    published: Vec<f64>,
}

/// The percentiles of a box, in the order of [`BoxStats`].
const PERCENTILES: [&str; 5] = ["p5", "p25", "median", "p75", "p95"];

impl Bars {
    pub(super) fn read(table: &mut Reader<'_>, shape: Shape) -> Result<Self, Fault> {
        let boxes = shape == Shape::Boxes;
        let path = table.path("values");
        let values = table.items("values")?.unwrap_or_default();
        if values.is_empty() {
            let example = if boxes { "queuing_delay" } else { "utilization" };
            let suggestion =
                format!("write values = [{{ metric = \"{example}\", stream = \"main.video\" }}]");
            return Err(table.fault("values", "there are none", suggestion));
        }
        let values =
            values.iter().map(|node| value(node, &path, boxes)).collect::<Result<Vec<_>, _>>()?;
        let bars = Self {
            shape,
            label: table.required("label")?,
            unit: unit(table)?,
            log: table.or("log", false)?,
            x_label: table.or("x_label", String::new())?,
            group: table.optional("group")?,
            series: table.optional("series")?,
            split: table.optional("split")?,
            values,
            marks: marks(table)?,
        };
        if bars.values.len() > 1 && (bars.series.is_some() || bars.split.is_some()) {
            let reason = "several values are the items of a group already";
            return Err(table.fault(
                "series",
                reason,
                "leave series and split out, or show one value",
            ));
        }
        Ok(bars)
    }

    /// The axis of its groups.
    pub(super) fn group(&self) -> &Option<String> {
        &self.group
    }

    /// The axis of a group's items.
    pub(super) fn series(&self) -> &Option<String> {
        &self.series
    }

    pub(super) fn piece(
        &self,
        recording: &Recording,
        known: &[String],
    ) -> Result<Piece, MetricError> {
        let scaled =
            |request: &Request| Ok(request.compute_among(recording, known)? * self.unit.scale);
        let numbers = |value: &ValueSpec| value.requests.iter().map(scaled).collect();
        let all: Vec<Vec<f64>> =
            self.values.iter().map(numbers).collect::<Result<_, MetricError>>()?;
        if self.shape == Shape::Boxes {
            let stats = |numbers: Vec<f64>| <[f64; 5]>::try_from(numbers).unwrap_or([f64::NAN; 5]);
            return Ok(Piece::Boxes(all.into_iter().map(stats).collect()));
        }
        Ok(Piece::Numbers(all.concat()))
    }

    /// Draws what the runs of each cell gave.
    pub(super) fn draw(
        &self,
        experiment: &Experiment,
        filter: &CellFilter,
        runs: &[Vec<&Piece>],
    ) -> report::Body {
        let cells: Vec<(&Cell, &Vec<&Piece>)> =
            experiment.cells().iter().zip(runs).filter(|(cell, _)| filter.fits(cell)).collect();
        let mut layout = Layout::default();
        for (place, (cell, pieces)) in cells.into_iter().enumerate() {
            for (index, value) in self.values.iter().enumerate() {
                let (group, series) = self.names(cell, value);
                let published = value.published.get(place).copied();
                layout.add(&group, &series, self.item(pieces, index, published));
            }
        }
        if self.shape == Shape::Boxes {
            let boxes = layout.map(|item| match item {
                Item::Box(stats) => Some(stats),
                Item::Bar(_) => None,
            });
            report::Body::Boxes(self.grouped(boxes))
        } else {
            let bars = layout.map(|item| match item {
                Item::Bar(bar) => Some(bar),
                Item::Box(_) => None,
            });
            report::Body::Bars(self.grouped(bars))
        }
    }

    /// In which group a cell's value stands, and as which item.
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

    /// The mean over the runs.
    fn item(&self, pieces: &[&Piece], index: usize, published: Option<f64>) -> Item {
        if self.shape == Shape::Boxes {
            let percentile = |which: usize| {
                let of = |piece: &&Piece| match piece {
                    Piece::Boxes(boxes) => boxes.get(index).map(|stats| stats[which]),
                    _ => None,
                };
                mean(&pieces.iter().filter_map(of).collect::<Vec<_>>())
            };
            let [p5, p25, p50, p75, p95] = std::array::from_fn(percentile);
            return Item::Box(BoxStats { p5, p25, p50, p75, p95, published });
        }
        let of = |piece: &&Piece| match piece {
            Piece::Numbers(numbers) => numbers.get(index).copied(),
            _ => None,
        };
        let values: Vec<f64> = pieces.iter().filter_map(of).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let spread = (values.len() > 1).then_some((least, greatest));
        Item::Bar(Bar { value: mean(&values), spread, published })
    }

    fn grouped<T>(&self, (series, groups): (Vec<String>, Vec<Group<T>>)) -> Grouped<T> {
        Grouped {
            series: series
                .into_iter()
                .enumerate()
                .map(|(place, name)| (name, Role::Series(place)))
                .collect(),
            groups,
            x_label: self.x_label.clone(),
            y_label: self.unit.label(&self.label),
            marks: self.marks.clone(),
            y_range: None,
            log_y: self.log,
            lying: self.shape == Shape::Rows,
        }
    }
}

fn value(node: &Node, path: &str, boxes: bool) -> Result<ValueSpec, Fault> {
    let mut table = Reader::new(node, path)?;
    let name = table.or("name", String::new())?;
    let published = table.items("published")?.unwrap_or_default();
    let published = published.iter().map(|node| document::read(node, &format!("{path}.published")));
    let published = published.collect::<Result<_, _>>()?;
    let requests = if boxes { &PERCENTILES[..] } else { &[""][..] };
    let requests = requests.iter().map(|statistic| Request::read_table(&mut table, statistic));
    let requests = requests.collect::<Result<_, _>>()?;
    table.finish()?;
    Ok(ValueSpec { name, requests, published })
}

enum Item {
    Bar(Bar),
    Box(BoxStats),
}

/// Groups and items in the order in which they first come.
#[derive(Default)]
struct Layout {
    groups: Vec<String>,
    series: Vec<String>,
    items: Vec<(usize, usize, Item)>,
}

impl Layout {
    fn add(&mut self, group: &str, series: &str, item: Item) {
        let place = |names: &mut Vec<String>, name: &str| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let (group, series) = (place(&mut self.groups, group), place(&mut self.series, series));
        self.items.push((group, series, item));
    }

    fn map<T>(self, of: impl Fn(Item) -> Option<T>) -> (Vec<String>, Vec<Group<T>>) {
        let empty = || std::iter::repeat_with(|| None).take(self.series.len()).collect();
        let mut groups: Vec<Group<T>> =
            self.groups.into_iter().map(|label| Group { label, items: empty() }).collect();
        for (group, series, item) in self.items {
            groups[group].items[series] = of(item);
        }
        (self.series, groups)
    }
}
