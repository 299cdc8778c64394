use super::{controllers, printed, strategy};
use document::{Fault, KeyPath, Location, Node, Problem, Reader, Table, Value, did_you_mean};

/// An axis of the grid: a key of the file that varies, or several keys that vary together.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key that varies, or the name of the `[[axis]]`.
    pub name: String,
    /// The points, in the order of the file.
    pub points: Vec<Point>,
    location: Location,
}

/// A point of an axis.
#[derive(Clone, Debug)]
pub struct Point {
    /// The value, or the point's label.
    pub label: String,
    /// The values that it sets.
    pub set: Vec<(KeyPath, Node)>,
    /// The calls that take part; `None`: all.
    pub calls: Option<Vec<String>>,
    /// The TCP flows that take part; `None`: all.
    pub tcp: Option<Vec<String>>,
    /// The programs that take part; `None`: all.
    pub programs: Option<Vec<String>>,
    location: Location,
}

/// The axes of a file: the keys of `[grid]`, then each `[[axis]]`, in the order of the file.
pub(crate) fn axes(top: &mut Reader<'_>) -> Result<Vec<Axis>, Fault> {
    let mut axes = Vec::new();
    for (key, node) in top.entries("grid")? {
        axes.push(axis_of_key(key, node)?);
    }
    for node in top.items("axis")?.unwrap_or_default() {
        let axis = axis_of_table(node)?;
        if axes.iter().any(|other: &Axis| other.name == axis.name) {
            let reason = format!("there are two axes called '{}'", axis.name);
            return Err(Fault::new(axis.location, "axis.name", reason, "rename one of them"));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// Reads `"host.alice.up.rate" = ["500kbit/s", "1Mbit/s"]`.
fn axis_of_key(key: &str, node: &Node) -> Result<Axis, Fault> {
    let grid_key = || format!("grid.'{key}'");
    let fault = |location, reason: String, suggestion: &str| {
        Fault::new(location, grid_key(), reason, suggestion)
    };
    let path =
        KeyPath::parse(key).map_err(|error| Fault::of(node.location, grid_key(), error.into()))?;
    check_path(&path, node.location)?;
    let every = every_controller(&path, node);
    let values = match (&every, &node.value) {
        (Some(values), _) | (None, Value::List(values)) => values,
        (None, other) => {
            let reason = format!("{} where a list belongs", other.what());
            return Err(fault(node.location, reason, "write [ … ]"));
        }
    };
    if values.is_empty() {
        let suggestion = "list the values of the key, or leave the key out";
        return Err(fault(
            node.location,
            "the list is empty, so nothing would run".into(),
            suggestion,
        ));
    }
    let points = values.iter().map(|value| {
        let label = label_of(value).ok_or_else(|| {
            let reason = format!("{} cannot be the label of a cell", value.value.what());
            fault(value.location, reason, "write an [[axis]], whose points have labels")
        })?;
        let set = vec![(path.clone(), value.clone())];
        Ok(Point { label, set, calls: None, tcp: None, programs: None, location: value.location })
    });
    let axis = Axis {
        name: key.to_owned(),
        points: points.collect::<Result<_, _>>()?,
        location: node.location,
    };
    axis.check()?;
    Ok(axis)
}

/// The names of all controllers if `node` is the word `all` for the key of a controller. A constant
/// rate is none of them.
fn every_controller(path: &KeyPath, node: &Node) -> Option<Vec<Node>> {
    let of_controller = path.parts().last().is_some_and(|last| last == "controller");
    if !of_controller || node.value != Value::Text("all".to_owned()) {
        return None;
    }
    let names = controllers::adaptive().map(Value::Text);
    Some(names.map(|value| Node { value, location: node.location }).collect())
}

/// Reads `[[axis]]` with its name and points.
fn axis_of_table(node: &Node) -> Result<Axis, Fault> {
    let mut table = Reader::new(node, "axis")?;
    let name: String = table.required("name")?;
    let items = table.items("points")?;
    let Some(items) = items.filter(|items| !items.is_empty()) else {
        let suggestion = "write points = [ { label = \"…\", set = { … } }, … ]";
        return Err(table.fault("points", "there are no points, so nothing would run", suggestion));
    };
    let points = items.iter().map(point).collect::<Result<_, _>>()?;
    table.finish()?;
    let axis = Axis { name, points, location: node.location };
    axis.check()?;
    Ok(axis)
}

fn point(node: &Node) -> Result<Point, Fault> {
    let mut table = Reader::new(node, "axis.points")?;
    let label = table.required("label")?;
    let mut set = Vec::new();
    for (key, value) in table.entries("set")? {
        let path = KeyPath::parse(key)
            .map_err(|error| Fault::of(value.location, "axis.points.set", error.into()))?;
        check_path(&path, value.location)?;
        set.push((path, value.clone()));
    }
    let (calls, tcp) = (table.optional("calls")?, table.optional("tcp")?);
    let programs = table.optional("programs")?;
    // Checked here; Experiment::as_printed puts it in the place of `set`.
    printed::read(&mut table, "axis.points.")?;
    table.finish()?;
    Ok(Point { label, set, calls, tcp, programs, location: node.location })
}

impl Axis {
    /// Refuses two points with the same label.
    fn check(&self) -> Result<(), Fault> {
        for (index, point) in self.points.iter().enumerate() {
            if self.points[..index].iter().any(|earlier| earlier.label == point.label) {
                let reason = format!("there are two points '{}'", point.label);
                let suggestion = "give each point of the axis another value or label";
                return Err(Fault::new(point.location, self.name.clone(), reason, suggestion));
            }
        }
        Ok(())
    }
}

/// Refuses a path of a key that must be the same in all cells.
pub(crate) fn check_path(path: &KeyPath, location: Location) -> Result<(), Fault> {
    if path.parts().first().is_some_and(|first| super::scenario::KEYS.contains(&first.as_str())) {
        return Ok(());
    }
    let suggestion = format!("a path begins with one of {}", super::scenario::KEYS.join(", "));
    Err(Fault::new(location, path.to_string(), "this key cannot be varied", suggestion))
}

/// Removes from the grid the keys at `path`, so that a value of the command line can be set there.
///
/// # Errors
/// If an `[[axis]]` sets a value at `path`.
pub(crate) fn override_axes(document: &mut Table, path: &KeyPath) -> Result<(), Problem> {
    let overlaps = |key: &str| KeyPath::parse(key).is_ok_and(|key| key.overlaps(path));
    document.edit("grid", |grid| grid.retain(|key| !overlaps(key)));
    document.edit(printed::KEY, |printed| printed.retain(|key| !overlaps(key)));
    let Some(Value::List(axes)) = document.get("axis").map(|node| &node.value) else {
        return Ok(());
    };
    for axis in axes {
        let Value::Table(axis) = &axis.value else { continue };
        let Some(Value::List(points)) = axis.get("points").map(|node| &node.value) else {
            continue;
        };
        let sets_under = |point: &Table, key: &str| match point.get(key).map(|node| &node.value) {
            Some(Value::Table(set)) => set.iter().any(|(key, _)| overlaps(key)),
            _ => false,
        };
        let sets = points.iter().any(|point| match &point.value {
            Value::Table(point) => sets_under(point, "set") || sets_under(point, printed::KEY),
            _ => false,
        });
        if sets {
            let reason = format!("{path}: an axis of the experiment sets this in every cell");
            let suggestion = "copy the experiment to a file and change its [[axis]]";
            return Err(Problem::new(reason, suggestion));
        }
    }
    Ok(())
}

/// The value as a label; `None` for a list or a table.
fn label_of(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::List(_) | Value::Table(_) => None,
    }
}

/// One point of each axis, in every combination; the last axis varies fastest.
pub(crate) fn combinations(axes: &[Axis], limit: usize) -> Result<Vec<Vec<&Point>>, Fault> {
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.points.len()));
    if let Some(axis) = axes.first().filter(|_| count.is_none_or(|count| count > limit)) {
        let reason = format!("there are more than {limit} combinations");
        return Err(Fault::new(axis.location, "grid", reason, "vary fewer values"));
    }
    let mut all = vec![Vec::new()];
    for axis in axes {
        all = all
            .into_iter()
            .flat_map(|chosen: Vec<&Point>| {
                axis.points.iter().map(move |point| chosen.iter().copied().chain([point]).collect())
            })
            .collect();
    }
    Ok(all)
}

