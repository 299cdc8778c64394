//! Errors of a store. Each prints on one line: the file, what is wrong, and a suggestion.

use super::blob::SeriesError;
use super::names::NameError;
use rusqlite::ErrorCode;
use sim::recording::MAX_VALUES;
use std::fmt;
use std::path::{Path, PathBuf};

/// An error of a store. Prints as `file: what is wrong; suggestion`, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// The store's file.
    pub path: PathBuf,
    /// What is wrong with the file.
    pub fault: Fault,
}

/// What is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not exist.
    #[error("there is no such file; check the name, or store a run in it first")]
    Missing,
    /// The file cannot be opened or created.
    #[error("cannot be opened: {0}; name a file in a folder that exists and is writable")]
    Unopenable(OpenError),
    /// The file is not an SQLite database.
    #[error("is not a Weir store but a file of another kind; name another file")]
    NotADatabase,
    /// The file is the database of another program.
    #[error("is the database of another program; name another file")]
    Foreign,
    /// The file has a schema that this version does not know.
    #[error(
        "was written by a newer version of Weir (schema {found}, this version knows up to {known}); \
         use that version, or name another file"
    )]
    Newer {
        /// The version of the schema in the file.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file is damaged.
    #[error("is damaged ({0})")]
    Damaged(Damage),
    /// The disk is full.
    #[error("the disk is full; free some space and run again; the finished runs are stored")]
    Full,
    /// The file or its folder cannot be written.
    #[error("cannot be written; make the file and its folder writable, or name another file")]
    ReadOnly,
    /// Another process kept the file locked for longer than a writer waits.
    #[error("another process keeps the file locked; wait for it to end, or name another file")]
    Busy,
    /// The store has no run with this number.
    #[error("has no run {0}; 'weir list --store' shows the runs")]
    NoSuchRun(i64),
    /// Tags that a run may not have.
    #[error(
        "a run may have 20 tags of 1 to 40 characters each, without control characters; \
         shorten them"
    )]
    Tags,
    /// The runs of this sweep were made by another version of the model.
    #[error(
        "its runs of the sweep {0} are from another version of the model, which would be mixed; \
         name a new file with --store"
    )]
    OtherModel(String),
    /// The stored sweep of this name has other points, scenarios or metrics.
    #[error(
        "its sweep {0} has other points, scenarios, seeds or metrics, which would be mixed; name a \
         new file with --store"
    )]
    OtherSweep(String),
    /// SQLite or Zstandard refused the recording, with this message.
    #[error("the run cannot be stored: {0}; no part of it was stored")]
    Unstorable(String),
    /// The operating system failed to read or write, with this message.
    #[error("reading or writing failed: {0}; check the disk and run again")]
    System(String),
}

/// Why a store cannot be opened or created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The path is a folder.
    #[error("it is a folder")]
    Folder,
    /// The folder of the file does not exist.
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// The operating system refused it, with this message.
    #[error("{0}")]
    System(String),
    /// The operating system gives no reason.
    #[error("the operating system refuses it")]
    Unknown,
}

/// The most bytes of the texts that name a run and its cell, in all; far more than a script of tc
/// commands has. Tables repeat them in every row.
pub(super) const MAX_TEXT: usize = 65_536;

/// Where a store is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// SQLite found it, with this message.
    #[error("{0}")]
    Sqlite(String),
    /// The header names a version of the schema that the tables do not have.
    #[error("the header and the tables disagree")]
    Header,
    /// The seed of this run is not a number.
    #[error("the seed of run {0}")]
    Seed(i64),
    /// The mode of this run is unknown.
    #[error("the mode of run {0}")]
    Mode(i64),
    /// The sampling interval or the duration of this run is impossible, or gives more than
    /// [`MAX_SAMPLES`](sim::recording::MAX_SAMPLES).
    #[error("the sampling interval or the duration of run {0}")]
    Duration(i64),
    /// The experiment's name, the cell and the version of this run have more than `MAX_TEXT`
    /// bytes.
    #[error("the name, cell and version of run {0} have more than {kib} KiB", kib = MAX_TEXT >> 10)]
    Text(i64),
    /// This run declares more than [`MAX_VALUES`] values.
    #[error("run {0} declares more than {MAX_VALUES} values")]
    Values(i64),
    /// A stream has an unknown kind.
    #[error("a stream of the kind \"{0}\"")]
    StreamKind(String),
    /// A series has a negative number of values.
    #[error("a negative number of values")]
    Count,
    /// A series cannot be read.
    #[error("{series} of {stream}: {error}")]
    Series {
        /// The name of the series.
        series: &'static str,
        /// The name of the stream.
        stream: String,
        /// What is wrong with the series.
        error: SeriesError,
    },
    /// The run of a sweep with this number cannot be read.
    #[error("run {0} of a sweep")]
    SweepRun(i64),
    /// A name cannot be read.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A row of this table refers to a row that does not exist.
    #[error("a row of the table {0} refers to a row that does not exist")]
    Reference(String),
}

impl StoreError {
    pub(super) fn new(path: &Path, fault: Fault) -> Self {
        Self { path: path.to_owned(), fault }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let mut text = format!("{path}: {}", self.fault);
        if matches!(self.fault, Fault::Damaged(_)) {
            text += &format!(
                "; restore a copy, or save what can be read: \
                 sqlite3 {path} .recover | sqlite3 new.sqlite"
            );
        }
        f.write_str(&text.replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for StoreError {}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl From<NameError> for Fault {
    fn from(error: NameError) -> Self {
        Self::Damaged(error.into())
    }
}

impl From<rusqlite::Error> for Fault {
    /// By SQLite's primary result codes (sqlite.org/rescode.html).
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::DiskFull) => Self::Full,
            // SQLite begins a write by creating a journal in the folder of the file. If the folder
            // refuses the journal, the file cannot be written.
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::TooBig) => Self::Unstorable(text),
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::System(text),
            // The other codes cannot occur with an intact schema: a missing table, a value of
            // another type, a row that violates a constraint.
            _ => Self::Damaged(Damage::Sqlite(text)),
        }
    }
}
