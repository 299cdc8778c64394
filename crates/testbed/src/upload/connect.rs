//! Opens the connection of a client.

use super::client::Client;
use super::socket::{now, set_congestion_control, set_mark, wait};
use super::{BrokenUpload, Dscp, InputError, PATIENCE, UploadError};
use rustix::event::PollFlags;
use rustix::io::Errno;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use units::Duration;

/// How long a server may take to start.
const START_TIME: Duration = Duration::from_secs(2);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);
/// Bytes that may be written and not yet sent, so that counters and cut-offs refer to data on the
/// network, not in the socket (`TCP_NOTSENT_LOWAT`).
const MAX_UNSENT: u32 = 128 << 10;

/// A connection, and the time at which it was begun.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) begun: u64,
}

/// Connects, with repeated attempts for two seconds if nothing listens. `None` if `stop` is set, or
/// `deadline` passes, before the connection.
pub(super) fn connect(
    client: &Client,
    deadline: u64,
    stop: &AtomicBool,
) -> Result<Option<Connection>, UploadError> {
    let addresses = addresses(&client.server, client.port)?;
    let give_up = now() + START_TIME.as_nanos();
    let ended = || stop.load(Ordering::Relaxed) || now() >= deadline;
    loop {
        let mut newest = None;
        for address in &addresses {
            let socket = prepare(client, *address)?;
            let begun = now();
            match attempt(&socket, *address, &ended) {
                Ok(true) => return Ok(Some(Connection { stream: socket.into(), begun })),
                Ok(false) => return Ok(None),
                Err(error) => newest = Some((*address, error)),
            }
        }
        let Some((address, error)) = newest else { return Ok(None) };
        if now() >= give_up {
            return Err(BrokenUpload::Connect { address, error }.into());
        }
        if ended() {
            return Ok(None);
        }
        std::thread::sleep(std::time::Duration::from_nanos(PAUSE.as_nanos()));
    }
}

fn addresses(server: &str, port: u16) -> Result<Vec<SocketAddr>, InputError> {
    let name = || server.to_owned();
    let found = (server, port)
        .to_socket_addrs()
        .map_err(|error| InputError::UnknownHost { server: name(), error })?;
    let addresses: Vec<_> = found.collect();
    if addresses.is_empty() { Err(InputError::NoAddress(name())) } else { Ok(addresses) }
}

fn prepare(client: &Client, address: SocketAddr) -> Result<Socket, UploadError> {
    let broken = |error: io::Error| BrokenUpload::Socket { address, error };
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))
        .map_err(broken)?;
    if let Some(name) = &client.congestion_control {
        set_congestion_control(&socket, name)?;
    }
    if client.dscp != Dscp::DEFAULT {
        set_mark(&socket, client.dscp, address).map_err(broken)?;
    }
    socket.set_tcp_notsent_lowat(MAX_UNSENT).map_err(broken)?;
    socket.set_nonblocking(true).map_err(broken)?;
    Ok(socket)
}

/// Whether the socket is connected; false if `ended` was true first.
fn attempt(socket: &Socket, address: SocketAddr, ended: &impl Fn() -> bool) -> io::Result<bool> {
    match socket.connect(&SockAddr::from(address)) {
        Ok(()) => return Ok(true),
        Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => {}
        Err(error) => return Err(error),
    }
    loop {
        if !wait(socket, PollFlags::OUT, now() + PATIENCE.as_nanos())?.is_empty() {
            return socket.take_error()?.map_or(Ok(true), Err);
        }
        if ended() {
            return Ok(false);
        }
    }
}
