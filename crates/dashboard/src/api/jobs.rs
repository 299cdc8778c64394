//! Jobs: runs of experiments are started, watched and cancelled.

use super::problem::{Answer, Refusal};
use super::{Shared, binary, blocking, runs};
use crate::chart::{Source, chart as draw};
use crate::jobs::{Job, RealTimeTask, RunTask, Task};
use crate::messages::{JobView, Mode, Start};
use crate::{Dashboard, MAX_RUNS, experiments};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lab::external::has_program;
use std::sync::Arc;

/// All jobs since the start of the server.
pub(super) async fn list(State(dashboard): Shared) -> impl IntoResponse {
    Json(dashboard.jobs.board().since(0))
}

pub(super) fn job(dashboard: &Dashboard, id: u64) -> Answer<Arc<Job>> {
    let reason = "there is no such job; jobs are forgotten when the server ends";
    dashboard.jobs.get(id).ok_or_else(|| Refusal::not_found(reason))
}

/// One job.
pub(super) async fn view(State(dashboard): Shared, Path(id): Path<u64>) -> Answer<Json<JobView>> {
    Ok(Json(job(&dashboard, id)?.view()))
}

/// Cancels a job.
pub(super) async fn cancel(State(dashboard): Shared, Path(id): Path<u64>) -> Answer<Json<JobView>> {
    let job = job(&dashboard, id)?;
    dashboard.jobs.cancel(&job);
    Ok(Json(job.view()))
}

/// Starts a run.
pub(super) async fn start(
    State(dashboard): Shared,
    Json(start): Json<Start>,
) -> Answer<impl IntoResponse> {
    let add = move |dashboard: &Dashboard| {
        let experiment = experiments::parse(dashboard.folder.as_ref(), &start.name, &start.text)?;
        let title = experiment.title.clone();
        let total = experiment.cells().len().saturating_mul(experiment.runs as usize);
        if total > MAX_RUNS {
            let reason = format!("{total} runs are more than a page may start, {MAX_RUNS}");
            return Err(Refusal::bad(format!("{reason}; reduce runs, or use 'weir run'")));
        }
        let task = if start.mode == Mode::Simulated {
            let experiment = experiment.simulated()?;
            let cells = experiment.cells().iter();
            if cells.map(|cell| cell.scenario(experiment.seed)).any(|one| has_program(&one)) {
                let reason = "a controller that is a program is not started from a page";
                return Err(Refusal::bad(format!("{reason}; use 'weir run'")));
            }
            Task::Run(RunTask { experiment, tags: start.tags })
        } else if dashboard.facts.allows_real_time {
            let name = experiment.name.clone();
            let text = experiment.text;
            Task::RealTime(RealTimeTask { name, text, mode: start.mode, total })
        } else {
            let reason = "this server makes no runs in real time; start it with --allow-real";
            return Err(Refusal::new(StatusCode::FORBIDDEN, reason));
        };
        Ok(dashboard.jobs.add(title, task)?.view())
    };
    Ok((StatusCode::CREATED, Json(blocking(dashboard, add).await?)))
}

/// The chart of a run under way, so far; no content if there is none.
pub(super) async fn chart(
    State(dashboard): Shared,
    Path(id): Path<u64>,
    Query(query): Query<Vec<(String, String)>>,
) -> Answer<Response> {
    let job = job(&dashboard, id)?;
    let Some((seed, recording)) = job.live.records() else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let controllers = match &job.task {
        Task::Run(task) => runs::controllers(&task.experiment, 0),
        _ => Vec::new(),
    };
    let wanted = runs::wanted(&query);
    let source = Source { name: format!("seed {seed}, so far"), recording, controllers };
    let draw = move |_: &Dashboard| Ok(draw(&[source], &wanted));
    Ok(binary(blocking(dashboard, draw).await?).into_response())
}
