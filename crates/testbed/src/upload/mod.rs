//! Uploads over real TCP sockets: the client writes, the server reads to the end of the stream and
//! confirms what it received, so that the time of an upload is that of its last byte's arrival.
//! Both tell how they come along in lines of JSON, of which [`transcript`] makes the same columns
//! as a simulated flow has.
//!
//! The protocol: the client sends its bytes and closes its direction; the server answers `received
//! N` and a line feed, or `refused: ` and why.

mod client;
mod connect;
mod line;
mod server;
mod socket;
#[cfg(test)]
mod tests;
pub mod transcript;

pub use client::{Client, Ending, Outcome, upload};
pub use experiment::UPLOAD_PORT as PORT;
pub use line::{EventLine, Line, ReceiverSample, SenderSample, Value};
pub use net::Dscp;
pub use server::{Server, serve};
pub use sim::tcp::TcpSource;

use std::fmt;
use std::io;
use units::Duration;

/// The most clients that a server serves at a time; each has a descriptor, of which a process
/// usually has 1024.
pub const MAX_CLIENTS: usize = 1_000;

/// What is read or written at once.
const CHUNK: usize = 64 << 10;
/// How long a signal to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why a client or a server ended early.
#[derive(Debug)]
pub enum UploadError {
    /// What was asked for cannot be had here: a name, an address, a congestion control.
    Input(String),
    /// The connection was refused, or broke.
    Broken(String),
    /// What it has to tell cannot be written.
    Output(io::Error),
}

impl fmt::Display for UploadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) | Self::Broken(message) => f.write_str(message),
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for UploadError {}

/// The mark that a word names: `ef`, `af41`, `cs1`, … or 0 to 63.
///
/// # Errors
/// When it names none.
pub fn dscp(word: &str) -> Result<Dscp, String> {
    let number = || word.parse().ok().filter(|number: &u8| *number < 64).map(Dscp);
    Dscp::named(word).or_else(number).ok_or_else(|| {
        format!(
            "'{word}' is not a DSCP; write 0 to 63, or a name such as \"ef\", \"af41\", \"cs1\" or \"be\""
        )
    })
}
