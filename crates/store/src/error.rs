//! What can be wrong with a store: the file, what is wrong, and the suggestion, on one line.

use rusqlite::ErrorCode;
use std::fmt;
use std::path::{Path, PathBuf};

/// An error of a store. Prints as `file: what is wrong; the suggestion`, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// The store's file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such file.
    Missing,
    /// It could not be opened or made: why.
    Unopenable(String),
    /// It is a file of another kind.
    NotADatabase,
    /// It is a database of another program.
    Foreign,
    /// It has a schema that this version does not know.
    Newer {
        /// The schema's number in the file.
        found: i64,
        /// The newest number that this version knows.
        known: i64,
    },
    /// It is damaged: where.
    Damaged(String),
    /// The disk has no room left.
    Full,
    /// The file or its folder cannot be written.
    ReadOnly,
    /// Another process kept it locked for longer than a writer waits.
    Busy,
    /// It has no run with this number.
    NoSuchRun(i64),
    /// A recording that cannot be kept: why.
    Unkeepable(String),
    /// The operating system failed to read or write: what it said.
    System(String),
}

impl StoreError {
    pub(super) fn new(path: &Path, fault: Fault) -> Self {
        Self { path: path.to_owned(), fault }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let text = match &self.fault {
            Fault::Missing => {
                format!("{path}: there is no such file; check the name, or store a run to it first")
            }
            Fault::Unopenable(why) => format!(
                "{path}: it cannot be opened: {why}; name a file in a folder that exists and is yours"
            ),
            Fault::NotADatabase => {
                format!("{path}: it is not a store but a file of another kind; name another file")
            }
            Fault::Foreign => {
                format!("{path}: it is the database of another program; name another file")
            }
            Fault::Newer { found, known } => format!(
                "{path}: a newer version of Weir wrote it (schema {found}, this one knows up to {known}); \
                 use that version, or name another file"
            ),
            Fault::Damaged(place) => format!(
                "{path}: it is damaged ({place}); restore a copy, or save what can be read: \
                 sqlite3 {path} .recover | sqlite3 new.sqlite"
            ),
            Fault::Full => format!(
                "{path}: the disk is full; free some space and run again, the runs that were finished are kept"
            ),
            Fault::ReadOnly => format!(
                "{path}: it cannot be written; make the file and its folder writable, or name another file"
            ),
            Fault::Busy => {
                format!(
                    "{path}: another process keeps it locked; wait for it to end, or name another file"
                )
            }
            Fault::NoSuchRun(id) => {
                format!("{path}: it has no run {id}; 'weir list --store' shows its runs")
            }
            Fault::Unkeepable(why) => {
                format!("{path}: the run cannot be kept: {why}; nothing of it was stored")
            }
            Fault::System(why) => {
                format!("{path}: reading or writing failed: {why}; check the disk and run again")
            }
        };
        f.write_str(&text.replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for Fault {
    /// By SQLite's primary result codes (sqlite.org/rescode.html).
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::DiskFull) => Self::Full,
            // Writing begins with a journal beside the file: a folder that refuses it is a file
            // that cannot be written.
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::TooBig) => Self::Unkeepable(text),
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::System(text),
            // What is left does not happen with the schema as this program makes it: a table that
            // is not there, a value of another type, a row that breaks a constraint.
            _ => Self::Damaged(text),
        }
    }
}
