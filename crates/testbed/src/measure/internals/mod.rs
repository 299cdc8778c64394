//! Reads and writes dumps of chrome://webrtc-internals.
//!
//! A dump is a JSON file, optionally compressed with gzip. Under `PeerConnections` each connection
//! has `stats`, in which `ID-MEMBER` is a series `{startTime, endTime, statsType, values}`. The
//! values are a JSON array within a string, with one value per poll of the page (every second).
//! Chromium's `content/browser/resources/media/webrtc_internals` writes dumps;
//! <https://github.com/fippo/webrtc-dump-importer> is the reference viewer. A dump is not trusted:
//! its size is bounded, and only texts that hold no address and no secret are kept.

mod error;
mod import;
mod read;
pub mod rtcstats;
#[cfg(test)]
mod tests;
mod write;

pub use error::{Cut, DumpError};
pub(crate) use import::experiment_between;
pub use import::{Imported, import, join};
pub use read::{Connection, Dump, read};
pub use write::write;
