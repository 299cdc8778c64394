//! The HTTP connections of a listener. A connection that becomes a WebSocket no longer counts.

use super::MAX_REQUESTS;
use crate::client::Client;
use axum::Router;
use axum::extract::Extension;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The time limit for the head of a request, counted from the connection or the previous answer. An
/// idle connection is therefore closed after this time.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the connections of a listener, at most [`MAX_REQUESTS`] at a time. Further connections
/// wait in the listener's backlog.
pub(super) async fn serve(mut listener: impl Listener<Addr = SocketAddr>, router: Router) {
    let permits = Arc::new(Semaphore::new(MAX_REQUESTS));
    // The semaphore is never closed, so this loop does not end.
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let (stream, client) = listener.accept().await;
        let service = TowerToHyperService::new(router.clone().layer(Extension(Client(client))));
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(TIMEOUT);
            // An error concerns only this connection and ends it.
            let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
            drop(permit);
        });
    }
}
