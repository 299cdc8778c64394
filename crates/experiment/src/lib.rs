//! Experiment files: from TOML to scenarios.
//!
//! `text ─▶ document (lines) ─▶ overrides (--set) ─▶ grid: cells ─▶ hosts, calls ─▶ sim::Scenario,
//! programs`
//!
//! Files are checked completely here. An error names the file, line and key, and suggests a fix.
//! `docs/guides/experiments.md` describes the format.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod access;
mod advise;
mod audio;
mod buffer_hint;
mod calls;
mod catalogue;
mod change;
mod conferences;
pub mod controllers;
mod endpoint;
mod files;
mod gateway;
mod grid;
mod home;
mod hosts;
mod improve;
mod ims;
mod lte;
mod measure;
mod name;
mod origins;
mod outline;
mod printed;
mod programs;
mod quick;
mod scenario;
mod schedule;
mod schema;
pub mod strategy;
mod tcp;
mod technology;
#[cfg(test)]
mod tests;
mod today;
mod traffic;
mod users;
mod values;
mod wifi;
mod wired;

pub use advise::{Advise, Bottleneck};
pub use buffer_hint::path as path_of;
pub use catalogue::names;
pub use change::Change;
pub use document::FileError as ExperimentError;
pub use endpoint::{Browser, Endpoint, Native, UnknownEndpoint};
pub use gateway::GatewayQueue;
pub use home::{Home, HomeLine, HomeLineError, Use};
pub use ims::{Ims, ImsFault};
pub use measure::{MAX_FRAME_RATE, MAX_SIZE, Measure};
pub use origins::Origins;
pub use outline::Outline;
pub use programs::{
    Iperf3, Program, ProgramKind, UPLOAD_PORT, UPLOAD_SAMPLE_INTERVAL, Upload, servers, upload_of,
};
pub use schema::schema;
pub use strategy::tree::{Eligible, MARKS, Priority, Tree, best_effort, marked, shaped};
pub use today::{TODAY, peers_make_all_calls};
pub use traffic::find_host;

use document::{self, Fault, KeyPath, Node, Problem, Reader, Table, Value};
use files::Files;
pub use grid::Axis;
use grid::Point;
use sim::Scenario;
use std::path::Path;
use std::sync::Arc;
use units::Seed;

/// The maximum number of runs per cell.
const MAX_RUNS: u32 = 100_000;
/// The maximum number of cells of a grid; more are probably a typo.
const MAX_CELLS: usize = 10_000;

/// An experiment that has been read and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name: `carlucci-2017/fig11`, or the path of its file.
    pub name: String,
    /// The path of the file, for messages.
    pub path: String,
    /// The TOML, with the changes of [`with_overrides`](Self::with_overrides).
    pub text: String,
    /// The title, one line.
    pub title: String,
    /// Where the experiment was published; empty if it was not.
    pub source: String,
    /// Why its parameters are what they are.
    pub about: String,
    /// The number of seeds with which every cell is run.
    pub runs: u32,
    /// The first seed; the others follow it.
    pub seed: Seed,
    /// The factor by which the times of the schedule were multiplied: 1, or less for a short form.
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
    /// The cell's index in the grid.
    pub index: usize,
    /// The value of each axis as (axis, value), in the order of the file; empty without a grid.
    pub params: Vec<(String, String)>,
    scenario: Scenario,
    origins: Origins,
    programs: Vec<Program>,
    measure: Measure,
    ims: Option<Ims>,
}

impl Cell {
    /// The scenario to simulate, with this seed.
    #[must_use]
    pub fn scenario(&self, seed: Seed) -> Scenario {
        Scenario { seed, ..self.scenario.clone() }
    }

    /// At least as many values as a simulation of the cell samples
    /// ([`Scenario::sampled_values`]).
    #[must_use]
    pub fn sampled_values(&self) -> u64 {
        self.scenario.sampled_values()
    }

    /// The programs that run on the hosts when the network is emulated, in the order of the file
    /// and with their ports.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// How the calls are measured with browsers or native peers.
    #[must_use]
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// The IMS that the calls pass when they are measured.
    #[must_use]
    pub fn ims(&self) -> Option<&Ims> {
        self.ims.as_ref()
    }

