//! The server with its runtime and its listeners.

use super::measured::MeasuredRoom;
use super::message::CallSettings;
use super::pages;
use super::room::{Log, RoomError, RoomRegistry};
use crate::connections;
use crate::guard::{Access, guarded};
use crate::secret::Secret;
use axum::Router;
use axum::serve::ListenerExt;
use socket2::SockRef;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Bytes that may be written to a socket and not yet sent (tcp(7), `TCP_NOTSENT_LOWAT`). Otherwise
/// the kernel takes megabytes of small answers for a client that reads nothing, and the time limit
/// for writing begins late.
const MAX_UNSENT: u32 = 128 << 10;
/// The time limit for closing the connections when the server is dropped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The options of a server.
#[derive(Clone, Default)]
pub struct Options {
    /// A WebM file that pages may send instead of camera and microphone.
    pub film: Option<PathBuf>,
    /// The origin of a further WebSocket server that pages may connect to, such as a P-CSCF:
    /// `wss://10.0.0.4:8443`.
    pub websocket: Option<String>,
    /// Receives one line for each participant that joins or leaves.
    pub log: Option<Log>,
    /// Further routes on the same listeners, such as those of the dashboard and the broker.
    pub routes: Option<Router>,
}

/// The call page and its signalling server. It runs on its own thread until this is dropped.
pub struct Server {
    registry: Arc<RoomRegistry>,
    router: Router,
    runtime: Option<Runtime>,
}

impl Server {
    /// Serves on these listeners, each of which is bound already in its network namespace. Bind
    /// them to loopback addresses: the server answers only requests whose host is localhost,
    /// 127.0.0.1 or `[::1]`.
    ///
    /// # Errors
    /// If the system cannot start a thread, or a listener cannot be used.
    pub fn start(listeners: Vec<TcpListener>, options: Options) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("signalling")
            .enable_all()
            .build()?;
        let log = options.log.unwrap_or_else(|| Arc::new(|_| ()));
        let registry = Arc::new(RoomRegistry::new(log));
        let mut router =
            pages::router(Arc::clone(&registry), options.film.as_deref(), options.routes);
        if let Some(origin) = options.websocket {
            router = pages::with_websocket(router, origin);
        }
        let server = Self { registry, router, runtime: Some(runtime) };
        listeners.into_iter().try_for_each(|listener| server.add_listener(listener))?;
        Ok(server)
    }

    /// Serves on one more listener, with the same rooms.
    ///
    /// # Errors
    /// If the listener cannot be used.
    pub fn add_listener(&self, listener: TcpListener) -> io::Result<()> {
        self.listen(listener, self.router.clone())
    }

    /// Serves only `router` on one more listener. With `has_token` the listener may be bound to
    /// more than the loopback, because `router` then asks every client for a token. Without a token
    /// only requests that name this machine are answered, because a foreign page could otherwise
    /// send requests through the user's browser (DNS rebinding).
    ///
    /// # Errors
    /// If the listener cannot be used, or is bound to more than the loopback without a token.
    pub fn add_router(
        &self,
        listener: TcpListener,
        router: Router,
        has_token: bool,
    ) -> io::Result<()> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !has_token {
            let reason =
                format!("{address} is not a loopback address: the broker needs a token there");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        self.listen(listener, if has_token { router } else { guarded(router, Access::Local) })
    }

    /// Serves only `router` on one more listener, which may be bound to any address, to clients
    /// that send the token as a bearer token or as the password of Basic authentication. They must
    /// name the server by its address.
    ///
    /// # Errors
    /// If the listener cannot be used.
    pub fn add_protected(
        &self,
        listener: TcpListener,
        router: Router,
        token: Secret,
    ) -> io::Result<()> {
        self.listen(listener, guarded(router, Access::Token(Arc::new(token))))
    }

    fn listen(&self, listener: TcpListener, router: Router) -> io::Result<()> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        listener.set_nonblocking(true)?;
        let guard = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
            // Without TCP_NODELAY small messages wait for acknowledgements. If an option cannot be
            // set, the server still works, so an error is ignored.
            let _ = stream.set_nodelay(true);
            let _ = SockRef::from(&*stream).set_tcp_notsent_lowat(MAX_UNSENT);
        });
        drop(guard);
        runtime.spawn(connections::serve(listener, router));
        Ok(())
    }

    /// Reserves a room for a measured call, with the settings of the caller and of the callee.
    ///
    /// # Errors
    /// If the name is not valid or in use, or there are too many rooms.
    pub fn reserve_room(
        &self,
        name: &str,
        settings: [CallSettings; 2],
    ) -> Result<MeasuredRoom, RoomError> {
        MeasuredRoom::reserve(Arc::clone(&self.registry), name, settings)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        }
    }
}
