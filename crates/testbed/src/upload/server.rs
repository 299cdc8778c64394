use super::client::is_transient;
use super::output::{ReceiverSample, UploadEvent, UploadLine, Value};
use super::socket::{now, plain, wait};
use super::{
    BrokenUpload, CHUNK, IDLE_TIMEOUT, InputError, MAX_CLIENTS, MAX_CLIENTS_PER_ADDRESS, PATIENCE,
    UploadError,
};
use rustix::event::PollFlags;
use rustix::io::Errno;
use server::Places;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use units::Duration;

/// The options of an upload server.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// The address on which it listens; `[::]` includes IPv4.
    pub listen: SocketAddr,
    /// The time between the samples of each client, above zero.
    pub interval: Duration,
    /// What clients may take.
    pub limits: Limits,
}

/// What the clients of a server may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of clients at a time.
    pub clients: usize,
    /// The number of clients at a time from one IPv4 address or one IPv6 network of 64 bits.
    pub clients_per_address: usize,
    /// The time without data after which an upload ends.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: MAX_CLIENTS,
            clients_per_address: MAX_CLIENTS_PER_ADDRESS,
            idle: IDLE_TIMEOUT,
        }
    }
}

/// The time limit for the answer to a client, which fits in the send buffer.
const WRITE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
/// The stack of a client's thread, bytes; its read buffer is on the heap.
const STACK: usize = 256 << 10;
/// The silence after which TCP keep-alive probes a client, and the time between probes.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(60);
const ASKED_EVERY: std::time::Duration = std::time::Duration::from_secs(10);

/// Serves uploads within the limits until `stop` is set; returns the number of uploads served.
/// `output` is called with the listening address, with samples, and with the end of each upload. An
/// error of `output` ends the server.
///
/// # Errors
/// When it cannot listen at the address, or `output` fails.
pub fn serve(
    server: &Server,
    stop: &AtomicBool,
    output: &(dyn Fn(&UploadLine) -> io::Result<()> + Sync),
) -> Result<u64, UploadError> {
    let listener = listen(server.listen)
        .map_err(|error| InputError::Listen { address: server.listen, error })?;
    let state = ServerState {
        interval: server.interval.as_nanos().max(1),
        stop,
        output,
        output_failed: AtomicBool::new(false),
        output_error: Mutex::new(None),
        places: Places::new(server.limits.clients, server.limits.clients_per_address),
        idle: server.limits.idle.as_nanos(),
        served: AtomicU64::new(0),
    };
    let address = listener.local_addr().ok().map(|address| address.to_string());
    state.write(&UploadLine::Event(UploadEvent {
        address,
        ..UploadEvent::new(now(), "listening", None)
    }));
    let accepted = std::thread::scope(|scope| state.accept(&listener, scope));
    let served = state.served.load(Ordering::Relaxed);
    state.write(&UploadLine::Event(UploadEvent::new(now(), "stopped", Some(Value::Count(served)))));
    if let Some(error) = state.output_error.into_inner().unwrap_or(None) {
        return Err(UploadError::Output(error));
    }
    accepted.map_err(BrokenUpload::Accept)?;
    Ok(served)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    match listen_on(address) {
        // The host has no IPv6.
        Err(_) if address.is_ipv6() && address.ip().is_unspecified() && !has_ipv6() => {
            listen_on((Ipv4Addr::UNSPECIFIED, address.port()).into())
        }
        other => other,
    }
}

fn has_ipv6() -> bool {
    let any = SockAddr::from(SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, 0)));
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP));
    socket.and_then(|socket| socket.bind(&any)).is_ok()
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(1024)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// The state that the threads of a server share.
struct ServerState<'a> {
    interval: u64,
    stop: &'a AtomicBool,
    output: &'a (dyn Fn(&UploadLine) -> io::Result<()> + Sync),
    /// Whether `output` has failed.
    output_failed: AtomicBool,
    output_error: Mutex<Option<io::Error>>,
    places: Arc<Places>,
    /// The time without data after which an upload ends, ns.
    idle: u64,
    served: AtomicU64,
}

