//! Errors as the pages show them.

use crate::jobs::Full;
use crate::messages::Problem;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use document::FileError;
use store::{Fault, StoreError};

/// What a handler answers, or why it does not.
pub(super) type Answer<T> = Result<T, Refusal>;

/// Why a request has no other answer.
pub(super) struct Refusal {
    status: StatusCode,
    problem: Problem,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, problem: Problem { message, line: None, key: String::new() } }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    pub(super) fn internal() -> Self {
        let message = "internal error (panic); please report it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            problem: Problem { message, line: error.line, key: error.key },
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let status = match error.fault {
            Fault::NoSuchRun(_) => StatusCode::NOT_FOUND,
            Fault::Tags => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<Full> for Refusal {
    fn from(full: Full) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, full.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.problem)).into_response()
    }
}
