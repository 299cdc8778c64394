use super::Job;
use super::stored::{insert, meta};
use crate::external;
use blake3::Hasher;
use experiment::Experiment;
use metrics::usual;
use sim::{Recording, Scenario};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use store::{DIGEST, Mode, PackedRun, RunMeta, Store, StoreError};

/// A cache without a store: every run is simulated, and none is stored.
pub static NO_CACHE: RunCache = RunCache { open: None };

/// Stores runs as they finish, and finds runs that were simulated before.
#[derive(Debug, Default)]
pub struct RunCache {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// The numbers of the stored runs by digest. A run may be stored under several names. Behind a
    /// lock of its own, because that of the store is held while a group of runs is written.
    known: RwLock<HashMap<String, Vec<i64>>>,
    store: Mutex<OpenStore>,
}

#[derive(Debug)]
struct OpenStore {
    store: Store,
    stored: usize,
    reused: usize,
    error: Option<StoreError>,
}

/// A run that was found in the store.
pub(super) struct Found {
    pub(super) recording: Recording,
    /// Whether it is stored under the experiment, cell and index for which it was looked up.
    pub(super) has_same_name: bool,
}

/// How a cache was used.
#[derive(Debug, Default)]
pub struct CacheSummary {
    /// Number of runs that were stored.
    pub stored: usize,
    /// Number of runs that were in the store already and were not simulated.
    pub reused: usize,
    /// The first error of the store. Runs that were stored before it are still there.
    pub error: Option<StoreError>,
}

impl RunCache {
    /// Opens the store at `path`, or creates it; `None` gives a cache without a store.
    ///
    /// # Errors
    /// As [`Store::create_or_open`].
    pub fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let mut store = Store::create_or_open(path)?;
        let known = RwLock::new(store.digests()?.clone());
        let store = OpenStore { store, stored: 0, reused: 0, error: None };
        Ok(Self { open: Some(Open { known, store: Mutex::new(store) }) })
    }

    fn lock(&self) -> Option<MutexGuard<'_, OpenStore>> {
        // A thread that panics cannot leave a partly written run: SQLite rolls it back.
        self.open.as_ref().map(|open| open.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The digest of a run; `None` without a store, and for a run whose controller is a program:
    /// its code may change, so such a run is neither found nor kept.
    pub(super) fn digest(&self, scenario: &Scenario) -> Option<String> {
        (self.open.is_some() && !external::has_program(scenario)).then(|| digest(scenario))
    }

    /// The run with this digest; `None` if it is not stored. If it cannot be read, `cancel` is set
    /// and no further run begins.
    pub(super) fn find(
        &self,
        experiment: &Experiment,
        job: Job,
        digest: &str,
        cancel: &AtomicBool,
    ) -> Option<Found> {
        let ids = self.known(digest)?;
        let mut open = self.lock()?;
        match open.read(&ids, &meta(experiment, job, Mode::Simulated, &[note(digest)])) {
            Ok(found) => {
                open.reused += 1;
                Some(found)
            }
            Err(error) => {
                open.fail(error, cancel);
                None
            }
        }
    }

    /// The numbers of the stored runs with this digest.
    fn known(&self, digest: &str) -> Option<Vec<i64>> {
        let known = self.open.as_ref()?.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).cloned()
    }

    /// A simulated run, ready to be stored. If that fails, `cancel` is set.
    pub(super) fn pack(
        &self,
        experiment: &Experiment,
        job: Job,
        recording: &Recording,
        digest: &str,
        cancel: &AtomicBool,
    ) -> Option<PackedRun> {
        let meta = meta(experiment, job, Mode::Simulated, &[note(digest)]);
        match PackedRun::new(meta, recording, usual(recording)) {
            Ok(packed) => Some(packed),
            Err(fault) => {
                let mut open = self.lock()?;
                let path = open.store.path().to_owned();
                open.fail(StoreError { path, fault }, cancel);
                None
            }
        }
    }

    /// Stores simulated runs together, or as many of them as possible.
    pub(super) fn insert_simulated(&self, runs: &[PackedRun], cancel: &AtomicBool) {
        let Some(mut open) = self.lock().filter(|open| open.error.is_none()) else { return };
        let mut ids = open.insert(runs, cancel);
        if ids.is_empty() && runs.len() > 1 {
            // One run may be too large for the disk or for SQLite. The runs before it are stored.
            let one = |run: &PackedRun| open.insert(std::slice::from_ref(run), cancel).pop();
            ids = runs.iter().map_while(one).collect();
        }
        drop(open);
        self.learn(runs, &ids);
    }

    /// Notes the numbers of runs that were stored.
    fn learn(&self, runs: &[PackedRun], ids: &[i64]) {
        let Some(open) = &self.open else { return };
        let mut known = open.known.write().unwrap_or_else(PoisonError::into_inner);
        for (run, id) in runs.iter().zip(ids) {
            if let Some(digest) = run.meta().note(DIGEST) {
                known.entry(digest.to_owned()).or_default().push(*id);
            }
        }
    }

    /// Stores a run of the given mode with its notes and returns its number in the store; `None`
    /// without a store. If the run cannot be stored, for example because the disk is full, `cancel`
    /// is set and no further run begins.
    pub fn insert(
        &self,
        experiment: &Experiment,
        job: Job,
        recording: &Recording,
        mode: Mode,
        notes: &[(String, String)],
        cancel: &AtomicBool,
    ) -> Option<i64> {
        let mut open = self.lock().filter(|open| open.error.is_none())?;
        match insert(&mut open.store, experiment, job, recording, mode, notes) {
            Ok(id) => {
                open.stored += 1;
                Some(id)
            }
            Err(error) => {
                open.fail(error, cancel);
                None
            }
        }
    }

    /// Closes the store.
    #[must_use]
    pub fn finish(self) -> CacheSummary {
        let Some(open) = self.open else { return CacheSummary::default() };
        let OpenStore { stored, reused, error, .. } =
            open.store.into_inner().unwrap_or_else(PoisonError::into_inner);
        CacheSummary { stored, reused, error }
    }
}

