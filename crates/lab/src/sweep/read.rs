use super::space::{MAX_SOBOL, Method, Parameter, Setting, Values};
use super::{Objective, Scenario, Sweep, find};
use crate::expression::{Datum, Expression, ExpressionError, Scope, as_number, map};
use document::{Fault, FileError, KeyPath, Node, Problem, Reader, Table, Value, did_you_mean};
use experiment::Experiment;
use metrics::Request;
use std::path::Path;
use units::Seed;

/// The most runs of a sweep; more are probably a typo: with 20 ms each they would take six years on
/// one core.
const MAX_RUNS: usize = 10_000_000_000;
/// The most points of a Latin hypercube or a Sobol sequence, which are kept in memory.
const MAX_SAMPLES: usize = 10_000_000;
/// The most points of one axis, so that their number has no typo.
const MAX_POINTS: usize = 100_000;
/// The names of a scenario that an objective can use beside its values.
pub(super) const IN_SCENARIO: [&str; 2] = ["objective", "normalised"];

impl Sweep {
    /// Reads the built-in sweep of this name (`carlucci-2017/fig5`), or else the file at this path.
    ///
    /// # Errors
    /// If there is neither, or the text is not a sweep.
    pub fn open(name_or_path: &str) -> Result<Self, FileError> {
        if let Some(text) = find(name_or_path) {
            let path = format!("sweeps/{name_or_path}.toml");
            return Self::read(text, name_or_path, &path);
        }
        let text = std::fs::read_to_string(name_or_path).map_err(|error| {
            let known = super::names();
            let suggestion =
                did_you_mean(name_or_path, known.iter().map(String::as_str), "the sweeps are");
            let reason = format!("there is no sweep of this name, and no such file ({error})");
            FileError::file(name_or_path, reason, suggestion)
        })?;
        Self::parse(&text, name_or_path)
    }

    /// Reads a sweep from its text. `path` is used in messages and to find experiments beside it.
    ///
    /// # Errors
    /// If the text is not a sweep.
    pub fn parse(text: &str, path: &str) -> Result<Self, FileError> {
        Self::read(text, path, path)
    }

    fn read(text: &str, name: &str, path: &str) -> Result<Self, FileError> {
        let node = document::parse(text).map_err(|fault| fault.in_file(path))?;
        let sweep = file(&node, text, name, path).map_err(|error| match error {
            Wrong::Here(fault) => fault.in_file(path),
            Wrong::Elsewhere(error) => error,
        })?;
        sweep.check_points()?;
        Ok(sweep)
    }

    /// Refuses parameters that the experiments refuse at the first or the last point.
    fn check_points(&self) -> Result<(), FileError> {
        for point in [0, self.points() - 1] {
            let overrides = self.overrides(&self.settings(point));
            for scenario in &self.scenarios {
                scenario.experiment.with_overrides(&overrides).map_err(|error| {
                    let place = self.describe(&self.settings(point));
                    let reason = format!("scenario {} at {place}: {error}", scenario.name);
                    FileError::file(&self.path, reason, "")
                })?;
            }
        }
        Ok(())
    }

    /// The sweep with another number of values per axis; lists keep theirs.
    ///
    /// # Errors
    /// If that is no grid, or too large.
    pub fn coarse(self, points: usize) -> Result<Self, FileError> {
        let wrong = |reason: &str| {
            Err(FileError::file("--points", reason, "the sweep must be a grid; write 2 or more"))
        };
        if self.method != Method::Grid {
            return wrong("the sweep has samples, not points per axis");
        }
        if !(2..=MAX_POINTS).contains(&points) {
            return wrong("out of range");
        }
        let parameters = self.parameters.into_iter().map(|one| one.resized(points)).collect();
        Ok(Self { parameters, ..self })
    }
}

/// An error in the sweep's file, or in that of an experiment.
enum Wrong {
    Here(Fault),
    Elsewhere(FileError),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Self::Here(fault)
    }
}

