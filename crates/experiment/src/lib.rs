//! Experiment files: TOML in, scenarios out.
//!
//! `text ─▶ document (lines) ─▶ overrides (--set) ─▶ grid: cells ─▶ hosts, calls ─▶ sim::Scenario,
//! programs`
//!
//! Everything is checked here, once; an error names the file, the line and the key, and how to fix
//! it. The format is described in `docs/guides/experiments.md`.

mod advise;
mod audio;
mod buffers;
mod calls;
mod catalogue;
mod conferences;
pub mod controllers;
mod endpoint;
mod ends;
mod files;
mod gateway;
mod grid;
mod hosts;
mod improve;
mod lte;
mod measure;
mod origins;
mod programs;
mod quick;
mod scenario;
mod schedule;
pub mod strategy;
mod tcp;
#[cfg(test)]
mod tests;
mod today;
mod users;
mod wifi;
mod words;

pub use advise::Advise;
pub use buffers::path as path_of;
pub use catalogue::names;
pub use document::FileError as ExperimentError;
pub use endpoint::{Browser, Endpoint, Native};
pub use ends::find_host;
pub use gateway::GatewayQueue;
pub use measure::Measure;
pub use measure::{MAX_FRAME_RATE, MAX_SIZE};
pub use origins::Origins;
pub use programs::{
    Iperf3, Program, ProgramKind, UPLOAD_PORT, UPLOAD_SAMPLE_INTERVAL, Upload, servers, upload_of,
};
pub use strategy::tree::{Eligible, MARKS, Priority, Tree, best_effort, marked};
pub use today::TODAY;
pub use today::is_as_filed;

use document::{self, Fault, KeyPath, Node, Reader, Table, Value};
use files::Files;
pub use grid::Axis;
use grid::Point;
use sim::Scenario;
use std::path::Path;
use units::Seed;

/// The most runs of a cell.
const MAX_RUNS: u32 = 100_000;
/// The most cells of a grid; more is a slip of the pen.
const MAX_CELLS: usize = 10_000;

/// An experiment, read and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What it is called: `carlucci-2017/fig11`, or the path of its file.
    pub name: String,
    /// The file, for messages.
    pub path: String,
    /// Its TOML, with what was changed by [`with_overrides`](Self::with_overrides).
    pub text: String,
    /// One line: what it is.
    pub title: String,
    /// Where it was published; empty if nowhere.
    pub source: String,
    /// Why its parameters are what they are.
    pub about: String,
    /// How many seeds every cell is run with.
    pub runs: u32,
    /// The first seed; the others follow it.
    pub seed: Seed,
    /// By what the times of its schedule were multiplied: 1, or less for a short form.
    pub time_scale: f64,
    /// The keys of `[advise]`.
    pub advise: Advise,
    figures: Vec<Node>,
    axes: Vec<Axis>,
    document: Table,
    files: Files,
    cells: Vec<Cell>,
    streams: Vec<String>,
}

/// One combination of the grid's values.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its place in the grid.
    pub index: usize,
    /// What distinguishes it: (axis, value), in the order of the file; empty without a grid.
    pub params: Vec<(String, String)>,
    scenario: Scenario,
    origins: Origins,
    programs: Vec<Program>,
    measure: Measure,
}

impl Cell {
    /// What to simulate with the given seed.
    #[must_use]
    pub fn scenario(&self, seed: Seed) -> Scenario {
        Scenario { seed, ..self.scenario.clone() }
    }

    /// The programs that run on its hosts when its network is emulated, in the order of the file,
    /// each with its port.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// How it is measured with real browsers.
    #[must_use]
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Which sections of the file made what it simulates.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether it has these values, each of an axis; always if there are none.
    #[must_use]
    pub fn has(&self, wanted: &[(String, String)]) -> bool {
        wanted.iter().all(|pair| self.params.contains(pair))
    }

    /// Its parameters in a line: `host.alice.up.rate=1Mbit/s, flows=2`; empty without a grid.
    #[must_use]
    pub fn label(&self) -> String {
        let params: Vec<String> =
            self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        params.join(", ")
    }
}

impl Experiment {
    /// The tables `[[figure]]` of the file, as written.
    #[must_use]
    pub fn figures(&self) -> &[Node] {
        &self.figures
    }

