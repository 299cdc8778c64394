//! Processes that run in a host's network namespace, found by the namespace.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// Between looks at what still runs.
const PAUSE: Duration = Duration::from_millis(10);

/// The number of the network namespace at this path, as stat(2) gives it.
pub(crate) fn inode(namespace: &Path) -> Option<u64> {
    fs::metadata(namespace).ok().map(|meta| meta.ino())
}

/// Asks a program's process group to end.
pub fn ask_to_end(program: &Child) {
    if let Some(pid) = i32::try_from(program.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(pid, Signal::TERM);
    }
}

/// The processes in these namespaces, but for this one.
pub(crate) fn within(namespaces: &[u64]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let own = rustix::process::getpid();
    let pids = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let there = inode(&entry.path().join("ns/net")).is_some_and(|at| namespaces.contains(&at));
        (pid != own && there).then_some(pid)
    });
    pids.collect()
}

/// Ends the processes in these namespaces: asks them first, and after `grace` no longer.
pub(crate) fn end(namespaces: &[u64], grace: Duration) {
    let all = |signal| {
        let pids = within(namespaces);
        for pid in &pids {
            // It may have ended meanwhile.
            let _ = kill_process(*pid, signal);
        }
        pids.is_empty()
    };
    if all(Signal::TERM) {
        return;
    }
    for _ in 0..grace.as_millis() / PAUSE.as_millis() {
        sleep(PAUSE);
        if within(namespaces).is_empty() {
            return;
        }
    }
    // A process may start another while it is looked for.
    while !all(Signal::KILL) {
        sleep(PAUSE);
    }
}