/// Removes from the document the sections of a kind (`call`, `tcp`, `program`) that are not in
/// `only`, the list of a point.
pub(crate) fn keep_sections(
    document: &mut Table,
    kind: &str,
    only: &[String],
    point: &Point,
) -> Result<(), Fault> {
    let Some(Node { value: Value::Table(sections), location }) = document.get(kind).cloned() else {
        return Ok(());
    };
    let mut sections = sections;
    if let Some(missing) = only.iter().find(|name| sections.get(name).is_none()) {
        let suggestion = did_you_mean(missing, sections.iter().map(|(name, _)| name), "there are");
        let reason = format!("there is no [{kind}.{missing}]");
        let plural = if kind == "tcp" { "" } else { "s" };
        let key = format!("axis.points.{kind}{plural}");
        return Err(Fault::new(point.location, key, reason, suggestion));
    }
    let is_left_out = |name: &str| !only.iter().any(|kept| kept == name);
    if kind == "call" {
        let left_out: Vec<&str> =
            sections.iter().map(|(name, _)| name).filter(|name| is_left_out(name)).collect();
        strategy::remove_calls(document, |name| left_out.contains(&name));
    }
    sections.retain(|name| !is_left_out(name));
    document.insert(kind, Node { value: Value::Table(sections), location });
    Ok(())
}
