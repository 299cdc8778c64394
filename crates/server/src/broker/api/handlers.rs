//! What each address does.

use super::Api;
use super::messages::{self, Health, Problem, SessionAnswer, SessionRequest};
use crate::since_1970;
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Gives a session the nearest relay that has room.
#[utoipa::path(
    post,
    path = "/broker/v1/sessions",
    request_body = SessionRequest,
    responses(
        (status = 201, description = "The relay to use", body = SessionAnswer),
        (status = 400, description = "Not JSON", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "Without the token", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "The service has not subscribed", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "It took too long to come"),
        (status = 413, description = "Too long", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No Content-Type: application/json", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A member is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "The system gives no random numbers", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "No relay has room", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn open(
    State(api): State<Arc<Api>>,
    request: Result<Json<SessionRequest>, JsonRejection>,
) -> Response {
    let request = match request {
        Ok(Json(request)) => request.into(),
        Err(rejection) => return messages::problem(rejection.status(), rejection.body_text()),
    };
    match api.broker.open(&request, since_1970()) {
        Ok(session) => {
            api.metrics.issued(&session);
            (StatusCode::CREATED, Json(SessionAnswer::new(session, api.broker.lifetime())))
                .into_response()
        }
        Err(refusal) => {
            api.metrics.refused(refusal.as_str());
            refusal.into_response()
        }
    }
}

/// Takes a session back. Its credentials hold until they expire.
#[utoipa::path(
    delete,
    path = "/broker/v1/sessions/{id}",
    params(("id" = String, Path, description = "The session's id")),
    responses(
        (status = 204, description = "It is over"),
        (status = 401, description = "Without the token", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is none, or it has expired", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn close(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Response {
    if api.broker.close(&id, since_1970()) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        messages::problem(StatusCode::NOT_FOUND, "there is no such session, or it has expired")
    }
}

/// Whether the broker answers, and how full its relays are.
#[utoipa::path(
    get,
    path = "/broker/v1/health",
    responses(
        (status = 200, description = "It does", body = Health),
        (status = 401, description = "Without the token", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn health(State(api): State<Arc<Api>>) -> Json<Health> {
    let loads = api.broker.loads(since_1970());
    let sessions = loads.iter().map(|(_, load)| load).sum();
    let capacity = loads.iter().map(|(relay, _)| u64::from(relay.capacity)).sum();
    Json(Health { status: "ok", relays: loads.len(), sessions, capacity })
}

/// Counts in the text form of OpenMetrics, which Prometheus reads.
#[utoipa::path(
    get,
    path = "/metrics",
    responses(
        (status = 200, description = "The counts", content_type = "application/openmetrics-text"),
        (status = 401, description = "Without the token", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn metrics(State(api): State<Arc<Api>>) -> Response {
    const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match api.metrics.text(&api.broker.loads(since_1970())) {
        Ok(text) => ([(header::CONTENT_TYPE, KIND)], text).into_response(),
        Err(error) => messages::problem(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// This document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    responses(
        (status = 200, description = "OpenAPI", content_type = "application/json"),
        (status = 401, description = "Without the token", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn document(State(api): State<Arc<Api>>) -> Json<utoipa::openapi::OpenApi> {
    Json(api.documented().into_openapi())
}
