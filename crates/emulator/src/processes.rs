//! The processes of a run: those in the network namespaces of its hosts, and those that a program
//! of the run has started elsewhere. They are found by their namespace and by a mark in their
//! environment.

use crate::error::EmulatorError;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// The pause between two checks of which processes still run.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long the kernel may take to end killed processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// The environment variable that every program of a run inherits. Its value is the [`Owner`] of the
/// run.
pub(crate) const MARK: &str = "WEIR_RUN";

/// Sends SIGTERM to the process group of a program.
pub fn terminate_group(program: &Child) {
    signal(program, Signal::TERM);
}

/// Sends SIGKILL to the process group of a program.
pub fn kill_group(program: &Child) {
    signal(program, Signal::KILL);
}

fn signal(program: &Child, signal: Signal) {
    if let Some(pid) = i32::try_from(program.id()).ok().and_then(Pid::from_raw) {
        // The program may have ended by itself.
        let _ = kill_process_group(pid, signal);
    }
}

/// The process that makes a run: its number, and its start time, because numbers are reused. It is
/// written `PID-START` in the names of temporary files and namespaces, so that a later run can
/// identify what a killed run has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    pid: u32,
    /// The start time in clock ticks since the machine started (proc_pid_stat(5), field 22).
    start: u64,
}

impl Owner {
    /// The calling process.
    ///
    /// # Errors
    /// If /proc cannot be read.
    pub fn this() -> Result<Self, EmulatorError> {
        let pid = std::process::id();
        let start = start_of(pid).ok_or(EmulatorError::NoProc)?;
        Ok(Self { pid, start })
    }

    /// Reads `PID-START`, and ignores a further dash and what follows it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split('-');
        Some(Self { pid: words.next()?.parse().ok()?, start: words.next()?.parse().ok()? })
    }

    /// Whether the process runs. Without /proc no process counts as running.
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

/// The start time of a process; `None` if there is no such process, or if it is a zombie or dead.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the process is in brackets and may contain anything.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    (state != "Z" && state != "X").then(|| words.nth(18)?.parse().ok())?
}

/// The device and inode numbers of a namespace (stat(2)), which identify it.
pub(crate) type NamespaceId = (u64, u64);

/// The network namespace at this path; `None` if the path is not one.
pub(crate) fn namespace(path: &Path) -> Option<NamespaceId> {
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let own = id(Path::new("/proc/self/ns/net"))?;
    id(path).filter(|(device, _)| *device == own.0)
}

/// All processes except this one that are in one of these namespaces or have a mark for which
/// `is_ours` is true.
fn running(namespaces: &[NamespaceId], is_ours: &impl Fn(Owner) -> bool) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let own = rustix::process::getpid();
    let pids = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let path = entry.path();
        let is_inside =
            || namespace(&path.join("ns/net")).is_some_and(|id| namespaces.contains(&id));
        let ours = pid != own && (is_inside() || mark(&path).is_some_and(is_ours));
        ours.then_some(pid)
    });
    pids.collect()
}

/// The mark in the environment of a process, if there is one.
fn mark(process: &Path) -> Option<Owner> {
    let environment = fs::read(process.join("environ")).ok()?;
    let mut variables = environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| std::str::from_utf8(variable).ok());
    variables.find_map(|variable| Owner::parse(variable.strip_prefix(MARK)?.strip_prefix('=')?))
}

/// Ends the processes in these namespaces, and those with a mark for which `is_ours` is true. Sends
/// SIGTERM first, and SIGKILL after `grace`. Returns how many processes still run.
pub(crate) fn end(
    namespaces: &[NamespaceId],
    is_ours: impl Fn(Owner) -> bool,
    grace: Duration,
) -> usize {
    let signal_all = |signal| {
        let pids = running(namespaces, &is_ours);
        for pid in &pids {
            // The process may have ended meanwhile.
            let _ = kill_process(*pid, signal);
        }
        pids.len()
    };
    if signal_all(Signal::TERM) == 0 {
        return 0;
    }
    for _ in 0..grace.as_millis() / POLL_INTERVAL.as_millis() {
        sleep(POLL_INTERVAL);
        if running(namespaces, &is_ours).is_empty() {
            return 0;
        }
    }
    // Repeated, because a process may start another one during the search.
    for _ in 0..KILL_TIMEOUT.as_millis() / POLL_INTERVAL.as_millis() {
        if signal_all(Signal::KILL) == 0 {
            return 0;
        }
        sleep(POLL_INTERVAL);
    }
    running(namespaces, &is_ours).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_alive_while_its_process_runs() {
        let this = Owner::this().unwrap();
        assert!(this.is_alive());
        assert!(!Owner { start: this.start + 1, ..this }.is_alive(), "the number was reused");
        assert_eq!(Owner::parse(&format!("{this}-alice")), Some(this));
        for text in ["", "812", "812-alice", "kernel-812-0-alice"] {
            assert_eq!(Owner::parse(text), None, "{text}");
        }
    }
}
