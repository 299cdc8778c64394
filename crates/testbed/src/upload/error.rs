use super::socket::AVAILABLE;
use std::io;
use std::net::SocketAddr;

/// Why a client or a server ended early.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The input does not fit this machine: a host name, an address, a congestion control.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The connection was refused or broke.
    #[error(transparent)]
    Broken(#[from] BrokenUpload),
    /// The output cannot be written.
    #[error(transparent)]
    Output(io::Error),
}

/// Input that this machine cannot use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The name of a server cannot be resolved.
    #[error("'{server}' is not a host: {error}; write an IP address or a host name")]
    UnknownHost {
        /// The name.
        server: String,
        /// What the resolver answered.
        error: io::Error,
    },
    /// The name of a server resolves to nothing.
    #[error("'{0}' is not a host: it has no address; write an IP address or a host name")]
    NoAddress(String),
    /// The kernel has the congestion control, but does not allow this user to select it.
    #[error(
        "congestion control '{name}': not allowed here ({error}); \
         see net.ipv4.tcp_allowed_congestion_control"
    )]
    CongestionControlForbidden {
        /// Its name in Linux.
        name: String,
        /// What the kernel answered.
        error: io::Error,
    },
    /// The kernel does not have the congestion control.
    #[error(
        "congestion control '{name}': this kernel does not have it; {AVAILABLE} says: {available} \
         ('modprobe tcp_{name}' may add it)"
    )]
    CongestionControlMissing {
        /// Its name in Linux.
        name: String,
        /// The names that the kernel has, separated by spaces.
        available: String,
    },
    /// The server cannot listen at its address.
    #[error("cannot listen on {address}: {error}; name another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system answered.
        error: io::Error,
    },
}

/// A connection that was refused or broke.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenUpload {
    /// A socket cannot be made or configured.
    #[error("cannot make a socket to {address}: {error}")]
    Socket {
        /// The server's address.
        address: SocketAddr,
        /// What the system answered.
        error: io::Error,
    },
    /// No server accepted the connection within two seconds.
    #[error(
        "cannot connect to {address}: {error}; is 'weir upload server --listen {address}' running there?"
    )]
    Connect {
        /// The server's address.
        address: SocketAddr,
        /// What the system answered last.
        error: io::Error,
    },
    /// The connection broke.
    #[error("the upload to {server} port {port} broke after {written} bytes: {reason}")]
    Transfer {
        /// The server.
        server: String,
        /// Its port.
        port: u16,
        /// Bytes that were written before.
        written: u64,
        /// Why.
        reason: TransferError,
    },
    /// The server can accept no more connections.
    #[error("cannot accept more clients: {0}")]
    Accept(io::Error),
}

/// Why a connection broke.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The server closed the connection before it confirmed the upload.
    #[error("the server ended the connection")]
    Closed,
    /// The answer is not in the protocol of `weir upload server`.
    #[error("the program that answers is not 'weir upload server'")]
    NotAServer,
    /// The server confirmed another number of bytes.
    #[error("the server received {received} of {written} bytes")]
    Count {
        /// Bytes that the server confirmed.
        received: u64,
        /// Bytes that were written.
        written: u64,
    },
    /// The server refused the upload; its answer, which begins with `refused`.
    #[error("the server {0}")]
    Refused(String),
    /// The socket failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl TransferError {
    /// Whether the connection timed out.
    pub(super) fn is_timeout(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::TimedOut)
    }
}

/// A word that is no DSCP.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a DSCP; write 0 to 63, or a name such as \"ef\", \"af41\", \"cs1\" or \"be\""
)]
pub struct DscpError(pub String);
