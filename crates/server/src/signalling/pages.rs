//! What is served over HTTP.

use super::MAX_CONNECTIONS;
use super::check::{local_host, same_origin};
use super::room::Hall;
use super::socket;
use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, get_service};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tower_http::services::ServeFile;

/// The pages and what they need, made by `web/build.mjs`: address, content type, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("assets/start.html")),
    ("/call", "text/html; charset=utf-8", include_str!("assets/call.html")),
    ("/call.js", "text/javascript; charset=utf-8", include_str!("assets/call.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("/icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

#[derive(Clone)]
struct Shared {
    hall: Arc<Hall>,
    connections: Arc<Semaphore>,
}

pub(super) fn router(
    hall: Arc<Hall>,
    film: Option<&std::path::Path>,
    routes: Option<Router>,
) -> Router {
    let mut router = Router::new().route("/ws/{room}", any(open));
    for &(path, kind, content) in ASSETS {
        router = router.route(path, get(async move || ([(header::CONTENT_TYPE, kind)], content)));
    }
    if let Some(film) = film {
        // By its name it might be of another kind than its address says.
        let file = match "video/webm".parse() {
            Ok(kind) => ServeFile::new_with_mime(film, &kind),
            Err(_) => ServeFile::new(film),
        };
        router = router.route("/media/film.webm", get_service(file));
    }
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let router = router.with_state(Shared { hall, connections });
    let router = routes
        .unwrap_or_default()
        .merge(router)
        .fallback(async || (StatusCode::NOT_FOUND, "There is nothing at this address.\n"));
    guarded(router)
}

/// With [`guard`] before all of it.
pub(super) fn guarded(router: Router) -> Router {
    router.layer(middleware::from_fn(guard))
}

/// Lets in only who calls the server by a name of this machine, and says in every answer what its
/// pages may do.
async fn guard(request: Request, next: Next) -> Response {
    let Some(host) = local_host(request.headers()) else {
        let words = "This server is for this machine: call it localhost, 127.0.0.1 or [::1].\n";
        return (StatusCode::MISDIRECTED_REQUEST, words).into_response();
    };
    let mut response = next.run(request).await;
    secure(response.headers_mut(), &host);
    response
}

/// The headers of the OWASP Secure Headers Project that concern a page without foreign content.
fn secure(headers: &mut HeaderMap, host: &Authority) {
    const SAME: [(HeaderName, &str); 7] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(self), microphone=(self)"),
    ];
    for (name, value) in SAME {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Older Firefox does not count a WebSocket of the same host to 'self'.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' blob:; \
         connect-src 'self' ws://{host}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        // The broker's answers have a stricter one.
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    }
}

/// A page's WebSocket.
async fn open(
    State(shared): State<Shared>,
    Path(room): Path<String>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !local_host(&headers).is_some_and(|host| same_origin(&headers, &host)) {
        return (StatusCode::FORBIDDEN, "Only this server's own pages may connect.\n")
            .into_response();
    }
    let Ok(connection) = shared.connections.try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "There are too many pages.\n").into_response();
    };
    let longest = socket::longest_message(shared.hall.is_measured(&room));
    upgrade.max_message_size(longest).max_frame_size(longest).on_upgrade(async move |socket| {
        socket::serve(socket, shared.hall, &room).await;
        drop(connection);
    })
}
