//! The store: every run with its records and metrics, in one SQLite file. `docs/STORE.md` describes
//! the tables for those who read it with other tools.
//!
//! A run is one transaction, so a process that is killed loses at most the run that it was writing.
//! SQLite's rollback journal rather than its write-ahead log: between two runs the one file is all
//! there is to copy, it can be read where it cannot be written, and it works on network file
//! systems. Nothing in it tells when it was made: the same runs give the same rows.
//!
//! ```no_run
//! use store::{Filter, Store};
//! let store = Store::open("runs.sqlite".as_ref())?;
//! for run in store.runs(&Filter { experiment: Some("carlucci-2017".into()), ..Filter::default() })? {
//!     println!("{} seed {}: {} streams", run.meta.experiment, run.meta.seed, store.recording(run.id)?.streams.len());
//! }
//! # Ok::<(), store::StoreError>(())
//! ```

mod blob;
mod error;
pub mod export;
pub mod names;
mod read;
mod schema;
mod write;

pub use error::{Fault, StoreError};

use rusqlite::{Connection, OpenFlags};
use sim::Recording;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use units::{Duration, Seed};

/// How long a writer waits for another one. A run takes milliseconds to write, so this many of them
/// may queue.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// How a run was made (DESIGN: one model, three ways to run it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// In virtual time, model and endpoints.
    Simulated,
    /// The model in real time, with any endpoints.
    Emulated,
    /// The model in real time, with browsers and servers as deployed.
    Measured,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Simulated, Self::Emulated, Self::Measured];

    /// The word for it in stores and exports.
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
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| format!("no mode \"{text}\"; write simulated, emulated or measured"))
    }
}

/// The note on a simulated run by which it is known again.
pub const DIGEST: &str = "digest";

/// What a run was a run of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMeta {
    /// The experiment's name, for example `carlucci-2017/fig11`.
    pub experiment: String,
    /// The cell of its grid: (key, value) in the order of the file.
    pub cell: Vec<(String, String)>,
    /// The run's seed.
    pub seed: Seed,
    /// Which of the cell's runs, from 0.
    pub index: u32,
    /// How it was made.
    pub mode: Mode,
    /// The experiment's TOML as run.
    pub file: String,
    /// The version of Weir that made it.
    pub version: String,
    /// What else is to be known of it, (name, value): the browsers of a measured run, why it was
    /// limited by its machine, the digest of a simulated one. `docs/STORE.md` lists the names.
    pub notes: Vec<(String, String)>,
}

impl RunMeta {
    /// The note called `name`.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// What the calls were made with: its browsers with their first numbers (`Chromium 156`), and
    /// its native peers.
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

    /// Why the machine, not the network, limited it; `None` if it did not.
    #[must_use]
    pub fn cpu_limited(&self) -> Option<&str> {
        self.note("cpuLimited")
    }
}

/// A run in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Its number in the store, from 1; never given twice.
    pub id: i64,
    /// What it is.
    pub meta: RunMeta,
    /// How long it was.
    pub duration: Duration,
}

/// A metric of a stream; of the whole run where the stream is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The stream's name.
    pub stream: String,
    /// The metric's name.
    pub name: String,
    /// Its value; not-a-number where it does not exist.
    pub value: f64,
}

/// Which runs; what is `None` or empty leaves the choice open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The run with this number.
    pub id: Option<i64>,
    /// The experiment of this name, or all of a paper's: `carlucci-2017` for `carlucci-2017/fig11`
    /// and its like.
    pub experiment: Option<String>,
    /// This seed.
    pub seed: Option<Seed>,
    /// This mode.
    pub mode: Option<Mode>,
    /// This version of Weir.
    pub version: Option<String>,
    /// Cells that have all of these (key, value).
    pub cell: Vec<(String, String)>,
}

