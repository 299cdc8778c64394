use crate::failure::Failure;
use lab::Recording;
use lab::experiment::Experiment;
use lab::runner::Job;
use lab::store::{Mode, Store, StoreError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Keeps runs in the store of `--store`, as they come.
pub(crate) struct Keeper {
    store: Option<Store>,
    kept: usize,
    fault: Option<StoreError>,
}

impl Keeper {
    /// Opens the store, so that a wrong one is known before anything runs.
    pub(crate) fn open(store: Option<&Path>) -> Result<Self, Failure> {
        let store = store.map(Store::create_or_open).transpose()?;
        Ok(Self { store, kept: 0, fault: None })
    }

    /// Whether recordings are to be brought.
    pub(crate) fn wants(&self) -> bool {
        self.store.is_some()
    }

    /// Keeps one. When that fails, as when the disk is full, nothing new is begun; what was kept stays.
    pub(crate) fn keep(
        &mut self,
        experiment: &Experiment,
        job: Job,
        recording: Option<&Recording>,
        mode: Mode,
        notes: &[(String, String)],
        cancel: &AtomicBool,
    ) {
        let (Some(store), Some(recording), None) = (&mut self.store, recording, &self.fault) else { return };
        match lab::runner::keep(store, experiment, job, recording, mode, notes) {
            Ok(_) => self.kept += 1,
            Err(error) => {
                cancel.store(true, Ordering::Relaxed);
                self.fault = Some(error);
            }
        }
    }

    /// The error, if there was one.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.fault {
            Some(error) => Err(Failure::new(format!("{error}; {} runs were kept before", self.kept))),
            None => Ok(()),
        }
    }
}
