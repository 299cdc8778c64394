//! The names of namespaces, and what a killed run has left.

use crate::error::EmulatorError;
use crate::processes::{self, Owner};
use rustix::mount::{UnmountFlags, mount_bind, unmount};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where `ip netns` looks for names.
const NAMES: &str = "/run/netns";
/// Every name of ours begins so; the run's owner and the host's name follow.
const PREFIX: &str = "weir-";
/// How long a dead run's processes are asked to end.
const GRACE: Duration = Duration::from_millis(500);

/// A network namespace's name for `ip netns`, `weir-PID-START-HOST`, as long as this is.
#[derive(Debug)]
pub(crate) struct Name(PathBuf);

impl Name {
    /// Names the namespace at this path of /proc. `None` without the rights for it: a user without
    /// root needs no name, as a namespace without one ends with its processes.
    pub(crate) fn give(
        owner: Owner,
        host: &str,
        namespace: &Path,
    ) -> Result<Option<Self>, EmulatorError> {
        let path = Path::new(NAMES).join(format!("{PREFIX}{owner}-{host}"));
        let named = || {
            fs::create_dir_all(NAMES)?;
            fs::write(&path, "")?;
            Ok::<(), std::io::Error>(mount_bind(namespace, &path)?)
        };
        let Err(error) = named() else { return Ok(Some(Self(path))) };
        // It was not there before.
        let _ = fs::remove_file(&path);
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Ok(None),
            _ => Err(EmulatorError::of(
                &format!("cannot name a namespace {}", path.display()),
                error,
            )),
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

/// Removes what killed runs have left: their processes, and their namespaces. Returns the names.
/// Touches nothing that is not marked or named as ours, and nothing of a run that is alive.
pub fn sweep() -> Vec<String> {
    let entries = fs::read_dir(NAMES).into_iter().flatten().flatten();
    let named =
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let dead: Vec<(String, PathBuf)> =
        named.filter(|(name, _)| owner(name).is_some_and(|owner| !owner.is_alive())).collect();
    // While they are open, the kernel gives their numbers to no other namespace.
    let opened: Vec<Option<File>> = dead.iter().map(|(_, path)| File::open(path).ok()).collect();
    let namespaces: Vec<_> =
        dead.iter().filter_map(|(_, path)| processes::namespace(path)).collect();
    processes::end(&namespaces, |owner| !owner.is_alive(), GRACE);
    let names = dead.into_iter().map(|(name, path)| {
        remove(&path);
        name
    });
    let names = names.collect();
    drop(opened);
    names
}

/// The run that gave a name of ours.
fn owner(name: &str) -> Option<Owner> {
    Owner::parse(name.strip_prefix(PREFIX)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_have_an_owner() {
        assert!(owner("weir-812-4711-alice").is_some());
        for name in [
            "weir-kernel-812-0-alice",
            "weir-812",
            "weir-812-alice",
            "weird-812-4711-alice",
            "alice",
        ] {
            assert_eq!(owner(name), None, "{name}");
        }
    }
}
