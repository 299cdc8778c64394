//! The stored runs, as the dashboard reads and changes them. Another kind of store needs changes
//! here and in `lab::runner` only.

use crate::messages::{MetricRow, Mode, RunRow};
use sim::Recording;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Filter, ListedRun, Metric, Store, StoreError, StoredRun};
use units::Seed;

/// The runs in a store.
pub(crate) struct Runs {
    path: PathBuf,
    store: Mutex<Store>,
}

/// What is needed to find the run that a job has stored.
pub(crate) struct Wanted<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) text: &'a str,
    pub(crate) cell: &'a [(String, String)],
    pub(crate) seed: Seed,
}

impl Runs {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { path: path.to_owned(), store: Mutex::new(Store::create_or_open(path)?) })
    }

    /// Where jobs store runs.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // A thread that panics cannot leave a partly written run: SQLite rolls it back.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All runs, the newest first.
    pub(crate) fn list(&self) -> Result<Vec<RunRow>, StoreError> {
        let mut runs: Vec<RunRow> = self.store().listing()?.into_iter().map(RunRow::from).collect();
        runs.reverse();
        Ok(runs)
    }

    pub(crate) fn run(&self, id: i64) -> Result<StoredRun, StoreError> {
        self.store().run(id)
    }

    pub(crate) fn recording(&self, id: i64) -> Result<Arc<Recording>, StoreError> {
        Ok(Arc::new(self.store().recording(id)?))
    }

    pub(crate) fn metrics(&self, id: i64) -> Result<Vec<MetricRow>, StoreError> {
        Ok(self.store().metrics(id)?.into_iter().map(MetricRow::from).collect())
    }

    pub(crate) fn set_tags(&self, id: i64, tags: &[String]) -> Result<(), StoreError> {
        self.store().set_tags(id, tags)
    }

    /// The newest simulated run of this experiment, cell and seed.
    pub(crate) fn find(&self, wanted: &Wanted<'_>) -> Result<Option<i64>, StoreError> {
        let filter = Filter {
            experiment: Some(wanted.experiment.to_owned()),
            seed: Some(wanted.seed),
            mode: Some(store::Mode::Simulated),
            cell: wanted.cell.to_vec(),
            ..Filter::default()
        };
        let same = |run: &StoredRun| {
            run.meta.experiment == wanted.experiment && *run.meta.file == *wanted.text
        };
        Ok(self.store().runs(&filter)?.into_iter().rev().find(same).map(|run| run.id))
    }

    /// All runs with the texts of their experiments.
    pub(crate) fn all(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.store().runs(&Filter::default())
    }
}

/// `host.alice.up.rate=1Mbit/s, flows=2`.
pub(crate) fn label(cell: &[(String, String)]) -> String {
    let pairs: Vec<String> = cell.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(", ")
}

impl From<store::Mode> for Mode {
    fn from(mode: store::Mode) -> Self {
        match mode {
            store::Mode::Simulated => Self::Simulated,
            store::Mode::Emulated => Self::Emulated,
            store::Mode::Measured => Self::Measured,
        }
    }
}

impl From<ListedRun> for RunRow {
    fn from(run: ListedRun) -> Self {
        let endpoint = |(name, value): &(String, String)| {
            (name.starts_with("browser.") || name.starts_with("endpoint.")).then(|| value.clone())
        };
        let mut endpoints: Vec<String> = run.notes.iter().filter_map(endpoint).collect();
        endpoints.dedup();
        Self {
            id: run.id,
            cell: label(&run.cell),
            seed: run.seed.to_string(),
            mode: run.mode.into(),
            duration: run.duration.as_secs_f64(),
            is_cpu_limited: run.notes.iter().any(|(name, _)| name == "cpuLimited"),
            endpoints,
            experiment: run.experiment,
            version: run.version,
            tags: run.tags,
        }
    }
}

impl From<Metric> for MetricRow {
    fn from(metric: Metric) -> Self {
        let known = metrics::all().into_iter().find(|other| other.name == metric.name);
        let value = match known {
            Some(known) if metric.value.is_finite() => known.unit.show(metric.value),
            _ if metric.value.is_nan() => "–".to_owned(),
            _ => metric.value.to_string(),
        };
        Self { stream: metric.stream, name: metric.name, value }
    }
}
