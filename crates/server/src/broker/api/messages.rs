//! The messages of the interface, and its OpenAPI document.

use super::super::{Class, Refusal, Request, Session};
use crate::IceServer;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};

/// A request for a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SessionRequest {
    /// The service that the call belongs to.
    #[schema(example = "meet")]
    service: String,
    /// The user, to whom the credentials are bound: 1 to 64 letters, digits and the characters
    /// . - _ @
    #[schema(example = "alice")]
    user: String,
    /// The region of the user, as named in the distances of the relays. The broker chooses the
    /// nearest relay.
    #[serde(default)]
    #[schema(example = "brittany")]
    region: Option<String>,
    /// Whether to request a specialised session: its packets are marked, and gateways put them into
    /// a separate class.
    #[serde(default)]
    specialised: bool,
}

impl From<SessionRequest> for Request {
    fn from(request: SessionRequest) -> Self {
        let class = if request.specialised { Class::Specialised } else { Class::Basic };
        Self { service: request.service, user: request.user, region: request.region, class }
    }
}

/// A session with its relay.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionAnswer {
    /// The identifier, with which the session is closed.
    id: String,
    /// The name of the relay.
    relay: String,
    /// Whether the packets of the session may be marked.
    specialised: bool,
    /// The value for `RTCConfiguration.iceServers`.
    ice_servers: Vec<IceServer>,
    /// The lifetime of the session and its credentials, seconds.
    lifetime: u64,
    /// When the session and its credentials expire, seconds since 1970.
    expires: u64,
    /// The DSCP values that the packets of the session may have.
    dscp: CodePoints,
}

/// Differentiated services code points, 0 to 63 (RFC 2474 § 3).
#[derive(Debug, Serialize, ToSchema)]
struct CodePoints {
    /// The code point of audio packets.
    audio: u8,
    /// The code point of video packets.
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

/// The state of the broker.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// Always `ok`.
    pub(super) status: &'static str,
    /// The number of relays.
    pub(super) relays: usize,
    /// The number of sessions on all relays.
    pub(super) sessions: u32,
    /// The maximum number of sessions on all relays.
    pub(super) capacity: u64,
}

/// Why a request failed (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    /// The name of the HTTP status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong, with a suggestion where possible.
    detail: String,
}

/// An answer with a [`Problem`].
pub(super) fn problem(status: StatusCode, detail: impl Into<String>) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    let body = Problem { title, status: status.as_u16(), detail: detail.into() };
    let mut response = (status, axum::Json(body)).into_response();
    let content_type = header::HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::InvalidName => StatusCode::UNPROCESSABLE_ENTITY,
            Self::UnknownService | Self::BasicOnly => StatusCode::FORBIDDEN,
            Self::NoRelay | Self::Full => StatusCode::SERVICE_UNAVAILABLE,
            Self::Random => StatusCode::INTERNAL_SERVER_ERROR,
        };
        problem(status, self.to_string())
    }
}

/// The OpenAPI document without its paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Weir broker",
        description = "Assigns media relays (TURN, RFC 8656) to WebRTC sessions, with credentials for a limited time (Janczukowicz 2017, section 4.4.2).",
    ),
    modifiers(&Token),
    security(("token" = [])),
)]
pub(super) struct Document;

/// Adds the token, which every request must carry if the broker requires one.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer =
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document.components.get_or_insert_default().add_security_scheme("token", bearer);
    }
}
