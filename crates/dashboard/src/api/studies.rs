//! Claims, advice and comparisons.

use super::problem::{Answer, Refusal};
use super::{Shared, blocking, jobs};
use crate::jobs::{AdviseTask, Task, VerifyTask};
use crate::messages::{Ask, ClaimRow, Verify};
use crate::{Dashboard, experiments};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use experiment::{Bottleneck, Experiment, Home, Use};

/// The greatest number of seeds of an advice. Our choice.
const MAX_SEEDS: u32 = 100;
/// The greatest length of a device's name (Linux `IFNAMSIZ`, without the closing zero).
const MAX_DEVICE: usize = 15;

/// All claims with their newest verdicts.
pub(super) async fn claims(State(dashboard): Shared) -> impl IntoResponse {
    let mut verdicts = dashboard.jobs.board().verdicts();
    let row = |claim: &lab::claims::Claim| ClaimRow {
        id: claim.id.clone(),
        paper: claim.paper.clone(),
        place: claim.location.clone(),
        setting: claim.setting.clone(),
        published: claim.published.clone(),
        check: claim.check.clone(),
        experiment: claim.experiment.clone(),
        is_sweep: claim.is_sweep,
        note: claim.note.clone(),
        verdict: verdicts.remove(&claim.id),
    };
    Json(dashboard.catalogue.claims.iter().map(row).collect::<Vec<_>>())
}

/// Verifies claims.
pub(super) async fn verify(
    State(dashboard): Shared,
    Json(verify): Json<Verify>,
) -> Answer<impl IntoResponse> {
    let Verify { claims, runs } = verify;
    if claims.is_empty() {
        return Err(Refusal::bad("no claim is chosen; choose one or more"));
    }
    dashboard.catalogue.select(&claims).map_err(|error| Refusal::bad(error.to_string()))?;
    let title = match &claims[..] {
        [only] => format!("Claim {only}"),
        [first, .., last] => format!("{} claims, {first} to {last}", claims.len()),
        [] => String::new(),
    };
    let job = dashboard.jobs.add(title, Task::Verify(VerifyTask { claims, runs }))?;
    Ok((StatusCode::CREATED, Json(job.view())))
}

/// Ranks remedies.
pub(super) async fn advise(
    State(dashboard): Shared,
    Json(ask): Json<Ask>,
) -> Answer<impl IntoResponse> {
    let add = move |dashboard: &Dashboard| {
        let is_device = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
        let is_named = (1..=MAX_DEVICE).contains(&ask.device.len());
        if !is_named || !ask.device.bytes().all(is_device) {
            return Err(Refusal::bad(format!("'{}' is not the name of a device", ask.device)));
        }
        if !(0.0..=1.0).contains(&ask.weight) || !(1..=MAX_SEEDS).contains(&ask.runs) {
            return Err(Refusal::bad(format!(
                "write 1 to {MAX_SEEDS} seeds and a weight of 0 to 1"
            )));
        }
        let (name, experiment) = situation(dashboard, &ask)?;
        let runs = [("runs".to_owned(), ask.runs.to_string())];
        let experiment = experiment.simulated()?.with_overrides(&runs)?;
        let title = format!("Advice for {name}");
        let (weight, device) = (ask.weight, ask.device.clone());
        let task = AdviseTask { name, experiment, weight, device };
        Ok(dashboard.jobs.add(title, Task::Advise(task))?.view())
    };
    Ok((StatusCode::CREATED, Json(blocking(dashboard, add).await?)))
}

/// The network that is asked about.
fn situation(dashboard: &Dashboard, ask: &Ask) -> Answer<(String, Experiment)> {
    if let Some(name) = &ask.name {
        let folder = dashboard.folder.as_ref();
        let text = experiments::text(folder, name);
        let text = text.ok_or_else(|| Refusal::not_found(format!("there is no '{name}'")))?;
        return Ok((name.clone(), experiments::parse(folder, name, &text)?));
    }
    let line = ask.line.as_deref().unwrap_or_default();
    let line =
        line.parse().map_err(|error: experiment::HomeLineError| Refusal::bad(error.to_string()))?;
    let bottleneck = if ask.modem { Bottleneck::Modem } else { Bottleneck::Interface };
    let uses = [(ask.upload, Use::Upload), (ask.download, Use::Download)];
    let beside = uses.into_iter().filter(|(chosen, _)| *chosen).map(|(_, one)| one).collect();
    let home = Home { line, bottleneck, beside };
    Ok(("home".to_owned(), home.experiment()?))
}

/// Compares the stored runs of several sources.
pub(super) async fn compare(State(dashboard): Shared) -> Answer<impl IntoResponse> {
    let job = dashboard.jobs.add("Runs side by side".to_owned(), Task::Compare)?;
    Ok((StatusCode::CREATED, Json(job.view())))
}

/// The ranking of an advice so far.
pub(super) async fn ranking(
    State(dashboard): Shared,
    Path(id): Path<u64>,
) -> Answer<impl IntoResponse> {
    let ranking = jobs::job(&dashboard, id)?.found().ranking;
    Ok(ranking.map_or_else(
        || StatusCode::NO_CONTENT.into_response(),
        |ranking| Json((*ranking).clone()).into_response(),
    ))
}

/// The result of a comparison.
pub(super) async fn comparisons(
    State(dashboard): Shared,
    Path(id): Path<u64>,
) -> Answer<impl IntoResponse> {
    let found = jobs::job(&dashboard, id)?.found().comparisons;
    Ok(found.map_or_else(
        || StatusCode::NO_CONTENT.into_response(),
        |found| Json((*found).clone()).into_response(),
    ))
}

/// A figure of a verification.
pub(super) async fn figure(
    State(dashboard): Shared,
    Path((id, number)): Path<(u64, usize)>,
) -> Answer<Response> {
    let figures = jobs::job(&dashboard, id)?.found().figures;
    let figure = figures.get(number);
    let figure = figure.ok_or_else(|| Refusal::not_found("there is no such figure"))?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], figure.bytes.clone()).into_response())
}
