//! TOML documents whose every value knows its line, so that an error can name it. Experiment and
//! claims files are read through here.
//!
//! `text ─▶ node (a tree with lines) ─▶ reader (typed values, unknown keys refused)`

mod error;
mod node;
mod path;
mod reader;
mod write;

pub use error::FileError;
pub(crate) use error::{Fault, Place};
pub(crate) use node::{Node, Table, Value, parse, parse_value};
pub(crate) use path::KeyPath;
pub use reader::nearest;
pub(crate) use reader::{FromNode, Reader, did_you_mean, read};
pub(crate) use write::write;

/// The largest file that is read: an experiment of this size has more than 20,000 lines.
pub(crate) const MAX_BYTES: usize = 1 << 20;
