//! Changes to a run in progress: requests over a Unix socket, one per line of text.

mod bearer;

use crate::error::EmulatorError;
pub use bearer::{BearerRequestError, FlowFilter};
use net::{BearerConfig, Change, Direction, HostId, LinkId, LossConfig, RateConfig, Schedule};
use rustix::event::{EventfdFlags, eventfd};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use units::{Bitrate, Duration, ParseError, Ratio};

/// A request to a run in progress.
#[derive(Clone, Debug)]
pub enum Request {
    /// Change the rate, the delay or the loss of a line.
    Set(LinkId, Change),
    /// Establish a dedicated bearer for a host on LTE. The answer has the line `bearer NUMBER`.
    Establish(HostId, Box<BearerConfig>),
    /// Release a dedicated bearer of a host.
    Release(HostId, usize),
    /// Report the state of all lines.
    Show,
    /// End the run.
    Stop,
}

const USAGE: &str = "write 'set HOST.up|down rate|delay|loss VALUE', \
    'bearer establish HOST qci=N gbr=RATE filter=udp/ADDRESS:PORT/ADDRESS:PORT', \
    'bearer release HOST NUMBER', 'show' or 'stop'";

/// Why a text is not a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The line has no words.
    #[error("the line is empty; {usage}", usage = USAGE)]
    Empty,
    /// The words form no request.
    #[error("'{0}' is not a request; {usage}", usage = USAGE)]
    Unknown(String),
    /// The name of a line has no dot.
    #[error("'{0}' is not a line; write HOST.up or HOST.down")]
    NotALine(String),
    /// No host has this name.
    #[error("there is no host '{name}'; the hosts are {}", .known.join(", "))]
    UnknownHost {
        /// The name in the request.
        name: String,
        /// The hosts of the run.
        known: Vec<String>,
    },
    /// The part after the dot is neither `up` nor `down`.
    #[error("'{0}' is not a direction; write up or down")]
    UnknownDirection(String),
    /// A line has no such parameter.
    #[error("'{0}' is not a parameter of a line; write rate, delay or loss")]
    UnknownParameter(String),
    /// The value cannot be read.
    #[error(transparent)]
    Value(#[from] ParseError),
    /// The description of a bearer cannot be read.
    #[error(transparent)]
    Bearer(#[from] BearerRequestError),
}

/// Reads a request, for example `set alice.up rate 500kbit/s`; `hosts` are the names of the run's
/// hosts, in the order of their [`HostId`].
///
/// # Errors
/// If the text is not a request: what is wrong, and what is allowed.
pub fn parse(request: &str, hosts: &[String]) -> Result<Request, RequestError> {
    let words: Vec<&str> = request.split_whitespace().collect();
    match words[..] {
        ["show"] => Ok(Request::Show),
        ["stop"] => Ok(Request::Stop),
        ["set", line, parameter, value] => {
            Ok(Request::Set(parse_line(line, hosts)?, parse_change(parameter, value)?))
        }
        ["bearer", "establish", host, ref description @ ..] => {
            let host = parse_host(host, hosts)?;
            Ok(Request::Establish(host, Box::new(bearer::parse(host, description)?)))
        }
        ["bearer", "release", host, number] => {
            let number =
                number.parse().map_err(|_| BearerRequestError::Number(number.to_owned()))?;
            Ok(Request::Release(parse_host(host, hosts)?, number))
        }
        [] => Err(RequestError::Empty),
        _ => Err(RequestError::Unknown(words.join(" "))),
    }
}

/// Reads the name of a line: `HOST.up` or `HOST.down`.
fn parse_line(line: &str, hosts: &[String]) -> Result<LinkId, RequestError> {
    let (name, direction) =
        line.rsplit_once('.').ok_or_else(|| RequestError::NotALine(line.to_owned()))?;
    let host = parse_host(name, hosts)?;
    let direction = match direction {
        "up" => Direction::Up,
        "down" => Direction::Down,
        _ => return Err(RequestError::UnknownDirection(direction.to_owned())),
    };
    Ok(LinkId { host, direction })
}

fn parse_host(name: &str, hosts: &[String]) -> Result<HostId, RequestError> {
    let host = (0..).zip(hosts).find(|(_, host)| *host == name).map(|(index, _)| HostId(index));
    host.ok_or_else(|| RequestError::UnknownHost { name: name.to_owned(), known: hosts.to_vec() })
}

fn parse_change(parameter: &str, value: &str) -> Result<Change, RequestError> {
    match (parameter, value) {
        ("rate", "unlimited") => Ok(Change::Rate(RateConfig::Unlimited)),
        ("rate", _) => {
            let rate: Bitrate = value.parse()?;
            Ok(Change::Rate(RateConfig::Scheduled(Schedule::constant(rate))))
        }
        ("delay", _) => Ok(Change::Delay(value.parse::<Duration>()?)),
        ("loss", _) => {
            let loss: Ratio = value.parse()?;
            Ok(Change::Loss(LossConfig::Bernoulli(Schedule::constant(loss))))
        }
        _ => Err(RequestError::UnknownParameter(parameter.to_owned())),
    }
}

/// A request that the loop has not answered yet.
pub(crate) struct PendingRequest {
    pub(crate) request: Request,
    /// Takes the text of the answer.
    pub(crate) answer: mpsc::Sender<String>,
}

/// A Unix socket that takes requests. Dropping it removes the socket.
pub struct Controls {
    path: PathBuf,
    requests: mpsc::Receiver<PendingRequest>,
    /// An eventfd that is readable while requests wait, so that the loop wakes up.
    wake_up: Arc<OwnedFd>,
    closed: Arc<AtomicBool>,
}

/// The longest request, bytes.
const MAX_LINE: u64 = 4096;
/// Clients that can be connected at the same time.
const MAX_CLIENTS: usize = 16;

impl Controls {
    /// Listens at this path. Only this user can connect. `hosts` are the names of the run's hosts,
    /// in the order of their [`HostId`].
    ///
    /// # Errors
    /// If the path is taken, except by the socket of a run that was killed, or if the socket cannot
    /// be made.
    pub fn listen(path: &Path, hosts: Vec<String>) -> Result<Self, EmulatorError> {
        let shown = || path.display().to_string();
        remove_dead_socket(path)?;
        let listener =
            UnixListener::bind(path).map_err(|error| EmulatorError::system(shown(), error))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|error| EmulatorError::system(shown(), error))?;
        let wake_up = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| EmulatorError::system("eventfd", error))?;
        let (sender, requests) = mpsc::channel();
        let (wake_up, hosts) = (Arc::new(wake_up), Arc::new(hosts));
        let closed = Arc::new(AtomicBool::new(false));
        let server = Server {
            requests: sender,
            wake_up: Arc::clone(&wake_up),
            hosts,
            clients: Arc::default(),
            closed: Arc::clone(&closed),
        };
        std::thread::spawn(move || server.accept_clients(&listener));
        Ok(Self { path: path.to_owned(), requests, wake_up, closed })
    }

    /// A file descriptor that is readable while requests wait.
    pub(crate) fn wake_up(&self) -> BorrowedFd<'_> {
        self.wake_up.as_fd()
    }

    /// The requests that have arrived since the last call.
    pub(crate) fn take(&self) -> impl Iterator<Item = PendingRequest> {
        // Reading resets the eventfd; its count is not needed.
        let _ = rustix::io::read(&self.wake_up, &mut [0; 8]);
        self.requests.try_iter()
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // The server's thread blocks in accept(2); this connection makes it look at `closed`.
        let _ = UnixStream::connect(&self.path);
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the socket of a run that was killed.
fn remove_dead_socket(path: &Path) -> Result<(), EmulatorError> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    if !meta.file_type().is_socket() {
        return Err(EmulatorError::NotASocket(path.to_owned()));
    }
    if UnixStream::connect(path).is_ok() {
        return Err(EmulatorError::SocketInUse(path.to_owned()));
    }
    fs::remove_file(path).map_err(|error| EmulatorError::system(path.display().to_string(), error))
}

