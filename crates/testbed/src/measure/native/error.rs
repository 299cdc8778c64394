use emulator::EmulatorError;
use std::io;

/// Why a native peer cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativePeerError {
    /// Its host failed.
    #[error(transparent)]
    Host(#[from] EmulatorError),
    /// The host has no socket for it, or the system no thread.
    #[error("a native peer on {host}: {error}")]
    Socket {
        /// The host.
        host: String,
        /// What the system answered.
        error: io::Error,
    },
}

/// Why a native peer cannot go on with its call.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("the socket of the native peer: {0}")]
    Socket(#[from] io::Error),
    #[error(transparent)]
    Peer(#[from] peer::Error),
    #[error(transparent)]
    Controller(#[from] cc::BuildError),
    #[error("the statistics of the native peer: {0}")]
    Statistics(#[from] serde_json::Error),
    /// The signalling room refuses a message; the reason that it gives.
    #[error("{0}")]
    Refused(String),
    #[error("a native peer needs a call with video; this call has none")]
    NoVideo,
}
