//! The names of namespaces, and the removal of what killed runs have left.

use crate::error::EmulatorError;
use crate::namespace::private_mounts;
use crate::processes::{self, Owner};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::mount::{
    MountPropagationFlags, UnmountFlags, mount_bind, mount_bind_recursive, mount_change, unmount,
};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
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
            share_names()?;
            fs::write(&path, "")?;
            Ok::<(), io::Error>(mount_bind(namespace, &path)?)
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

impl NetnsName {
    /// Removes the name.
    ///
    /// # Errors
    /// If the system refuses. The next [`sweep`] tries again.
    pub(crate) fn remove(&self) -> Result<(), EmulatorError> {
        remove(&self.0)
    }
}

impl Drop for NetnsName {
    fn drop(&mut self) {
        // `remove` reports an error; without it the next run removes the name.
        let _ = self.remove();
    }
}

/// Makes the directory of the names a shared mount, as `ip netns add` does (iproute2,
/// ip/ipnetns.c, `netns_add`). Otherwise the machine's first `ip netns add` binds the directory
/// over itself later, on top of the names that are there, which then cannot be removed.
fn share_names() -> io::Result<()> {
    fs::create_dir_all(NAMES)?;
    // Without the lock, two programs at once could each bind the directory. iproute2 takes the same
    // lock, and also continues without it. It is released when the file is closed.
    let directory = File::open(NAMES)?;
    let _ = flock(&directory, FlockOperation::LockExclusive);
    let share = || mount_change(NAMES, MountPropagationFlags::SHARED | MountPropagationFlags::REC);
    match share() {
        // The directory is not a mount yet.
        Err(Errno::INVAL) => {
            mount_bind_recursive(NAMES, NAMES)?;
            Ok(share()?)
        }
        other => Ok(other?),
    }
}

/// Removes a name, which may be gone already.
fn remove(path: &Path) -> Result<(), EmulatorError> {
    let removed = match unmount_and_unlink(path) {
        Err(error) if error.kind() == ErrorKind::ResourceBusy => remove_covered(path),
        other => other,
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let action =
                format!("cannot remove the network namespace {name}; the next run retries");
            Err(EmulatorError::system(action, error))
        }
        _ => Ok(()),
    }
}

fn unmount_and_unlink(path: &Path) -> io::Result<()> {
    // The last call fails: the name is then an ordinary file.
    while unmount(path, UnmountFlags::DETACH).is_ok() {}
    fs::remove_file(path)
}

/// Removes a name whose mount is below a later mount of the directory, so that no path leads to it.
/// A thread with a mount namespace of its own unmounts what covers the name there. If a file is
/// not a mount point in the namespace of the caller, unlinking it unmounts it everywhere (Linux
/// fs/namei.c, `vfs_unlink`; fs/namespace.c, `__detach_mounts`).
fn remove_covered(path: &Path) -> io::Result<()> {
    let uncover = || {
        private_mounts()?;
        loop {
            match unmount_and_unlink(path) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    unmount(NAMES, UnmountFlags::DETACH)?;
                }
                done => return done,
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(uncover).join().unwrap_or_else(|_| Err(ErrorKind::Other.into()))
    })
}

/// The result of a [`sweep`].
#[derive(Debug, Default)]
pub struct Swept {
    /// The names of the namespaces that were removed.
    pub removed: Vec<String>,
    /// Why others could not be removed. Names that this user may not remove are not among them.
    pub failed: Vec<EmulatorError>,
}

/// Removes what killed runs have left: their processes and their namespaces. Only touches
/// namespaces and processes with a name or a mark of Weir, and none of a run that is alive.
pub fn sweep() -> Swept {
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
    let mut swept = Swept::default();
    for (name, path) in dead {
        match remove(&path) {
            Ok(()) => swept.removed.push(name),
            Err(error) if error.is_permission_denied() => {}
            Err(error) => swept.failed.push(error),
        }
    }
    drop(opened);
    swept
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
