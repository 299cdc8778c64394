use super::Job;
use experiment::Experiment;
use metrics::usual;
use sim::Recording;
use std::path::Path;
use store::export::pcapng::Capture;
use store::export::{ExportError, to_file};
use store::{Mode, RunMeta, Store, StoreError};

/// Stores a run with the usual metrics of its streams and returns its number in the store. `notes`
/// are (name, value); `docs/STORE.md` lists the names.
///
/// # Errors
/// If the run cannot be written. Then no part of it is stored.
pub fn insert(
    store: &mut Store,
    experiment: &Experiment,
    job: Job,
    recording: &Recording,
    mode: Mode,
    notes: &[(String, String)],
) -> Result<i64, StoreError> {
    let meta = meta(experiment, job, mode, notes);
    store.insert(&meta, recording, &usual(recording))
}

/// The metadata of a run of an experiment.
pub(super) fn meta(
    experiment: &Experiment,
    job: Job,
    mode: Mode,
    notes: &[(String, String)],
) -> RunMeta {
    RunMeta {
        experiment: experiment.name.clone(),
        cell: experiment.cells()[job.cell].params.clone(),
        seed: job.seed,
        index: job.run,
        mode,
        file: experiment.text.as_str().into(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        notes: notes.to_vec(),
    }
}

/// Simulates a run again and writes every packet, as it passes the hosts' interfaces, to a pcapng
/// file.
///
/// # Errors
/// If the scenario is refused or the file cannot be written. Then the file is not created.
pub fn capture(experiment: &Experiment, job: Job, path: &Path) -> Result<(), ExportError> {
    let scenario = experiment.cells()[job.cell].scenario(job.seed);
    let hosts: Vec<String> = scenario.network.hosts.iter().map(|host| host.name.clone()).collect();
    to_file(path, |file| -> Result<(), ExportError> {
        let mut capture = Capture::new(file, &hosts)?;
        let options = sim::Options { tap: Some(&mut capture), ..Default::default() };
        sim::run(&scenario, options)?;
        capture.finish().map(drop)
    })
}