impl OpenStore {
    /// The recording of the runs `ids`, which have the same digest, and whether one of them has the
    /// metadata `wanted`.
    fn read(&self, ids: &[i64], wanted: &RunMeta) -> Result<Found, StoreError> {
        let metas = ids
            .iter()
            .map(|id| Ok(self.store.run(*id)?.meta))
            .collect::<Result<Vec<_>, StoreError>>()?;
        // The version is not compared: an equal digest means an equal model.
        let has_same_name = metas
            .into_iter()
            .any(|meta| RunMeta { version: wanted.version.clone(), ..meta } == *wanted);
        Ok(Found { recording: self.store.recording(ids[0])?, has_same_name })
    }

    /// Stores runs together and returns their numbers; none if that fails.
    fn insert(&mut self, runs: &[PackedRun], cancel: &AtomicBool) -> Vec<i64> {
        match self.store.insert_packed(runs) {
            Ok(ids) => {
                self.stored += ids.len();
                ids
            }
            Err(error) => {
                self.fail(error, cancel);
                Vec::new()
            }
        }
    }

    fn fail(&mut self, error: StoreError, cancel: &AtomicBool) {
        cancel.store(true, Ordering::Relaxed);
        self.error.get_or_insert(error);
    }
}

fn note(digest: &str) -> (String, String) {
    (DIGEST.to_owned(), digest.to_owned())
}

/// The identity of a simulated run: BLAKE3 over the hash of the model's source and the scenario in
/// the postcard encoding (<https://postcard.jamesmunns.com/wire-format>), as 64 hexadecimal digits.
/// The scenario includes the seed and the content of the files that it names. The encoding writes
/// the bits of each `f64` and the fields in the order of their declaration.
fn digest(scenario: &Scenario) -> String {
    let mut hasher = Hasher::new();
    hasher.update(env!("WEIR_MODEL").as_bytes());
    encode(scenario, &mut hasher);
    hasher.finalize().to_hex().to_string()
}

/// Adds the encoding of a scenario, with the content of the files that it names.
pub(crate) fn encode(scenario: &Scenario, hasher: &mut Hasher) {
    let encoded = postcard::to_io(scenario, hasher);
    debug_assert!(encoded.is_ok(), "every part of a scenario has an encoding: {:?}", encoded.err());
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../../experiments/carlucci-2017/fig6.toml");

    fn digests(text: &str) -> Vec<String> {
        let experiment = Experiment::parse(text, "x.toml").unwrap();
        experiment.cells().iter().map(|cell| digest(&cell.scenario(units::Seed(1)))).collect()
    }

    #[test]
    fn equal_scenarios_have_equal_digests_and_different_scenarios_have_not() {
        let digests = digests(TEXT);
        assert_eq!(digests, self::digests(TEXT));
        assert!(digests.iter().all(|digest| digest.len() == 64));
        assert!(digests.len() > 1 && digests.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_seed_and_the_last_bit_of_a_number_change_the_digest() {
        let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
        let scenario = |seed| experiment.cells()[0].scenario(units::Seed(seed));
        assert_ne!(digest(&scenario(1)), digest(&scenario(2)));
        let mut changed = scenario(1);
        let model = &mut changed.calls[0].video.as_mut().unwrap().encoder.model;
        model.size_noise = f64::from_bits(model.size_noise.to_bits() + 1);
        assert_ne!(digest(&changed), digest(&scenario(1)));
    }
}
