use super::Job;
use super::keep::{keep, meta};
use experiment::Experiment;
use sim::{Recording, Scenario};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::{DIGEST, Filter, Mode, RunMeta, Store, StoreError};

/// Keeps nothing and finds nothing.
pub static NOWHERE: Keeper = Keeper { shelf: None };

/// Keeps runs in a store as they come, and finds those that were simulated before.
#[derive(Debug, Default)]
pub struct Keeper {
    shelf: Option<Mutex<Shelf>>,
}

#[derive(Debug)]
struct Shelf {
    store: Store,
    /// The runs that are there, by their digests: the same may be there under several names.
    known: BTreeMap<String, Vec<i64>>,
    kept: usize,
    found: usize,
    fault: Option<StoreError>,
}

/// A run that was made before.
pub(super) struct Found {
    pub(super) recording: Recording,
    /// Whether it is in the store under the name, the cell and the index that it is wanted for.
    pub(super) is_kept: bool,
}

/// What became of the store.
#[derive(Debug, Default)]
pub struct Kept {
    /// How many runs were put into it.
    pub kept: usize,
    /// How many were not run, as they were in it already.
    pub found: usize,
    /// What went wrong, if something did. What was kept before stays.
    pub fault: Option<StoreError>,
}

impl Keeper {
    /// Opens the store, so that a wrong one is known before anything runs; `None` keeps nothing.
    ///
    /// # Errors
    /// As [`Store::create_or_open`].
    pub fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let store = Store::create_or_open(path)?;
        let simulated = store.runs(&Filter { mode: Some(Mode::Simulated), ..Filter::default() })?;
        let mut known: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for run in simulated {
            if let Some(digest) = run.meta.note(DIGEST) {
                known.entry(digest.to_owned()).or_default().push(run.id);
            }
        }
        let shelf = Shelf { store, known, kept: 0, found: 0, fault: None };
        Ok(Self { shelf: Some(Mutex::new(shelf)) })
    }

    fn shelf(&self) -> Option<MutexGuard<'_, Shelf>> {
        // A thread that panicked while it held the store has left it as SQLite keeps it: whole.
        self.shelf.as_ref().map(|shelf| shelf.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What a run is known by, if runs are kept.
    pub(super) fn digest(&self, scenario: &Scenario) -> Option<String> {
        self.shelf.is_some().then(|| digest(scenario))
    }

    /// The run with this digest, if it was made before. When it cannot be read, nothing new is
    /// begun: `cancel` is set.
    pub(super) fn find(
        &self,
        experiment: &Experiment,
        job: Job,
        digest: &str,
        cancel: &AtomicBool,
    ) -> Option<Found> {
        let mut shelf = self.shelf()?;
        let ids = shelf.known.get(digest)?;
        match shelf.read(ids, &meta(experiment, job, Mode::Simulated, &[note(digest)])) {
            Ok(found) => {
                shelf.found += 1;
                Some(found)
            }
            Err(error) => {
                shelf.fail(error, cancel);
                None
            }
        }
    }

    /// Keeps a simulated run.
    pub(super) fn keep_simulated(
        &self,
        experiment: &Experiment,
        job: Job,
        recording: &Recording,
        digest: &str,
        cancel: &AtomicBool,
    ) {
        let id = self.keep(experiment, job, recording, Mode::Simulated, &[note(digest)], cancel);
        if let (Some(mut shelf), Some(id)) = (self.shelf(), id) {
            shelf.known.entry(digest.to_owned()).or_default().push(id);
        }
    }

    /// Keeps a run that was made in this way, with notes on it. When that fails, as when the disk
    /// is full, nothing new is begun: `cancel` is set. Gives its number there.
    pub fn keep(
        &self,
        experiment: &Experiment,
        job: Job,
        recording: &Recording,
        mode: Mode,
        notes: &[(String, String)],
        cancel: &AtomicBool,
    ) -> Option<i64> {
        let mut shelf = self.shelf().filter(|shelf| shelf.fault.is_none())?;
        match keep(&mut shelf.store, experiment, job, recording, mode, notes) {
            Ok(id) => {
                shelf.kept += 1;
                Some(id)
            }
            Err(error) => {
                shelf.fail(error, cancel);
                None
            }
        }
    }

    /// Closes the store.
    #[must_use]
    pub fn finish(self) -> Kept {
        let Some(shelf) = self.shelf else { return Kept::default() };
        let Shelf { kept, found, fault, .. } =
            shelf.into_inner().unwrap_or_else(PoisonError::into_inner);
        Kept { kept, found, fault }
    }
}

impl Shelf {
    /// The recording of these runs, which are one; and whether one of them is the one that is
    /// wanted.
    fn read(&self, ids: &[i64], wanted: &RunMeta) -> Result<Found, StoreError> {
        let metas = ids
            .iter()
            .map(|id| Ok(self.store.run(*id)?.meta))
            .collect::<Result<Vec<_>, StoreError>>()?;
        // Of another version it would be another run, if it were not the same model.
        let is_kept = metas
            .into_iter()
            .any(|meta| RunMeta { version: wanted.version.clone(), ..meta } == *wanted);
        Ok(Found { recording: self.store.recording(ids[0])?, is_kept })
    }

    fn fail(&mut self, error: StoreError, cancel: &AtomicBool) {
        cancel.store(true, Ordering::Relaxed);
        self.fault.get_or_insert(error);
    }
}

fn note(digest: &str) -> (String, String) {
    (DIGEST.to_owned(), digest.to_owned())
}

/// A number for a scenario and the model that simulates it: all of the scenario, its seed and the
/// content of files that it names among it, and the source of the model.
fn digest(scenario: &Scenario) -> String {
    /// Takes text in without keeping it.
    struct Into<'h>(&'h mut SipHasher24);
    impl fmt::Write for Into<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hasher = SipHasher24::new();
    let written =
        fmt::write(&mut Into(&mut hasher), format_args!("{} {scenario:?}", env!("WEIR_MODEL")));
    debug_assert!(written.is_ok(), "no part of it refuses");
    format!("{:032x}", hasher.finish128().as_u128())
}
