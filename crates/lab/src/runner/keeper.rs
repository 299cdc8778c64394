use super::{Job, keep};
use crate::experiment::Experiment;
use crate::store::{Filter, Mode, Store, StoreError};
use sim::{Recording, Scenario};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The note on a simulated run by which it is known again.
const DIGEST: &str = "digest";

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
    /// The runs that were there at the beginning, by their digests.
    known: BTreeMap<String, i64>,
    kept: usize,
    found: usize,
    fault: Option<StoreError>,
}

/// What became of the store.
#[derive(Debug, Default)]
pub struct Kept {
    /// How many runs were put into it.
    pub kept: usize,
    /// How many were in it already.
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
        let digest = |run: crate::store::StoredRun| Some((run.meta.note(DIGEST)?.to_owned(), run.id));
        let known = simulated.into_iter().filter_map(digest).collect();
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

    /// The run with this digest, if it was made before.
    ///
    /// # Errors
    /// When the store is damaged or cannot be read.
    pub(super) fn find(&self, digest: &str) -> Result<Option<Recording>, StoreError> {
        let Some(mut shelf) = self.shelf() else { return Ok(None) };
        let Some(id) = shelf.known.get(digest).copied() else { return Ok(None) };
        let recording = shelf.store.recording(id)?;
        shelf.found += 1;
        Ok(Some(recording))
    }

    /// Keeps a simulated run.
    pub(super) fn keep_simulated(
        &self,
        experiment: &Experiment,
        job: Job,
        recording: &Recording,
        digest: String,
        cancel: &AtomicBool,
    ) {
        self.keep(experiment, job, recording, Mode::Simulated, &[(DIGEST.to_owned(), digest)], cancel);
    }

    /// Keeps a run that was made in this way, with notes on it. When that fails, as when the disk is full, nothing new is begun: `cancel` is set.
    pub fn keep(
        &self,
        experiment: &Experiment,
        job: Job,
        recording: &Recording,
        mode: Mode,
        notes: &[(String, String)],
        cancel: &AtomicBool,
    ) {
        let Some(mut shelf) = self.shelf() else { return };
        if shelf.fault.is_some() {
            return;
        }
        match keep(&mut shelf.store, experiment, job, recording, mode, notes) {
            Ok(_) => shelf.kept += 1,
            Err(error) => {
                cancel.store(true, Ordering::Relaxed);
                shelf.fault = Some(error);
            }
        }
    }

    /// Closes the store.
    #[must_use]
    pub fn finish(self) -> Kept {
        let Some(shelf) = self.shelf else { return Kept::default() };
        let Shelf { kept, found, fault, .. } = shelf.into_inner().unwrap_or_else(PoisonError::into_inner);
        Kept { kept, found, fault }
    }
}

/// A number for a scenario and the model that simulates it: all of the scenario, its seed and the content of files that it names among it,
/// and the source of the model.
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
    let written = fmt::write(&mut Into(&mut hasher), format_args!("{} {scenario:?}", env!("WEIR_MODEL")));
    debug_assert!(written.is_ok(), "no part of it refuses");
    format!("{:032x}", hasher.finish128().as_u128())
}
