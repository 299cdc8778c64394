//! TOML documents in which every value knows its line, so that errors can name it. Experiment
//! files, claim files and broker files are read with this crate.
//!
//! `text ─▶ node (a tree with lines) ─▶ reader (typed values, unknown keys refused)`

mod error;
mod node;
mod path;
mod reader;
mod write;

pub use error::{Fault, FileError, Location};
pub use node::{Node, Table, Value, parse, parse_value};
pub use path::KeyPath;
pub use reader::{FromNode, Reader, did_you_mean, nearest, read};
pub use write::write;

/// The largest file that is read: an experiment of this size has more than 20,000 lines.
pub const MAX_BYTES: usize = 1 << 20;