/// A store, open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store in the file `path`, and brings its schema up to date. A file that cannot be
    /// written is opened for reading.
    ///
    /// # Errors
    /// When there is no such file, or it is not a store, damaged, or of a newer version of Weir.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::connect(path, false)
    }

    /// As [`open`](Self::open), but makes the store if the file is missing or empty.
    ///
    /// # Errors
    /// As `open`; also when the file cannot be made or the disk is full.
    pub fn create_or_open(path: &Path) -> Result<Self, StoreError> {
        Self::connect(path, true)
    }

    fn connect(path: &Path, create: bool) -> Result<Self, StoreError> {
        let wrong = |fault| StoreError::new(path, fault);
        if !create && !path.exists() {
            return Err(wrong(Fault::Missing));
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        // `:memory:` and `file:…` mean something else to SQLite than to the user; beginning with a
        // dot they do not.
        let plain = Path::new(".").join(path);
        let connection =
            Connection::open_with_flags(plain, flags).map_err(|_| wrong(unopenable(path)))?;
        let mut store = Self { connection, path: path.to_owned() };
        store.prepare(create).map_err(|fault| store.error(fault))?;
        Ok(store)
    }

    /// Sets the connection up and the schema.
    fn prepare(&mut self, create: bool) -> Result<(), Fault> {
        self.connection.busy_timeout(PATIENCE)?;
        // On disk before a run counts as stored, also when the power fails.
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // The file may be somebody else's: its views may not call functions with effects
        // (sqlite.org/security.html).
        self.connection.pragma_update(None, "trusted_schema", false)?;
        self.connection.pragma_update(None, "cell_size_check", true)?;
        schema::bring_up(&mut self.connection, schema::STEPS, create)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores a run: all of it, or nothing if there is an error. `metrics` are (stream, metric,
    /// value), with an empty stream for a metric of the whole run. Gives the run's number. A
    /// simulated run with a [`DIGEST`] that is there already, under the same experiment, cell and
    /// index, is not stored again.
    ///
    /// # Errors
    /// When the disk is full, the file cannot be written, or another process keeps it locked.
    pub fn insert(
        &mut self,
        meta: &RunMeta,
        recording: &Recording,
        metrics: &[(String, String, f64)],
    ) -> Result<i64, StoreError> {
        write::insert(&mut self.connection, meta, recording, metrics)
            .map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// The runs that `filter` lets through, in the order in which they were stored.
    ///
    /// # Errors
    /// When the file is damaged or cannot be read.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<StoredRun>, StoreError> {
        read::runs(&self.connection, filter).map_err(|fault| self.error(fault))
    }

    /// The run with the number `id`.
    ///
    /// # Errors
    /// When there is none, or the file is damaged or cannot be read.
    pub fn run(&self, id: i64) -> Result<StoredRun, StoreError> {
        let found = self.runs(&Filter { id: Some(id), ..Filter::default() })?.pop();
        found.ok_or_else(|| self.error(Fault::NoSuchRun(id)))
    }

    /// The records of the run `id`, as they were stored, to the bit.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn recording(&self, id: i64) -> Result<Recording, StoreError> {
        read::recording(&self.connection, id).map_err(|fault| self.error(fault))
    }

    /// The metrics of the run `id`, in the order in which they were given.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn metrics(&self, id: i64) -> Result<Vec<Metric>, StoreError> {
        read::metrics(&self.connection, id).map_err(|fault| self.error(fault))
    }

    /// Deletes the run `id` with all that belongs to it. Its number is not given again.
    ///
    /// # Errors
    /// As [`run`](Self::run) and [`insert`](Self::insert).
    pub fn delete(&mut self, id: i64) -> Result<(), StoreError> {
        write::delete(&mut self.connection, id).map_err(|fault| StoreError::new(&self.path, fault))
    }

    /// Reads the whole file and checks it: the tree of pages, the indices, the references, and
    /// every series.
    ///
    /// # Errors
    /// The first damage that it finds.
    pub fn check(&self) -> Result<(), StoreError> {
        read::check(&self.connection).map_err(|fault| self.error(fault))?;
        self.runs(&Filter::default())?.iter().try_for_each(|run| self.recording(run.id).map(drop))
    }

    fn error(&self, fault: Fault) -> StoreError {
        StoreError::new(&self.path, fault)
    }
}

/// Why SQLite, which does not say, could not open `path`.
fn unopenable(path: &Path) -> Fault {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let why = if path.is_dir() {
        "it is a folder".to_owned()
    } else if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        format!("there is no folder {}", parent.display())
    } else {
        let attempt = std::fs::OpenOptions::new().append(true).create(true).open(path);
        attempt.err().map_or_else(|| "the system refuses it".to_owned(), |error| error.to_string())
    };
    Fault::Unopenable(why)
}
