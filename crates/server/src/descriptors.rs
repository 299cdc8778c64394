//! The number of files that this process may open.

use crate::connections::MAX_REQUESTS;
use crate::signalling::MAX_CONNECTIONS;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;

/// The file descriptors that a server needs: its WebSockets, the HTTP connections of three
/// listeners (two of the loopback, one of the broker), and some for the process itself.
const NEEDED: u64 = (MAX_CONNECTIONS + 3 * MAX_REQUESTS + 64) as u64;

/// The process may open fewer files than a server needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "this process may open {0} files, and needs {NEEDED} to serve all rooms; allow more with \
     'ulimit -n {NEEDED}'"
)]
pub struct TooFewFiles(u64);

/// Raises the soft limit on open files (setrlimit(2), `RLIMIT_NOFILE`) to what a server needs. It
/// is usually 1024.
///
/// # Errors
/// If the hard limit is lower. The server then works with fewer clients.
pub fn raise_file_limit() -> Result<(), TooFewFiles> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current.filter(|current| *current < NEEDED) else { return Ok(()) };
    let raised = maximum.unwrap_or(NEEDED).min(NEEDED);
    let limit = match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => current,
    };
    if limit < NEEDED { Err(TooFewFiles(limit)) } else { Ok(()) }
}
