//! The HTTP interface of the broker.
//!
//! ```text
//! request ─▶ token, rate limit ─▶ time and size limit ─▶ handler ─▶ Broker        answers are counted
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

/// The maximum length of the body of a request, bytes.
pub const MAX_BODY: usize = 4 << 10;
/// The number of requests that a client may send at once. Further requests are limited to
/// [`REQUESTS_PER_SECOND`].
pub const REQUEST_BURST: u32 = 60;
/// The number of requests per second that a client may send in the long term. A client is an IPv4
/// address or an IPv6 network of 64 bits.
pub const REQUESTS_PER_SECOND: u32 = 20;
/// The maximum number of clients with a separate rate limit. Further clients share one rate limit,
/// until some of the clients have sent nothing for a few seconds.
pub const MAX_CLIENTS: usize = 10_000;
/// The minimum length of a token, characters.
pub const MIN_TOKEN: usize = super::read::MIN_SECRET;
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The broker with its access control and metrics.
pub struct Api {
    broker: Broker,
    admission: Admission,
    metrics: Metrics,
}

impl Api {
    /// The interface of a broker. With a token, every request must carry the token. Without one,
    /// the server answers only requests from this machine.
    #[must_use]
    pub fn new(broker: Broker, token: Option<Secret>) -> Arc<Self> {
        Arc::new(Self { broker, admission: Admission::new(token), metrics: Metrics::default() })
    }

    /// Whether requests must carry a token.
    #[must_use]
    pub fn has_token(&self) -> bool {
        self.admission.has_token()
    }

    /// The routes of the broker, to be merged into another router.
    pub fn router(self: &Arc<Self>) -> Router {
        self.guarded(Router::from(self.documented()))
    }

    /// The routes of the broker for a separate listener. Requests for other addresses are admitted
    /// by the same rules before they get status 404.
    pub fn standalone_router(self: &Arc<Self>) -> Router {
        let not_found =
            async || messages::problem(StatusCode::NOT_FOUND, "the broker has no such address");
        self.guarded(Router::from(self.documented()).fallback(not_found))
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
            .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, TIMEOUT))
            .layer(middleware::from_fn_with_state(Arc::clone(self), admission::admit))
    }
}
