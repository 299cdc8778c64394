use super::lines::CellLine;
use crate::cli::List;
use crate::failure::Failure;
use crate::output::{Output, Rows};
use document::Problem;
use experiment::Outline;
use experiment::controllers::{Changes, Improvement, Profile, improvements, profiles};
use lab::claims::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::process::ExitCode;
use store::{Filter, RunMeta, Store, StoredRun};

/// An experiment and the claims that it tests.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExperimentRow {
    /// The name, for `weir run`.
    name: String,
    title: String,
    /// The publication.
    source: String,
    /// The number of cells of the grid.
    cells: usize,
    /// The number of runs per cell.
    runs: u32,
    /// The claims that it tests.
    claims: Vec<ClaimRow>,
}

#[derive(Serialize, JsonSchema)]
struct ClaimRow {
    /// The id: `C-5`.
    id: String,
    /// The place in the paper.
    #[serde(rename = "where")]
    location: String,
    /// The published result.
    published: String,
    /// The check as text.
    check: String,
}

/// A controller and its settings.
#[derive(Serialize, JsonSchema)]
pub(super) struct ControllerRow {
    /// The profile's name: `gcc:libwebrtc`.
    name: String,
    summary: &'static str,
    /// The settings, by name.
    settings: BTreeMap<&'static str, SettingRow>,
}

#[derive(Serialize, JsonSchema)]
struct SettingRow {
    /// The default, with its unit.
    value: String,
    /// The meaning, and the unit of a bare number.
    doc: &'static str,
}

/// An improvement of gcc: the suffix of the profile name, and the settings that it changes.
#[derive(Serialize, JsonSchema)]
pub(super) struct ImprovementRow {
    /// The suffix of a profile's name: `+short-hold`.
    name: String,
    summary: &'static str,
    /// The publication.
    source: &'static str,
    /// Its form for profiles of printed equations.
    published: ChangesRow,
    /// Its form for profiles of the browsers of the studies.
    as_run: ChangesRow,
    /// Its form for today's libwebrtc.
    libwebrtc: ChangesRow,
}

/// One line of the list of controllers.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the schema of lines that are written as one or the other")]
pub(super) enum ControllerOrImprovement {
    /// A controller.
    Controller(ControllerRow),
    /// An improvement.
    Improvement(ImprovementRow),
}

/// The settings that it changes in a form, or why it does not apply to the form.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ChangesRow {
    Settings(BTreeMap<&'static str, &'static str>),
    Not { not: &'static str },
}

impl From<Changes> for ChangesRow {
    fn from(changes: Changes) -> Self {
        match changes {
            Ok(settings) => Self::Settings(settings.iter().copied().collect()),
            Err(not) => Self::Not { not },
        }
    }
}

pub(crate) fn run(args: &List) -> Result<ExitCode, Failure> {
    let mut out = Output::new();
    if let Some(path) = &args.store {
        stored(&mut out, &Store::open(path)?, args.json)?;
    } else if args.controllers {
        controllers(&mut out, &args.names, args.json)?;
    } else if args.remedies {
        list_remedies(&mut out, args.json)?;
    } else if args.metrics {
        list_metrics(&mut out, args.json)?;
    } else {
        experiments(&mut out, &args.names, args.json)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// A run in a store.
#[derive(Serialize, JsonSchema)]
pub(super) struct StoredRow {
    /// The number of the run in the store.
    run: i64,
    /// The name of the experiment.
    experiment: String,
    cell: CellLine,
    seed: u64,
    /// `simulated`, `emulated`, `measured` or `imported`.
    mode: &'static str,
    /// The version of Weir that made it.
    version: String,
    /// The duration of the run, s.
    duration: f64,
    /// Facts about the run, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    notes: Map<String, Value>,
}

fn stored(out: &mut Output, store: &Store, json: bool) -> Result<(), Failure> {
    let mut rows = Rows::new(["run", "experiment", "cell", "seed", "mode", "weir", "notes"]);
    for StoredRun { id, meta, duration } in store.runs(&Filter::default())? {
        if json {
            let map = |pairs: Vec<(String, String)>| {
                pairs.into_iter().map(|(name, value)| (name, Value::from(value))).collect()
            };
            let (seed, mode, duration) = (meta.seed.0, meta.mode.as_str(), duration.as_secs_f64());
            let (experiment, version, notes) = (meta.experiment, meta.version, map(meta.notes));
            let cell = CellLine::new(&meta.cell);
            out.json(&StoredRow {
                run: id,
                experiment,
                cell,
                seed,
                mode,
                version,
                duration,
                notes,
            })?;
        } else {
            let cell: Vec<String> =
                meta.cell.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let (id, seed, mode) = (id.to_string(), meta.seed.to_string(), meta.mode.to_string());
            let remarks = remarks(&meta);
            rows.add([id, meta.experiment, cell.join(", "), seed, mode, meta.version, remarks]);
        }
    }
    if json { Ok(()) } else { out.table(&rows) }
}

/// Facts that matter for comparisons: whether the machine limited the run, and which browsers and
/// peers took part.
fn remarks(meta: &RunMeta) -> String {
    let limited = meta.cpu_limited().map(|_| "CPU-limited".to_owned());
    let mut all: Vec<String> = limited.into_iter().collect();
    for endpoint in meta.endpoints() {
        if !all.iter().any(|known| known == endpoint) {
            all.push(endpoint.to_owned());
        }
    }
    all.join(", ")
}

fn experiments(out: &mut Output, words: &[String], json: bool) -> Result<(), Failure> {
    let catalogue = Catalogue::embedded()?;
    let mut rows = Rows::new(["experiment", "what", "cells × runs", "claims"]);
    let chosen = chosen(words, &catalogue)?;
    for outline in chosen.into_iter().filter_map(Outline::of) {
        let row = row(outline?, &catalogue);
        if json {
            out.json(&row)?;
        } else {
            let claims: Vec<&str> = row.claims.iter().map(|claim| claim.id.as_str()).collect();
            rows.add([
                row.name,
                row.title,
                format!("{} × {}", row.cells, row.runs),
                claims.join(", "),
            ]);
        }
    }
    if json { Ok(()) } else { out.table(&rows) }
}

/// The names of the experiments that the words name, or all of them.
fn chosen(words: &[String], catalogue: &Catalogue) -> Result<Vec<&'static str>, Failure> {
    let names = experiment::names().iter().map(String::as_str);
    if words.is_empty() {
        return Ok(names.collect());
    }
    let folder = |name: &'static str| name.split_once('/').map_or(name, |(folder, _)| folder);
    let mut chosen = Vec::new();
    for word in words {
        let claims = catalogue.select(std::slice::from_ref(word)).unwrap_or_default();
        let fits = |name: &&'static str| {
            [*name, folder(name)].contains(&word.trim_end_matches('/'))
                || claims.iter().any(|claim| claim.experiment == *name)
        };
        let before = chosen.len();
        chosen.extend(names.clone().filter(fits));
        if chosen.len() == before {
            let mut known: Vec<&str> = names.clone().map(folder).collect();
            known.dedup();
            let known = known.into_iter();
            let what = "experiment, paper or claim";
            return Err(Failure::new(Problem::unknown(what, word, known, "there are")));
        }
    }
    Ok(names.filter(|name| chosen.contains(name)).collect())
}