fn file(node: &Node, text: &str, name: &str, path: &str) -> Result<Sweep, Wrong> {
    let mut top = Reader::new(node, "")?;
    let title = top.required("title")?;
    let (source, about) = (top.or("source", String::new())?, top.or("about", String::new())?);
    let (runs, seed): (u32, u64) = (top.or("runs", 1)?, top.or("seed", 1)?);
    if runs == 0 {
        return Err(top.fault("runs", "0 is out of range", "write 1 or more").into());
    }
    let parameters =
        top.entries("parameter")?.into_iter().map(|(name, node)| parameter(name, node));
    let parameters = parameters.collect::<Result<Vec<_>, Fault>>()?;
    if parameters.is_empty() {
        return Err(top.missing("parameter", "{ k = { key = \"…\", list = […] } }").into());
    }
    let method = method(&mut top, &parameters, Seed(seed))?;
    let numbers: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter.at_index(0).number.is_some())
        .map(|parameter| parameter.name.clone())
        .collect();
    let scenarios = top.entries("scenario")?;
    let scenarios = scenarios
        .into_iter()
        .map(|(name, node)| scenario(name, node, path, &numbers))
        .collect::<Result<Vec<_>, Wrong>>()?;
    if scenarios.is_empty() {
        return Err(top.missing("scenario", "{ one = { experiment = \"…\", … } }").into());
    }
    let objective = total(&mut top, &scenarios, &numbers)?;
    let figures = top.items("figure")?.unwrap_or_default().to_vec();
    let sweep = Sweep {
        name: name.to_owned(),
        path: path.to_owned(),
        text: text.to_owned(),
        title,
        source,
        about,
        runs,
        seed: Seed(seed),
        parameters,
        scenarios,
        method,
        objective,
        figures,
    };
    let total = sweep.runs_per_point().checked_mul(sweep.points());
    if total.is_none_or(|total| total > MAX_RUNS) {
        let reason = format!("the sweep has more than {MAX_RUNS} runs");
        return Err(top.fault("parameter", reason, "write fewer points").into());
    }
    top.finish()?;
    Ok(sweep)
}

fn method(top: &mut Reader<'_>, parameters: &[Parameter], seed: Seed) -> Result<Method, Fault> {
    let samples: Option<u32> = top.optional("samples")?;
    let word: Option<String> = top.optional("method")?;
    let dimensions = parameters.len();
    let needed = |top: &Reader<'_>| {
        let samples = samples.ok_or_else(|| top.missing("samples", "a number of points"))?;
        let count = samples as usize;
        if count == 0 || count > MAX_SAMPLES {
            return Err(top.fault("samples", "out of range", format!("write 1 to {MAX_SAMPLES}")));
        }
        Ok(count)
    };
    match word.as_deref() {
        None | Some("grid") => {
            if samples.is_some() {
                let suggestion = "write method = \"latin hypercube\" or \"sobol\", or points";
                return Err(top.fault("samples", "a grid has no samples", suggestion));
            }
            let count =
                parameters.iter().try_fold(1usize, |count, one| count.checked_mul(one.count()));
            if count.is_none_or(|count| count > MAX_RUNS) {
                let reason = format!("there are more than {MAX_RUNS} combinations");
                return Err(top.fault("parameter", reason, "write fewer points"));
            }
            Ok(Method::Grid)
        }
        Some("latin hypercube") => Ok(Method::latin_hypercube(dimensions, needed(top)?, seed)),
        Some("sobol") => {
            let count = needed(top)?;
            let (most, axes) = MAX_SOBOL;
            if count > most || dimensions > axes {
                let suggestion = format!("write up to {most} samples of up to {axes} parameters");
                return Err(top.fault("samples", "too many for a Sobol sequence", suggestion));
            }
            Ok(Method::sobol(dimensions, count, seed))
        }
        Some(other) => {
            let known = ["grid", "latin hypercube", "sobol"].into_iter();
            let problem = Problem::unknown("method", other, known, "the methods are");
            Err(top.problem("method", problem))
        }
    }
}

fn parameter(name: &str, node: &Node) -> Result<Parameter, Fault> {
    let mut table = Reader::new(node, &format!("parameter.{name}"))?;
    let keys = keys(&mut table)?;
    let label = table.or("label", name.to_owned())?;
    let published = table.optional("published")?;
    let list = table.items("list")?;
    let values = match list {
        Some([]) => return Err(table.fault("list", "it is empty", "write at least one value")),
        Some(items) => Values::List(items.iter().map(setting).collect()),
        None => range(&mut table)?,
    };
    table.finish()?;
    Ok(Parameter { name: name.to_owned(), label, keys, published, values })
}

