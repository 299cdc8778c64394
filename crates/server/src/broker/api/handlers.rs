//! The handlers of the requests.

use super::Api;
use super::messages::{self, Health, Problem, SessionAnswer, SessionRequest};
use crate::since_1970;
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Opens a session on the nearest relay that has free capacity.
#[utoipa::path(
    post,
    path = "/broker/v1/sessions",
    request_body = SessionRequest,
    responses(
        (status = 201, description = "The session, with the relay to use", body = SessionAnswer),
        (status = 400, description = "The body is not JSON", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "The token is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "The service has not subscribed to this class", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The request exceeded the time limit"),
        (status = 413, description = "The body is too long", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "The Content-Type is not application/json", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A member is missing, unknown or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
        (status = 500, description = "The system gave no random numbers", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "No relay of the class, or none with free capacity", body = Problem, content_type = "application/problem+json"),
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

/// Closes a session. Its credentials stay valid until they expire.
#[utoipa::path(
    delete,
    path = "/broker/v1/sessions/{id}",
    params(("id" = String, Path, description = "The identifier of the session")),
    responses(
        (status = 204, description = "The session is closed"),
        (status = 401, description = "The token is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such session, or it has expired", body = Problem, content_type = "application/problem+json"),
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

/// The state of the broker: its relays, their sessions and their capacity.
#[utoipa::path(
    get,
    path = "/broker/v1/health",
    responses(
        (status = 200, description = "The broker works", body = Health),
        (status = 401, description = "The token is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn health(State(api): State<Arc<Api>>) -> Json<Health> {
    let loads = api.broker.loads(since_1970());
    let sessions = loads.iter().map(|(_, load)| load).sum();
    let capacity = loads.iter().map(|(relay, _)| u64::from(relay.capacity)).sum();
    Json(Health { status: "ok", relays: loads.len(), sessions, capacity })
}

/// The metrics in the text format of OpenMetrics, for Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    responses(
        (status = 200, description = "The metrics", content_type = "application/openmetrics-text"),
        (status = 401, description = "The token is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn metrics(State(api): State<Arc<Api>>) -> Response {
    const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match api.metrics.text(&api.broker.loads(since_1970())) {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => messages::problem(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// The description of this interface.
#[utoipa::path(
    get,
    path = "/openapi.json",
    responses(
        (status = 200, description = "The OpenAPI document", content_type = "application/json"),
        (status = 401, description = "The token is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn document(State(api): State<Arc<Api>>) -> Json<utoipa::openapi::OpenApi> {
    Json(api.documented().into_openapi())
}
