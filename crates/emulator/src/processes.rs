//! The processes of a run: those in its hosts' network namespaces, and those that a program of it
//! has started and that have gone elsewhere. They are known by the namespace and by a mark in their
//! environment.

use crate::error::EmulatorError;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// Between looks at what still runs.
const PAUSE: Duration = Duration::from_millis(10);
/// How long the kernel may take to end what it was told to end.
const KILLING: Duration = Duration::from_secs(2);
/// The environment variable that every program of a run inherits: the run's [`Owner`].
pub(crate) const MARK: &str = "WEIR_RUN";

/// Asks a program's process group to end.
pub fn ask_to_end(program: &Child) {
    signal(program, Signal::TERM);
}

/// Ends a program's process group.
pub fn make_end(program: &Child) {
    signal(program, Signal::KILL);
}

fn signal(program: &Child, signal: Signal) {
    if let Some(pid) = i32::try_from(program.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(pid, signal);
    }
}

/// The process that makes a run: its number, and when it was started, as numbers are used again.
/// Written `PID-START`, in the names of what it makes for a while, by which others know what is
/// left of one that was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    pid: u32,
    /// In ticks since the machine started (proc_pid_stat(5), field 22).
    start: u64,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// Without /proc.
    pub fn this() -> Result<Self, EmulatorError> {
        let pid = std::process::id();
        let start = start_of(pid).ok_or_else(|| {
            EmulatorError("cannot read /proc/self/stat; is /proc mounted?".into())
        })?;
        Ok(Self { pid, start })
    }

    /// Reads `PID-START`; what follows another dash is left.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split('-');
        Some(Self { pid: words.next()?.parse().ok()?, start: words.next()?.parse().ok()? })
    }

    /// Whether it runs. Without /proc nobody does.
    #[must_use]
    pub fn is_alive(self) -> bool {
        start_of(self.pid) == Some(self.start)
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.pid, self.start)
    }
}

/// When a process was started; `None` if there is none, or it has ended and nobody has noticed.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before is in brackets and may hold anything.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    (state != "Z" && state != "X").then(|| words.nth(18)?.parse().ok())?
}

/// A namespace, as stat(2) tells it from every other file.
pub(crate) type NamespaceId = (u64, u64);

/// The network namespace at this path; `None` if it is none.
pub(crate) fn namespace(path: &Path) -> Option<NamespaceId> {
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let own = id(Path::new("/proc/self/ns/net"))?;
    id(path).filter(|(device, _)| *device == own.0)
}

/// Processes, but for this one, that are in one of these namespaces or have a mark that `is_ours`.
fn running(namespaces: &[NamespaceId], is_ours: &impl Fn(Owner) -> bool) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let own = rustix::process::getpid();
    let pids = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let path = entry.path();
        let there = || namespace(&path.join("ns/net")).is_some_and(|at| namespaces.contains(&at));
        let ours = pid != own && (there() || mark(&path).is_some_and(is_ours));
        ours.then_some(pid)
    });
    pids.collect()
}

/// The mark in a process's environment.
fn mark(process: &Path) -> Option<Owner> {
    let environment = fs::read(process.join("environ")).ok()?;
    let mut variables = environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| std::str::from_utf8(variable).ok());
    variables.find_map(|variable| Owner::parse(variable.strip_prefix(MARK)?.strip_prefix('=')?))
}

/// Ends the processes in these namespaces and those with a mark that `is_ours`: asks them first,
/// and after `grace` no longer. Returns how many the kernel could not end.
pub(crate) fn end(
    namespaces: &[NamespaceId],
    is_ours: impl Fn(Owner) -> bool,
    grace: Duration,
) -> usize {
    let all = |signal| {
        let pids = running(namespaces, &is_ours);
        for pid in &pids {
            // It may have ended meanwhile.
            let _ = kill_process(*pid, signal);
        }
        pids.len()
    };
    if all(Signal::TERM) == 0 {
        return 0;
    }
    for _ in 0..grace.as_millis() / PAUSE.as_millis() {
        sleep(PAUSE);
        if running(namespaces, &is_ours).is_empty() {
            return 0;
        }
    }
    // A process may start another while it is looked for.
    for _ in 0..KILLING.as_millis() / PAUSE.as_millis() {
        if all(Signal::KILL) == 0 {
            return 0;
        }
        sleep(PAUSE);
    }
    running(namespaces, &is_ours).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_alive_as_long_as_it_is_the_same_process() {
        let this = Owner::this().unwrap();
        assert!(this.is_alive());
        assert!(!Owner { start: this.start + 1, ..this }.is_alive(), "its number is used again");
        assert_eq!(Owner::parse(&format!("{this}-alice")), Some(this));
        for text in ["", "812", "812-alice", "kernel-812-0-alice"] {
            assert_eq!(Owner::parse(text), None, "{text}");
        }
    }
}