    /// The axes of the grid that remain after overrides, in the order of the file.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The values of the axis `name` over all cells; empty if there is no such axis.
    #[must_use]
    pub fn values_of(&self, name: &str) -> Vec<&str> {
        let params = self.cells.iter().flat_map(|cell| &cell.params);
        params.filter(|(axis, _)| axis == name).map(|(_, value)| value.as_str()).collect()
    }

    /// Reads an experiment from its text. `path` is used in messages and to find the files that it
    /// names.
    ///
    /// # Errors
    /// When the text is not an experiment, or a file that it names cannot be read.
    pub fn parse(text: &str, path: &str) -> Result<Self, ExperimentError> {
        Self::read(text, path, path, Files::beside(Path::new(path)))
    }

    /// Reads the experiment of this name (`carlucci-2017/fig11`), or else the file at this path.
    ///
    /// # Errors
    /// When there is neither, or it is not an experiment.
    pub fn open(name_or_path: &str) -> Result<Self, ExperimentError> {
        if let Some((text, files)) = catalogue::find(name_or_path) {
            return Self::read(text, &format!("{name_or_path}.toml"), name_or_path, files);
        }
        let path = Path::new(name_or_path);
        let text = files::read_text(path, document::MAX_BYTES as u64).map_err(|reason| {
            let slip = document::nearest(name_or_path, names().iter().map(String::as_str));
            let suggestion = slip.map_or("see 'weir list' for names".to_owned(), |near| {
                format!("did you mean {near}?")
            });
            ExperimentError::file(
                name_or_path,
                format!("no experiment of this name, and {reason}"),
                suggestion,
            )
        })?;
        Self::parse(&text, name_or_path)
    }

    fn read(text: &str, path: &str, name: &str, files: Files) -> Result<Self, ExperimentError> {
        let document = document::parse(text).map_err(|fault| fault.in_file(path))?;
        let Value::Table(document) = document.value else {
            return Err(ExperimentError::file(path, "not a table", ""));
        };
        Self::build(document, text, path, name, files).map_err(|fault| fault.in_file(path))
    }

    fn build(
        document: Table,
        text: &str,
        path: &str,
        name: &str,
        files: Files,
    ) -> Result<Self, Fault> {
        let node = Node { value: Value::Table(document), location: document::Location::Line(1) };
        let mut top = Reader::new(&node, "")?;
        let title = top.required("title")?;
        let (source, about) = (top.or("source", String::new())?, top.or("about", String::new())?);
        let runs = top.or("runs", 1)?;
        if runs == 0 || runs > MAX_RUNS {
            return Err(top.fault(
                "runs",
                format!("{runs} runs"),
                format!("write 1 to {MAX_RUNS}"),
            ));
        }
        let seed = Seed(top.or("seed", 1)?);
        let time_scale = quick::factor(&mut top, "time_scale")?.unwrap_or(1.0);
        let today = top.or("today", false)?;
        let advise = Advise::read(&mut top)?;
        let improvement = top.optional::<String>(improve::KEY)?;
        let improvement =
            improvement.map(|names| (names, top.node(improve::KEY).map(|node| node.location)));
        let axes = grid::axes(&mut top)?;
        let figures = top.items("figure")?.unwrap_or_default().to_vec();
        for key in scenario::KEYS {
            top.node(key);
        }
        if let Value::Table(document) = &node.value {
            quick::Quick::read(&mut top, document)?;
        }
        top.finish()?;
        let Value::Table(document) = node.value else { unreachable!("made of a table above") };
        let points = grid::combinations(&axes, MAX_CELLS)?;
        let cell =
            |(index, points): (usize, &Vec<&Point>)| cell(&document, index, &axes, points, &files);
        let mut cells = points.iter().enumerate().map(cell).collect::<Result<Vec<_>, _>>()?;
        if today {
            cells.iter_mut().for_each(today::make);
        }
        if let Some((names, location)) = improvement {
            improve::apply(&mut cells, &names, location.unwrap_or(document::Location::Line(1)))?;
        }
        cells.iter_mut().for_each(|cell| buffers::tell(&mut cell.scenario));
        let mut streams: Vec<String> =
            cells.iter().flat_map(|cell| cell.scenario.stream_names()).collect();
        streams.sort_unstable();
        streams.dedup();
        let (name, path, text) = (name.to_owned(), path.to_owned(), text.to_owned());
        Ok(Self {
            name,
            path,
            text,
            title,
            source,
            about,
            runs,
            seed,
            time_scale,
            advise,
            figures,
            axes,
            document,
            files,
            cells,
            streams,
        })
    }

