//! Changes while a run goes on: lines of words over a Unix socket.

use crate::error::EmulatorError;
use net::{Change, Direction, HostId, LinkId, LossConfig, RateConfig, Schedule};
use rustix::event::{EventfdFlags, eventfd};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use units::{Bitrate, Duration, Ratio};

/// What is asked of a run.
#[derive(Clone, Debug)]
pub enum Request {
    /// Change a line.
    Set(LinkId, Change),
    /// Say how the lines are.
    Show,
    /// End the run.
    Stop,
}

const USAGE: &str = "write 'set HOST.up|down rate|delay|loss VALUE', 'show' or 'stop'";

/// Reads a request, for hosts of these names: `set alice.up rate 500kbit/s`.
///
/// # Errors
/// When it is none: what is wrong, and the mend.
pub fn parse(line: &str, hosts: &[String]) -> Result<Request, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["show"] => Ok(Request::Show),
        ["stop"] => Ok(Request::Stop),
        ["set", line, what, value] => Ok(Request::Set(place(line, hosts)?, change(what, value)?)),
        [] => Err(format!("an empty line; {USAGE}")),
        _ => Err(format!("'{}' is not a request; {USAGE}", words.join(" "))),
    }
}

fn place(line: &str, hosts: &[String]) -> Result<LinkId, String> {
    let known = || format!("the hosts are {}", hosts.join(", "));
    let (name, way) = line
        .rsplit_once('.')
        .ok_or_else(|| format!("'{line}' is not a line; write HOST.up or HOST.down"))?;
    let host = (0..).zip(hosts).find(|(_, host)| *host == name).map(|(index, _)| HostId(index));
    let host = host.ok_or_else(|| format!("there is no host '{name}'; {}", known()))?;
    let direction = match way {
        "up" => Direction::Up,
        "down" => Direction::Down,
        _ => return Err(format!("'{way}' is not a direction; write up or down")),
    };
    Ok(LinkId { host, direction })
}

fn change(what: &str, value: &str) -> Result<Change, String> {
    fn read<T: FromStr<Err: ToString>>(value: &str) -> Result<T, String> {
        value.parse().map_err(|error: T::Err| error.to_string())
    }
    match (what, value) {
        ("rate", "unlimited") => Ok(Change::Rate(RateConfig::Unlimited)),
        ("rate", _) => {
            Ok(Change::Rate(RateConfig::Scheduled(Schedule::constant(read::<Bitrate>(value)?))))
        }
        ("delay", _) => Ok(Change::Delay(read::<Duration>(value)?)),
        ("loss", _) => {
            Ok(Change::Loss(LossConfig::Bernoulli(Schedule::constant(read::<Ratio>(value)?))))
        }
        _ => Err(format!(
            "a line has no '{what}' that can be changed; there are rate, delay and loss"
        )),
    }
}

/// A request and where its answer goes.
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) answer: mpsc::Sender<String>,
}

/// A socket that takes requests; it is removed when this is dropped.
pub struct Controls {
    path: PathBuf,
    asked: mpsc::Receiver<Asked>,
    bell: Arc<OwnedFd>,
    closed: Arc<AtomicBool>,
}

/// A request is a line; a longer one is none.
const LONGEST: u64 = 4096;
/// Clients at a time.
const MOST: usize = 16;