/// The keys that a parameter sets: `key`, or several `keys`.
fn keys(table: &mut Reader<'_>) -> Result<Vec<String>, Fault> {
    let (key, keys): (Option<String>, Option<Vec<String>>) =
        (table.optional("key")?, table.optional("keys")?);
    let (name, keys) = match (key, keys) {
        (Some(key), None) => ("key", vec![key]),
        (None, Some(keys)) if !keys.is_empty() => ("keys", keys),
        (None, _) => return Err(table.missing("key", "the key of the experiments that varies")),
        (Some(_), Some(_)) => {
            return Err(table.fault("keys", "key and keys exclude each other", "write one"));
        }
    };
    for key in &keys {
        KeyPath::parse(key).map_err(|error| table.problem(name, error))?;
    }
    Ok(keys)
}

/// A value of a list, as `--set` takes it.
fn setting(node: &Node) -> Setting {
    let number = match node.value {
        Value::Integer(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    };
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        _ => {
            let mut table = Table::default();
            table.insert("v", node.clone());
            let text = document::write(&table);
            text.split_once('=').map_or_else(String::new, |(_, value)| value.trim().to_owned())
        }
    };
    Setting { text, number }
}

fn range(table: &mut Reader<'_>) -> Result<Values, Fault> {
    let (from, to): (f64, f64) = (table.required("from")?, table.required("to")?);
    let points: u32 = table.required("points")?;
    let scale: String = table.or("scale", "linear".to_owned())?;
    let unit = table.or("unit", String::new())?;
    if !(from.is_finite() && to.is_finite() && from < to) {
        return Err(table.fault("to", "it is not above 'from'", "write a greater number"));
    }
    let log = match &*scale {
        "log" => true,
        "linear" => false,
        other => {
            let known = ["linear", "log"].into_iter();
            let problem = Problem::unknown("scale", other, known, "the scales are");
            return Err(table.problem("scale", problem));
        }
    };
    if log && from <= 0.0 {
        return Err(table.fault("from", "a logarithmic scale begins above 0", "write 1e-3"));
    }
    let points = points as usize;
    if !(2..=MAX_POINTS).contains(&points) {
        return Err(table.fault("points", "out of range", format!("write 2 to {MAX_POINTS}")));
    }
    Ok(Values::Range { from, to, points, log, unit })
}

fn scenario(name: &str, node: &Node, path: &str, numbers: &[String]) -> Result<Scenario, Wrong> {
    let key = format!("scenario.{name}");
    let mut table = Reader::new(node, &key)?;
    let written: String = table.required("experiment")?;
    let mut set = Vec::new();
    for (key, node) in table.entries("set")? {
        set.push((key.to_owned(), setting(node).text));
    }
    let mut cell = Vec::new();
    for (axis, node) in table.entries("cell")? {
        let text: String = document::read(node, &format!("{key}.cell.{axis}"))?;
        cell.push((axis.to_owned(), text));
    }
    let experiment = open(&written, path).and_then(|experiment| {
        let built_in = experiment::names().contains(&experiment.name);
        let file = (!built_in).then(|| (written.clone(), experiment.text.clone()));
        Ok((experiment.with_overrides(&set)?, file))
    });
    let (experiment, file) = experiment
        .map_err(|error| Wrong::Here(table.fault("experiment", error.to_string(), "")))?;
    let mut chosen = experiment.cells().iter().filter(|one| one.has(&cell));
    let (first, others) = (chosen.next(), chosen.count());
    let Some(first) = first.filter(|_| others == 0) else {
        let count = if first.is_some() { others + 1 } else { 0 };
        let reason = format!("{count} cells of {written} are chosen, and a scenario has one");
        let axes: Vec<&str> = experiment.axes().iter().map(|axis| axis.name.as_str()).collect();
        let suggestion = format!("write a value of each axis: {}", axes.join(", "));
        return Err(table.fault("cell", reason, suggestion).into());
    };
    let experiment = experiment.only(first.index).and_then(Experiment::simulated);
    let experiment = experiment.map_err(Wrong::Elsewhere)?;
    let mut values = Vec::new();
    for (name, node) in table.entries("value")? {
        values.push((name.to_owned(), Request::read(node, &format!("{key}.value.{name}"))?));
    }
    let known: Vec<String> =
        values.iter().map(|(name, _)| name.clone()).chain(numbers.iter().cloned()).collect();
    distinct(&table, &known)?;
    let objective = objective(&mut table, &known)?;
    let mut scope = Scope::new().map_err(|error| objective_fault(&objective, &error))?;
    known.iter().for_each(|name| scope.add(name, 1.0.into()));
    trial(&objective, &scope, "")?;
    table.finish()?;
    Ok(Scenario { name: name.to_owned(), experiment, values, objective, file })
}

