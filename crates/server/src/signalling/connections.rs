//! The connections of a listener, until they are a page's WebSocket.

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

/// How long the head of a request may take from when it could come, and so how long a connection is
/// kept that nobody uses.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Serves who connects. Those for whom there is no place wait, unaccepted, until one is free.
pub(super) async fn serve(mut listener: impl Listener<Addr = SocketAddr>, router: Router) {
    let places = Arc::new(Semaphore::new(MAX_REQUESTS));
    // It is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let (stream, client) = listener.accept().await;
        let service = TowerToHyperService::new(router.clone().layer(Extension(Client(client))));
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // What fails is this connection's alone, and ends it.
            let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
            drop(place);
        });
    }
}
