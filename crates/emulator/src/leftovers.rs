//! The names of namespaces, and what a killed run has left of them.

use crate::error::EmulatorError;
use crate::processes;
use rustix::mount::{UnmountFlags, mount_bind, unmount};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where `ip netns` looks for names.
const NAMES: &str = "/run/netns";
/// Every name of ours begins so; the process's number and the host's name follow.
const PREFIX: &str = "weir-";
/// How long a dead run's processes are asked to end.
const GRACE: Duration = Duration::from_millis(500);

/// A network namespace's name for `ip netns`, `weir-PID-HOST`, as long as this is.
#[derive(Debug)]
pub(crate) struct Name(PathBuf);

impl Name {
    /// Names the namespace at this path of /proc.
    pub(crate) fn give(host: &str, namespace: &Path) -> Result<Self, EmulatorError> {
        let path = Path::new(NAMES).join(format!("{PREFIX}{}-{host}", std::process::id()));
        let named = || {
            fs::create_dir_all(NAMES)?;
            fs::write(&path, "")?;
            Ok::<(), std::io::Error>(mount_bind(namespace, &path)?)
        };
        match named() {
            Ok(()) => Ok(Self(path)),
            Err(error) => {
                let _ = fs::remove_file(&path);
                Err(EmulatorError::of(&format!("cannot name a namespace {}", path.display()), error))
            }
        }
    }

    /// What `ip netns` calls it.
    pub(crate) fn word(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(path: &Path) {
    // A name whose mount has gone is but a file.
    let _ = unmount(path, UnmountFlags::DETACH);
    let _ = fs::remove_file(path);
}

/// Removes what killed runs have left: their processes, and their namespaces. Returns the names. Touches nothing that is not named
/// as ours, and nothing of a run that is alive.
pub fn sweep() -> Vec<String> {
    let Ok(entries) = fs::read_dir(NAMES) else { return Vec::new() };
    let dead: Vec<(String, PathBuf)> = entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| owner(name).is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()))
        .collect();
    let inodes: Vec<u64> = dead.iter().filter_map(|(_, path)| processes::inode(path)).collect();
    if !inodes.is_empty() {
        processes::end(&inodes, GRACE);
    }
    dead.into_iter()
        .map(|(name, path)| {
            remove(&path);
            name
        })
        .collect()
}

/// The process that gave a name of ours.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_have_an_owner() {
        assert_eq!(owner("weir-812-alice"), Some(812));
        for name in ["weir-kernel-812-0-alice", "weir-812", "weird-812-alice", "alice", "weir--812-alice"] {
            assert_eq!(owner(name), None, "{name}");
        }
    }
}
