//! Long work without the lock of the interpreter, which Ctrl-C stops.

use lab::runner::{RunCache, Runner, all_cores};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often the signals of the interpreter are handled during the work. Our choice: a person does
/// not notice a tenth of a second.
const SIGNALS: Duration = Duration::from_millis(100);

/// Does `work` in another thread and returns its result. If a signal handler of Python raises, such
/// as the one of Ctrl-C, the work is cancelled and the exception returned.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    jobs: Option<NonZeroUsize>,
    cache: &RunCache,
    work: impl FnOnce(Runner<'_>) -> T + Send,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    let progress = |_, _| ();
    let runner = Runner {
        jobs: jobs.unwrap_or_else(all_cores),
        cancel: &cancel,
        progress: &progress,
        cache,
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            scope.spawn(move || {
                // Nobody waits for the result after a signal.
                let _ = send.send(work(runner));
            });
            let mut raised = None;
            loop {
                match receive.recv_timeout(SIGNALS) {
                    Ok(result) => return raised.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Timeout) => {
                        #[expect(
                            clippy::redundant_closure_for_method_calls,
                            reason = "the method is not general enough over lifetimes"
                        )]
                        let signals = Python::attach(|py| py.check_signals());
                        if let Err(error) = signals {
                            cancel.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        let panicked = "internal error (panic); please report it";
                        return Err(raised.unwrap_or_else(|| crate::errors::other(panicked)));
                    }
                }
            }
        })
    })
}

/// The number of threads of the argument `jobs`.
pub(crate) fn jobs(jobs: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let positive = |jobs| {
        NonZeroUsize::new(jobs)
            .ok_or_else(|| crate::errors::other("jobs is 0; write at least 1, or leave it out"))
    };
    jobs.map(positive).transpose()
}
