//! The broker over HTTP.
//!
//! ```text
//! request ─▶ token ─▶ rate of this client ─▶ size and time ─▶ handler ─▶ Broker        counted on the way back
//! ```

mod admission;
mod handlers;
mod messages;
mod metrics;
#[cfg(test)]
mod tests;

use super::Broker;
use crate::secret::Secret;
use admission::Admission;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;
use tower_http::timeout::TimeoutLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The longest body of a request, bytes.
pub const MAX_BODY: usize = 4 << 10;
/// The most requests of a client at once; those after it at [`REQUESTS_PER_SECOND`].
pub const REQUEST_BURST: u32 = 60;
/// The most requests of a client a second in the long run. A client is an IPv4 address or an IPv6
/// network of 64 bits.
pub const REQUESTS_PER_SECOND: u32 = 20;
/// The most clients whose rates are kept; those beyond share one until some have been quiet for a
/// few seconds.
pub const MAX_CLIENTS: usize = 10_000;
/// The shortest token, characters.
pub const MIN_TOKEN: usize = super::read::MIN_SECRET;
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The broker and who may ask it.
pub struct Api {
    broker: Broker,
    admission: Admission,
    metrics: Metrics,
}

impl Api {
    /// Answers those who have the token; without one it is for this machine alone.
    #[must_use]
    pub fn new(broker: Broker, token: Option<Secret>) -> Arc<Self> {
        Arc::new(Self { broker, admission: Admission::new(token), metrics: Metrics::default() })
    }

    /// Whether it asks for a token.
    #[must_use]
    pub fn has_token(&self) -> bool {
        self.admission.has_token()
    }

    /// Its routes, each behind all that is asked of a request.
    pub fn router(self: &Arc<Self>) -> Router {
        self.guarded(Router::from(self.documented()))
    }

    /// The routes and nothing else: what is not there is told only those who may ask.
    pub fn alone(self: &Arc<Self>) -> Router {
        let nothing =
            async || messages::problem(StatusCode::NOT_FOUND, "there is nothing at this address");
        self.guarded(Router::from(self.documented()).fallback(nothing))
    }

    fn documented(self: &Arc<Self>) -> OpenApiRouter {
        let routes = OpenApiRouter::with_openapi(messages::Document::openapi())
            .routes(routes!(handlers::open))
            .routes(routes!(handlers::close))
            .routes(routes!(handlers::health))
            .routes(routes!(handlers::metrics))
            .routes(routes!(handlers::document));
        routes.with_state(Arc::clone(self))
    }

    fn guarded(self: &Arc<Self>, router: Router) -> Router {
        router
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, PATIENCE))
            .layer(middleware::from_fn_with_state(Arc::clone(self), admission::admit))
    }
}