    /// The cell without the bearers that its IMS requests, for a run in which it does.
    #[must_use]
    pub fn without_requested_bearers(&self) -> Self {
        let mut cell = self.clone();
        if let Some(ims) = &self.ims {
            ims.remove_bearers(&mut cell.scenario.network);
        }
        cell
    }

    /// The sections of the file that the hosts, calls and TCP flows come from.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether the cell has these values, as (axis, value); true if `wanted` is empty.
    #[must_use]
    pub fn has(&self, wanted: &[(String, String)]) -> bool {
        wanted.iter().all(|pair| self.params.contains(pair))
    }

    /// The parameters in one line: `host.alice.up.rate=1Mbit/s, flows=2`; empty without a grid.
    #[must_use]
    pub fn label(&self) -> String {
        let params: Vec<String> =
            self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        params.join(", ")
    }
}

impl Experiment {
    /// The tables `[[figure]]` of the file, unread.
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

    /// Reads an experiment from its text. `path` is used in messages and to find the files that the
    /// experiment names.
    ///
    /// # Errors
    /// If the text is not an experiment, or a file that it names cannot be read.
    pub fn parse(text: &str, path: &str) -> Result<Self, ExperimentError> {
        Self::read(text, path, path, Files::beside(Path::new(path)))
    }

    /// As [`parse`](Self::parse), but the experiment may name only files in `folder`, whatever
    /// links and `..` say, and none without a folder. `path` is relative to the folder.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and if a file that it names is outside the folder.
    pub fn parse_within(
        text: &str,
        path: &str,
        folder: Option<&Path>,
    ) -> Result<Self, ExperimentError> {
        Self::read(text, path, path, Files::within(Path::new(path), folder))
    }