    /// The experiment with values changed, as by `--set host.alice.up.rate=1Mbit/s`. The value is
    /// TOML, or a plain text; a part `*` of the path is every key that is there:
    /// `call.*.controller`. What the grid varies at the same path is no longer varied.
    ///
    /// # Errors
    /// When a path or a value is wrong.
    pub fn with_overrides(&self, overrides: &[(String, String)]) -> Result<Self, ExperimentError> {
        let mut document = self.document.clone();
        for (key, value) in overrides {
            let path =
                KeyPath::parse(key).map_err(|reason| ExperimentError::file("--set", reason, ""))?;
            grid::override_axes(&mut document, &path)
                .and_then(|()| known_name(&document, &path))
                .map_err(|(reason, suggestion)| ExperimentError::file("--set", reason, suggestion))?;
            document
                .set(&path, &document::parse_value(value))
                .map_err(|fault| fault.in_file(&self.path))?;
        }
        let text =
            if overrides.is_empty() { self.text.clone() } else { document::write(&document) };
        Self::build(document, &text, &self.path, &self.name, self.files.clone())
            .map_err(|fault| fault.in_file(&self.path))
    }

    /// The experiment with every call under another controller, with the settings that the file
    /// gives, and not improved.
    ///
    /// # Errors
    /// When there is no such controller, it has not the settings that the file gives, or an axis
    /// varies the controller itself.
    pub fn with_controller(&self, profile: &str) -> Result<Self, ExperimentError> {
        let node = document::parse_value(&format!("\"{profile}\""));
        let change = |call: &mut Table| call.insert("controller", node.clone());
        let changed = self.edited(|document| {
            document.retain(|key| key != improve::KEY);
            document.edit("defaults", |defaults| defaults.edit("call", change));
            for kind in ["call", "conference"] {
                document.edit(kind, |calls| calls.edit_all(change));
            }
            document.edit("users", |groups| groups.edit_all(|group| group.edit("call", change)));
        })?;
        if changed.controllers().any(|controller| controller != profile) {
            return Err(ExperimentError::file(
                &self.path,
                "an axis varies the controller itself",
                "",
            ));
        }
        Ok(changed)
    }

    /// One cell as an experiment of its own, without axes and figures, its strategy written out.
    /// Its name is that of the whole.
    ///
    /// # Errors
    /// None that the experiment itself has not.
    pub fn only(&self, cell: usize) -> Result<Self, ExperimentError> {
        let alone = || {
            let node = Node {
                value: Value::Table(self.document.clone()),
                location: document::Location::Line(1),
            };
            let axes = grid::axes(&mut Reader::new(&node, "")?)?;
            let points = grid::combinations(&axes, MAX_CELLS)?;
            let mut document = at(&self.document, &points[cell])?;
            document.retain(|key| !["grid", "axis", "figure", "quick"].contains(&key));
            let document = strategy::expand(document)?;
            let text = document::write(&document);
            Self::build(document, &text, &self.path, &self.name, self.files.clone())
        };
        alone().map_err(|fault| fault.in_file(&self.path))
    }

    /// The experiment with its document changed.
    ///
    /// # Errors
    /// When what comes out is no experiment.
    pub fn edited(&self, change: impl FnOnce(&mut Table)) -> Result<Self, ExperimentError> {
        let mut document = self.document.clone();
        change(&mut document);
        let text = document::write(&document);
        Self::build(document, &text, &self.path, &self.name, self.files.clone())
            .map_err(|fault| fault.in_file(&self.path))
    }

    /// Its text without what changes no run: by it, runs of the same thing are known although their
    /// files had other words, figures or numbers of runs.
    #[must_use]
    pub fn essence(&self) -> String {
        let words = ["title", "source", "about", "runs", "seed", "figure", "quick", "advise"];
        let mut document = self.document.clone();
        document.retain(|key| !words.contains(&key));
        document::write(&document)
    }