fn row(outline: Outline, catalogue: &Catalogue) -> ExperimentRow {
    let claims = catalogue.of_experiment(&outline.name).map(|claim| ClaimRow {
        id: claim.id.clone(),
        location: claim.location.clone(),
        published: claim.published.clone(),
        check: claim.check.clone(),
    });
    let claims = claims.collect();
    let Outline { name, title, source, runs, cells } = outline;
    ExperimentRow { name, title, source, cells, runs, claims }
}

fn controllers(out: &mut Output, words: &[String], json: bool) -> Result<(), Failure> {
    let fits = |name: &str, word: &str| {
        name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@']))
    };
    let names: Vec<String> = profiles().into_iter().map(|profile| profile.name).collect();
    if let Some(word) = words.iter().find(|word| !names.iter().any(|name| fits(name, word))) {
        let known = names.iter().map(String::as_str);
        return Err(Failure::new(Problem::unknown("controller", word, known, "there are")));
    }
    for Profile { name, summary, settings } in profiles() {
        if !words.is_empty() && !words.iter().any(|word| fits(&name, word)) {
            continue;
        }
        let settings: Vec<_> = settings
            .into_iter()
            .map(|s| (s.name, SettingRow { value: s.value, doc: s.doc }))
            .collect();
        if json {
            out.json(&ControllerRow { name, summary, settings: settings.into_iter().collect() })?;
            continue;
        }
        out.line(format_args!("{name}: {summary}"))?;
        for (name, SettingRow { value, doc }) in settings {
            out.line(format_args!("    {name} = {value}"))?;
            out.line(format_args!("        {doc}"))?;
        }
    }
    if words.is_empty() {
        improvements()
            .iter()
            .try_for_each(|improvement| list_improvement(out, improvement, json))?;
    }
    Ok(())
}

fn list_improvement(
    out: &mut Output,
    improvement: &Improvement,
    json: bool,
) -> Result<(), Failure> {
    let Improvement { name, summary, source, published, as_run, libwebrtc } = *improvement;
    let name = format!("+{name}");
    if json {
        let (published, as_run, libwebrtc) = (published.into(), as_run.into(), libwebrtc.into());
        let row = ImprovementRow { name, summary, source, published, as_run, libwebrtc };
        return out.json(&row);
    }
    out.line(format_args!("gcc:…{name}: {summary}"))?;
    out.line(format_args!("        {source}"))?;
    for (form, changes) in
        [("published forms", published), ("as run", as_run), ("libwebrtc", libwebrtc)]
    {
        match changes {
            Ok(settings) => {
                let settings: Vec<_> =
                    settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                out.line(format_args!("    {form}: {}", settings.join(", ")))?;
            }
            Err(reason) => out.line(format_args!("    {form}: not applicable, {reason}"))?,
        }
    }
    Ok(())
}

fn list_metrics(out: &mut Output, json: bool) -> Result<(), Failure> {
    let mut rows = Rows::new(["metric", "unit", "better", "what"]);
    for metric in metrics::all() {
        if json {
            out.json(&metric)?;
        } else {
            let word = |value: serde_json::Result<serde_json::Value>| {
                value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
            };
            let (unit, better) =
                (serde_json::to_value(metric.unit), serde_json::to_value(metric.better));
            rows.add([metric.name, word(unit), word(better), metric.doc.to_owned()]);
        }
    }
    if json { Ok(()) } else { out.table(&rows) }
}

fn list_remedies(out: &mut Output, json: bool) -> Result<(), Failure> {
    let mut rows = Rows::new(["remedy", "kind", "what", "source"]);
    for remedy in lab::remedies::remedies() {
        if json {
            out.json(&remedy)?;
        } else {
            rows.add([remedy.name, remedy.kind.as_str(), remedy.about, remedy.source]);
        }
    }
    if json { Ok(()) } else { out.table(&rows) }
}