    /// The experiment with another text, beside the same files.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn with_text(&self, text: &str) -> Result<Self, ExperimentError> {
        Self::read(text, &self.path, &self.name, self.files.clone())
    }

    /// The text of the built-in experiment of this name; `None` if there is none.
    #[must_use]
    pub fn text_of(name: &str) -> Option<&'static str> {
        catalogue::find(name).map(|(text, _)| text)
    }

    /// The values of the file that are neither lists nor tables, as (path, value) in the order of
    /// the file: `host.alice.up.rate`, `1Mbit/s`.
    #[must_use]
    pub fn settings(&self) -> Vec<(KeyPath, Value)> {
        self.document.leaves()
    }

    /// Reads the built-in experiment of this name (`carlucci-2017/fig11`), or else the file at this
    /// path.
    ///
    /// # Errors
    /// If there is neither, or the text is not an experiment.
    pub fn open(name_or_path: &str) -> Result<Self, ExperimentError> {
        if let Some((text, files)) = catalogue::find(name_or_path) {
            return Self::read(text, &format!("{name_or_path}.toml"), name_or_path, files);
        }
        let path = Path::new(name_or_path);
        let text = files::read_text(path, document::MAX_BYTES as u64).map_err(|error| {
            let nearest = document::nearest(name_or_path, names().iter().map(String::as_str));
            let suggestion = nearest.map_or("see 'weir list' for names".to_owned(), |near| {
                format!("did you mean {near}?")
            });
            let reason = format!("there is no experiment of this name, and {error}");
            ExperimentError::file(name_or_path, reason, suggestion)
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
            let reason = format!("{runs} is out of range");
            return Err(top.fault("runs", reason, format!("write 1 to {MAX_RUNS}")));
        }
        let seed = Seed(top.or("seed", 1)?);
        let time_scale = quick::factor(&mut top, "time_scale")?.unwrap_or(1.0);
        let today = top.or("today", false)?;
        let advise = Advise::read(&mut top)?;
        let improvement = top.optional::<String>(improve::KEY)?;
        let improvement =
            improvement.map(|names| (names, top.node(improve::KEY).map(|node| node.location)));
        let axes = grid::axes(&mut top)?;
        printed::read(&mut top, "")?;
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
            cells.iter_mut().for_each(today::apply);
        }
        if let Some((names, location)) = improvement {
            improve::apply(&mut cells, &names, location.unwrap_or(document::Location::Line(1)))?;
        }
        cells.iter_mut().for_each(|cell| buffer_hint::fill_in(&mut cell.scenario));
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

    /// The experiment with changed values, as by `--set host.alice.up.rate=1Mbit/s`. The value is
    /// TOML or plain text. The part `*` of a path stands for every existing key:
    /// `call.*.controller`. If the grid varies the same path, the value replaces that axis.
    ///
    /// # Errors
    /// If a path or a value is wrong.
    pub fn with_overrides(&self, overrides: &[(String, String)]) -> Result<Self, ExperimentError> {
        let mut document = self.document.clone();
        for (key, value) in overrides {
            let error = |problem| ExperimentError::of_file("--set", problem);
            let path = KeyPath::parse(key).map_err(|wrong| error(wrong.into()))?;
            grid::override_axes(&mut document, &path)
                .and_then(|()| known_name(&document, &path))
                .map_err(error)?;
            document
                .set(&path, &document::parse_value(value))
                .map_err(|fault| fault.in_file(&self.path))?;
        }
        let text =
            if overrides.is_empty() { self.text.clone() } else { document::write(&document) };
        Self::build(document, &text, &self.path, &self.name, self.files.clone())
            .map_err(|fault| fault.in_file(&self.path))
    }

    /// The experiment with another controller for every call. The settings of the calls that it
    /// has remain; the others, and improvements, do not.
    ///
    /// # Errors
    /// If there is no such controller, it does not have a setting that an axis varies, or an axis
    /// varies the controller.
    pub fn with_controller(&self, profile: &str) -> Result<Self, ExperimentError> {
        let node = document::parse_value(&format!("{profile:?}"));
        let known = controllers::settings_of(profile);
        let change = |call: &mut Table| {
            call.insert("controller", node.clone());
            call.edit("settings", |settings| settings.retain(|name| known.contains(&name)));
        };
        let changed = self.edited(|document| {
            document.retain(|key| key != improve::KEY);
            document.edit("defaults", |defaults| defaults.edit("call", change));
            for kind in ["call", "conference"] {
                document.edit(kind, |calls| calls.edit_all(change));
            }
            document.edit("users", |groups| groups.edit_all(|group| group.edit("call", change)));
        })?;
        if changed.controllers().any(|controller| controller != profile) {
            return Err(ExperimentError::file(&self.path, "an axis varies the controller", ""));
        }
        Ok(changed)
    }

    /// One cell as an experiment without axes and figures, with its strategy replaced by the
    /// sections that it stands for. The name does not change.
    ///
    /// # Errors
    /// Those of the experiment itself.
    pub fn only(&self, cell: usize) -> Result<Self, ExperimentError> {
        let alone = || {
            let node = Node {
                value: Value::Table(self.document.clone()),
                location: document::Location::Line(1),
            };
            let axes = grid::axes(&mut Reader::new(&node, "")?)?;
            let points = grid::combinations(&axes, MAX_CELLS)?;
            let mut document = document_at(&self.document, &points[cell])?;
            document
                .retain(|key| !["grid", "axis", "figure", "quick", printed::KEY].contains(&key));
            let document = strategy::expand(document)?;
            let text = document::write(&document);
            Self::build(document, &text, &self.path, &self.name, self.files.clone())
        };
        alone().map_err(|fault| fault.in_file(&self.path))
    }

    /// The experiment with an edited document.
    ///
    /// # Errors
    /// If the edited document is not an experiment.
    pub fn edited(&self, change: impl FnOnce(&mut Table)) -> Result<Self, ExperimentError> {
        let mut document = self.document.clone();
        change(&mut document);
        let text = document::write(&document);
        Self::build(document, &text, &self.path, &self.name, self.files.clone())
            .map_err(|fault| fault.in_file(&self.path))
    }

    /// The text without the keys that change no run. Two experiments with the same identity have
    /// the same runs, although their titles, figures or numbers of runs may differ.
    #[must_use]
    pub fn identity(&self) -> String {
        let ignored =
            ["title", "source", "about", "runs", "seed", "figure", "quick", "advise", printed::KEY];
        let mut document = self.document.clone();
        document.retain(|key| !ignored.contains(&key));
        document.edit_items("axis", |axis| {
            axis.edit_items("points", |point| point.retain(|key| key != printed::KEY));
        });
        document::write(&document)
    }

    /// The files that the experiment names, such as traces: their paths relative to the experiment,
    /// and their texts. None if the experiment is built in.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Arc<str>)> {
        self.files.on_disk()
    }

    /// Whether both experiments have the same simulations: the same cells with the same networks,
    /// calls and TCP flows.
    #[must_use]
    pub fn simulates(&self, other: &Self) -> bool {
        let same = |(one, other): (&Cell, &Cell)| {
            one.params == other.params && one.scenario == other.scenario
        };
        self.cells.len() == other.cells.len() && self.cells.iter().zip(&other.cells).all(same)
    }

    /// The controllers of the calls of every cell.
    pub fn controllers(&self) -> impl Iterator<Item = &str> {
        let calls = self.cells.iter().flat_map(|cell| &cell.scenario.calls);
        calls.filter_map(|call| call.video.as_ref()).map(|video| video.controller.profile.as_str())
    }

    /// The experiment itself if every cell can be simulated.
    ///
    /// # Errors
    /// If a cell has neither a call nor a TCP flow: programs run only in an emulation, and a
    /// network alone carries nothing.
    pub fn simulated(self) -> Result<Self, ExperimentError> {
        let idle = |cell: &&Cell| cell.scenario.calls.is_empty() && cell.scenario.tcp.is_empty();
        let Some(cell) = self.cells.iter().find(idle) else { return Ok(self) };
        let of = if cell.params.is_empty() {
            String::new()
        } else {
            format!(" in the cell {}", cell.label())
        };
        let suggestion = "run it with 'weir emulate', or add [call.main] or [tcp.upload] with from \
                          and to";
        let reason = format!("nothing to simulate{of}: there is no call and no TCP flow");
        Err(ExperimentError::file(&self.path, reason, suggestion))
    }

    /// The names of the streams of all cells.
    #[must_use]
    pub fn streams(&self) -> &[String] {
        &self.streams
    }

    /// The combinations of the grid's values; one cell without a grid.
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

