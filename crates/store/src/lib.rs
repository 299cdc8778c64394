//! The store: runs with their records and metrics in one SQLite file. `docs/STORE.md` describes the
//! tables for other tools.
//!
//! Runs are stored in transactions of one or several runs, so that a killed process loses at most
//! the runs that it was writing. The store uses SQLite's rollback journal instead of its write-ahead
//! log: between two transactions it is a single file that can be copied, it can be read from a
//! read-only folder, and it works on network file systems. The store contains no dates of simulated
//! runs: equal runs give an equal file, no matter how many were stored per transaction.
//!
//! ```no_run
//! use store::{Filter, Store};
//! let store = Store::open("runs.sqlite".as_ref())?;
//! for run in store.runs(&Filter { experiment: Some("carlucci-2017".into()), ..Filter::default() })? {
//!     println!("{} seed {}: {} streams", run.meta.experiment, run.meta.seed, store.recording(run.id)?.streams.len());
//! }
//! # Ok::<(), store::StoreError>(())
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod blob;
mod error;
pub mod export;
mod listing;
pub mod names;
mod read;
mod schema;
mod sweep;
mod write;

pub use blob::SeriesError;
pub use error::{Damage, Fault, OpenError, StoreError};
pub use listing::ListedRun;
pub use sweep::{SweepMeta, SweepRun};
pub use write::PackedRun;

use rusqlite::{Connection, OpenFlags};
use sim::Recording;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use units::{Duration, Seed};

/// How long a writer waits for another process. Writing a run takes milliseconds, so that thousands
/// of writers may queue.
const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// A committed transaction survives a power failure, and there is no journal between transactions.
const DURABLE: &str = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;";

/// The greatest number of tags of a run. Our choice.
pub const MAX_TAGS: usize = 20;
/// The greatest length of a tag, characters. Our choice.
pub const MAX_TAG: usize = 40;

/// How a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Network model and endpoints in virtual time.
    Simulated,
    /// Network model in real time, with native peers or other programs as endpoints.
    Emulated,
    /// Network model in real time, with browsers and servers.
    Measured,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Simulated, Self::Emulated, Self::Measured];

    /// The word for the mode in stores and exports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Emulated => "emulated",
            Self::Measured => "measured",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;
    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

/// A word that is not a [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a mode; use simulated, emulated or measured")]
pub struct UnknownMode(pub String);

/// The name of the note that identifies a simulated run, see `docs/STORE.md`.
pub const DIGEST: &str = "digest";

/// The metadata of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMeta {
    /// The experiment's name, for example `carlucci-2017/fig11`.
    pub experiment: String,
    /// The parameters of the grid cell: (key, value) in the order of the file.
    pub cell: Vec<(String, String)>,
    /// The seed.
    pub seed: Seed,
    /// The index of the run within its cell, from 0.
    pub index: u32,
    /// How the run was made.
    pub mode: Mode,
    /// The text of the experiment file. The runs of one call of [`Store::runs`] share it.
    pub file: Arc<str>,
    /// The version of Weir that made the run.
    pub version: String,
    /// Notes, (name, value): for example the browsers of a measured run, why the machine limited
    /// it, or the digest of a simulated run. `docs/STORE.md` lists the names.
    pub notes: Vec<(String, String)>,
}

impl RunMeta {
    /// The note called `name`.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The endpoints of the calls: browsers with their major version (`Chromium 156`), and native
    /// peers.
    pub fn endpoints(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().filter_map(|(name, value)| {
            let (kind, _) = name.split_once('.')?;
            match kind {
                "browser" => Some(value.split_once('.').map_or(&**value, |(product, _)| product)),
                "endpoint" => Some(value),
                _ => None,
            }
        })
    }

    /// Why the machine, not the network, limited the run; `None` if it did not.
    #[must_use]
    pub fn cpu_limited(&self) -> Option<&str> {
        self.note("cpuLimited")
    }
}

/// A run in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// The number in the store, from 1. Numbers are never reused.
    pub id: i64,
    /// The metadata.
    pub meta: RunMeta,
    /// The duration of the run.
    pub duration: Duration,
}

