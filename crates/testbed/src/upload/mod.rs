//! Uploads over real TCP sockets: the client writes, the server reads to the end of the stream and
//! confirms what it received, so that the time of an upload is that of its last byte's arrival.
//! Both tell how they come along in lines of JSON, of which [`transcript`] makes the same columns
//! as a simulated flow has.
//!
//! The protocol: the client sends its bytes and closes its direction; the server answers `received
//! N` and a line feed, or `refused: ` and why.

mod client;
mod connect;
mod error;
mod line;
mod server;
mod socket;
#[cfg(test)]
mod tests;
pub mod transcript;

pub use client::{Client, Ending, Outcome, upload};
pub use error::{BrokenUpload, DscpError, InputError, TransferError, UploadError};
pub use experiment::UPLOAD_PORT as PORT;
pub use line::{EventLine, Line, ReceiverSample, SenderSample, Value};
pub use net::Dscp;
pub use server::{Server, serve};
pub use sim::tcp::TcpSource;

use units::Duration;

/// The most clients that a server serves at a time; each has a descriptor, of which a process
/// usually has 1024.
pub const MAX_CLIENTS: usize = 1_000;

/// What is read or written at once.
const CHUNK: usize = 64 << 10;
/// How long a signal to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// The mark that a word names: `ef`, `af41`, `cs1`, … or 0 to 63.
///
/// # Errors
/// When it names none.
pub fn dscp(word: &str) -> Result<Dscp, DscpError> {
    let number = || word.parse().ok().filter(|number: &u8| *number < 64).map(Dscp);
    Dscp::named(word).or_else(number).ok_or_else(|| DscpError(word.to_owned()))
}
