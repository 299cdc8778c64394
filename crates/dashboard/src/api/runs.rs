//! Stored runs, their charts, and the experiments that can be started.

use super::problem::{Answer, Refusal};
use super::{Shared, binary, blocking};
use crate::chart::{Source, Wanted, chart as draw};
use crate::experiments::{self, Folder};
use crate::messages::{Edit, ExperimentPage, ExperimentRow, RunPage};
use crate::{Dashboard, MAX_CHARTED, form, jobs, packets as packet_view};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use experiment::{Experiment, Outline};
use lab::StoredExperiments;
use serde::Deserialize;
use store::StoredRun;
use units::{Duration, Time};

/// All runs.
pub(super) async fn list(State(dashboard): Shared) -> Answer<impl IntoResponse> {
    blocking(dashboard, |dashboard| Ok(dashboard.runs.list()?)).await.map(Json)
}

/// One run with its facts.
pub(super) async fn page(
    State(dashboard): Shared,
    Path(id): Path<i64>,
) -> Answer<impl IntoResponse> {
    blocking(dashboard, move |dashboard| {
        let stored = dashboard.runs.run(id)?;
        let all = dashboard.runs.list()?;
        let missing = || Refusal::not_found(format!("there is no run {id}"));
        let run = all.iter().find(|run| run.id == id).cloned().ok_or_else(missing)?;
        let read = StoredExperiments::default().of(&stored).ok();
        let (command, file) = command(&stored, read.as_ref().map(|(experiment, _)| &**experiment));
        Ok(RunPage {
            title: read.map(|(experiment, _)| experiment.title.clone()).unwrap_or_default(),
            text: stored.meta.file.to_string(),
            command,
            file,
            notes: stored.meta.notes.clone(),
            metrics: dashboard.runs.metrics(id)?,
            siblings: jobs::siblings(all, &run),
            run,
        })
    })
    .await
    .map(Json)
}

/// The command that repeats a run, and the name of the file that it needs, empty for a built-in
/// experiment.
fn command(run: &StoredRun, experiment: Option<&Experiment>) -> (String, String) {
    let meta = &run.meta;
    let is_built_in = Experiment::text_of(&meta.experiment) == Some(&*meta.file);
    let stem = meta.experiment.rsplit('/').next().unwrap_or_default().trim_end_matches(".toml");
    let file = if is_built_in { String::new() } else { format!("{stem}.toml") };
    let name = if is_built_in { meta.experiment.clone() } else { file.clone() };
    let verb = match meta.mode {
        store::Mode::Simulated => "run",
        store::Mode::Emulated => "emulate",
        store::Mode::Measured => "measure",
    };
    let mut words = vec!["weir".to_owned(), verb.to_owned(), name];
    words.extend(["--seed".to_owned(), meta.seed.to_string(), "--runs".to_owned(), "1".to_owned()]);
    // An axis of several keys cannot be set; the command then runs its other points too.
    let is_key = |axis: &str| {
        experiment.is_some_and(|one| one.axes().iter().any(|known| known.name == *axis))
            && axis.contains('.')
    };
    for (axis, value) in meta.cell.iter().filter(|(axis, _)| is_key(axis)) {
        words.extend(["--set".to_owned(), format!("{axis}={value}")]);
    }
    // Only a NUL cannot be quoted, and no name has one.
    (shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default(), file)
}

/// Replaces the tags of a run.
pub(super) async fn tags(
    State(dashboard): Shared,
    Path(id): Path<i64>,
    Json(tags): Json<Vec<String>>,
) -> Answer<impl IntoResponse> {
    blocking(dashboard, move |dashboard| Ok(dashboard.runs.set_tags(id, &tags)?)).await.map(Json)
}

/// What a chart shows, from the query: `run=3&run=5&stream=main.video&column=main.video|m&mean=1`.
#[derive(Default)]
struct Chosen {
    runs: Vec<i64>,
    wanted: Wanted,
}

pub(super) fn wanted(query: &[(String, String)]) -> Wanted {
    let values = |key: &str| -> Vec<String> {
        let same = query.iter().filter(|(name, _)| name == key);
        same.map(|(_, value)| value.clone()).collect()
    };
    let pair = |text: String| {
        let (stream, column) = text.split_once('|')?;
        Some((stream.to_owned(), column.to_owned()))
    };
    Wanted {
        streams: values("stream"),
        columns: values("column").into_iter().filter_map(pair).collect(),
        mean: values("mean").iter().any(|value| value == "1"),
    }
}

