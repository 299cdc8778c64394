//! The dashboard: what runs, what ran, and what it means, as pages of a browser.
//!
//! ```text
//!  page ──HTTP──▶ api ─▶ data (store) ─▶ chart (columns) ──▶ page
//!                  │
//!                  └──▶ jobs (lanes of lab::runner) ─▶ live (records so far) ─▶ chart
//!                          └── progress ──server-sent events──▶ page
//! ```
//!
//! [`Dashboard::router`] has all routes. `server` protects them: hosts, origins, token and security
//! headers. Only `data` knows that runs are kept in a file of SQLite.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod api;
mod chart;
mod data;
mod experiments;
mod form;
#[cfg(test)]
mod generated;
mod jobs;
mod messages;
mod packets;
#[cfg(test)]
mod tests;

pub use experiments::{Folder, FolderError};
pub use messages::Mode;

use axum::Router;
use data::Runs;
use jobs::{Jobs, RealTime};
use lab::claims::Catalogue;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// The greatest length of the body of a request, bytes: an experiment, and some words about it.
pub const MAX_BODY: usize = document::MAX_BYTES + (16 << 10);
/// The greatest number of jobs that wait. Our choice.
pub const MAX_WAITING: usize = 100;
/// The greatest number of runs of a job. Our choice.
pub const MAX_RUNS: usize = 10_000;
/// The greatest number of runs in a chart. Our choice: more lines cannot be told apart; their mean
/// can be shown.
pub const MAX_CHARTED: usize = 40;
/// The greatest number of pages that are told about progress at a time. Our choice.
pub const MAX_LISTENERS: usize = 64;

/// What a dashboard shows, and what it may do.
pub struct Options {
    /// The store, which is created if it is missing.
    pub store: PathBuf,
    /// Whether the store is removed at the end.
    pub is_temporary: bool,
    /// The folder whose experiments are listed, and whose files they may name.
    pub folder: Option<Folder>,
    /// How many runs are simulated at a time.
    pub jobs: NonZeroUsize,
    /// The program that makes runs in real time, which needs root; `None`: such runs are refused.
    pub real_time: Option<PathBuf>,
    /// The version of Weir, for the pages.
    pub version: String,
}

/// Why a dashboard cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The claims cannot be read.
    #[error(transparent)]
    Claims(#[from] document::FileError),
    /// No thread can be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// There are no random numbers.
    #[error("the operating system gives no random numbers")]
    Random,
}

/// The state of a dashboard. Dropping the last reference cancels the jobs.
pub struct Dashboard {
    facts: messages::Facts,
    runs: Arc<Runs>,
    folder: Option<Folder>,
    catalogue: Arc<Catalogue>,
    jobs: Jobs,
    listeners: Arc<server::Places>,
}

impl Dashboard {
    /// Opens the store and starts the threads of the jobs.
    ///
    /// # Errors
    /// If the store cannot be opened, or a thread cannot be started.
    pub fn open(options: Options) -> Result<Arc<Self>, OpenError> {
        let runs = Arc::new(Runs::open(&options.store)?);
        let catalogue = Arc::new(Catalogue::embedded()?);
        let facts = messages::Facts {
            version: options.version,
            instance: server::Secret::random().map_err(|_| OpenError::Random)?.expose().to_owned(),
            store: options.store.display().to_string(),
            is_temporary: options.is_temporary,
            folder: options.folder.as_ref().map(|folder| folder.path().display().to_string()),
            allows_real_time: options.real_time.is_some(),
            jobs: options.jobs.get(),
        };
        let real_time = options.real_time.map(|program| RealTime { program, store: options.store });
        let jobs = Jobs::start(Arc::clone(&runs), Arc::clone(&catalogue), options.jobs, real_time)
            .map_err(OpenError::Thread)?;
        let listeners = server::Places::new(MAX_LISTENERS, MAX_LISTENERS);
        Ok(Arc::new(Self { facts, runs, folder: options.folder, catalogue, jobs, listeners }))
    }

    /// The pages and the interface that they use.
    pub fn router(self: &Arc<Self>) -> Router {
        api::router(Arc::clone(self))
    }
}
