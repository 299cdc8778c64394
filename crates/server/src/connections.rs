//! The HTTP connections of a listener, of the call page and of the broker. A connection that becomes
//! a WebSocket no longer counts.
//!
//! A place is lost by a client that sends no request, does not read its answers, or stays too long.

use crate::client::Client;
use crate::places::Places;
use axum::Router;
use axum::extract::Extension;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

/// The maximum number of HTTP connections to one listener at a time. WebSockets do not count.
pub const MAX_REQUESTS: usize = 256;
/// The maximum number of HTTP connections from one address to one listener at a time. A browser
/// keeps 6 per server.
pub const MAX_REQUESTS_PER_ADDRESS: usize = MAX_REQUESTS / 2;

/// The time limit for the head of a request, counted from the connection or the previous answer. An
/// idle connection is therefore closed after this time.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a client to read anything while an answer waits for it. Browsers that pause a
/// film request the rest of it later (RFC 9110 § 14.2).
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit of a connection, against clients that read or send very slowly: a film of 75 MB
/// at 2 Mbit/s.
pub(crate) const LIFETIME: Duration = Duration::from_secs(300);
/// The time limit for the answer to a client without a place.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
/// The answer to a client without a place (RFC 6585 § 4).
const REFUSAL: &str = "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\n\
    Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nRetry-After: 10\r\n\
    Content-Length: 46\r\nConnection: close\r\n\r\n\
    Too many connections from this address. Wait.\n";

/// Serves the connections of a listener, at most [`MAX_REQUESTS`] at a time, which includes those
/// that are refused. Further connections wait in the listener's backlog.
pub(crate) async fn serve(mut listener: impl Listener<Addr = SocketAddr>, router: Router) {
    let permits = Arc::new(Semaphore::new(MAX_REQUESTS));
    let places = Places::new(MAX_REQUESTS, MAX_REQUESTS_PER_ADDRESS);
    // The semaphore is never closed, so this loop does not end.
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let (stream, client) = listener.accept().await;
        let place = places.take(Some(client.ip()));
        let router = router.clone();
        tokio::spawn(async move {
            match place {
                Ok(place) => {
                    converse(stream, router.layer(Extension(Client(client)))).await;
                    drop(place);
                }
                Err(_) => refuse(stream).await,
            }
            drop(permit);
        });
    }
}

/// Answers the requests of a connection.
async fn converse(stream: impl AsyncRead + AsyncWrite + Send + 'static, router: Router) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(TIMEOUT);
    let service = TowerToHyperService::new(router);
    let connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
    // An error or the time limit concerns only this connection and ends it.
    let _ = timeout(LIFETIME, connection.with_upgrades()).await;
}

async fn refuse(mut stream: impl AsyncWrite + Unpin) {
    // The client may have left already.
    let _ = timeout(REFUSAL_TIMEOUT, stream.write_all(REFUSAL.as_bytes())).await;
}
