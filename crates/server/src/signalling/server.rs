//! The server's life: its runtime and its listeners.

use super::connections;
use super::measured::Measured;
use super::message::CallSettings;
use super::pages;
use super::room::{Hall, Log, RoomError};
use axum::Router;
use axum::serve::ListenerExt;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long the connections have for their end.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a server is to do.
#[derive(Clone, Default)]
pub struct Options {
    /// The film that pages may call with, WebM.
    pub film: Option<PathBuf>,
    /// Told in one line who comes and goes.
    pub log: Option<Log>,
    /// Further routes at the same addresses, such as the broker's.
    pub routes: Option<Router>,
}

/// The page and its signalling, on threads of its own until this is dropped.
pub struct Server {
    hall: Arc<Hall>,
    router: Router,
    runtime: Option<Runtime>,
}

impl Server {
    /// Serves on these listeners. They are bound already, each in the namespace that it is for;
    /// only pages that call the server localhost, 127.0.0.1 or `[::1]` are let in, so bind those.
    ///
    /// # Errors
    /// When the system gives no thread, or a listener cannot be used.
    pub fn start(listeners: Vec<TcpListener>, options: Options) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("signalling")
            .enable_all()
            .build()?;
        let hall = Arc::new(Hall::new(options.log.unwrap_or_else(|| Arc::new(|_| ()))));
        let router = pages::router(Arc::clone(&hall), options.film.as_deref(), options.routes);
        let server = Self { hall, router, runtime: Some(runtime) };
        listeners.into_iter().try_for_each(|listener| server.add_listener(listener))?;
        Ok(server)
    }

    /// Serves on one more, that leads to the same rooms.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn add_listener(&self, listener: TcpListener) -> io::Result<()> {
        self.listen(listener, self.router.clone())
    }

    /// Serves only `router` on one more listener. With `has_token` the listener may be bound to
    /// more than the loopback, because `router` then asks every client for a token. Without a token
    /// only requests that name this machine are answered, because a foreign page could otherwise
    /// send requests through the user's browser (DNS rebinding).
    ///
    /// # Errors
    /// When the listener cannot be used, or is bound to more than the loopback without a token.
    pub fn add_router(
        &self,
        listener: TcpListener,
        router: Router,
        has_token: bool,
    ) -> io::Result<()> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !has_token {
            let reason =
                format!("{address} is open to others: the broker answers there with a token only");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        self.listen(listener, if has_token { router } else { pages::guarded(router) })
    }

    fn listen(&self, listener: TcpListener, router: Router) -> io::Result<()> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        listener.set_nonblocking(true)?;
        let inside = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
            // Without it small messages wait for acknowledgements; that they then do is no reason
            // to refuse a page.
            let _ = stream.set_nodelay(true);
        });
        drop(inside);
        runtime.spawn(connections::serve(listener, router));
        Ok(())
    }

    /// A room for a measured call, with what the caller's page and the callee's are to do.
    ///
    /// # Errors
    /// When the name is none or in use, or there are too many rooms.
    pub fn measured(&self, room: &str, settings: [CallSettings; 2]) -> Result<Measured, RoomError> {
        Measured::new(Arc::clone(&self.hall), room, settings)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}
