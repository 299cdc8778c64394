//! A network namespace, and the thread that lives in it.

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

/// A network namespace and a mount namespace, which last as long as this and what runs in them.
pub(crate) struct Namespace {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    tid: Pid,
}

impl Namespace {
    /// Makes one, in which `/etc/hosts` says this and no name server is known.
    pub(crate) fn new(hosts: &str) -> Result<Self, EmulatorError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (tell, told) = mpsc::channel();
        let hosts = hosts.to_owned();
        let thread = std::thread::Builder::new().name("weir-host".to_owned()).spawn(move || {
            let moved = enter(&hosts).map(|()| gettid());
            let stays = moved.is_ok();
            if tell.send(moved).is_ok() && stays {
                queue.into_iter().for_each(|job| job());
            }
        });
        let thread = thread.map_err(|error| EmulatorError::of("cannot start a thread", error))?;
        let tid =
            told.recv().map_err(|_| EmulatorError("a host's thread ended early".into()))??;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), tid })
    }

    /// Does something there. A thread that it starts is there too, and so is a process.
    pub(crate) fn within<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EmulatorError> {
        let gone = || EmulatorError("a host's thread has ended".into());
        let (tell, told) = mpsc::channel();
        let job = Box::new(move || drop(tell.send(job())));
        self.jobs.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        told.recv().map_err(|_| gone())
    }

    /// Where the kernel shows the thread that lives there.
    pub(crate) fn proc(&self) -> PathBuf {
        Path::new("/proc/self/task").join(self.tid.as_raw_nonzero().to_string())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A job that panicked has been reported where it was asked for.
            let _ = thread.join();
        }
    }
}

/// Moves the calling thread into namespaces of its own.
fn enter(hosts: &str) -> Result<(), EmulatorError> {
    let failed =
        |what: &'static str| move |error: rustix::io::Errno| EmulatorError::of(what, error);
    unshare().map_err(failed(HOW_TO_UNSHARE))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(failed("cannot make mounts private"))?;
    // The namespace's own devices in /sys/class/net, as 'ip netns exec' has it. A container may
    // forbid it, and few programs look.
    let _ = mount("weir", "/sys", "sysfs", MountFlags::empty(), None);
    files(hosts).map_err(|error| EmulatorError::of("cannot give a host its /etc/hosts", error))
}

const HOW_TO_UNSHARE: &str =
    "cannot make a network namespace: run as root, or allow unprivileged user namespaces";

#[expect(unsafe_code, reason = "rustix marks it so for CLONE_FILES")]
fn unshare() -> Result<(), rustix::io::Errno> {
    // SAFETY: the table of open files stays shared; only the thread's network and mounts become its
    // own.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET | UnshareFlags::NEWNS) }
}

/// Puts the namespace's own files over those in /etc. They lie in a file system that only these
/// mounts hold.
fn files(hosts: &str) -> std::io::Result<()> {
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
        put("resolv.conf", "# Hosts know each other by /etc/hosts; there is no name server.\n")
    });
    unmount(SCRATCH, UnmountFlags::DETACH)?;
    done
}
