use super::bars::{Bars, Shape};
use super::cdf::Cdf;
use super::scatter::Scatter;
use super::table::Table;
use super::time::TimePlot;
use super::unit::Unit;
use document::{Fault, Location, Node, Reader, Value, did_you_mean, read as read_value};
use experiment::{Axis, Cell, Experiment, ExperimentError};
use report::{At, Mark, MarkKind};

/// One figure of an experiment file.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Short heading.
    pub title: String,
    /// What to see in it; may be empty.
    pub caption: String,
    pub(super) cells: CellFilter,
    pub(super) body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Time(TimePlot),
    Bars(Bars),
    Cdf(Cdf),
    Table(Table),
    Scatter(Box<Scatter>),
}

/// Which cells a figure shows: those whose parameters are among these.
#[derive(Clone, Debug, Default)]
pub(super) struct CellFilter(Vec<Wanted>);

/// Values of an axis.
#[derive(Clone, Debug)]
struct Wanted {
    axis: String,
    values: Vec<String>,
    location: Location,
}

impl CellFilter {
    pub(super) fn fits(&self, cell: &Cell) -> bool {
        let fits = |wanted: &Wanted| {
            cell.params
                .iter()
                .any(|(axis, value)| *axis == wanted.axis && wanted.values.contains(value))
        };
        self.0.iter().all(fits)
    }