impl ServerState<'_> {
    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.output_failed.load(Ordering::Relaxed)
    }

    fn write(&self, line: &UploadLine) {
        if self.output_failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = (self.output)(line) {
            self.output_failed.store(true, Ordering::Relaxed);
            if let Ok(mut output_error) = self.output_error.lock() {
                output_error.get_or_insert(error);
            }
        }
    }

    fn accept<'s>(
        &'s self,
        listener: &TcpListener,
        scope: &'s std::thread::Scope<'s, '_>,
    ) -> io::Result<()> {
        while !self.is_stopping() {
            let until = now() + PATIENCE.as_nanos();
            if wait(listener, PollFlags::IN, until)?.is_empty() {
                continue;
            }
            match listener.accept() {
                Ok((stream, peer)) => self.start_client(stream, plain(peer), scope),
                Err(error)
                    if is_transient(&error) || error.kind() == io::ErrorKind::ConnectionAborted => {
                }
                Err(error) if is_shortage(&error) => {
                    std::thread::sleep(std::time::Duration::from_nanos(PATIENCE.as_nanos()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Starts a thread for a client, or refuses the client.
    fn start_client<'s>(
        &'s self,
        stream: TcpStream,
        peer: SocketAddr,
        scope: &'s std::thread::Scope<'s, '_>,
    ) {
        // The answers below are the first data on their sockets, so writing them does not block.
        let place = match self.places.take(Some(peer.ip())) {
            Ok(place) => place,
            Err(full) => return refuse(&stream, &full.to_string()),
        };
        let kept = stream.try_clone();
        let thread = std::thread::Builder::new().stack_size(STACK);
        let spawned = thread.spawn_scoped(scope, move || {
            ClientHandler { state: self, peer: peer.to_string(), bytes: 0 }.serve(stream);
            self.served.fetch_add(1, Ordering::Relaxed);
            drop(place);
        });
        if spawned.is_err()
            && let Ok(stream) = kept
        {
            refuse(&stream, "the server cannot start a thread");
        }
    }
}

/// Whether the machine lacks a resource that may become free again.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    error
        .raw_os_error()
        .is_some_and(|code| shortages.iter().any(|known| known.raw_os_error() == code))
}

fn refuse(mut stream: &TcpStream, reason: &str) {
    // A client that has left does not get the answer.
    let _ = stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let _ = stream.write_all(format!("refused: {reason}\n").as_bytes());
}

/// The connection with one client.
struct ClientHandler<'a> {
    state: &'a ServerState<'a>,
    peer: String,
    bytes: u64,
}

impl ClientHandler<'_> {
    fn serve(&mut self, mut stream: TcpStream) {
        let event = match self.receive(&mut stream) {
            Ok(true) => "completed",
            Ok(false) => "incomplete",
            Err(error) if error.kind() == io::ErrorKind::TimedOut => "timedOut",
            Err(_) => "incomplete",
        };
        self.write_sample(&stream);
        let peer = Some(self.peer.clone());
        let line =
            UploadEvent { peer, ..UploadEvent::new(now(), event, Some(Value::Count(self.bytes))) };
        self.state.write(&UploadLine::Event(line));
    }

    /// Reads to the end of the stream and confirms; returns false if the server stops before.
    fn receive(&mut self, stream: &mut TcpStream) -> io::Result<bool> {
        stream.set_nonblocking(true)?;
        let keepalive = TcpKeepalive::new().with_time(SILENCE).with_interval(ASKED_EVERY);
        SockRef::from(&*stream).set_tcp_keepalive(&keepalive)?;
        let mut buffer = vec![0; CHUNK];
        let mut next_sample = now().saturating_add(self.state.interval);
        let mut last_data = now();
        while !self.state.is_stopping() {
            let at = now();
            if at >= next_sample {
                self.write_sample(stream);
                next_sample = next_sample.saturating_add(self.state.interval).max(at);
            }
            if wait(stream, PollFlags::IN, next_sample.min(at + PATIENCE.as_nanos()))?.is_empty() {
                if at.saturating_sub(last_data) >= self.state.idle {
                    let idle = Duration::from_nanos(self.state.idle);
                    refuse(stream, &format!("no data for {idle}"));
                    return Err(io::ErrorKind::TimedOut.into());
                }
                continue;
            }
            last_data = at;
            match stream.read(&mut buffer) {
                Ok(0) => {
                    // The answer is short and the first data on the socket: it fits in the send
                    // buffer.
                    return stream
                        .write_all(format!("received {}\n", self.bytes).as_bytes())
                        .map(|()| true);
                }
                Ok(count) => self.bytes += count as u64,
                Err(error) if is_transient(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn write_sample(&self, stream: &TcpStream) {
        let packets = emulator::tcp_info(stream).map_or(0, |info| u64::from(info.data_segments_in));
        self.state.write(&UploadLine::Receiver(ReceiverSample {
            at: now(),
            peer: self.peer.clone(),
            bytes_received: self.bytes,
            packets_received: packets,
        }));
    }
}
