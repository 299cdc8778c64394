//! The routes of the dashboard: pages, and the interface that they use.

mod events;
mod jobs;
mod problem;
mod runs;
mod studies;

use crate::{Dashboard, MAX_BODY};
use axum::Json;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use problem::Answer;
use std::sync::Arc;

/// The state of every handler.
type Shared = State<Arc<Dashboard>>;

/// The paths of the pages. All have the same document, whose script reads the path.
const PAGES: [&str; 8] =
    ["/", "/run", "/new", "/job", "/claims", "/advise", "/compare", "/packets"];

pub(crate) fn router(dashboard: Arc<Dashboard>) -> Router {
    let asset = |kind: &'static str, text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, kind)], text))
    };
    let page = "text/html; charset=utf-8";
    let mut router = Router::new()
        .route("/app.js", asset("text/javascript; charset=utf-8", include_str!("../assets/app.js")))
        .route("/app.css", asset("text/css; charset=utf-8", include_str!("../assets/app.css")));
    for path in PAGES {
        router = router.route(path, asset(page, include_str!("../assets/app.html")));
    }
    let api = Router::new()
        .route("/facts", get(facts))
        .route("/events", get(events::events))
        .route("/runs", get(runs::list))
        .route("/runs/{id}", get(runs::page))
        .route("/runs/{id}/tags", post(runs::tags))
        .route("/chart", get(runs::chart))
        .route("/csv", get(runs::csv))
        .route("/packets", get(runs::packets))
        .route("/experiments", get(runs::experiments))
        .route("/experiment", get(runs::experiment))
        .route("/edit", post(runs::edit))
        .route("/jobs", get(jobs::list).post(jobs::start))
        .route("/jobs/{id}", get(jobs::view).delete(jobs::cancel))
        .route("/jobs/{id}/chart", get(jobs::chart))
        .route("/jobs/{id}/ranking", get(studies::ranking))
        .route("/jobs/{id}/comparisons", get(studies::comparisons))
        .route("/jobs/{id}/figures/{number}", get(studies::figure))
        .route("/claims", get(studies::claims))
        .route("/verify", post(studies::verify))
        .route("/advise", post(studies::advise))
        .route("/compare", post(studies::compare))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    router.nest("/api", api).with_state(dashboard)
}

async fn facts(State(dashboard): Shared) -> impl IntoResponse {
    Json(dashboard.facts.clone())
}

/// Runs `work`, which reads the store or computes, in a thread of its own.
async fn blocking<T: Send + 'static>(
    dashboard: Arc<Dashboard>,
    work: impl FnOnce(&Dashboard) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let task = tokio::task::spawn_blocking(move || work(&dashboard));
    task.await.unwrap_or_else(|_| Err(problem::Refusal::internal()))
}

/// Columns of numbers.
fn binary(bytes: Vec<u8>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes)
}
