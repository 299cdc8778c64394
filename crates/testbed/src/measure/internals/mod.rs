//! Dumps of chrome://webrtc-internals, read and written.
//!
//! A dump is a JSON file, or the same packed with gzip: under `PeerConnections` each connection has
//! `stats`, in which `ID-MEMBER` is a series `{startTime, endTime, statsType, values}`, the values
//! a JSON array within a string, one for each time that the page asked (every second). Chromium's
//! `content/browser/resources/media/webrtc_internals` writes it;
//! <https://github.com/fippo/webrtc-dump-importer> is the viewer that others are measured by. A dump is a stranger's file: its size is
//! bounded, and of its texts only those that hold no address and no secret are kept.

mod error;
mod import;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use error::DumpError;
pub use import::{Imported, import};
pub use read::{Connection, Dump, read};
pub use write::write;
