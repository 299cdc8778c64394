//! The names of namespaces, and the removal of what killed runs have left.

use crate::error::EmulatorError;
use crate::processes::{self, Owner};
use rustix::mount::{UnmountFlags, mount_bind, unmount};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where `ip netns` looks for names.
const NAMES: &str = "/run/netns";
/// The prefix of the names of hosts; the owner of the run and the name of the host follow.
const PREFIX: &str = "weir-";
/// How long the processes of a killed run have to terminate before they are killed.
const GRACE: Duration = Duration::from_millis(500);

/// The name of a network namespace for `ip netns`, `weir-PID-START-HOST`. Dropping it removes the
/// name.
#[derive(Debug)]
pub(crate) struct NetnsName(PathBuf);

impl NetnsName {
    /// Names the namespace at this path of /proc. `None` without the rights to do so: a user
    /// without root does not need names, because a namespace without a name ends with its
    /// processes.
    pub(crate) fn assign(
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
        // The file is new, so removing it is safe.
        let _ = fs::remove_file(&path);
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Ok(None),
            _ => Err(EmulatorError::system(
                format!("cannot give a network namespace the name {}", path.display()),
                error,
            )),
        }
    }

    /// The name that `ip netns` shows.
    pub(crate) fn name(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Drop for NetnsName {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(path: &Path) {
    // A name that is no longer mounted is an ordinary file.
    let _ = unmount(path, UnmountFlags::DETACH);
    let _ = fs::remove_file(path);
}

/// Removes what killed runs have left: their processes and their namespaces. Returns the names of
/// the namespaces. Only touches namespaces and processes with a name or a mark of Weir, and none of
/// a run that is alive.
pub fn sweep() -> Vec<String> {
    let entries = fs::read_dir(NAMES).into_iter().flatten().flatten();
    let named =
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let dead: Vec<(String, PathBuf)> =
        named.filter(|(name, _)| owner(name).is_some_and(|owner| !owner.is_alive())).collect();
    // While the files are open, the kernel does not reuse the numbers of the namespaces.
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

/// The run that made the namespace of this name; `None` if the name is not one of Weir.
fn owner(name: &str) -> Option<Owner> {
    Owner::parse(name.strip_prefix(PREFIX)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_weir_have_an_owner() {
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