/// Opens a built-in experiment, or one at a path relative to the folder of the sweep.
fn open(name: &str, path: &str) -> Result<Experiment, FileError> {
    let beside = Path::new(path).parent().map(|folder| folder.join(name));
    match beside
        .filter(|file| !experiment::names().iter().any(|known| known == name) && file.is_file())
    {
        Some(file) => Experiment::open(&file.display().to_string()),
        None => Experiment::open(name),
    }
}

fn distinct(table: &Reader<'_>, names: &[String]) -> Result<(), Fault> {
    for (index, name) in names.iter().enumerate() {
        if IN_SCENARIO.contains(&name.as_str()) || names[..index].contains(name) {
            let reason = format!("'{name}' has two meanings in the objective");
            return Err(table.fault("value", reason, "give the value another name"));
        }
    }
    Ok(())
}

fn objective(table: &mut Reader<'_>, known: &[String]) -> Result<Objective, Fault> {
    let text: String = table.required("objective")?;
    let location = table.node("objective").map_or(table.location(), |node| node.location);
    let key = table.path("objective");
    let expression = Expression::parse(&text, known)
        .map_err(|error| Fault::new(location, key.clone(), error.to_string(), ""))?;
    Ok(Objective { expression, key, location })
}

/// The objective of a point; without the key, the sum of the normalised objectives of the
/// scenarios.
fn total(
    top: &mut Reader<'_>,
    scenarios: &[Scenario],
    numbers: &[String],
) -> Result<Objective, Fault> {
    let mut known: Vec<String> = scenarios.iter().map(|one| one.name.clone()).collect();
    known.extend(numbers.iter().cloned());
    distinct(top, &known)?;
    let objective = if top.node("objective").is_some() {
        objective(top, &known)?
    } else {
        let terms: Vec<String> =
            scenarios.iter().map(|one| format!("{}.normalised", one.name)).collect();
        let location = top.location();
        let expression = Expression::parse(&terms.join(" + "), &known)
            .map_err(|error| Fault::new(location, "scenario", error.to_string(), ""))?;
        Objective { expression, key: "objective".to_owned(), location }
    };
    let mut scope = Scope::new().map_err(|error| objective_fault(&objective, &error))?;
    for scenario in scenarios {
        let names = scenario.values.iter().map(|(name, _)| name.as_str()).chain(IN_SCENARIO);
        let entries = names.map(|name| (name.to_owned(), Datum::Number(1.0))).collect();
        scope.add(&scenario.name, map(entries));
    }
    numbers.iter().for_each(|name| scope.add(name, 1.0.into()));
    let suggestion = "a scenario has objective, normalised and its values";
    trial(&objective, &scope, suggestion)?;
    Ok(objective)
}

/// Evaluates an objective with a one in the place of every value, so that a member that does not
/// exist is found before the first run.
fn trial(objective: &Objective, scope: &Scope, suggestion: &str) -> Result<(), Fault> {
    let value = objective.expression.evaluate(scope).map_err(|error| Fault {
        suggestion: suggestion.to_owned(),
        ..objective_fault(objective, &error)
    })?;
    if as_number(&value).is_none() {
        let (location, key) = (objective.location, objective.key.clone());
        return Err(Fault::new(
            location,
            key,
            "it is not a number",
            "write an expression of numbers",
        ));
    }
    Ok(())
}

fn objective_fault(objective: &Objective, error: &ExpressionError) -> Fault {
    Fault::new(objective.location, objective.key.clone(), error.to_string(), "")
}
