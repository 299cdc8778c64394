//! Emulation without root: a user namespace in which this user is root, where the kernel allows it.

use crate::error::EmulatorError;
use crate::leftovers::sweep;
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs;

/// Makes this process root in a new user namespace (user_namespaces(7)), unless it is root already.
/// The network namespaces that it then makes have no names and end with it. Call it while the
/// process has one thread.
///
/// # Errors
/// If the kernel does not allow this user to make user namespaces.
pub fn become_root() -> Result<(), EmulatorError> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    // Sweep first: inside the namespace, this process may not inspect what another run of this user
    // has left.
    sweep();
    unshare().map_err(|error| EmulatorError::system(CANNOT_BECOME_ROOT, error))?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("0 {} 1", user.as_raw())),
        ("/proc/self/gid_map", format!("0 {} 1", group.as_raw())),
    ];
    for (path, text) in maps {
        fs::write(path, text).map_err(|error| {
            EmulatorError::system(format!("{CANNOT_BECOME_ROOT}: {path}"), error)
        })?;
    }
    Ok(())
}

const CANNOT_BECOME_ROOT: &str = "cannot make hosts without root: run as root, or allow unprivileged user namespaces \
(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces)";

#[expect(unsafe_code, reason = "rustix marks unshare unsafe because of CLONE_FILES")]
fn unshare() -> Result<(), rustix::io::Errno> {
    // SAFETY: the flag does not unshare the table of open files, only the user namespace of the
    // process.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }
}