/// Refuses a path into a section that does not exist, such as `host.bop.up`: the value would add a
/// section.
fn known_name(document: &Table, path: &KeyPath) -> Result<(), Problem> {
    let [kind, name, _, ..] = path.parts().iter().map(String::as_str).collect::<Vec<_>>()[..]
    else {
        return Ok(());
    };
    let what = match kind {
        "host" | "call" | "conference" | "program" => kind,
        "tcp" => "TCP flow",
        "users" => "group of users",
        _ => match access::technology(kind) {
            Some(technology) => technology.section,
            None => return Ok(()),
        },
    };
    let Some(Value::Table(table)) = document.get(kind).map(|node| &node.value) else {
        return Ok(());
    };
    if name == "*" || table.get(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = table.iter().map(|(name, _)| name).collect();
    let plural = if kind == "users" { "groups of users".to_owned() } else { format!("{what}s") };
    let reason = format!("{path}: there is no {what} '{name}'");
    Err(Problem::new(reason, format!("the {plural} are {}", names.join(", "))))
}

fn cell(
    document: &Table,
    index: usize,
    axes: &[Axis],
    points: &[&Point],
    files: &Files,
) -> Result<Cell, Fault> {
    let document = document_at(document, points)?;
    let params =
        axes.iter().zip(points).map(|(axis, point)| (axis.name.clone(), point.label.clone()));
    let scenario::CellContents { scenario, origins, programs, measure, ims } =
        scenario::read(document, files)?;
    Ok(Cell { index, params: params.collect(), scenario, origins, programs, measure, ims })
}

/// The document at these points of its axes.
fn document_at(document: &Table, points: &[&Point]) -> Result<Table, Fault> {
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
                grid::keep_sections(&mut document, kind, only, point)?;
            }
        }
    }
    Ok(document)
}
