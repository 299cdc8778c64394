//! A network namespace, and the thread that runs in it.

use crate::error::EmulatorError;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount,
};
use rustix::thread::{Pid, UnshareFlags, gettid, unshare_unsafe};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace and a mount namespace. They exist as long as this value or a process in
/// them.
pub(crate) struct Namespace {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    tid: Pid,
}

impl Namespace {
    /// Makes the namespaces. `hosts` is the content of `/etc/hosts` there; no name server is
    /// configured.
    pub(crate) fn new(hosts: &str) -> Result<Self, EmulatorError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (sender, receiver) = mpsc::channel();
        let hosts = hosts.to_owned();
        let thread = std::thread::Builder::new().name("weir-host".to_owned()).spawn(move || {
            let moved = enter(&hosts).map(|()| gettid());
            let ready = moved.is_ok();
            if sender.send(moved).is_ok() && ready {
                queue.into_iter().for_each(|job| job());
            }
        });
        let thread =
            thread.map_err(|error| EmulatorError::system("cannot start a thread", error))?;
        let tid = receiver.recv().map_err(|_| EmulatorError::HostThreadFailed)??;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), tid })
    }

    /// Runs `job` in the namespaces and waits for its result. Threads and processes that the job
    /// starts are in the namespaces too.
    pub(crate) fn within<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EmulatorError> {
        let ended = || EmulatorError::HostThreadEnded;
        let (sender, receiver) = mpsc::channel();
        let job = Box::new(move || drop(sender.send(job())));
        self.jobs.as_ref().ok_or_else(ended)?.send(job).map_err(|_| ended())?;
        receiver.recv().map_err(|_| ended())
    }

    /// The directory of /proc that shows the thread in the namespaces.
    pub(crate) fn proc(&self) -> PathBuf {
        Path::new("/proc/self/task").join(self.tid.as_raw_nonzero().to_string())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of a job has been reported to the caller of `within`.
            let _ = thread.join();
        }
    }
}

/// Moves the calling thread into new network and mount namespaces.
fn enter(hosts: &str) -> Result<(), EmulatorError> {
    let failed =
        |action: &'static str| move |error: rustix::io::Errno| EmulatorError::system(action, error);
    unshare(UnshareFlags::NEWNET | UnshareFlags::NEWNS).map_err(failed(CANNOT_UNSHARE))?;
    // As in `ip netns exec` (iproute2, lib/namespace.c, `netns_switch`): the names of namespaces
    // that are removed outside are removed here too.
    let receive_only = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", receive_only).map_err(failed("cannot make mounts private"))?;
    // Shows the devices of the namespace in /sys/class/net, as `ip netns exec` does. A container
    // may forbid this mount; few programs need it.
    let _ = mount("weir", "/sys", "sysfs", MountFlags::empty(), None);
    replace_etc_files(hosts)
        .map_err(|error| EmulatorError::system("cannot mount a host's /etc/hosts", error))
}

/// Moves the calling thread into a mount namespace whose mounts concern no other one.
pub(crate) fn private_mounts() -> Result<(), rustix::io::Errno> {
    unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

const CANNOT_UNSHARE: &str =
    "cannot make a network namespace: run as root, or allow unprivileged user namespaces";

#[expect(unsafe_code, reason = "rustix marks unshare unsafe because of CLONE_FILES")]
fn unshare(flags: UnshareFlags) -> Result<(), rustix::io::Errno> {
    debug_assert!(!flags.contains(UnshareFlags::FILES), "the table of open files stays shared");
    // SAFETY: the flags do not unshare the table of open files, only the network and the mounts of
    // the thread.
    unsafe { unshare_unsafe(flags) }
}

/// Mounts the namespace's own files over /etc/hosts and /etc/resolv.conf. The files are in a tmpfs
/// that only these mounts keep alive.
fn replace_etc_files(hosts: &str) -> std::io::Result<()> {
    const SCRATCH: &str = "/tmp";
    mount("weir", SCRATCH, "tmpfs", MountFlags::empty(), None)?;
    let put = |name: &str, text: &str| -> std::io::Result<()> {
        let (ours, theirs) = (Path::new(SCRATCH).join(name), Path::new("/etc").join(name));
        if !theirs.exists() {
            return Ok(());
        }
        fs::write(&ours, text)?;
        Ok(mount_bind(&ours, &theirs)?)
    };
    let done = put("hosts", hosts).and_then(|()| {
        put("resolv.conf", "# Host names are in /etc/hosts; there is no name server.\n")
    });
    unmount(SCRATCH, UnmountFlags::DETACH)?;
    done
}
