//! Without root: a user namespace in which this user is root, where the kernel allows it.

use crate::error::EmulatorError;
use crate::leftovers::sweep;
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs;

/// Makes this process root in a user namespace of its own (user_namespaces(7)), unless it is root.
/// What it makes there is its own: network namespaces without names, which end with it. To be
/// called while the process has one thread.
///
/// # Errors
/// When the kernel does not let this user.
pub fn become_root() -> Result<(), EmulatorError> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    // From within, what another run of this user has left could not be looked into.
    sweep();
    unshare().map_err(|error| EmulatorError::of(HOW_TO, error))?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("0 {} 1", user.as_raw())),
        ("/proc/self/gid_map", format!("0 {} 1", group.as_raw())),
    ];
    for (path, text) in maps {
        fs::write(path, text)
            .map_err(|error| EmulatorError::of(&format!("{HOW_TO}: {path}"), error))?;
    }
    Ok(())
}

const HOW_TO: &str = "cannot make hosts without root: run as root, or allow unprivileged user namespaces \
(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces)";

#[expect(unsafe_code, reason = "rustix marks it so for CLONE_FILES")]
fn unshare() -> Result<(), rustix::io::Errno> {
    // SAFETY: the table of open files stays as it is; only the user namespace becomes the process's
    // own.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }
}
