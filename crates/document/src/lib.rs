//! TOML documents in which every value knows its line, so that an error can name the line.
//! Experiment files, claim files and broker files are read with this crate.
//!
//! `text ─▶ node (a tree with lines) ─▶ reader (typed values, unknown keys refused)`

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod asked;
mod error;
mod node;
mod path;
mod reader;
pub mod shown;
mod value;
mod write;

pub use asked::asked_keys;
pub use error::{Fault, FileError, Location, Problem};
pub use node::{Node, Table, Value, parse, parse_value};
pub use path::{KeyPath, KeyPathError};
pub use reader::{FromNode, Reader, did_you_mean, nearest, read};
pub use value::ValueError;
pub use write::write;

/// The largest file that is read, in bytes. An experiment of this size has more than 20,000 lines.
pub const MAX_BYTES: usize = 1 << 20;