impl Chosen {
    fn of(query: &[(String, String)]) -> Answer<Self> {
        let number = |value: &String| {
            value.parse().map_err(|_| Refusal::bad(format!("'{value}' is not the number of a run")))
        };
        let runs = query.iter().filter(|(name, _)| name == "run").map(|(_, value)| number(value));
        let runs: Vec<i64> = runs.collect::<Answer<_>>()?;
        if runs.is_empty() || runs.len() > MAX_CHARTED {
            return Err(Refusal::bad(format!("choose 1 to {MAX_CHARTED} runs")));
        }
        Ok(Self { runs, wanted: wanted(query) })
    }

    fn sources(&self, dashboard: &Dashboard) -> Answer<Vec<Source>> {
        let mut experiments = StoredExperiments::default();
        let source = |id: &i64| {
            let run = dashboard.runs.run(*id)?;
            let read = experiments.of(&run).ok();
            let controllers = read.map(|(experiment, job)| controllers(&experiment, job.cell));
            let controllers = controllers.unwrap_or_default();
            let recording = dashboard.runs.recording(*id)?;
            Ok(Source { name: name(&run, &controllers), recording, controllers })
        };
        self.runs.iter().map(source).collect()
    }
}

/// The controller of each call of a cell.
pub(super) fn controllers(experiment: &Experiment, cell: usize) -> Vec<(String, String)> {
    let scenario = experiment.cells()[cell].scenario(experiment.seed);
    let calls = scenario.calls.iter();
    calls
        .filter_map(|call| {
            Some((call.name.clone(), call.video.as_ref()?.controller.profile.clone()))
        })
        .collect()
}

/// The name of a run in a legend: its controllers, or its endpoints, its cell and its seed.
fn name(run: &StoredRun, controllers: &[(String, String)]) -> String {
    let mut words: Vec<&str> = run.meta.endpoints().collect();
    if words.is_empty() {
        words.extend(controllers.iter().map(|(_, profile)| profile.as_str()));
    }
    words.extend(run.meta.cell.iter().map(|(_, value)| value.as_str()));
    let mut distinct: Vec<&str> = Vec::new();
    words.into_iter().for_each(|word| {
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    });
    let words = distinct.iter().map(|word| format!(", {word}")).collect::<String>();
    format!("run {}{words}, seed {}", run.id, run.meta.seed)
}

/// The chart of runs, as columns.
pub(super) async fn chart(
    State(dashboard): Shared,
    Query(query): Query<Vec<(String, String)>>,
) -> Answer<impl IntoResponse> {
    let chosen = Chosen::of(&query)?;
    let draw = move |dashboard: &Dashboard| Ok(draw(&chosen.sources(dashboard)?, &chosen.wanted));
    blocking(dashboard, draw).await.map(binary)
}

/// All samples of a run, one row per sample and stream.
pub(super) async fn csv(
    State(dashboard): Shared,
    Query(query): Query<Vec<(String, String)>>,
) -> Answer<impl IntoResponse> {
    let chosen = Chosen::of(&query)?;
    let write = move |dashboard: &Dashboard| {
        let mut text = String::from("run,time,stream,name,value\n");
        for (source, id) in chosen.sources(dashboard)?.iter().zip(&chosen.runs) {
            rows(&mut text, *id, &source.recording);
        }
        Ok(text)
    };
    let text = blocking(dashboard, write).await?;
    let disposition = "attachment; filename=\"runs.csv\"";
    let kind = "text/csv; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)], text))
}

/// One line per sample and point of a recording.
fn rows(text: &mut String, id: i64, recording: &sim::Recording) {
    use std::fmt::Write as _;
    for stream in &recording.streams {
        // Names of streams and columns have neither commas nor quotes.
        let mut line = |at: f64, name: &str, value: f64| {
            if value.is_finite() {
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "{id},{at},{},{name},{value}", stream.name);
            }
        };
        for column in &stream.columns {
            for (index, value) in column.values.iter().enumerate() {
                line(recording.sample_time(index).as_secs_f64(), column.name, *value);
            }
        }
        for points in &stream.points {
            points.values.iter().for_each(|(at, value)| {
                line(at.as_secs_f64(), points.name, *value);
            });
        }
    }
}

/// The packets that a page asks for.
#[derive(Deserialize)]
pub(super) struct Packets {
    run: i64,
    #[serde(default)]
    stream: String,
    /// Seconds.
    #[serde(default)]
    from: f64,
    to: f64,
}

