use crate::scheduling::SchedulingError;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why the network cannot be emulated: what failed, and how to fix it where that is known.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// The operating system refused something; `action` says what was attempted.
    #[error("{action}: {source}")]
    System {
        /// What was attempted, with a fix where one is known.
        action: String,
        /// What the system answered.
        source: Arc<io::Error>,
    },
    /// A program could not be started on a host.
    #[error("{host}: cannot start {program}: {source}")]
    Spawn {
        /// The host's name.
        host: String,
        /// The program.
        program: String,
        /// What the system answered; [`io::ErrorKind::NotFound`] if there is no such program.
        source: Arc<io::Error>,
    },
    /// A host's thread ended before its namespace was ready.
    #[error("internal error: the thread of a host ended before its network namespace was ready")]
    HostThreadFailed,
    /// A host's thread has ended.
    #[error("internal error: the thread of a host has ended")]
    HostThreadEnded,
    /// The network namespace that was just made is not in /proc.
    #[error("{}: there is no network namespace at this path; is /proc mounted?", .0.display())]
    NoNamespace(PathBuf),
    /// /proc cannot be read.
    #[error("cannot read /proc/self/stat; is /proc mounted?")]
    NoProc,
    /// The counters of a host's interface are missing.
    #[error("{}: there is no interface {interface}", .path.display())]
    NoInterface {
        /// The file of /proc that lists the interfaces.
        path: PathBuf,
        /// The interface's name.
        interface: &'static str,
    },
    /// `ip` refused to configure an interface; its first line of output.
    #[error("ip cannot configure the interface of a host: {0}")]
    Ip(String),
    /// The testbed's devices are in use by another emulator.
    #[error("the hosts already have an emulator; use one emulator per testbed")]
    InUse,
    /// The path of the control socket is taken by a file that is not a socket.
    #[error("{}: a file that is not a socket is at this path; choose another path", .0.display())]
    NotASocket(PathBuf),
    /// Another run listens at the path of the control socket.
    #[error("{}: another run listens at this path; choose another path", .0.display())]
    SocketInUse(PathBuf),
    /// The loop's thread panicked.
    #[error("internal error (the emulator's loop panicked); please report it")]
    LoopPanicked,
    /// Real-time scheduling is not available.
    #[error(transparent)]
    Scheduling(#[from] SchedulingError),
}

impl EmulatorError {
    /// The system refused `action`.
    #[must_use]
    pub fn system(action: impl Into<String>, error: impl Into<io::Error>) -> Self {
        Self::System { action: action.into(), source: Arc::new(error.into()) }
    }

    /// Whether the system refused something for lack of rights.
    pub(crate) fn is_permission_denied(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }
}
