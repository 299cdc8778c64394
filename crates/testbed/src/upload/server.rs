use super::client::again;
use super::line::{EventLine, Line, ReceiverSample, Value};
use super::socket::{now, plain, wait};
use super::{BrokenUpload, CHUNK, InputError, MAX_CLIENTS, PATIENCE, UploadError};
use rustix::event::PollFlags;
use rustix::io::Errno;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use units::Duration;

/// What a server is to do.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Where it listens; `[::]` is IPv4 too.
    pub listen: SocketAddr,
    /// Time between the samples of each client, above zero.
    pub interval: Duration,
}

/// The stack of a client's thread; what it reads is elsewhere.
const STACK: usize = 256 << 10;
/// After how much silence a client is asked whether it is still there, and how often then.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(60);
const ASKED_EVERY: std::time::Duration = std::time::Duration::from_secs(10);

/// Serves up to [`MAX_CLIENTS`] uploads at a time until `stop`; gives the number of those that it
/// served. `tell` is told where it listens, how each client comes along, and how each ended; an
/// error of it ends the server.
///
/// # Errors
/// When it cannot listen there, or `tell` fails.
pub fn serve(
    server: &Server,
    stop: &AtomicBool,
    tell: &(dyn Fn(&Line) -> io::Result<()> + Sync),
) -> Result<u64, UploadError> {
    let listener = listen(server.listen)
        .map_err(|error| InputError::Listen { address: server.listen, error })?;
    let hall = Hall {
        interval: server.interval.as_nanos().max(1),
        stop,
        tell,
        mute: AtomicBool::new(false),
        fault: Mutex::new(None),
        present: AtomicUsize::new(0),
        served: AtomicU64::new(0),
    };
    let address = listener.local_addr().ok().map(|address| address.to_string());
    hall.say(&Line::Event(EventLine { address, ..EventLine::new(now(), "listening", None) }));
    let accepted = std::thread::scope(|scope| hall.accept(&listener, scope));
    let served = hall.served.load(Ordering::Relaxed);
    hall.say(&Line::Event(EventLine::new(now(), "stopped", Some(Value::Count(served)))));
    if let Some(error) = hall.fault.into_inner().unwrap_or(None) {
        return Err(UploadError::Output(error));
    }
    accepted.map_err(BrokenUpload::Accept)?;
    Ok(served)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    match listen_on(address) {
        // A host without IPv6.
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

/// What the threads of a server share.
struct Hall<'a> {
    interval: u64,
    stop: &'a AtomicBool,
    tell: &'a (dyn Fn(&Line) -> io::Result<()> + Sync),
    /// Nobody listens any more to what is told.
    mute: AtomicBool,
    fault: Mutex<Option<io::Error>>,
    present: AtomicUsize,
    served: AtomicU64,
}

impl Hall<'_> {
    fn over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.mute.load(Ordering::Relaxed)
    }

    fn say(&self, line: &Line) {
        if self.mute.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = (self.tell)(line) {
            self.mute.store(true, Ordering::Relaxed);
            if let Ok(mut fault) = self.fault.lock() {
                fault.get_or_insert(error);
            }
        }
    }

    fn accept<'s>(
        &'s self,
        listener: &TcpListener,
        scope: &'s std::thread::Scope<'s, '_>,
    ) -> io::Result<()> {
        while !self.over() {
            let until = now() + PATIENCE.as_nanos();
            if wait(listener, PollFlags::IN, until)?.is_empty() {
                continue;
            }
            match listener.accept() {
                Ok((stream, peer)) => self.welcome(stream, plain(peer), scope),
                Err(error) if again(&error) || error.kind() == io::ErrorKind::ConnectionAborted => {
                }
                Err(error) if is_shortage(&error) => {
                    std::thread::sleep(std::time::Duration::from_nanos(PATIENCE.as_nanos()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Gives a client a thread, or refuses it.
    fn welcome<'s>(
        &'s self,
        stream: TcpStream,
        peer: SocketAddr,
        scope: &'s std::thread::Scope<'s, '_>,
    ) {
        if self.present.load(Ordering::Relaxed) >= MAX_CLIENTS {
            refuse(&stream, &format!("{MAX_CLIENTS} clients are there already"));
            return;
        }
        let kept = stream.try_clone();
        self.present.fetch_add(1, Ordering::Relaxed);
        let thread = std::thread::Builder::new().stack_size(STACK);
        let spawned = thread.spawn_scoped(scope, move || {
            Guest { hall: self, peer: peer.to_string(), bytes: 0 }.serve(stream);
            self.present.fetch_sub(1, Ordering::Relaxed);
            self.served.fetch_add(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            self.present.fetch_sub(1, Ordering::Relaxed);
            if let Ok(stream) = kept {
                refuse(&stream, "it has no thread left");
            }
        }
    }
}

/// Whether the machine is short of something that may come back.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    error
        .raw_os_error()
        .is_some_and(|code| shortages.iter().any(|known| known.raw_os_error() == code))
}

fn refuse(mut stream: &TcpStream, reason: &str) {
    // Who does not wait for the answer does not get it.
    let _ = stream.write_all(format!("refused: {reason}\n").as_bytes());
}

/// One client.
struct Guest<'a> {
    hall: &'a Hall<'a>,
    peer: String,
    bytes: u64,
}

impl Guest<'_> {
    fn serve(&mut self, mut stream: TcpStream) {
        let event = match self.receive(&mut stream) {
            Ok(true) => "completed",
            Ok(false) => "incomplete",
            Err(error) if error.kind() == io::ErrorKind::TimedOut => "timedOut",
            Err(_) => "incomplete",
        };
        self.tell(&stream);
        let peer = Some(self.peer.clone());
        let line =
            EventLine { peer, ..EventLine::new(now(), event, Some(Value::Count(self.bytes))) };
        self.hall.say(&Line::Event(line));
    }

    /// Reads to the end of the stream and confirms; false if it was told to stop before that.
    fn receive(&mut self, stream: &mut TcpStream) -> io::Result<bool> {
        stream.set_nonblocking(true)?;
        let keepalive = TcpKeepalive::new().with_time(SILENCE).with_interval(ASKED_EVERY);
        SockRef::from(&*stream).set_tcp_keepalive(&keepalive)?;
        let mut buffer = vec![0; CHUNK];
        let mut next_sample = now().saturating_add(self.hall.interval);
        while !self.hall.over() {
            let at = now();
            if at >= next_sample {
                self.tell(stream);
                next_sample = next_sample.saturating_add(self.hall.interval).max(at);
            }
            if wait(stream, PollFlags::IN, next_sample.min(at + PATIENCE.as_nanos()))?.is_empty() {
                continue;
            }
            match stream.read(&mut buffer) {
                Ok(0) => {
                    // It is short and the first that is sent: it fits.
                    return stream
                        .write_all(format!("received {}\n", self.bytes).as_bytes())
                        .map(|()| true);
                }
                Ok(count) => self.bytes += count as u64,
                Err(error) if again(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn tell(&self, stream: &TcpStream) {
        let packets = emulator::tcp_info(stream).map_or(0, |info| u64::from(info.data_segments_in));
        self.hall.say(&Line::Receiver(ReceiverSample {
            at: now(),
            peer: self.peer.clone(),
            bytes_received: self.bytes,
            packets_received: packets,
        }));
    }
}