/// A metric of a stream, or of the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The name of the stream; empty for a metric of the whole run.
    pub stream: String,
    /// The name of the metric.
    pub name: String,
    /// The value; not-a-number if it does not exist.
    pub value: f64,
}

/// A selection of runs. A field that is `None` or empty matches every run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The run with this number.
    pub id: Option<i64>,
    /// The experiment with this name, or all experiments of this paper: `carlucci-2017` matches
    /// `carlucci-2017/fig11`.
    pub experiment: Option<String>,
    /// The seed.
    pub seed: Option<Seed>,
    /// The mode.
    pub mode: Option<Mode>,
    /// The version of Weir.
    pub version: Option<String>,
    /// Parameters, (key, value), that the cell of the run must have.
    pub cell: Vec<(String, String)>,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    digests: write::Digests,
}

impl Store {
    /// Opens the store in the file `path` and upgrades its schema. A read-only file is opened for
    /// reading.
    ///
    /// # Errors
    /// If the file does not exist, is not a store, is damaged, or was written by a newer version of
    /// Weir.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::connect(path, false)
    }

    /// As [`open`](Self::open), but creates the store if the file is missing or empty.
    ///
    /// # Errors
    /// As `open`; also if the file cannot be created or the disk is full.
    pub fn create_or_open(path: &Path) -> Result<Self, StoreError> {
        Self::connect(path, true)
    }

    fn connect(path: &Path, create: bool) -> Result<Self, StoreError> {
        let wrong = |fault| StoreError::new(path, fault);
        if !create && !path.exists() {
            return Err(wrong(Fault::Missing));
        }
        if !is_empty_or_database(path) {
            return Err(wrong(Fault::NotADatabase));
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        // SQLite gives `:memory:` and `file:…` a special meaning, unless they begin with `./`.
        let plain = Path::new(".").join(path);
        let connection =
            Connection::open_with_flags(plain, flags).map_err(|_| wrong(unopenable(path)))?;
        let (path, digests) = (path.to_owned(), write::Digests::default());
        let mut store = Self { connection, path, digests };
        store.prepare(create).map_err(|fault| store.error(fault))?;
        Ok(store)
    }

    /// Configures the connection and migrates the schema.
    fn prepare(&mut self, create: bool) -> Result<(), Fault> {
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // The file may come from an untrusted source: its views may not call functions with side
        // effects (sqlite.org/security.html).
        self.connection.pragma_update(None, "trusted_schema", false)?;
        self.connection.pragma_update(None, "cell_size_check", true)?;
        schema::migrate(&mut self.connection, schema::MIGRATIONS, create)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores a run and returns its number. `metrics` are (stream, metric, value), with an empty
    /// stream for a metric of the whole run. A simulated run with the [`DIGEST`], experiment, cell
    /// and index of a stored run is not stored again.
    ///
    /// # Errors
    /// If the disk is full, the file cannot be written, or another process keeps it locked. Then no
    /// part of the run is stored.
    pub fn insert(
        &mut self,
        meta: &RunMeta,
        recording: &Recording,
        metrics: &[(String, String, f64)],
    ) -> Result<i64, StoreError> {
        let packed = PackedRun::new(meta.clone(), recording, metrics.to_vec());
        let packed = packed.map_err(|fault| self.error(fault))?;
        Ok(self.insert_packed(&[packed])?[0])
    }

    /// Stores runs in one transaction, as by [`insert`](Self::insert), and returns their numbers.
    /// A transaction waits several times for the disk, so that storing many runs together takes
    /// little longer than storing one.
    ///
    /// # Errors
    /// As [`insert`](Self::insert). Then no part of any of the runs is stored.
    pub fn insert_packed(&mut self, runs: &[PackedRun]) -> Result<Vec<i64>, StoreError> {
        write::insert(&mut self.connection, &mut self.digests, runs)
            .map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// The numbers of the simulated runs by [`DIGEST`].
    ///
    /// # Errors
    /// If the file is damaged or cannot be read.
    pub fn digests(&mut self) -> Result<&HashMap<String, Vec<i64>>, StoreError> {
        self.digests
            .update(&self.connection)
            .map_err(|fault| StoreError::new(&self.path, fault))?;
        Ok(self.digests.all())
    }

    /// The runs that match `filter`, in the order in which they were stored.
    ///
    /// # Errors
    /// If the file is damaged or cannot be read.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<StoredRun>, StoreError> {
        read::runs(&self.connection, filter).map_err(|fault| self.error(fault))
    }

    /// All runs with their tags, in the order in which they were stored, without the texts of their
    /// experiments.
    ///
    /// # Errors
    /// If the file is damaged or cannot be read.
    pub fn listing(&self) -> Result<Vec<ListedRun>, StoreError> {
        listing::all(&self.connection).map_err(|fault| self.error(fault))
    }

    /// Replaces the tags of the run `id`.
    ///
    /// # Errors
    /// If a tag is empty or longer than [`MAX_TAG`], there are more than [`MAX_TAGS`], the store
    /// has no such run, or the file cannot be written.
    pub fn set_tags(&mut self, id: i64, tags: &[String]) -> Result<(), StoreError> {
        listing::set_tags(&mut self.connection, id, tags)
            .map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// The run with the number `id`.
    ///
    /// # Errors
    /// If the store has no such run, is damaged or cannot be read.
    pub fn run(&self, id: i64) -> Result<StoredRun, StoreError> {
        let found = read::run(&self.connection, id).map_err(|fault| self.error(fault))?;
        found.ok_or_else(|| self.error(Fault::NoSuchRun(id)))
    }

    /// The recording of the run `id`, bit-identical to the stored one.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn recording(&self, id: i64) -> Result<Recording, StoreError> {
        read::recording(&self.connection, id).map_err(|fault| self.error(fault))
    }

    /// The metrics of the run `id`, in the order in which they were stored.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn metrics(&self, id: i64) -> Result<Vec<Metric>, StoreError> {
        read::metrics(&self.connection, id).map_err(|fault| self.error(fault))
    }

    /// Deletes the run `id` with all its records. Its number is not reused.
    ///
    /// # Errors
    /// As [`run`](Self::run) and [`insert`](Self::insert).
    pub fn delete(&mut self, id: i64) -> Result<(), StoreError> {
        write::delete(&mut self.connection, id).map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// Checks the whole file: the page tree, the indices, the references and every series.
    ///
    /// # Errors
    /// The first damage found.
    pub fn check(&self) -> Result<(), StoreError> {
        read::check(&self.connection).map_err(|fault| self.error(fault))?;
        self.runs(&Filter::default())?.iter().try_for_each(|run| self.recording(run.id).map(drop))
    }

    fn error(&self, fault: Fault) -> StoreError {
        StoreError::new(&self.path, fault)
    }
}

/// Whether SQLite may open the file. A path that is not a readable file is left to SQLite, which
/// says why. SQLite takes a file without a complete page for an empty database and overwrites it.
fn is_empty_or_database(path: &Path) -> bool {
    // The first bytes of a database, and the size of its smallest page (sqlite.org/fileformat.html,
    // sections 1.3.1 and 1.3.2).
    const MAGIC: &[u8] = b"SQLite format 3\0";
    const SMALLEST_PAGE: u64 = 512;
    let size = path.metadata().ok().filter(std::fs::Metadata::is_file).map_or(0, |file| file.len());
    let mut head = Vec::new();
    let read = |file: File| file.take(MAGIC.len() as u64).read_to_end(&mut head);
    size == 0
        || File::open(path).and_then(read).is_err()
        || (size >= SMALLEST_PAGE && head == MAGIC)
}

/// Why SQLite could not open `path`. SQLite itself does not tell.
fn unopenable(path: &Path) -> Fault {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let why = if path.is_dir() {
        OpenError::Folder
    } else if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        OpenError::NoFolder(parent.to_owned())
    } else {
        let attempt = std::fs::OpenOptions::new().append(true).create(true).open(path);
        attempt.err().map_or(OpenError::Unknown, |error| OpenError::System(error.to_string()))
    };
    Fault::Unopenable(why)
}