    /// Refuses a value that its axis does not have. An axis that is not there, as when it was
    /// overridden, fits no cell.
    fn check(&self, axes: &[Axis]) -> Result<(), Fault> {
        for wanted in &self.0 {
            let Some(axis) = axes.iter().find(|axis| axis.name == wanted.axis) else { continue };
            let labels = axis.points.iter().map(|point| point.label.as_str());
            if let Some(missing) =
                wanted.values.iter().find(|value| !labels.clone().any(|label| label == *value))
            {
                let suggestion = did_you_mean(missing, labels, "there are");
                let reason = format!("there is no '{missing}'");
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
    /// What it names that is not there, and the suggestion: an axis, or a value of one. `axis` gives the
    /// values of an axis.
    pub(crate) fn missing<'a>(
        &self,
        axis: impl Fn(&str) -> Vec<&'a str>,
    ) -> Option<(String, String)> {
        let of = |key: &str, what: &str| {
            format!("figure '{}': {key} = '{what}' is not there", self.title)
        };
        for (key, name) in self.axes() {
            if let Some(name) = name
                && axis(name).is_empty()
            {
                return Some((of(key, name), "name an axis of [grid] or [[axis]]".to_owned()));
            }
        }
        let (key, reference, axis_key) = self.reference()?;
        let named = self.axes().into_iter().find(|(key, _)| *key == axis_key);
        let Some((_, Some(name))) = named else {
            return Some((
                of(key, reference),
                format!("name the axis that it is a value of: {axis_key} = …"),
            ));
        };
        let values = axis(name);
        let suggestion = || did_you_mean(reference, values.iter().copied(), "there are");
        (!values.contains(&reference)).then(|| (of(key, reference), suggestion()))
    }

    /// The axes that it names, each with the key.
    fn axes(&self) -> Vec<(&'static str, &Option<String>)> {
        match &self.body {
            Body::Time(plot) => vec![("series", &plot.series)],
            Body::Bars(bars) => vec![("group", bars.group()), ("series", bars.series())],
            Body::Table(table) => table.naming.axes_by_key().to_vec(),
            Body::Scatter(plot) => plot.naming.axes_by_key().to_vec(),
            Body::Cdf(_) => Vec::new(),
        }
    }

    /// The value with which others are compared, with its key, and the key of the axis that it is a
    /// value of.
    fn reference(&self) -> Option<(&'static str, &str, &'static str)> {
        let (key, reference, axis) = match &self.body {
            Body::Time(plot) => ("reference", &plot.reference, "series"),
            Body::Table(table) => ("reference", &table.naming.reference, "group"),
            Body::Scatter(plot) => ("relative", &plot.naming.reference, "group"),
            Body::Bars(_) | Body::Cdf(_) => return None,
        };
        Some((key, reference.as_deref()?, axis))
    }
}

/// The figures of an experiment file, in the order of the file. Without any, a report shows the
/// usual plots.
#[derive(Clone, Debug)]
pub struct Figures(pub(super) Vec<Figure>);

impl Figures {
    /// Reads the `[[figure]]` tables of an experiment.
    ///
    /// # Errors
    /// When a table is not a figure, or names a value that its axis does not have.
    pub fn read(experiment: &Experiment) -> Result<Self, ExperimentError> {
        Self::read_nodes(experiment).map_err(|fault| fault.in_file(&experiment.path))
    }

    fn read_nodes(experiment: &Experiment) -> Result<Self, Fault> {
        let figures: Vec<Figure> =
            experiment.figures().iter().map(figure).collect::<Result<_, _>>()?;
        figures.iter().try_for_each(|figure| figure.cells.check(experiment.axes()))?;
        Ok(Self(figures))
    }

    /// Checks that the axes which the figures name exist. Only for a file as it stands: an override
    /// may remove an axis.
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
    let body = match kind.as_str() {
        "time" => Body::Time(TimePlot::read(&mut table)?),
        "bars" => Body::Bars(Bars::read(&mut table, Shape::Bars)?),
        "rows" => Body::Bars(Bars::read(&mut table, Shape::Rows)?),
        "boxes" => Body::Bars(Bars::read(&mut table, Shape::Boxes)?),
        "cdf" => Body::Cdf(Cdf::read(&mut table)?),
        "table" => Body::Table(Table::read(&mut table)?),
        "scatter" => Body::Scatter(Box::new(Scatter::read(&mut table)?)),
        other => {
            return Err(table.fault(
                "kind",
                format!("no kind '{other}'"),
                "write time, bars, rows, boxes, cdf, table or scatter",
            ));
        }
    };
    table.finish()?;
    Ok(Figure { title, caption, cells, body })
}

fn cell_filter(table: &mut Reader<'_>) -> Result<CellFilter, Fault> {
    let path = table.path("cell");
    let entries = table.entries("cell")?.into_iter().map(|(name, node)| {
        let values = match &node.value {
            Value::Text(text) => vec![text.clone()],
            _ => read_value(node, &format!("{path}.{name}"))?,
        };
        Ok(Wanted { axis: name.to_owned(), values, location: node.location })
    });
    Ok(CellFilter(entries.collect::<Result<_, _>>()?))
}

/// The unit under `unit`, or none.
pub(super) fn unit(table: &mut Reader<'_>) -> Result<Unit, Fault> {
    let text = table.or("unit", String::new())?;
    text.parse().map_err(|reason: String| table.fault("unit", reason, ""))
}

/// The marks under `marks`: `{ y = 0.9, label = "90 %" }`, in the figure's unit; `x` for vertical
/// ones, `from` and `to` for a part of the width. Published values unless `reference = true`.
pub(super) fn marks(table: &mut Reader<'_>) -> Result<Vec<Mark>, Fault> {
    let path = table.path("marks");
    table.items("marks")?.unwrap_or_default().iter().map(|node| mark(node, &path)).collect()
}

fn mark(node: &Node, path: &str) -> Result<Mark, Fault> {
    let mut table = Reader::new(node, path)?;
    let (x, y): (Option<f64>, Option<f64>) = (table.optional("x")?, table.optional("y")?);
    let (from, to): (Option<f64>, Option<f64>) = (table.optional("from")?, table.optional("to")?);
    let at = match (x, y, from, to) {
        (Some(x), None, None, None) => At::X(x),
        (None, Some(y), None, None) => At::Y(y),
        (None, Some(y), Some(from), Some(to)) => At::YBetween { y, from, to },
        _ => return Err(table.fault("y", "a mark needs x, or y, or y with from and to", "")),
    };
    let kind =
        if table.or("reference", false)? { MarkKind::Reference } else { MarkKind::Published };
    let label = table.or("label", String::new())?;
    table.finish()?;
    Ok(Mark { at, label, kind })
}
