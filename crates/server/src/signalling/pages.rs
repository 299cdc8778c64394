//! The HTTP routes of the call page.

use super::room::RoomRegistry;
use super::socket;
use super::{MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS};
use crate::client::Client;
use crate::guard::{Access, guarded, is_same_origin, local_host};
use crate::places::{NoPlace, Places};
use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, get_service};
use std::sync::Arc;
use tower_http::services::ServeFile;

/// The files of the pages, built by `web/build.mjs`: path, content type, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("/rooms", "text/html; charset=utf-8", include_str!("assets/start.html")),
    ("/call", "text/html; charset=utf-8", include_str!("assets/call.html")),
    ("/call.js", "text/javascript; charset=utf-8", include_str!("assets/call.js")),
    ("/ims.js", "text/javascript; charset=utf-8", include_str!("assets/ims.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("/icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

#[derive(Clone)]
struct Shared {
    registry: Arc<RoomRegistry>,
    places: Arc<Places>,
}

pub(super) fn router(
    registry: Arc<RoomRegistry>,
    film: Option<&std::path::Path>,
    routes: Option<Router>,
) -> Router {
    let mut router = Router::new().route("/ws/{room}", any(open));
    for &(path, content_type, content) in ASSETS {
        let answer = async move || ([(header::CONTENT_TYPE, content_type)], content);
        router = router.route(path, get(answer));
    }
    if let Some(film) = film {
        // The content type is fixed, because the name of the file may have another extension.
        let file = match "video/webm".parse() {
            Ok(content_type) => ServeFile::new_with_mime(film, &content_type),
            Err(_) => ServeFile::new(film),
        };
        router = router.route("/media/film.webm", get_service(file));
    }
    let places = Places::new(MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS);
    let router = router.with_state(Shared { registry, places });
    let router = routes
        .unwrap_or_default()
        .merge(router)
        .fallback(async || (StatusCode::NOT_FOUND, "Not found: no page has this address.\n"));
    guarded(router, Access::Local)
}

/// The router whose pages may also connect to WebSockets of this origin.
pub(super) fn with_websocket(router: Router, origin: String) -> Router {
    router.layer(middleware::map_response(move |response: Response| {
        let allowed = allow_websocket(response, &origin);
        async { allowed }
    }))
}

fn allow_websocket(mut response: Response, origin: &str) -> Response {
    let policy = response.headers().get(header::CONTENT_SECURITY_POLICY);
    let policy = policy.and_then(|policy| policy.to_str().ok()).map(|policy| {
        policy.replace("connect-src 'self'", &format!("connect-src 'self' {origin}"))
    });
    if let Some(policy) = policy.and_then(|policy| HeaderValue::try_from(policy).ok()) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Opens the WebSocket of a page.
async fn open(
    State(shared): State<Shared>,
    Path(room): Path<String>,
    Extension(Client(client)): Extension<Client>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !local_host(&headers).is_some_and(|host| is_same_origin(&headers, &host)) {
        return (StatusCode::FORBIDDEN, "Only the pages of this server may connect.\n")
            .into_response();
    }
    let place = match shared.places.take(Some(client.ip())) {
        Ok(place) => place,
        Err(full) => return refusal(full).into_response(),
    };
    let max = socket::max_message_length(shared.registry.is_reserved(&room));
    upgrade.max_message_size(max).max_frame_size(max).on_upgrade(async move |socket| {
        socket::serve(socket, shared.registry, &room, client.ip()).await;
        drop(place);
    })
}

fn refusal(full: NoPlace) -> (StatusCode, &'static str) {
    match full {
        NoPlace::Total(_) => {
            let text = "Too many pages are connected. Try again later.\n";
            (StatusCode::SERVICE_UNAVAILABLE, text)
        }
        NoPlace::Address(_) => {
            let text = "Too many pages are connected from this address. Close some.\n";
            (StatusCode::TOO_MANY_REQUESTS, text)
        }
    }
}
