use super::Job;
use document::FileError;
use experiment::Experiment;
use metrics::usual;
use sim::Recording;
use std::path::Path;
use store::export::pcapng::Capture;
use store::export::{ExportError, to_file};
use store::{Mode, RunMeta, Store, StoreError, StoredRun};

/// Puts a run, which was made in this way, into a store, with the usual metrics of its streams and
/// notes on it; gives its number there. Notes are (name, value), named as in `docs/STORE.md`.
///
/// # Errors
/// When it cannot be written; then nothing of it is.
pub fn keep(
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

/// What a run of an experiment is a run of.
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
        file: experiment.text.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        notes: notes.to_vec(),
    }
}

/// The experiment of a stored run as it was run, and the run's place in it.
///
/// # Errors
/// When the store's text is not an experiment of this version, or has no such cell.
pub fn stored(run: &StoredRun) -> Result<(Experiment, Job), FileError> {
    let mut experiment = crate::parse(&run.meta.file, &run.meta.experiment)?;
    experiment.name.clone_from(&run.meta.experiment);
    let cell = experiment.cells().iter().position(|cell| cell.params == run.meta.cell);
    let cell = cell.ok_or_else(|| {
        FileError::file(
            &run.meta.experiment,
            format!("run {} is of a cell that its experiment has not", run.id),
            "",
        )
    })?;
    Ok((experiment, Job { experiment: 0, cell, run: run.meta.index, seed: run.meta.seed }))
}

/// Runs once more and writes every packet, as the hosts' interfaces see it, into a pcapng file.
///
/// # Errors
/// When the run is refused or the file cannot be written; then it is not there.
pub fn capture(experiment: &Experiment, job: Job, path: &Path) -> Result<(), ExportError> {
    let scenario = experiment.cells()[job.cell].scenario(job.seed);
    let hosts: Vec<String> = scenario.network.hosts.iter().map(|host| host.name.clone()).collect();
    to_file(path, |file| {
        let mut capture = Capture::new(file, &hosts)?;
        let options = sim::Options { tap: Some(&mut capture), ..Default::default() };
        sim::run(&scenario, options).map_err(|error| error.to_string())?;
        capture.finish().map(drop)
    })
}
