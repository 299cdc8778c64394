use super::{eprint, outputs_apart};
use crate::cli::Export;
use crate::failure::Failure;
use crate::progress::Progress;
use metrics::{EveryMetric, Metric};
use sim::Recording;
use std::path::Path;
use std::process::ExitCode;
use store::export::{
    CsvTable, ExportError, Layout, MetricRow, MetricTable, parameters, to_file, write_csv,
};
use store::{Filter, Store, StoreError, StoredRun};
use units::Duration;

pub(crate) fn run(args: &Export) -> Result<ExitCode, Failure> {
    let outputs: Vec<&Path> = args
        .csv
        .iter()
        .chain(&args.parquet)
        .chain(&args.webrtc_internals)
        .map(AsRef::as_ref)
        .collect();
    outputs_apart(&outputs, &[&args.from])?;
    let store = Store::open(&args.from)?;
    let runs = chosen(&store, &args.ids)?;
    if let (Some(path), Some(stream)) = (&args.csv, &args.stream) {
        let [run] = runs.as_slice() else {
            return Err(Failure::new("--stream shows one run; name it by its number"));
        };
        if let Some(reason) = run.meta.cpu_limited() {
            eprint(&format!("note: run {} is CPU-limited: {reason}", run.id));
        }
        let recording = store.recording(run.id)?;
        to_file(path, |file| {
            write_csv(run, &recording, file, &Layout::Wide { stream: stream.clone() })
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.webrtc_internals {
        return dump(path, &store, &runs);
    }
    let progress = Progress::new(args.quiet, "runs");
    let mut done = 0;
    let mut recording = |run: &StoredRun| {
        let recording = store.recording(run.id).map_err(ExportError::from);
        done += 1;
        progress.show(done, runs.len());
        recording
    };
    let keys = parameters(runs.iter().map(|run| &run.meta));
    if args.metrics {
        metrics(args, &runs, keys, recording)?;
    } else if let Some(path) = &args.csv {
        to_file(path, |file| {
            let mut table = CsvTable::new(file, keys)?.every(args.every);
            runs.iter().try_for_each(|run| table.add(run, &recording(run)?))?;
            table.finish().map(drop)
        })?;
    } else if let Some(path) = &args.parquet {
        write_parquet(path, keys, args.every, &runs, recording)?;
    }
    progress.finish();
    Ok(ExitCode::SUCCESS)
}

/// Writes the table of all metrics.
fn metrics(
    args: &Export,
    runs: &[StoredRun],
    keys: Vec<String>,
    mut recording: impl FnMut(&StoredRun) -> Result<Recording, ExportError>,
) -> Result<(), Failure> {
    let every = EveryMetric::default();
    let mut rows = Vec::new();
    for run in runs {
        rows.extend(every.of(&recording(run)?).into_iter().map(|of| MetricRow {
            run,
            stream: of.stream,
            kind: of.kind.as_str(),
            values: of.values,
        }));
    }
    let named = |metric: &Metric| {
        let unit = serde_json::to_value(metric.unit)?;
        Ok((metric.name.clone(), unit.as_str().unwrap_or_default().to_owned()))
    };
    let metrics = every.metrics().iter().map(named).collect::<Result<_, serde_json::Error>>()?;
    let table = MetricTable { keys, metrics, rows };
    if let Some(path) = &args.csv {
        to_file(path, |file| table.write_csv(file))?;
    } else if let Some(path) = &args.parquet {
        metrics_parquet(path, &table)?;
    }
    Ok(())
}

/// The runs with these numbers; all runs if `ids` is empty.
pub(super) fn chosen(store: &Store, ids: &[i64]) -> Result<Vec<StoredRun>, StoreError> {
    if ids.is_empty() {
        store.runs(&Filter::default())
    } else {
        ids.iter().map(|id| store.run(*id)).collect()
    }
}

/// Writes one measured run as a dump of chrome://webrtc-internals.
#[cfg(feature = "testbed")]
fn dump(path: &Path, store: &Store, runs: &[StoredRun]) -> Result<ExitCode, Failure> {
    let [run] = runs else {
        return Err(Failure::new("--webrtc-internals writes one run; name it by its number"));
    };
    let recording = store.recording(run.id)?;
    to_file(path, |file| testbed::measure::internals::write(&run.meta, &recording, file))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "testbed"))]
fn dump(_: &Path, _: &Store, _: &[StoredRun]) -> Result<ExitCode, Failure> {
    Err(Failure::new("this build cannot write dumps of webrtc-internals; 'make build' adds it"))
}

/// Writes runs as one Parquet table.
#[cfg(feature = "parquet")]
fn write_parquet(
    path: &Path,
    keys: Vec<String>,
    every: Option<Duration>,
    runs: &[StoredRun],
    mut recording: impl FnMut(&StoredRun) -> Result<Recording, ExportError>,
) -> Result<(), Failure> {
    to_file(path, |file| {
        let mut table = store::export::ParquetTable::new(file, keys)?.every(every);
        runs.iter().try_for_each(|run| table.add(run, &recording(run)?))?;
        table.finish().map(drop)
    })?;
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(
    _: &Path,
    _: Vec<String>,
    _: Option<Duration>,
    _: &[StoredRun],
    _: impl FnMut(&StoredRun) -> Result<Recording, ExportError>,
) -> Result<(), Failure> {
    Err(Failure::new(NO_PARQUET))
}

#[cfg(feature = "parquet")]
fn metrics_parquet(path: &Path, table: &MetricTable<'_>) -> Result<(), Failure> {
    Ok(to_file(path, |file| table.write_parquet(file))?)
}

#[cfg(not(feature = "parquet"))]
fn metrics_parquet(_: &Path, _: &MetricTable<'_>) -> Result<(), Failure> {
    Err(Failure::new(NO_PARQUET))
}

#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str = "this build cannot write Parquet; 'make build' adds it";
