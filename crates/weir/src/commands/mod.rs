#[cfg(not(all(feature = "server", feature = "testbed")))]
pub(crate) mod absent;
pub(crate) mod advise;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod control;
pub(crate) mod doctor;
#[cfg(feature = "testbed")]
pub(crate) mod emulate;
pub(crate) mod equal;
pub(crate) mod explain;
pub(crate) mod export;
#[cfg(feature = "testbed")]
pub(crate) mod fit;
#[cfg(feature = "testbed")]
pub(crate) mod import;
pub(crate) mod judge;
mod lines;
pub(crate) mod list;
pub(crate) mod man;
#[cfg(feature = "testbed")]
pub(crate) mod measure;
#[cfg(feature = "testbed")]
mod real_time;
#[cfg(feature = "testbed")]
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
#[cfg(feature = "server")]
pub(crate) mod serve;
pub(crate) mod sweep;
pub(crate) mod tc;
#[cfg(feature = "testbed")]
pub(crate) mod upload;
pub(crate) mod verify;

#[cfg(not(feature = "server"))]
pub(crate) use absent as serve;
#[cfg(not(feature = "testbed"))]
pub(crate) use {
    absent as emulate, absent as fit, absent as import, absent as measure, absent as replay,
    absent as upload,
};

use crate::failure::Failure;
use crate::output::eprint;
use crate::progress::Progress;
use lab::runner::{CacheSummary, RunCache, Runner, Summary, all_cores};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::export::{to_file, writable};

/// Runs `work` with a runner that shows progress, stops on Ctrl-C and keeps the runs.
fn with_runner<T>(
    (jobs, quiet): (Option<NonZeroUsize>, bool),
    cache: &RunCache,
    work: impl FnOnce(Runner<'_>) -> T,
) -> Result<T, Failure> {
    // A second Ctrl-C ends the program at once.
    let cancel = cancel_on_signal(|| std::process::exit(130))?;
    let progress = Progress::new(quiet, "runs");
    let show = |done, total| progress.show(done, total);
    let jobs = jobs.unwrap_or_else(all_cores);
    let result = work(Runner { jobs, cancel: &cancel, progress: &show, cache });
    progress.finish();
    Ok(result)
}

/// A flag that SIGINT, SIGTERM and SIGHUP set; the next signal calls `again`.
fn cancel_on_signal(again: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            again();
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::new)?;
    Ok(cancel)
}

/// Closes the store and reports how it was used.
fn close(cache: RunCache, quiet: bool) -> Result<(), Failure> {
    let CacheSummary { stored, reused, error } = cache.finish();
    if reused > 0 && !quiet {
        eprint(&format!("{reused} runs were already in the store"));
    }
    match error {
        Some(error) => Err(Failure::new(format!("{error}; {stored} runs were stored before"))),
        None => Ok(()),
    }
}

/// The exit code after runs. Prints a line if runs are missing.
fn conclude(summary: Summary, otherwise: ExitCode) -> Result<ExitCode, Failure> {
    let Summary { total, done, failed, cancelled } = summary;
    if cancelled {
        eprint(&format!("stopped: {done} of {total} runs are finished; --store keeps them"));
        return Err(Failure::Interrupted);
    }
    if failed > 0 {
        eprint(&format!("{failed} of {total} runs failed"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(otherwise)
}

/// Refuses an output that the command also reads or writes twice, because one of both would be
/// lost. Also checks that the outputs can be written.
fn outputs_apart(outputs: &[&Path], others: &[&Path]) -> Result<(), Failure> {
    for (place, output) in outputs.iter().enumerate() {
        writable(output)?;
        if outputs[..place].iter().chain(others).any(|other| same_file(output, other)) {
            let shown = output.display();
            return Err(Failure::new(format!(
                "{shown}: another option names the same file, which would be overwritten; choose another path"
            )));
        }
    }
    Ok(())
}

/// Whether two paths name the same regular file, existing or not.
fn same_file(one: &Path, other: &Path) -> bool {
    let full = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    (one.is_file() || !one.exists()) && full(one).is_some() && full(one) == full(other)
}

/// Writes a file completely or not at all.
fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(to_file(path, |file| file.write_all(text.as_bytes()))?)
}