/// The packets of a stream of a simulated run.
pub(super) async fn packets(
    State(dashboard): Shared,
    Query(query): Query<Packets>,
) -> Answer<impl IntoResponse> {
    let view = move |dashboard: &Dashboard| {
        let run = dashboard.runs.run(query.run)?;
        if run.meta.mode != store::Mode::Simulated {
            let reason = "only simulated runs have packets here; captures have those of others";
            return Err(Refusal::bad(reason));
        }
        let (experiment, job) = read(dashboard.folder.as_ref(), &run)?;
        let scenario = experiment.cells()[job].scenario(run.meta.seed);
        if lab::external::has_program(&scenario) {
            return Err(Refusal::bad("a controller that is a program is not started from a page"));
        }
        let time = |seconds: f64| Time::ZERO + Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        let window = (time(query.from), time(query.to));
        packet_view::view(&scenario, &query.stream, window)
            .map_err(|error| Refusal::bad(error.to_string()))
    };
    blocking(dashboard, view).await.map(binary)
}

/// The experiment of a stored run, with the files of the folder, and its cell.
fn read(folder: Option<&Folder>, run: &StoredRun) -> Answer<(Experiment, usize)> {
    let experiment = experiments::parse(folder, &run.meta.experiment, &run.meta.file)?;
    let cell = experiment.cells().iter().position(|cell| cell.params == run.meta.cell);
    let cell = cell.ok_or_else(|| Refusal::bad("the experiment has no cell of this run"))?;
    Ok((experiment, cell))
}

/// The experiments that can be started.
pub(super) async fn experiments(State(dashboard): Shared) -> Answer<impl IntoResponse> {
    let rows = |dashboard: &Dashboard| {
        let row = |outline: Outline, is_own| {
            let claims = dashboard.catalogue.of_experiment(&outline.name);
            let claims = claims.map(|claim| claim.id.clone()).collect();
            let Outline { name, title, source, runs, cells } = outline;
            ExperimentRow { name, title, source, cells, runs, is_own, claims }
        };
        let own = dashboard.folder.iter().flat_map(Folder::outlines);
        let built_in = experiment::names().iter().filter_map(|name| Outline::of(name)?.ok());
        let own: Vec<ExperimentRow> = own.map(|outline| row(outline, true)).collect();
        Ok(own.into_iter().chain(built_in.map(|one| row(one, false))).collect::<Vec<_>>())
    };
    blocking(dashboard, rows).await.map(Json)
}

/// The name of an experiment, or of a stored run whose experiment is wanted.
#[derive(Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    name: String,
    run: Option<i64>,
}

/// An experiment with its text and form.
pub(super) async fn experiment(
    State(dashboard): Shared,
    Query(query): Query<Named>,
) -> Answer<impl IntoResponse> {
    let page = move |dashboard: &Dashboard| {
        let folder = dashboard.folder.as_ref();
        let (name, text) = match query.run {
            Some(id) => {
                let run = dashboard.runs.run(id)?;
                (run.meta.experiment.clone(), run.meta.file.to_string())
            }
            None => {
                let text = experiments::text(folder, &query.name);
                let missing = || {
                    let reason = format!("there is no experiment '{}'", query.name);
                    Refusal::not_found(format!("{reason}; choose one of the list"))
                };
                (query.name.clone(), text.ok_or_else(missing)?)
            }
        };
        Ok(experiment_page(&experiments::parse(folder, &name, &text)?))
    };
    blocking(dashboard, page).await.map(Json)
}

fn experiment_page(experiment: &Experiment) -> ExperimentPage {
    let durations = experiment.cells().iter().map(|cell| cell.scenario(experiment.seed).duration);
    ExperimentPage {
        name: experiment.name.clone(),
        title: experiment.title.clone(),
        text: experiment.text.clone(),
        form: form::fields(experiment),
        total: experiment.cells().len().saturating_mul(experiment.runs as usize),
        duration: durations.max().unwrap_or_default().as_secs_f64(),
    }
}

/// The text with other settings.
pub(super) async fn edit(
    State(dashboard): Shared,
    Json(edit): Json<Edit>,
) -> Answer<impl IntoResponse> {
    let change = move |dashboard: &Dashboard| {
        let folder = dashboard.folder.as_ref();
        let experiment = experiments::parse(folder, &edit.name, &edit.text)?;
        Ok(experiment_page(&experiment.with_overrides(&edit.set)?))
    };
    blocking(dashboard, change).await.map(Json)
}