/// Accepts clients and passes their requests to the loop; each client's thread has a clone.
#[derive(Clone)]
struct Server {
    requests: mpsc::Sender<PendingRequest>,
    wake_up: Arc<OwnedFd>,
    hosts: Arc<Vec<String>>,
    /// How many clients are connected.
    clients: Arc<AtomicUsize>,
    closed: Arc<AtomicBool>,
}

/// The pause after accept(2) failed, for example because too many files are open.
const RETRY_DELAY: std::time::Duration = std::time::Duration::from_millis(100);

impl Server {
    /// Accepts clients until it is closed.
    fn accept_clients(&self, listener: &UnixListener) {
        for client in listener.incoming() {
            match client {
                _ if self.closed.load(Ordering::Relaxed) => return,
                Ok(client) => self.start_serving(client),
                Err(_) => std::thread::sleep(RETRY_DELAY),
            }
        }
    }

    fn start_serving(&self, mut client: UnixStream) {
        if self.clients.fetch_add(1, Ordering::Relaxed) >= MAX_CLIENTS {
            self.clients.fetch_sub(1, Ordering::Relaxed);
            // The client may have disconnected.
            let _ = writeln!(client, "error: {MAX_CLIENTS} clients are connected already");
            return;
        }
        let server = self.clone();
        std::thread::spawn(move || {
            // A client that disconnects does not affect the run.
            let _ = server.serve(&client);
            server.clients.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn serve(&self, mut client: &UnixStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(client);
        loop {
            let mut line = Vec::new();
            if lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.len() as u64 == MAX_LINE {
                return writeln!(client, "error: a line of more than {MAX_LINE} bytes");
            }
            let answer = match parse(&String::from_utf8_lossy(&line), &self.hosts) {
                Ok(request) => self.forward(request),
                Err(error) => format!("error: {error}"),
            };
            writeln!(client, "{answer}")?;
        }
    }

    /// Passes a request to the loop and waits for the answer.
    fn forward(&self, request: Request) -> String {
        let ended = || "error: the run has ended".to_owned();
        let (answer, answered) = mpsc::channel();
        if self.requests.send(PendingRequest { request, answer }).is_err() {
            return ended();
        }
        // This fails only if the eventfd's count would overflow; then it is readable already.
        let _ = rustix::io::write(&self.wake_up, &1u64.to_ne_bytes());
        answered.recv().unwrap_or_else(|_| ended())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Vec<String> {
        ["alice", "bob"].map(str::to_owned).to_vec()
    }

    #[test]
    fn rate_delay_and_loss_can_be_set() {
        let set = |line: &str| match parse(line, &hosts()) {
            Ok(Request::Set(line, change)) => (line.host.0, line.direction, format!("{change:?}")),
            other => panic!("{other:?}"),
        };
        let (host, direction, change) = set("set bob.down rate 500kbit/s");
        assert_eq!((host, direction), (1, Direction::Down));
        assert!(change.contains("500000"), "{change}");
        assert!(set("set alice.up delay 25ms").2.contains("25000000"));
        assert!(set(" set  alice.up loss 1%\n").2.contains("Bernoulli"));
        assert_eq!(set("set alice.up rate unlimited").2, "Rate(Unlimited)");
        assert!(matches!(parse("show", &hosts()), Ok(Request::Show)));
    }

    #[test]
    fn an_invalid_request_is_answered_with_the_reason_and_a_fix() {
        let reason = |line: &str| parse(line, &hosts()).unwrap_err().to_string();
        for (line, expected) in [
            ("", "the line is empty; write 'set"),
            ("set carol.up rate 1Mbit/s", "there is no host 'carol'; the hosts are alice, bob"),
            ("set alice rate 1Mbit/s", "'alice' is not a line; write HOST.up or HOST.down"),
            ("set alice.left rate 1Mbit/s", "'left' is not a direction"),
            ("set alice.up rate fast", "'fast' is not a rate"),
            ("set alice.up colour red", "write rate, delay or loss"),
            ("drop everything", "'drop everything' is not a request"),
            ("bearer release carol 1", "there is no host 'carol'"),
            ("bearer release alice first", "'first' is not the number of a bearer"),
            ("bearer establish alice qci=2", "has no filter"),
        ] {
            assert!(reason(line).contains(expected), "{line}: {}", reason(line));
        }
    }
}