impl Controls {
    /// Listens at this path, which only this user may write to.
    ///
    /// # Errors
    /// When something is there that is not a dead run's socket, or it cannot be made.
    pub fn listen(path: &Path, hosts: Vec<String>) -> Result<Self, EmulatorError> {
        let shown = path.display();
        clear(path)?;
        let listener = UnixListener::bind(path)
            .map_err(|error| EmulatorError::of(&format!("{shown}"), error))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|error| EmulatorError::of(&format!("{shown}"), error))?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| EmulatorError::of("eventfd", error))?;
        let (ask, asked) = mpsc::channel();
        let (bell, hosts) = (Arc::new(bell), Arc::new(hosts));
        let closed = Arc::new(AtomicBool::new(false));
        let door = Door {
            ask,
            bell: Arc::clone(&bell),
            hosts,
            inside: Arc::default(),
            closed: Arc::clone(&closed),
        };
        std::thread::spawn(move || door.attend(&listener));
        Ok(Self { path: path.to_owned(), asked, bell, closed })
    }

    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// What was asked since the last time.
    pub(crate) fn take(&self) -> impl Iterator<Item = Asked> {
        // Only what it counts is of no interest.
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        self.asked.try_iter()
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // One more client, so that the door's thread sees it.
        let _ = UnixStream::connect(&self.path);
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the socket of a run that was killed.
fn clear(path: &Path) -> Result<(), EmulatorError> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    let shown = path.display();
    if !meta.file_type().is_socket() {
        return Err(EmulatorError(format!(
            "{shown}: there is a file, which is not a socket; name another"
        )));
    }
    if UnixStream::connect(path).is_ok() {
        return Err(EmulatorError(format!("{shown}: another run listens there; name another")));
    }
    fs::remove_file(path).map_err(|error| EmulatorError::of(&format!("{shown}"), error))
}

/// What a client's thread needs.
#[derive(Clone)]
struct Door {
    ask: mpsc::Sender<Asked>,
    bell: Arc<OwnedFd>,
    hosts: Arc<Vec<String>>,
    inside: Arc<AtomicUsize>,
    closed: Arc<AtomicBool>,
}

/// After a client could not be let in, as when there are too many open files.
const REST: std::time::Duration = std::time::Duration::from_millis(100);

impl Door {
    /// Lets clients in until it is closed.
    fn attend(&self, listener: &UnixListener) {
        for client in listener.incoming() {
            match client {
                _ if self.closed.load(Ordering::Relaxed) => return,
                Ok(client) => self.let_in(client),
                Err(_) => std::thread::sleep(REST),
            }
        }
    }

    fn let_in(&self, mut client: UnixStream) {
        if self.inside.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.inside.fetch_sub(1, Ordering::Relaxed);
            // It may have gone.
            let _ = writeln!(client, "error: {MOST} clients are here already");
            return;
        }
        let door = self.clone();
        std::thread::spawn(move || {
            // A client that goes is no fault of the run's.
            let _ = door.serve(&client);
            door.inside.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn serve(&self, mut client: &UnixStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(client);
        loop {
            let mut line = Vec::new();
            if lines.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.len() as u64 == LONGEST {
                return writeln!(client, "error: a line of more than {LONGEST} bytes");
            }
            let answer = match parse(&String::from_utf8_lossy(&line), &self.hosts) {
                Ok(request) => self.ask(request),
                Err(reason) => format!("error: {reason}"),
            };
            writeln!(client, "{answer}")?;
        }
    }

    fn ask(&self, request: Request) -> String {
        let over = || "error: the run is over".to_owned();
        let (answer, answered) = mpsc::channel();
        if self.ask.send(Asked { request, answer }).is_err() {
            return over();
        }
        // A bell that has rung too often still rings.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        answered.recv().unwrap_or_else(|_| over())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Vec<String> {
        ["alice", "bob"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_rate_a_delay_and_a_loss_can_be_set() {
        let set = |line: &str| match parse(line, &hosts()) {
            Ok(Request::Set(place, change)) => {
                (place.host.0, place.direction, format!("{change:?}"))
            }
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
    fn what_is_no_request_is_answered_with_the_mend() {
        let reason = |line: &str| parse(line, &hosts()).unwrap_err();
        for (line, said) in [
            ("", "an empty line; write 'set"),
            ("set carol.up rate 1Mbit/s", "there is no host 'carol'; the hosts are alice, bob"),
            ("set alice rate 1Mbit/s", "'alice' is not a line; write HOST.up or HOST.down"),
            ("set alice.left rate 1Mbit/s", "'left' is not a direction"),
            ("set alice.up rate fast", "'fast' is not a rate"),
            ("set alice.up colour red", "there are rate, delay and loss"),
            ("drop everything", "'drop everything' is not a request"),
        ] {
            assert!(reason(line).contains(said), "{line}: {}", reason(line));
        }
    }
}