    /// Whether a simulation of the other is one of this: cell by cell the same network with the
    /// same calls and flows.
    #[must_use]
    pub fn simulates(&self, other: &Self) -> bool {
        let same = |(one, other): (&Cell, &Cell)| {
            one.params == other.params
                && format!("{:?}", one.scenario) == format!("{:?}", other.scenario)
        };
        self.cells.len() == other.cells.len() && self.cells.iter().zip(&other.cells).all(same)
    }

    /// The controllers of its calls, in each cell.
    pub fn controllers(&self) -> impl Iterator<Item = &str> {
        let calls = self.cells.iter().flat_map(|cell| &cell.scenario.calls);
        calls.filter_map(|call| call.video.as_ref()).map(|video| video.controller.profile.as_str())
    }

    /// The experiment itself, if every cell has something that can be simulated.
    ///
    /// # Errors
    /// When a cell has programs alone, which only an emulation runs.
    pub fn simulated(self) -> Result<Self, ExperimentError> {
        let idle = |cell: &&Cell| cell.scenario.calls.is_empty() && cell.scenario.tcp.is_empty();
        let Some(cell) = self.cells.iter().find(idle) else { return Ok(self) };
        let of = if cell.params.is_empty() {
            String::new()
        } else {
            format!(" in the cell {}", cell.label())
        };
        let reason =
            format!("nothing to simulate{of}: no call and no TCP flow, and programs really run");
        Err(ExperimentError::file(&self.path, reason, "run it with 'weir emulate'"))
    }

    /// The names of the calls' and flows' records, of all cells together.
    #[must_use]
    pub fn streams(&self) -> &[String] {
        &self.streams
    }

    /// Every combination of the grid's values; one without a grid.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The seeds of the runs of a cell.
    pub fn seeds(&self) -> impl Iterator<Item = Seed> + use<> {
        let first = self.seed.0;
        (0..u64::from(self.runs)).map(move |index| Seed(first.wrapping_add(index)))
    }
}

/// Refuses a path to a host, a cell, an LTE network, a call, a flow or a program that is not there:
/// it would be a new one.
fn known_name(document: &Table, path: &KeyPath) -> Result<(), (String, String)> {
    let [
        kind @ ("host" | "wifi" | "lte" | "call" | "conference" | "tcp" | "program" | "users"),
        name,
        _,
        ..,
    ] = path.parts().iter().map(String::as_str).collect::<Vec<_>>()[..]
    else {
        return Ok(());
    };
    let Some(Value::Table(table)) = document.get(kind).map(|node| &node.value) else {
        return Ok(());
    };
    if name == "*" || table.get(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = table.iter().map(|(name, _)| name).collect();
    let what = match kind {
        "tcp" => "TCP flow",
        "wifi" => "cell",
        "lte" => "LTE network",
        "users" => "group of users",
        kind => kind,
    };
    let whats = if kind == "users" { "groups of users".to_owned() } else { format!("{what}s") };
    Err((
        format!("{path}: there is no {what} '{name}'"),
        format!("the {whats} are {}", names.join(", ")),
    ))
}

fn cell(
    document: &Table,
    index: usize,
    axes: &[Axis],
    points: &[&Point],
    files: &Files,
) -> Result<Cell, Fault> {
    let document = at(document, points)?;
    let params =
        axes.iter().zip(points).map(|(axis, point)| (axis.name.clone(), point.label.clone()));
    let scenario::Read { scenario, origins, programs, measure } = scenario::read(document, files)?;
    Ok(Cell { index, params: params.collect(), scenario, origins, programs, measure })
}

/// The document at these points of its axes.
fn at(document: &Table, points: &[&Point]) -> Result<Table, Fault> {
    let mut document = document.clone();
    for point in points {
        for (path, value) in &point.set {
            document.set(path, value)?;
        }
    }
    for point in points {
        for (kind, only) in
            [("call", &point.calls), ("tcp", &point.tcp), ("program", &point.programs)]
        {
            if let Some(only) = only {
                grid::keep(&mut document, kind, only, point)?;
            }
        }
    }
    Ok(document)
}
