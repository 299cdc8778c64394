//! Uploads over real TCP sockets. The client writes; the server reads to the end of the stream and
//! confirms the number of bytes, so that the time of an upload ends with the arrival of its last
//! byte. Both write samples and events as lines of JSON, which [`transcript`] turns into the
//! columns of a simulated flow.
//!
//! The protocol: the client sends its bytes and closes its direction. The server answers `received
//! N` and a line feed, or `refused: ` and a reason.

mod client;
mod connect;
mod error;
mod output;
mod server;
mod socket;
#[cfg(test)]
mod tests;
pub mod transcript;

pub use client::{Client, Ending, Outcome, upload};
pub use error::{BrokenUpload, DscpError, InputError, TransferError, UploadError};
pub use experiment::UPLOAD_PORT as PORT;
pub use net::Dscp;
pub use output::{ReceiverSample, SenderSample, UploadEvent, UploadLine, Value};
pub use server::{Limits, Server, serve};
pub use sim::tcp::TcpSource;

use units::Duration;

/// The default number of clients that a server serves at a time. Each needs a thread and a file
/// descriptor, of which a process usually has 1024.
pub const MAX_CLIENTS: usize = 256;
/// The default number of clients that a server serves at a time from one IPv4 address or one IPv6
/// network of 64 bits.
pub const MAX_CLIENTS_PER_ADDRESS: usize = 32;
/// The default time without data after which a server ends an upload.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes that are read or written at once.
const CHUNK: usize = 64 << 10;
/// The longest time until a stop signal is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// The DSCP with this name (`ef`, `af41`, `cs1`, …) or number (0 to 63).
///
/// # Errors
/// When the word is neither.
pub fn dscp(word: &str) -> Result<Dscp, DscpError> {
    let number = || word.parse().ok().filter(|number: &u8| *number < 64).map(Dscp);
    Dscp::named(word).or_else(number).ok_or_else(|| DscpError(word.to_owned()))
}
