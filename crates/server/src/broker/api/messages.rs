//! What is said, and how the document of the interface describes it.

use super::super::{Class, Refusal, Request, Session};
use crate::IceServer;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};

/// Asks for the relay of a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SessionRequest {
    /// The service that the call belongs to.
    #[schema(example = "meet")]
    service: String,
    /// Its user, to whom the credentials are bound: 1 to 64 letters, digits and the signs . - _ @
    #[schema(example = "alice")]
    user: String,
    /// Where the user is, by a name that the relays' distances have; the nearest relay is given.
    #[serde(default)]
    #[schema(example = "brittany")]
    region: Option<String>,
    /// Whether its packets are to be marked and put into a class of their own.
    #[serde(default)]
    specialised: bool,
}

impl From<SessionRequest> for Request {
    fn from(asked: SessionRequest) -> Self {
        let class = if asked.specialised { Class::Specialised } else { Class::Basic };
        Self { service: asked.service, user: asked.user, region: asked.region, class }
    }
}

/// The relay of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionAnswer {
    /// What the session is called when it is given back.
    id: String,
    /// The relay's name.
    relay: String,
    /// Whether its packets may be marked.
    specialised: bool,
    /// For `RTCConfiguration.iceServers`.
    ice_servers: Vec<IceServer>,
    /// How long the session and its credentials last, seconds.
    lifetime: u64,
    /// When they end, seconds since 1970.
    expires: u64,
    /// The code points that its packets may have.
    dscp: CodePoints,
}

/// Differentiated services code points, 0 to 63 (RFC 2474 § 3).
#[derive(Debug, Serialize, ToSchema)]
struct CodePoints {
    /// Of audio.
    audio: u8,
    /// Of video.
    video: u8,
}

impl SessionAnswer {
    pub(super) fn new(session: Session, lifetime: units::Duration) -> Self {
        Self {
            id: session.id,
            relay: session.relay,
            specialised: session.class == Class::Specialised,
            ice_servers: session.ice_servers,
            lifetime: seconds(lifetime),
            expires: seconds(session.expires),
            dscp: CodePoints { audio: session.marks.audio.0, video: session.marks.video.0 },
        }
    }
}

fn seconds(time: units::Duration) -> u64 {
    time.as_nanos() / 1_000_000_000
}

/// How the broker is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`.
    pub(super) status: &'static str,
    /// How many relays it knows.
    pub(super) relays: usize,
    /// How many sessions they have.
    pub(super) sessions: u32,
    /// How many they may have.
    pub(super) capacity: u64,
}

/// Why a request was not granted (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    /// The HTTP status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong and, where one can be named, the suggestion.
    detail: String,
}

/// An answer that tells what is wrong.
pub(super) fn problem(status: StatusCode, detail: impl Into<String>) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    let body = Problem { title, status: status.as_u16(), detail: detail.into() };
    let mut response = (status, axum::Json(body)).into_response();
    let kind = header::HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Name => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Service | Self::Specialised => StatusCode::FORBIDDEN,
            Self::NoRelay | Self::Full => StatusCode::SERVICE_UNAVAILABLE,
            Self::Random => StatusCode::INTERNAL_SERVER_ERROR,
        };
        problem(status, self.to_string())
    }
}

/// The document of the interface, without its paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Weir's broker",
        description = "Which media relay (TURN, RFC 8656) a WebRTC session is to use, with credentials for a limited time (Janczukowicz 2017, section 4.4.2).",
    ),
    modifiers(&Token),
    security(("token" = [])),
)]
pub(super) struct Document;

/// The token that every request carries where the broker asks for one.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer =
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document.components.get_or_insert_default().add_security_scheme("token", bearer);
    }
}
